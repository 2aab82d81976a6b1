// The default: the machine's root certificates decide.

/// Believes chains that lead to a root of the operating system's store (B3.1, B3.6).
package struct SystemRootsEvaluator: TrustEvaluator {
    private let roots: TrustRoots
    private let memory = VerdictMemory()

    /// Uses the process-wide store, or another one.
    package init(roots: TrustRoots = .system) {
        self.roots = roots
    }

    /// Judges the chain by the store.
    package func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        memory.recall(chain, policy: policy) { PathVerifier.verify(chain, roots: [roots], policy: policy) }
    }
}
