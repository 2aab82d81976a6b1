// Judges a chain: its leaf, then the paths that can be built from it to an anchor, and says of a refusal what is most
// serious about it. RFC 5280 section 6, behaviour.md 3.1 to 3.3. Does not know TLS.

import CURLLoadingOpenSSL

/// Path validation from a leaf to an anchor.
enum PathVerifier {
    /// Whether the chain leads to one of the roots and fulfils the policy. Throws where files would have to be read to
    /// know, unless that `mayWait`.
    static func verify(
        _ chain: CertificateChain, roots: [TrustRoots], policy: TrustPolicy, mayWait: Bool
    ) throws(FilesNeeded) -> TrustVerdict {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let now = policy.time ?? Platform.now()
        let leaf = chain.leaf
        if let anchor = try anchor(leaf, roots, policy, isThorough: false, mayWait) {
            return ofAnchor(anchor, chain, policy, now)
        }
        let ofLeaf = LeafRules.problems(leaf, isAnchor: false, policy: policy, now: now)
        var builder = PathBuilder(
            chain, roots: roots, isThorough: false, mayWait: mayWait, policy: policy, now: now, budget: WorkBudget())
        if ofLeaf.isEmpty, let good = builder.find(from: leaf) { return trusted(chain, good) }
        if builder.needsFiles { throw FilesNeeded() }
        if roots.contains(where: \.isStore) {
            // What was not there, or out of reach, may be found by now.
            guard mayWait else { throw FilesNeeded() }
            for roots in roots { roots.lookAgain() }
            // An administrator may have added a server's own certificate to the bundle alone.
            if let anchor = try anchor(leaf, roots, policy, isThorough: true, mayWait) {
                return ofAnchor(anchor, chain, policy, now)
            }
            builder = PathBuilder(
                chain, roots: roots, isThorough: true, mayWait: mayWait, policy: policy, now: now,
                budget: builder.budget)
            if ofLeaf.isEmpty, let good = builder.find(from: leaf) { return trusted(chain, good) }
        }
        builder.explain(from: leaf)
        if builder.needsFiles { throw FilesNeeded() }
        var problems = builder.closest ?? withoutAnchor(builder, leaf: leaf, roots: roots)
        problems.add(ofLeaf)
        // Never trust by omission.
        if problems.isEmpty { problems.add(.unknownRoot, leaf) }
        var failure = problems.failure ?? TrustFailure(.unknownRoot, leaf)
        // Where nothing can be read, nothing is known of the roots. What else is wrong is known all the same.
        if builder.closest == nil, failure.isWantOfRoots, roots.contains(where: \.isStore) {
            failure.shortage = Platform.shortage()
        }
        return .refused(failure)
    }

    /// The anchor that a leaf is itself (B3.40), which alone has settings: a server sends none. Of several copies one
    /// that is not allowed.
    private static func anchor(
        _ leaf: Certificate, _ roots: [TrustRoots], _ policy: TrustPolicy, isThorough: Bool, _ mayWait: Bool
    ) throws(FilesNeeded) -> Certificate? {
        for roots in roots {
            let anchors = try roots.anchors(leaf.subjectName, isThorough: isThorough, mayWait: mayWait)
            if let anchor = AnchorSettings.strictest(anchors.filter { $0 == leaf }, policy.purpose).first {
                return anchor
            }
        }
        return nil
    }

    private static func ofAnchor(
        _ anchor: Certificate, _ chain: CertificateChain, _ policy: TrustPolicy, _ now: Int64
    ) -> TrustVerdict {
        let leaf = chain.leaf
        var problems = LeafRules.problems(leaf, isAnchor: true, policy: policy, now: now)
        if !AnchorSettings.allow(anchor, policy.purpose) { problems.add(.wrongPurpose, leaf) }
        if let failure = problems.failure { return .refused(failure) }
        return .trusted(VerifiedPeer(presented: chain, path: [leaf]))
    }

    private static func trusted(
        _ chain: CertificateChain, _ good: (path: [Certificate], answersUntil: Int64)
    ) -> TrustVerdict {
        .trusted(VerifiedPeer(presented: chain, path: good.path, answersUntil: good.answersUntil))
    }

    /// No path reaches an anchor: the certificate whose issuer is missing is named, and what nothing excuses on the way
    /// to it.
    private static func withoutAnchor(
        _ builder: PathBuilder, leaf: Certificate, roots: [TrustRoots]
    ) -> PathProblems {
        let way = builder.furthest
        var problems = builder.furthestProblems.fatal
        if roots.allSatisfy(\.isMissing), let place = roots.first {
            problems.add(.noRootsFound(searched: place.searched), leaf)
        }
        if way.count <= 1, leaf.isSelfSigned {
            problems.add(.selfSigned, leaf)
        } else {
            problems.add(.unknownRoot, way.last ?? leaf)
        }
        return problems
    }
}
