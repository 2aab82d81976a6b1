// Trust on first use: the key that a host shows first is written down, and from then on it must show that one. Protects
// against whoever comes in between later, not against who was there from the beginning.

import Synchronization

/// Believes a host's key when it is the one the host had before, or when the host was never seen.
package final class KnownHostsEvaluator: TrustEvaluator {
    private let file: KnownHostsFile
    private let entries: Mutex<[String: [[UInt8]]]>

    /// Reads the file, which need not exist yet; one that others may write is refused.
    package init(path: String) throws(CertificateError) {
        file = KnownHostsFile(path: path)
        entries = Mutex(try file.read())
    }

    /// Compares the leaf's key with the host's, or writes it down; its dates count as ever (B3.28).
    package func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        guard let host = policy.host?.description, KnownHostsFile.isWritable(host) else {
            return .refused(TrustFailure(.other("it has no host name to be remembered by"), chain.leaf))
        }
        var problems = PathProblems()
        let leaf = chain.leaf
        if let malformed = leaf.fields.malformed { problems.add(.malformed(malformed), leaf) }
        problems.addDates(of: leaf, now: policy.time ?? Platform.now())
        if let failure = problems.failure { return .refused(failure) }
        let key = leaf.spkiSHA256
        do throws(CertificateError) {
            // Order: under the lock, so that of two first connections the second is compared with the first; files are
            // short, and a host is written once.
            let isKnown = try entries.withLock { entries throws(CertificateError) in
                if let pins = entries[host] { return pins.contains { ConstantTime.equal($0, key) } }
                // Another process may have met the host meanwhile.
                let (current, isOwn) = try file.add(host, key)
                entries = current
                return isOwn
            }
            if isKnown { return .trusted(VerifiedPeer(presented: chain, path: [leaf])) }
            return .refused(TrustFailure(.knownHostChanged, leaf))
        } catch {
            return .refused(TrustFailure(.other(error.description), leaf))
        }
    }

    /// Forgets a host, whose next key is believed again.
    package func forget(_ host: HostName) throws(CertificateError) {
        try entries.withLock { entries throws(CertificateError) in
            entries = try file.remove(host.description)
        }
    }
}
