// The conditions of a trust that a program can change, and the evaluator and policies that follow from them.

import URLLoadingTrust

/// What was set on a trust.
struct SecTrustSettings: Sendable {
    /// All of them must hold (B3.33).
    var policies: [SecPolicy]
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

    init(policies: [SecPolicy]) {
        self.policies = policies
    }

    /// The evaluator that judges (B3.38 to B3.40).
    func judge(besides evaluator: any TrustEvaluator) -> any TrustEvaluator {
        guard let anchors else { return isAnchorsOnly ? AnchorsEvaluator(anchors: []) : evaluator }
        let own = AnchorsEvaluator(anchors: anchors.map(\.certificate))
        return isAnchorsOnly ? own : AnyOfEvaluator([own, evaluator])
    }

    /// The conditions to judge by, one for each policy.
    func conditions(from base: TrustPolicy) -> [TrustPolicy] {
        var revocation = base.revocation
        revocation.responses += responses
        for mode in policies.compactMap(\.revocationMode) where revocation.mode != .hard { revocation.mode = mode }
        var conditions = policies.compactMap { $0.conditions(from: base) }
        // Revocation alone is asked about a chain all the same.
        if conditions.isEmpty { conditions = [SecPolicy(.basicX509).conditions(from: base) ?? base] }
        for index in conditions.indices {
            conditions[index].revocation = revocation
            if let time { conditions[index].time = time }
        }
        return conditions
    }
}
