// What is learnt when a server has accepted a proof (behaviour 2.6, 2.8, 2.9). With which a request is sent, is said in
// `HopPreparation+Proof`.
//
// Must not know: how a proof is asked for.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension TaskAuthentication {
    /// An answer to the hop has come that is no refusal, or one of the other side's; on the loop.
    func noteAnswer(_ head: ResponseHead, on reactor: Reactor) {
        // What a proxy refuses, the server has not seen.
        guard head.status != 407, let authentication = task.session?.authentication else { return }
        let (accepted, handle) = task.state.withLock { state in
            (
                state.authentication.rounds.filter { $0.side.refusal != head.status && $0.awaitsVerdict },
                state.load.transaction
            )
        }
        guard let handle else { return }
        for rounds in accepted {
            // NTLM's first message was let pass: the password was neither asked for nor checked.
            guard !rounds.isUnchecked else {
                task.state.letGo { $0.authentication[rounds.side]?.forgetUnanswered() }
                continue
            }
            // The head that opened a tunnel stays with the connection; what has come through it proves it.
            let isAbsent = handle.side(refusingWith: rounds.side.refusal) == nil
            let head = isAbsent ? ResponseHead(status: 200) : head
            let request = handle.authenticated(for: rounds.side)
            noteAcceptance(of: rounds.side, head, request, authentication, on: reactor)
        }
    }

    /// What is to be told once a proxy has opened a tunnel for what it is about to be given. For a stream, and for a
    /// connection that is opened beforehand, that is all that it says.
    func acceptance(ofTunnelTo target: String, by side: AuthenticationSide) -> ProxyQuestion.Acceptance {
        let step = task.state.withLock { state -> Int in
            state.authentication[side]?.isTunnels = true
            state.authentication.tunnelSteps += 1
            return state.authentication.tunnelSteps
        }
        return { [self] head, reactor in
            noteTunnel(to: target, by: side, step, head ?? ResponseHead(status: 200), on: reactor)
        }
    }

    private func noteTunnel(
        to target: String, by side: AuthenticationSide, _ step: Int, _ head: ResponseHead, on reactor: Reactor
    ) {
        guard let authentication = task.session?.authentication else { return }
        let isAnswer = task.state.withLock { state in
            // Another question may have come since, or the task is at another request.
            guard !state.isOver, state.isAuthenticating, state.authentication.tunnelSteps == step,
                let rounds = state.authentication[side], rounds.isTunnels, rounds.awaitsVerdict
            else { return false }
            // Nothing was shown yet that could be right.
            return rounds.authorization?.opensNothing != true
        }
        guard isAnswer else { return }
        noteAcceptance(
            of: side, head, AuthenticatedRequest(method: "CONNECT", target: target), authentication, on: reactor)
    }

    /// Whether an answer that is no refusal came to a request whose body was withheld: the connection was proven
    /// before, or the server wants no proof for an empty body. It is no answer to what the task sends, which goes out
    /// whole now, without what was offered.
    func sendsBodyNow(after head: ResponseHead) -> Bool {
        guard head.status != 401, head.status != 407 else { return false }
        let (handle, _) = task.state.withLock { state -> (TransactionHandle?, [CredentialOffer]) in
            guard state.isAuthenticating, state.authentication.withholdsBody, let handle = state.load.transaction
            else { return (nil, []) }
            state.authentication.goesAgain = true
            state.authentication.kept = handle.id
            state.redirect.deliversBody = false
            return (handle, state.authentication.passedWithoutBody())
        }
        guard let handle else { return false }
        handle.keepConnection()
        handle.resumeReading()
        return true
    }

    /// Whether the connection of the hop under way may belong to a user, for whom the server then answers (B7.104).
    var mayUseBoundConnection: Bool {
        guard let authentication = task.session?.authentication, authentication.remembersAny,
            let server = task.state.withLock({ $0.load.transaction })?.side(refusingWith: 401)
        else { return false }
        return authentication.bindsConnections(to: server)
    }

    private func noteAcceptance(
        of side: AuthenticationSide, _ head: ResponseHead, _ request: AuthenticatedRequest,
        _ authentication: SessionAuthentication, on reactor: Reactor
    ) {
        let (acceptance, offer) = task.state.withLock {
            state -> (AuthenticationMachine.Acceptance?, CredentialOffer?) in
            guard var rounds = state.authentication[side] else { return (nil, nil) }
            let offer = rounds.offer
            let acceptance = rounds.machine.accepted(head, request: request, hashes: authentication.hashes)
            rounds.noteAcceptance()
            state.authentication[side] = rounds
            return (acceptance, offer)
        }
        // B2.89: a server that does not know the password has accepted nothing.
        if acceptance?.isProven == false { return }
        if let acceptance {
            let isTasksOwn = authentication.keepsProofsApart || offer?.isTasksOwn ?? false
            if isTasksOwn {
                task.state.withLock { $0.authentication.own.remember(acceptance.authorization, for: request) }
            }
            authentication.remember(acceptance.authorization, for: request, isTasksOwn: isTasksOwn)
        }
        if let offer, offer.isDelegates, !offer.isTasksOwn, storage(for: side) != nil {
            task.delivery.post(.accepted(offer), on: reactor)
        }
    }
}
