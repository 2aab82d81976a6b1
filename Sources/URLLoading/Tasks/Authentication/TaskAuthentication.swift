// What follows a refusal: the machine of `URLLoadingPolicy` says what is asked; the URL, the settings, the storage and
// the delegates have the credentials; and the request goes out again, or the refusal is what the task delivers
// (behaviour 2.3 to 2.7, 2.11).
//
// A refusal is noticed on the loop and decided elsewhere, since storages and delegates are the program's own code: on
// the delegate queue or, for an async call that has none, on a helper thread. Meanwhile nothing of the response's body
// goes anywhere. It is read on a little all the same, so that others may have the connection, unless the next request
// may have to go over that one.
//
// Must not know: how a proof is made, in which form a delegate is asked (`DelegateInquiry`).

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// A task's proofs to servers and proxies that refuse it without one.
struct TaskAuthentication: Sendable {
    let task: TaskCore

    // MARK: On the loop

    /// What becomes of a response to a hop that asks for credentials in a way that is understood (B2.12); else nil.
    func fate(
        ofRefusal head: ResponseHead, _ response: HTTPURLResponse, on reactor: Reactor
    ) -> HopAnswer.Fate? {
        guard head.status == 401 || head.status == 407, let session = task.session,
            let handle = task.state.withLock({ $0.load.transaction }), let side = handle.side(refusingWith: head.status)
        else { return nil }
        let step = noteRefusal(head, by: side, of: handle.authenticated(for: side), session.authentication)
        if case .deliver = step { return nil }
        takeStep(step, Refusal(.response(response, handle), by: side), on: reactor)
        return .undecided(bindsConnection: step.bindsConnection)
    }

    /// A proxy does not open a tunnel for this task.
    func refused(by question: ProxyQuestion, on reactor: Reactor) {
        guard let session = task.session else { return question.answer(.giveUp) }
        let side = AuthenticationSide(question.proxy)
        task.state.withLock { if $0.isAuthenticating { $0.authentication.tunnelSteps += 1 } }
        if question.isFirst {
            // What was given for a connection before may have been accepted; it is not what the proxy refuses now.
            task.state.letGo { state -> CredentialOffer? in
                state.isAuthenticating ? state.authentication[side]?.forgetUnanswered() : nil
            }
        }
        switch question.demand {
        case .http(let head, let target):
            let request = AuthenticatedRequest(method: "CONNECT", target: target)
            if let ahead = question.ahead { noteAhead(ahead, session.authentication) }
            if question.beganAnew {
                task.state.withLock { if $0.isAuthenticating { _ = $0.authentication[side]?.beganAnew() } }
            }
            let step = noteRefusal(head, by: side, of: request, session.authentication)
            let response = HTTPURLResponse(
                url: task.state.withLock { $0.currentRequest?.url }, head: head, framing: .none, bodyIsDecoded: false)
            takeStep(step, Refusal(.tunnel(question, response), by: side), on: reactor)
        case .socksPassword:
            let failures = task.state.withLock { state in
                var rounds = state.authentication[side] ?? session.authentication.rounds(with: side)
                // What the settings say was tried before a delegate was asked.
                let wasRefused = rounds.offer != nil || rounds.socksRefusals == 0 && question.proxy.credentials != nil
                if wasRefused { rounds.socksRefusals += 1 }
                rounds.noteRefusal()
                state.authentication[side] = rounds
                return rounds.socksRefusals
            }
            let refusal = Refusal(socks: question, failures: failures)
            if failures < AuthenticationMachine.maximumAnswers {
                enqueue(refusal, on: reactor)
            } else {
                giveUp(refusal)
            }
        }
    }

    /// A CONNECT has gone out with what the session remembered then, which was no task's doing.
    private func noteAhead(_ ahead: Authorization, _ authentication: SessionAuthentication) {
        task.state.withLock { state in
            let known = state.isAuthenticating ? state.authentication[ahead.space.side] : nil
            var rounds = known ?? authentication.rounds(with: ahead.space.side)
            rounds.begin(ahead, isTunnel: true)
            state.authentication[ahead.space.side] = rounds
        }
    }

    private func noteRefusal(
        _ head: ResponseHead, by side: AuthenticationSide, of request: AuthenticatedRequest,
        _ authentication: SessionAuthentication
    ) -> AuthenticationMachine.Step {
        let freshness = authentication.freshness()
        let (step, wrong) = task.state.withLock { state -> (AuthenticationMachine.Step, Authorization?) in
            let known = state.isAuthenticating ? state.authentication[side] : nil
            var rounds = known ?? authentication.rounds(with: side)
            let ahead = rounds.authorization.flatMap { $0.isAhead ? $0 : nil }
            let step = rounds.machine.refused(head, request: request, freshness: freshness)
            switch step {
            // A refusal that leads to no question leaves no trace where there was none.
            case .deliver where known == nil: return (step, nil)
            // The proof that was under way goes on: with another nonce, or with the next round of a handshake.
            case .send, .negotiate(_, challenge: .some): state.authentication[side] = rounds
            case .ask, .negotiate(_, challenge: nil), .deliver:
                rounds.noteRefusal()
                state.authentication[side] = rounds
                if let ahead { state.authentication.own.forget(ahead) }
                return (step, ahead)
            }
            return (step, nil)
        }
        // B2.78.
        if let wrong { authentication.forget(wrong) }
        return step
    }

