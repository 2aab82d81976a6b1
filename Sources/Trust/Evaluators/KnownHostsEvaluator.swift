// Trust on first use: the key that a host shows first is written down once its connection stands, and from then on it
// must show that one. Protects against an attacker who comes in between later, not against one who was there from the
// beginning. A host that is known needs no file.

import Synchronization

/// Believes a host's key when it is the one the host had before, or when the host was never seen.
package final class KnownHostsEvaluator: FileEvaluator {
    private let file: KnownHostsFile
    private let entries: Mutex<[String: [[UInt8]]]>

    /// Reads the file, which need not exist yet; one that others may write is refused. `patience` is how long the lock
    /// of another process is waited for where a host is written down.
    package init(path: String, patience: Duration = .seconds(5)) throws(CertificateError) {
        file = KnownHostsFile(path: Platform.followingOwnLink(path), patience: patience)
        entries = Mutex(try file.read())
    }

    /// Compares the leaf's key with the host's; its dates count as ever (B3.28). Any key of a host that was never seen
    /// will do, and is not written down yet.
    package func judge(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustVerdict
    {
        guard let host = Self.name(of: policy) else {
            return .refused(TrustFailure(.other("it has no host name to be remembered by"), chain.leaf))
        }
        let leaf = chain.leaf
        if let failure = PathProblems.alone(leaf, policy: policy).failure { return .refused(failure) }
        let peer = VerifiedPeer(presented: chain, path: [leaf])
        if knows(host, leaf) { return .trusted(peer) }
        guard mayWait else { throw FilesNeeded() }
        do throws(CertificateError) {
            // Another one of this process or of another may have met the host, or removed its line. What is read
            // without the lock is not kept: it may be older than what another thread has kept meanwhile.
            let isKnown = Self.has(leaf, try file.read()[host])
            return isKnown ?? true ? .trusted(peer) : .refused(TrustFailure(.knownHostChanged, leaf))
        } catch {
            return .refused(TrustFailure(.other(error.description), leaf))
        }
    }

    /// That it remembers hosts.
    package var learns: Bool { true }

    /// Writes down the key of a host that was never seen (B3.88).
    package func learn(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustFailure?
    {
        guard let host = Self.name(of: policy) else { return nil }
        let leaf = chain.leaf
        if knows(host, leaf) { return nil }
        guard mayWait else { throw FilesNeeded() }
        do throws(CertificateError) {
            // Of two first connections the second is compared with the first, in the file.
            let isKnown = try file.add(host, leaf.spkiSHA256) { all in entries.withLock { $0 = all } }
            return isKnown ? nil : TrustFailure(.knownHostChanged, leaf)
        } catch {
            return TrustFailure(.other(error.description), leaf)
        }
    }

    private static func name(of policy: TrustPolicy) -> String? {
        guard let host = policy.place?.description, KnownHostsFile.isWritable(host) else { return nil }
        return host
    }

    /// Whether the host is known, without the file, to have had this key before.
    private func knows(_ host: String, _ leaf: Certificate) -> Bool {
        Self.has(leaf, entries.withLock { $0[host] }) ?? false
    }

    /// Whether the key is among a host's; nil where it has none.
    private static func has(_ leaf: Certificate, _ keys: [[UInt8]]?) -> Bool? {
        guard let keys else { return nil }
        let key = leaf.spkiSHA256
        return keys.contains { ConstantTime.equal($0, key) }
    }

    /// Forgets a host, whose next key is believed again; waits for the file.
    package func forget(_ host: HostName) throws(CertificateError) {
        try file.remove(host.description) { all in entries.withLock { $0 = all } }
    }
}
