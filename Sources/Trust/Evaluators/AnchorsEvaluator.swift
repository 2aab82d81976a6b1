// Own anchors in place of the machine's roots, or beside them.

/// Believes chains that lead to one of the given certificates, which need not be roots (B3.38 to B3.40).
package struct AnchorsEvaluator: FileEvaluator {
    private let roots: [TrustRoots]
    private let memory = VerdictMemory()

    /// Trusts these certificates, and with `alsoSystem` the machine's roots too; an empty list alone trusts nothing.
    package init(anchors: [Certificate], alsoSystem: Bool = false) {
        let own = TrustRoots(anchors: anchors)
        roots = alsoSystem ? [own, .system] : [own]
    }

    /// Judges the chain by the anchors.
    package func judge(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustVerdict
    {
        try memory.recall(chain, policy: policy) { () throws(FilesNeeded) in
            try PathVerifier.verify(chain, roots: roots, policy: policy, mayWait: mayWait)
        }
    }
}
