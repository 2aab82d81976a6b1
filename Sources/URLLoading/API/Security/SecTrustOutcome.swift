// A verdict in the terms of Security: one result, one chain to show, one most serious failure.

import Foundation
import URLLoadingTrust

/// What came of judging a trust.
struct SecTrustOutcome: Sendable {
    /// Apple's result (B3.37).
    let result: SecTrustResultType
    /// The verified path from the leaf to its anchor; of a chain that is not believed what of it
    /// is linked by signatures.
    let path: [Certificate]
    /// The peer whose path was verified; nil where none was.
    let verified: VerifiedPeer?
    /// The most serious problem (B3.36); nil when there is none that counts.
    let failure: TrustFailure?
    /// Every problem of every policy, also those that were excused.
    let reasons: [TrustFailure.Reason]
    /// When it was judged.
    let date: Date
    /// Whether every certificate below the anchor was said to be good.
    let isRevocationChecked: Bool
    /// When the first answer about revocation becomes stale, in seconds since 1970; nil where none was used.
    let answersUntil: Int64?

    var isTrusted: Bool { failure == nil }

    init(of trust: SecTrust, under settings: SecTrustSettings) {
        let judge = settings.judge(of: trust)
        let conditions = settings.conditions(from: trust.policy)
        var peers: [VerifiedPeer] = []
        var failures: [TrustFailure] = []
        for policy in conditions {
            switch judge.evaluate(trust.presented, policy: policy) {
            case .trusted(let peer): peers.append(peer)
            case .refused(let failure): failures.append(failure)
            }
        }
        date = Date()
        var found: [TrustFailure.Reason] = []
        for failure in failures {
            for reason in [failure.reason] + failure.further where !found.contains(reason) { found.append(reason) }
        }
        reasons = found
        let remaining = found.filter { settings.exceptions?.excuse($0) != true }.sorted { $0.rank < $1.rank }
        if let worst = remaining.first {
            let named = failures.first { $0.reason == worst }
            failure = TrustFailure(
                worst, certificate: named?.certificate ?? "", issuer: named?.issuer ?? "",
                further: Array(remaining.dropFirst()))
            result = remaining.contains(where: \.isFatal) ? .fatalTrustFailure : .recoverableTrustFailure
        } else {
            failure = nil
            // Order: a chain without a failure was believed by every policy, of which there is at least one.
            result = failures.isEmpty ? .unspecified : .proceed
        }
        verified = failures.isEmpty ? peers.first { !$0.path.isEmpty } : nil
        path = verified?.path ?? trust.presented.linked
        let until = verified == nil ? .max : peers.map(\.answersUntil).min() ?? .max
        answersUntil = until == .max ? nil : until
        isRevocationChecked = answersUntil != nil && conditions.contains { $0.revocation.mode == .hard }
    }
}

/// The results of an evaluation in the older form (B3.37).
public enum SecTrustResultType: UInt32, Sendable {
    /// Not evaluated, or a condition has changed since.
    case invalid = 0
    /// Trusted, because `SecTrustSetExceptions` excuses all that is wrong.
    case proceed = 1
    /// The user is to be asked. It is never given.
    case confirm = 2
    /// The user has said no. It is never given.
    case deny = 3
    /// Trusted.
    case unspecified = 4
    /// Not trusted; other conditions or exceptions may change that.
    case recoverableTrustFailure = 5
    /// Not trusted, and there is no way around it: revoked, forged or malformed.
    case fatalTrustFailure = 6
    /// The evaluation itself failed; never given.
    case otherError = 7
}
