// One odd host: exactly this certificate for exactly this name. All other hosts are judged as they are without it.

/// Trusts one certificate for one host, whatever it says about names and issuers; others are
/// judged by another evaluator.
package struct SelfSignedHostEvaluator: FileEvaluator {
    private let host: HostName
    private let fingerprint: [UInt8]
    private let fallback: (any TrustEvaluator)?

    /// The certificate of the host; other hosts go to the fallback, or are refused without one.
    package init(_ certificate: Certificate, host: HostName, otherwise fallback: (any TrustEvaluator)? = nil) {
        self.host = host
        fingerprint = certificate.fingerprintSHA256
        self.fallback = fallback
    }

    /// Compares; the certificate's dates still count (B3.28).
    package func judge(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustVerdict
    {
        guard policy.place == host else {
            return try fallback?.verdict(on: chain, policy: policy, mayWait: mayWait)
                ?? .refused(TrustFailure(.other("no evaluator is named for this host"), chain.leaf))
        }
        guard ConstantTime.equal(chain.leaf.fingerprintSHA256, fingerprint) else {
            return .refused(TrustFailure(.pinMismatch, chain.leaf))
        }
        if let failure = PathProblems.alone(chain.leaf, policy: policy).failure { return .refused(failure) }
        return .trusted(VerifiedPeer(presented: chain, path: [chain.leaf]))
    }

    /// The fallback's, for other hosts.
    package func conditions(on policy: TrustPolicy) -> TrustPolicy {
        policy.place == host ? policy : fallback?.conditions(on: policy) ?? policy
    }

    /// Whether the fallback does.
    package var learns: Bool { fallback?.learns ?? false }

    /// Tells the fallback of other hosts.
    package func learn(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustFailure?
    {
        policy.place == host ? nil : try fallback?.learn(chain, policy: policy, mayWait: mayWait)
    }
}
