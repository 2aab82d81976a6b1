// Judges a chain: tries the paths that can be built to an anchor, lets OpenSSL check signatures, dates and extensions
// of each, and adds our own rules about key strength, issuers and host names. RFC 5280 section 6, behaviour.md 3.1 to
// 3.3. Does not know TLS.

import COpenSSL

/// Path validation from a leaf to an anchor.
enum PathVerifier {
    /// Whether the chain leads to one of the roots and fulfils the policy.
    static func verify(_ chain: CertificateChain, roots: [TrustRoots], policy: TrustPolicy) -> TrustVerdict {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let ofLeaf = leafProblems(chain.leaf, policy: policy)
        var (path, best) = search(chain, roots: roots, policy: policy, isThorough: false)
        if path == nil, roots.contains(where: \.hasMoreWhenThorough) {
            (path, best) = search(chain, roots: roots, policy: policy, isThorough: true)
        }
        var problems = path == nil ? best ?? withoutAnchor(chain, roots: roots, policy: policy) : PathProblems()
        problems.add(ofLeaf)
        if let failure = problems.failure { return .refused(failure) }
        return .trusted(VerifiedPeer(presented: chain, path: path ?? []))
    }

    /// The first path without a problem, or else the problems of the path that comes closest.
    private static func search(
        _ chain: CertificateChain, roots: [TrustRoots], policy: TrustPolicy, isThorough: Bool
    ) -> (path: [Certificate]?, best: PathProblems?) {
        var good: [Certificate]?
        var best: PathProblems?
        var judged = 0
        var search = PathSearch(chain, roots: roots, isThorough: isThorough)
        search.forEachPath(from: chain.leaf) { path in
            let problems = judge(path, policy: policy)
            if problems.isEmpty {
                good = path
            } else if best.map({ problems.isLessSerious(than: $0) }) ?? true {
                best = problems
            }
            judged += 1
            return problems.isEmpty || judged == mostPaths
        }
        return (good, best)
    }

    /// What is wrong with one path from a leaf to an anchor.
    private static func judge(_ path: [Certificate], policy: TrustPolicy) -> PathProblems {
        var problems = PathProblems()
        guard let leaf = path.first, let anchor = path.last else { return problems }
        let between = path.count > 2 ? path[1..<path.count - 1] : []
        let check = OpenSSLPathCheck(leaf: leaf, untrusted: Array(between), anchor: anchor, policy: policy)
        for (code, depth, certificate) in check.found {
            // An anchor's own dates do not count (B3.28), unless it is the leaf itself.
            if depth > 0, certificate == anchor, PathProblems.isAboutDates(code) { continue }
            problems.add(PathProblems.reason(code, certificate), certificate)
        }
        // Every issuer below the anchor needs basicConstraints with CA set (B3.27); OpenSSL lets keyUsage alone pass.
        for issuer in between where !issuer.isCertificateAuthority {
            problems.add(.notACertificateAuthority, issuer)
        }
        for issuer in between { problems.add(weaknesses(issuer, policy: policy)) }
        return problems
    }

    /// No path reaches an anchor: OpenSSL says what else there is to say about the chain.
    private static func withoutAnchor(
        _ chain: CertificateChain, roots: [TrustRoots], policy: TrustPolicy
    ) -> PathProblems {
        var problems = PathProblems()
        let sent = Array(chain.certificates.dropFirst())
        let check = OpenSSLPathCheck(leaf: chain.leaf, untrusted: sent, anchor: nil, policy: policy)
        for (code, _, certificate) in check.found {
            problems.add(PathProblems.reason(code, certificate), certificate)
        }
        if roots.allSatisfy(\.isMissing), let place = roots.first {
            problems.add(.noRootsFound(searched: place.searched), chain.leaf)
        }
        // Never trust by omission.
        if problems.isEmpty { problems.add(.unknownRoot, chain.leaf) }
        return problems
    }

    /// What is wrong with the leaf whatever its path: its name, its key, its signature.
    private static func leafProblems(_ leaf: Certificate, policy: TrustPolicy) -> PathProblems {
        var problems = weaknesses(leaf, policy: policy)
        if let host = policy.host, !HostNameRules.matches(leaf, host) {
            let names = HostNameRules.presentedNames(leaf)
            problems.add(.hostMismatch(wanted: host.description, presented: names), leaf)
        }
        return problems
    }

    private static func weaknesses(_ certificate: Certificate, policy: TrustPolicy) -> PathProblems {
        var problems = PathProblems()
        if let weakness = CertificateStrength.weakKey(certificate, policy: policy) {
            problems.add(.weakKey(weakness), certificate)
        }
        if let weakness = CertificateStrength.weakSignature(certificate) {
            problems.add(.weakSignature(weakness), certificate)
        }
        return problems
    }

    // By feel: a peer that needs more attempts is not worth them.
    private static let mostPaths = 8
}
