// The conditions of a trust that a program can change, and the evaluator and policies that follow from them.

import URLLoadingTrust

/// What was set on a trust.
struct SecTrustSettings: Sendable {
    /// All of them must hold (B3.33).
    var policies: [SecPolicy] { didSet { areConnections = false } }
    /// Whether they are still those that the trust of a connection began with.
    private var areConnections: Bool
    /// Own anchors; nil for none.
    var anchors: [SecCertificate]?
    /// Whether the own anchors alone are trusted (B3.38).
    var isAnchorsOnly = false
    /// The time of evaluation in seconds since 1970; nil for now (B3.41).
    var time: Int64?
    /// Whether fetching is allowed; nil until the program has set it.
    var allowsFetching: Bool?
    /// OCSP responses.
    var responses: [[UInt8]] = []
    /// What is excused (B3.45).
    var exceptions: SecTrustExceptions?

    /// Begins with a program's policies, or with the face of a connection's.
    init(policies: [SecPolicy], areConnections: Bool) {
        self.policies = policies
        self.areConnections = areConnections
    }

    /// The evaluator that judges (B3.38 to B3.40).
    func judge(of trust: SecTrust) -> any TrustEvaluator {
        guard let anchors else { return isAnchorsOnly ? AnchorsEvaluator(anchors: []) : trust.evaluator }
        // Own anchors stand for whom is trusted. What the session asks for besides is asked for below them, too; what
        // it asks for less is its own evaluation's affair.
        let session = trust.sessionConditions
        let own: any TrustEvaluator = AnchorsEvaluator(anchors: anchors.map(\.certificate)).adjusting { policy in
            policy.tighten(by: session)
            policy.time = policy.time ?? session.time
        }
        return isAnchorsOnly ? own : AnyOfEvaluator([own, trust.evaluator])
    }

    /// The conditions to judge by, one for each policy.
    func conditions(from base: TrustPolicy) -> [TrustPolicy] {
        var revocation = base.revocation
        revocation.responses += responses
        let wanted = policies.compactMap(\.revocationMode).max()
        if let wanted { revocation.mode = max(revocation.mode, wanted) }
        // B3.35: what the session makes of a connection's own policy is the default verdict.
        var conditions = areConnections ? [base] : policies.compactMap { $0.conditions(from: base) }
        if conditions.isEmpty {
            // Revocation alone is asked about a chain all the same.
            var chain = base
            chain.purpose = .anyPurpose
            chain.host = nil
            conditions = [chain]
        }
        for index in conditions.indices {
            conditions[index].revocation = revocation
            if wanted != nil { conditions[index].fixed.insert(.revocation) }
            if let time { conditions[index].time = time }
        }
        return conditions
    }
}
