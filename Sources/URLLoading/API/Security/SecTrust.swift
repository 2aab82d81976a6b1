// Apple's name for a chain that is to be judged: what was presented, under which conditions, and for which evaluator.
// The functions around it stand in the files beside this one; here is what they share, and how a verdict is reached and
// remembered.

import Foundation
import Synchronization
import URLLoadingTrust

/// A server's certificates and the conditions under which they are judged.
///
/// It may be used from any thread (B3.48). A verdict is remembered until a condition changes (B3.37).
public final class SecTrust: Hashable, Sendable {
    /// What the peer sent.
    let presented: CertificateChain
    /// The conditions of its making: for a challenge those of the connection (B3.35).
    let policy: TrustPolicy
    /// The evaluator that judges until other anchors are set.
    let evaluator: any TrustEvaluator
    private let state: Mutex<State>

    private struct State {
        var settings: SecTrustSettings
        var outcome: SecTrustOutcome?
        /// Grows with each change, so that a verdict about earlier conditions is not kept.
        var changes = 0
    }

    /// A trust as a challenge carries it.
    package convenience init(presented: CertificateChain, policy: TrustPolicy, evaluator: any TrustEvaluator) {
        self.init(presented: presented, policies: nil, policy: policy, evaluator: evaluator)
    }

    /// A trust that begins with these policies; without any it has those of a connection.
    init(presented: CertificateChain, policies: [SecPolicy]?, policy: TrustPolicy, evaluator: any TrustEvaluator) {
        self.presented = presented
        self.policy = policy
        self.evaluator = evaluator
        let settings = SecTrustSettings(policies: policies ?? [SecPolicy(policy)], areConnections: policies == nil)
        state = Mutex(State(settings: settings))
    }

    /// Whether both are the same object.
    public static func == (one: SecTrust, other: SecTrust) -> Bool { one === other }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension SecTrust {
    /// What the session makes of the connection's conditions.
    var sessionConditions: TrustPolicy { evaluator.conditions(on: policy) }

    /// The conditions as they are now.
    var settings: SecTrustSettings { state.withLock { $0.settings } }

    /// The verdict about the present conditions; nil until the trust was evaluated.
    var known: SecTrustOutcome? { state.withLock { $0.outcome } }

    /// Changes the conditions, with which the verdict is forgotten.
    func change(_ body: (inout SecTrustSettings) -> Void) {
        state.withLock { state in
            body(&state.settings)
            state.outcome = nil
            state.changes += 1
        }
    }

    /// The verdict, reached now if it is not known.
    func evaluated() -> SecTrustOutcome {
        let (settings, known, changes) = state.withLock { ($0.settings, $0.outcome, $0.changes) }
        if let known { return known }
        // Judged outside the lock: two threads may both do so, and the first to finish is kept.
        let outcome = SecTrustOutcome(of: self, under: settings)
        return state.withLock { state in
            guard state.changes == changes else { return outcome }
            if let earlier = state.outcome { return earlier }
            state.outcome = outcome
            return outcome
        }
    }
}

/// The number of the type.
@discardableResult
public func SecTrustGetTypeID() -> CFTypeID { SecTypeID.trust }

/// Makes a trust of one certificate or an array, the leaf first, and one policy, an array of policies that must all
/// hold (B3.33), or nil for the chain and its dates.
@discardableResult
public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef, _ policies: CFTypeRef?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    trust.pointee = nil
    guard let certificates = elements(of: certificates, as: SecCertificate.self),
        let chain = CertificateChain(certificates.map(\.certificate))
    else { return errSecParam }
    var wanted = [SecPolicyCreateBasicX509()]
    if let policies {
        // Without any policy everything would be believed.
        guard let given = elements(of: policies, as: SecPolicy.self), !given.isEmpty else { return errSecParam }
        wanted = given
    }
    trust.pointee = SecTrust(
        presented: chain, policies: wanted, policy: TrustPolicy(host: nil), evaluator: SecTrust.system)
    return errSecSuccess
}

extension SecTrust {
    /// Judges trusts that programs make; one for all, so that it remembers what it has seen.
    static let system = SystemRootsEvaluator()
}