    // MARK: The way to the delegate that is asked

    private func takeStep(_ step: AuthenticationMachine.Step, _ refusal: Refusal, on reactor: Reactor? = nil) {
        switch step {
        case .ask(let space, let failures):
            let question = refusal.asking(space, failures: failures)
            if question.takesPassword { enqueue(question, on: reactor) } else { askForTicket(question, on: reactor) }
        case .negotiate(let space, let challenge): negotiate(refusal.asking(space, failures: 0), challenge)
        case .send(let authorization): goOn(refusal, with: authorization)
        case .deliver: giveUp(refusal)
        }
    }

    /// Brings a question to where it may be answered.
    private func enqueue(_ refusal: Refusal, on reactor: Reactor?) {
        guard task.usesRelay else {
            if !BlockingPool.authentication.run({ [self] in answerByDefault(refusal) }) { giveUp(refusal) }
            return
        }
        if storage(for: refusal.side)?.isPlain ?? true {
            task.delivery.post(.refusal(refusal), on: reactor)
        } else {
            // Order: before the question has its turn, since the answer may come late and on any thread.
            lookUp(refusal) { [self] in task.delivery.post(.refusal($0)) }
        }
    }

    /// B2.95: no delegate is asked for a ticket that the system cannot show, since its library is missing.
    private func askForTicket(_ refusal: Refusal, on reactor: Reactor?) {
        guard task.usesRelay else { return enqueue(refusal, on: reactor) }
        NegotiateRounds.lookForLibrary { [self] failure in
            if let failure { skip(refusal, for: failure) } else { enqueue(refusal, on: nil) }
        }
    }

    /// The ticket may be shown, and no delegate is asked any more (B2.11). The system's library
    /// may use the network for it.
    private func negotiate(_ refusal: Refusal, _ challenge: String?) {
        let rounds = task.state.withLock { state in
            let begun = challenge == nil ? nil : state.authentication[refusal.side]?.negotiation
            let rounds = begun ?? NegotiateRounds(host: refusal.side.host)
            state.authentication[refusal.side]?.negotiation = rounds
            return rounds
        }
        let inquiry = TicketInquiry { [self] result in
            switch result {
            case .success(let token): tellRounds(.token(token), of: refusal)
            case .failure(let failure): skip(refusal, for: failure)
            }
        }
        inquiry.begin(rounds, challenge, limit: ticketTime(of: refusal))
    }

    /// How long a ticket is waited for: as long as for anything that the request needs (B6.1), and for a tunnel that is
    /// to be opened, as long as for the connection (B6.39).
    private func ticketTime(of refusal: Refusal) -> Duration? {
        guard let settings = task.session?.settings, let request = task.currentRequest else { return nil }
        let idle = settings.idleTimeout(request)
        guard case .tunnel = refusal.subject, let limit = settings.engine.connectionTimeout else { return idle }
        return min(idle, limit)
    }

    /// B2.95: without a ticket, or without the library, the next scheme is offered.
    private func skip(_ refusal: Refusal, for failure: NegotiateFailure) {
        task.state.withLock { state in
            state.authentication[refusal.side]?.negotiationFailure = failure
            // The library may be at work in them still.
            state.authentication[refusal.side]?.negotiation = nil
            // What was given for it has not been sent.
            state.authentication[refusal.side]?.offer = nil
        }
        tellRounds(.none, of: refusal)
    }

    // MARK: Asking

    /// Whether the refusal is still about what the task is doing.
    func isOpen(_ refusal: Refusal) -> Bool {
        task.state.withLock { state in
            guard !state.isOver else { return false }
            return switch refusal.subject {
            case .response(_, let handle): handle === state.load.transaction
            case .tunnel: state.load.handle != nil
            }
        }
    }

    /// Asks the delegates, on their queue: for NTLM and Negotiate the session's method first, else the
    /// tasks' alone (B2.1 to B2.4).
    func askAboutRefusal(_ refusal: Refusal) {
        // B2.101: what the settings say about a proxy is tried before a delegate is asked.
        if let configured = configuredOffer(for: refusal) { return use(configured, for: refusal) }
        if storage(for: refusal.side)?.isPlain ?? false { return lookUp(refusal) { [self] in ask(about: $0) } }
        ask(about: refusal)
    }

    private func ask(about refusal: Refusal) {
        task.questions.challenge(about: .refusal(refusal)) { sender in
            URLAuthenticationChallenge(
                protectionSpace: refusal.space, proposedCredential: proposal(for: refusal),
                previousFailureCount: refusal.failures, failureResponse: refusal.response,
                error: negotiationError(of: refusal), sender: sender)
        }
    }

