// Chains that the trust tests share, and one way to ask for a verdict. Made once a run.

import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

/// A root, an intermediate below it, and what tests make of them.
enum Chains {
    static let root = Result { try CertificateFactory.root("Test Root") }
    static let intermediate = Result { try root.get().issue(.authority("Test Intermediate")) }
    static let leaf = Result { try intermediate.get().issue(.server("example.test")) }

    /// A leaf below the shared intermediate.
    static func leaf(_ template: CertificateTemplate) throws -> IssuedCertificate {
        try intermediate.get().issue(template)
    }

    /// A leaf below an intermediate of this template.
    static func leaf(below intermediate: CertificateTemplate) throws -> IssuedCertificate {
        try root.get().issue(intermediate).issue(.server("example.test"))
    }
}

/// What the evaluator says about certificates, anchored at the shared root if nothing else is said.
func judge(
    _ certificates: [Certificate], anchors: [Certificate]? = nil, host: String? = "example.test", time: Int64? = nil,
    purpose: TrustPolicy.Purpose = .serverAuthentication, profile: TrustPolicy.Profile = .standard
) throws -> TrustVerdict {
    let anchors = try anchors ?? [Chains.root.get().certificate]
    let chain = try #require(CertificateChain(certificates))
    let policy = TrustPolicy(host: host.map { HostName($0) }, purpose: purpose, profile: profile, time: time)
    return AnchorsEvaluator(anchors: anchors).evaluate(chain, policy: policy)
}

/// What the evaluator says about an issued certificate with the chain it would show.
func judge(
    _ issued: IssuedCertificate, anchors: [Certificate]? = nil, host: String? = "example.test", time: Int64? = nil,
    purpose: TrustPolicy.Purpose = .serverAuthentication, profile: TrustPolicy.Profile = .standard
) throws -> TrustVerdict {
    try judge(
        issued.chain.certificates, anchors: anchors, host: host, time: time, purpose: purpose,
        profile: profile)
}

extension TrustVerdict {
    var failure: TrustFailure? {
        if case .refused(let failure) = self { return failure }
        return nil
    }
    var reason: TrustFailure.Reason? { failure?.reason }
    var path: [Certificate]? {
        if case .trusted(let peer) = self { return peer.path }
        return nil
    }
    var isTrusted: Bool { path != nil }
}
