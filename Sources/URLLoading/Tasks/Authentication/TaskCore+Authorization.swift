// What a request is sent with to prove who we are, and what is learnt when the proof was good (behaviour 2.6, 2.8, 2.9).
//
// Nothing of it is shown: not in `currentRequest`, not in the metrics, not in an error. Must not know: how a proof is
// asked for.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension TaskCore {
    // MARK: Sending

    /// The proofs that go with a request: the answers of the last round, else what the session remembers (B2.77). Each is
    /// good for one sending.
    private func proofs(for request: TransactionRequest, _ session: SessionCore) -> [Authorization] {
        let authenticated = request.authenticated
        return request.sides.compactMap { side in
            let given = state.withLock { $0.isAuthenticating ? $0.authentication[side]?.authorization : nil }
            if let given { return given }
            // B2.79: what the application has set goes out as it is.
            if request.head.fields.contains(side.authorizationField) { return nil }
            guard let ahead = session.authentication.ahead(to: side, for: authenticated) else { return nil }
            state.withLock { state in
                var rounds = state.authentication[side] ?? session.authentication.rounds(with: side)
                rounds.begin(ahead)
                state.authentication[side] = rounds
            }
            return ahead
        }
    }

    /// Submits a request with what there is of proofs, in place of what the application has set.
    func submitProven(_ request: TransactionRequest, _ session: SessionCore, _ engine: Engine) {
        let proofs = proofs(for: request, session)
        state.withLock { state in
            for proof in proofs { state.sentFields?.removeAll(proof.space.side.authorizationField) }
        }
        let work = { @Sendable in
            var request = request
            Self.add(proofs, to: &request, session.authentication)
            engine.submit(request)
        }
        // A hash may take its time, for which the loop is no place.
        let authenticated = request.authenticated
        let mustHash = proofs.contains { $0.bodyHash(for: authenticated) != nil }
        if mustHash, engine.loop.isCurrent, BlockingPool.authentication.run(work) { return }
        work()
    }

    private static func add(
        _ proofs: [Authorization], to request: inout TransactionRequest, _ authentication: SessionAuthentication
    ) {
        let authenticated = request.authenticated
        for proof in proofs {
            let name = proof.space.side.authorizationField
            request.head.fields.removeAll(name)
            let hash = proof.bodyHash(for: authenticated).flatMap { authentication.hash($0, of: request.body) }
            if let value = authentication.field(proof, for: authenticated, bodyHash: hash) {
                request.head.fields.append(name, value)
            }
        }
    }

    // MARK: What has come of it

    /// An answer to the hop has come that is no refusal, or one of the other side's; on the loop.
    func noteAnswer(_ head: ResponseHead, on reactor: Reactor) {
        // What a proxy refuses, the server has not seen.
        guard head.status != 407, let authentication = session?.authentication else { return }
        let (accepted, handle) = state.withLock { state in
            (
                state.authentication.rounds.filter { $0.side.refusal != head.status && $0.awaitsVerdict },
                state.load.transaction
            )
        }
        guard let handle else { return }
        for rounds in accepted {
            // The head that opened a tunnel stays with the connection; what has come through it proves it.
            let isAbsent = handle.side(refusingWith: rounds.side.refusal) == nil
            let head = isAbsent ? ResponseHead(status: 200) : head
            noteAcceptance(of: rounds.side, head, handle.authenticated, authentication, on: reactor)
        }
    }

    private func noteAcceptance(
        of side: AuthenticationSide, _ head: ResponseHead, _ request: AuthenticatedRequest,
        _ authentication: SessionAuthentication, on reactor: Reactor
    ) {
        let (acceptance, offer) = state.withLock { state -> (AuthenticationMachine.Acceptance?, CredentialOffer?) in
            guard var rounds = state.authentication[side] else { return (nil, nil) }
            let offer = rounds.offer
            let acceptance = rounds.machine.accepted(head, request: request, hashes: authentication.hashes)
            rounds.noteAcceptance()
            state.authentication[side] = rounds
            return (acceptance, offer)
        }
        // B2.89: a server that does not know the password has accepted nothing.
        if acceptance?.isProven == false { return }
        if let acceptance { authentication.remember(acceptance.authorization, for: request) }
        if let offer, offer.isDelegates, offer.credential.persistence != .none { post(.accepted(offer), on: reactor) }
    }
}