    /// Why Negotiate, which the other side would have preferred, was skipped (B2.95).
    private func negotiationError(of refusal: Refusal) -> URLError? {
        let (failure, url) = task.state.withLock { state in
            (state.authentication[refusal.side]?.negotiationFailure, state.currentRequest?.url)
        }
        return failure.map { LoadFailure.make(.userAuthenticationRequired, url, $0.description) }
    }

    // MARK: Answers

    /// Does what was said about a refusal.
    func decideOnRefusal(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?, for refusal: Refusal
    ) {
        switch disposition {
        case .performDefaultHandling:
            answerByDefault(refusal)
        case .rejectProtectionSpace:
            // B2.39.
            tellRounds(.reject, of: refusal)
        case .cancelAuthenticationChallenge:
            // B2.38.
            if case .tunnel(let question, _) = refusal.subject { question.answer(.cancel) }
            task.trust.cancelTask()
        case .useCredential:
            switch credential {
            // B2.34.
            case nil: tellRounds(.unauthenticated, of: refusal)
            case let credential?:
                use(
                    CredentialOffer(
                        credential: credential, space: refusal.space, isDelegates: true,
                        isTasksOwn: credential.persistence == .none), for: refusal)
            }
        }
    }

    /// What the settings, the URL or the storage say, unless it was refused before (B2.36, B2.44, B2.48).
    private func answerByDefault(_ refusal: Refusal) {
        lookUp(refusal) { [self] refusal in
            guard let offer = configuredOffer(for: refusal) ?? usualOffer(for: refusal) else {
                return tellRounds(.none, of: refusal)
            }
            use(offer, for: refusal)
        }
    }

    private func use(_ offer: CredentialOffer, for refusal: Refusal) {
        // B2.35.
        guard let said = refusal.meaning(of: offer.credential) else { return tellRounds(.none, of: refusal) }
        task.state.withLock { $0.authentication[refusal.side]?.note(offer) }
        if case .tunnel(let question, nil) = refusal.subject, case .password(let password) = said {
            let accepted = acceptance(ofTunnelTo: question.origin.authority, by: refusal.side)
            question.answer(.password(user: password.user, password: password.password, accepted: accepted))
        } else {
            tellRounds(said, of: refusal)
        }
    }

    private func tellRounds(_ answer: AuthenticationMachine.Answer, of refusal: Refusal) {
        // A SOCKS proxy has one space and no rounds.
        if case .tunnel(_, nil) = refusal.subject { return giveUp(refusal) }
        guard let freshness = task.session?.authentication.freshness() else { return giveUp(refusal) }
        let step = task.state.withLock {
            $0.authentication[refusal.side]?.machine.answered(answer, freshness: freshness)
        }
        takeStep(step ?? .deliver, refusal)
    }

    // MARK: The end of a refusal

    /// The request goes out again, or CONNECT.
    private func goOn(_ refusal: Refusal, with authorization: Authorization) {
        switch refusal.subject {
        case .response(_, let handle):
            let isWanted = task.state.withLock { state in
                // A task that was cancelled meanwhile, or whose hop has broken off, has nothing to go on with.
                guard !state.isOver, state.load.transaction === handle else { return false }
                state.authentication[refusal.side]?.authorization = authorization
                state.authentication[refusal.side]?.isTunnels = false
                state.authentication.goesAgain = true
                if authorization.bindsConnection { state.authentication.kept = handle.id }
                state.redirect.deliversBody = false
                return true
            }
            guard isWanted else { return }
            if authorization.bindsConnection {
                // B2.93: the rest is read to its end, so that the connection is free for the next round.
                handle.keepConnection()
                handle.resumeReading()
            } else {
                // B2.99: the next round does not wait for what is left of this one.
                handle.discardRest()
            }
        case .tunnel(let question, _):
            guard case .http(_, let target) = question.demand, let authentication = task.session?.authentication
            else { return question.answer(.giveUp) }
            let request = AuthenticatedRequest(method: "CONNECT", target: target)
            guard let value = authentication.field(authorization, for: request) else { return question.answer(.giveUp) }
            let beginning = task.state.withLock { state in
                state.authentication[refusal.side]?.authorization = authorization
                return state.authentication[refusal.side]?.beginning
            }
            question.answer(
                .authorize(
                    value, beginning: beginning.flatMap { authentication.field($0, for: request) },
                    accepted: acceptance(ofTunnelTo: target, by: refusal.side)))
        }
    }

    /// There is no proof: the refusal is the response (B2.45, B2.46), or the tunnel is not opened (B2.102).
    private func giveUp(_ refusal: Refusal) {
        switch refusal.subject {
        case .tunnel(let question, _): question.answer(.giveUp)
        case .response(let response, _): if isOpen(refusal) { task.hops.show(undecided: response, isFirst: false) }
        }
    }
}

extension AuthenticationMachine.Step {
    /// Whether what follows may be about the connection (B2.93).
    fileprivate var bindsConnection: Bool {
        switch self {
        case .ask(let space, _), .negotiate(let space, _): space.method.bindsConnection
        case .send(let authorization): authorization.bindsConnection
        case .deliver: false
        }
    }
}

extension TaskCore {
    /// How the task proves its credentials.
    var authentication: TaskAuthentication { TaskAuthentication(task: self) }
}
