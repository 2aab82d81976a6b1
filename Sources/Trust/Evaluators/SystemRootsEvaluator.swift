// The default: the machine's root certificates decide.

/// Believes chains that lead to a root of the operating system's store (B3.1, B3.6).
package struct SystemRootsEvaluator: FileEvaluator {
    private let roots: TrustRoots
    private let memory = VerdictMemory()

    /// Uses the process-wide store, or another one.
    package init(roots: TrustRoots = .system) {
        self.roots = roots
    }

    /// Judges the chain by the store.
    package func judge(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustVerdict
    {
        try memory.recall(chain, policy: policy) { () throws(FilesNeeded) in
            try PathVerifier.verify(chain, roots: [roots], policy: policy, mayWait: mayWait)
        }
    }
}
