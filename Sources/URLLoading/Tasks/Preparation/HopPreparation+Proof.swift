// What a request is sent with to prove the user's credentials (behaviour 2.6, 2.8, 2.9). Nothing of it is shown: not in
// `currentRequest`, not in the metrics, not in an error.
//
// Must not know: how a proof is asked for.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension HopPreparation {
    /// A proof that a request goes out with unasked.
    private struct Remembered {
        let authorization: Authorization
        /// Whether the task alone remembers it (B2.53).
        let isTasksOwn: Bool
    }

    /// The proofs that go with a request: the answers of the last round, else what is remembered (B2.77). Each is good
    /// for one sending.
    private func proofs(for request: TransactionRequest) -> [Authorization] {
        request.sides.compactMap { side in
            let given = task.state.withLock { $0.isAuthenticating ? $0.authentication[side]?.authorization : nil }
            if let given { return given }
            // B2.79: what the application has set goes out as it is.
            if request.head.fields.contains(side.authorizationField) { return nil }
            let authenticated = request.authenticated(for: side)
            let remembered = remembered(for: side) { $0.authorization(for: side, request: authenticated, as: $1) }
            guard let remembered else { return nil }
            task.state.withLock { state in
                var rounds = state.authentication[side] ?? session.authentication.rounds(with: side)
                rounds.begin(remembered.authorization, isTasksOwn: remembered.isTasksOwn)
                state.authentication[side] = rounds
            }
            return remembered.authorization
        }
    }

    /// What a request would be sent with unasked; nothing counts as used with that.
    func known(to side: AuthenticationSide, for request: AuthenticatedRequest) -> Authorization? {
        remembered(for: side) { $0.known(for: side, request: request, as: $1) }?.authorization
    }

    /// What is found for a side among all that the task, or else the session, remembers; of the user whom the hop's URL
    /// names, where it names one.
    private func remembered(
        for side: AuthenticationSide, _ find: (inout RememberedSpaces, NamedUser?) -> Authorization?
    ) -> Remembered? {
        guard session.authentication.remembersAny else { return nil }
        let (user, own) = task.state.withLock { state -> (NamedUser?, Authorization?) in
            let user = state.user(namedBy: request.url, for: side)?.named
            return (user, state.isAuthenticating ? find(&state.authentication.own, user) : nil)
        }
        if let own { return Remembered(authorization: own, isTasksOwn: true) }
        return session.authentication.remembered { find(&$0, user) }
            .map { Remembered(authorization: $0, isTasksOwn: false) }
    }

    /// Submits a request with what there is of proofs, in place of what the application has set.
    func submitProven(_ request: TransactionRequest, to engine: Engine) {
        let proofs = proofs(for: request)
        let needsKept = task.state.withLock { state in
            for proof in proofs { state.sentFields?.removeAll(proof.space.side.authorizationField) }
            return proofs.contains { state.authentication[$0.space.side]?.needsKept == true }
        }
        let work = { @Sendable in
            var request = request
            if needsKept { request.again = SecondSending(needsKept: true) }
            Self.add(proofs, to: &request, session.authentication)
            engine.submit(request)
        }
        // A hash may take its time, for which the loop is no place.
        let mustHash = proofs.contains { $0.bodyHash(for: request.authenticated(for: $0.space.side)) != nil }
        if mustHash, engine.isOnLoop, BlockingPool.authentication.run(work) { return }
        work()
    }

    private static func add(
        _ proofs: [Authorization], to request: inout TransactionRequest, _ authentication: SessionAuthentication
    ) {
        for proof in proofs {
            let authenticated = request.authenticated(for: proof.space.side)
            let name = proof.space.side.authorizationField
            request.head.fields.removeAll(name)
            let hash = proof.bodyHash(for: authenticated).flatMap { authentication.hash($0, of: request.body) }
            if let value = authentication.field(proof, for: authenticated, bodyHash: hash) {
                request.head.fields.append(name, value)
            }
        }
    }
}
