// Trust on first use: the key that a host shows first is written down, and from then on it must show that one. Protects
// against an attacker who comes in between later, not against one who was there from the beginning. A host that is
// known needs no file.

import Synchronization

/// Believes a host's key when it is the one the host had before, or when the host was never seen.
package final class KnownHostsEvaluator: FileEvaluator {
    private let file: KnownHostsFile
    private let entries: Mutex<[String: [[UInt8]]]>

    /// Reads the file, which need not exist yet; one that others may write is refused. `patience` is how long the lock
    /// of another process is waited for where a host is written down.
    package init(path: String, patience: Duration = .seconds(5)) throws(CertificateError) {
        file = KnownHostsFile(path: path, patience: patience)
        entries = Mutex(try file.read())
    }

    /// Compares the leaf's key with the host's, or writes it down; its dates count as ever (B3.28). A leaf that is
    /// refused is not written down.
    package func judge(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustVerdict
    {
        guard let host = policy.place?.description, KnownHostsFile.isWritable(host) else {
            return .refused(TrustFailure(.other("it has no host name to be remembered by"), chain.leaf))
        }
        let leaf = chain.leaf
        if let failure = PathProblems.alone(leaf, policy: policy).failure { return .refused(failure) }
        let key = leaf.spkiSHA256
        var isKnown = entries.withLock { $0[host]?.contains { ConstantTime.equal($0, key) } }
        if isKnown == nil, policy.isForTelling { return .trusted(VerifiedPeer(presented: chain, path: [leaf])) }
        if isKnown == nil {
            guard mayWait else { throw FilesNeeded() }
            do throws(CertificateError) {
                // Of two first connections the second is compared with the first, in the file: another one of this
                // process or of another may have met the host meanwhile.
                isKnown = try file.add(host, key) { all in entries.withLock { $0 = all } }
            } catch {
                return .refused(TrustFailure(.other(error.description), leaf))
            }
        }
        if isKnown == true { return .trusted(VerifiedPeer(presented: chain, path: [leaf])) }
        return .refused(TrustFailure(.knownHostChanged, leaf))
    }

    /// Forgets a host, whose next key is believed again; waits for the file.
    package func forget(_ host: HostName) throws(CertificateError) {
        try file.remove(host.description) { all in entries.withLock { $0 = all } }
    }
}
