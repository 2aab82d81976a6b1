// The challenges that come with a connection: whether its server is believed, and which certificate of
// ours it is shown. The handshake waits for the answer, and with it the task; what the session does by
// default is the engine's affair.
//
// Must not know: which delegate is asked, and in which form (`DelegateInquiry`).

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingTrust

/// One challenge: what the delegate sees of it, and what waits for the answer.
struct TaskChallenge: Sendable {
    /// What waits.
    enum Subject: Sendable {
        /// A handshake.
        case connection(ConnectionQuestion, Respondent)
        /// A request that was refused.
        case refusal(Refusal)
        /// Something else than a transaction.
        case carrier(SchemeQuestion)
    }

    let shown: URLAuthenticationChallenge
    let subject: Subject
}

/// Which delegate is asked about a connection at this moment: its answer is the next one.
final class Respondent: Sendable {
    private let isOwn = Atomic<Bool>(false)

    /// Whether it is the task's own delegate.
    var isTasksOwn: Bool {
        get { isOwn.load(ordering: .acquiring) }
        set { isOwn.store(newValue, ordering: .releasing) }
    }
}

/// A task's part in the judgement of servers.
struct TaskTrust: Sendable {
    let task: TaskCore

    /// What judges servers where no delegate does: the session's, or the system's for a mock.
    var evaluator: any TrustEvaluator { task.session?.settings.evaluator ?? SecTrust.system }

    /// Whether some delegate may have a method for challenges.
    var answersChallenges: Bool {
        // Without a delegate queue there is no delegate.
        guard task.usesRelay else { return false }
        return task.delegates.contains { $0.mayAnswerChallenges }
    }

    /// Whether a delegate of the task alone may say which servers are believed.
    var judgesApart: Bool {
        guard task.usesRelay, let own = task.state.withLock({ $0.delegateView }), own.mayAnswerChallenges else {
            return false
        }
        return own.session !== task.session?.delegateView?.session
    }

    /// What the task asks of stored answers over TLS. Where a delegate is asked about servers, and may have another
    /// opinion than the evaluation, they must have come to the session that the delegate belongs to; a delegate of the
    /// task alone knows none (B7.102).
    func demand(of request: URLRequest, in cache: SessionCache) -> TrustDemand {
        guard request.url?.scheme.flatMap({ Scheme($0) }) != .http else { return .plain }
        let isAsked = task.session?.settings.engine.asksAboutServers ?? true
        return TrustDemand(
            rule: cache.trustRule, judge: isAsked && judgesApart ? nil : cache.judge,
            ruleSuffices: !isAsked || !answersChallenges)
    }

    /// Whose judgement a connection of the task stands by: the session's, or that of the task's own delegate
    /// where it may be asked (B2.8). Decided once, so that what is learnt about delegates meanwhile takes no
    /// connection away from the task.
    func judge(ofConnectionTo origin: Origin, by route: Route) -> ConnectionJudge {
        guard task.usesRelay, let session = task.session, PoolKey.isJudged(origin, by: route) else { return .session }
        let (decided, own) = task.state.withLock { ($0.judge, $0.judge == nil ? $0.delegateView : nil) }
        if let decided { return decided }
        guard let own else { return .session }
        let mayJudge = session.settings.engine.asksAboutServers && own.mayJudge(beside: session.delegateView)
        let judge: ConnectionJudge = mayJudge ? session.judges.judge(own.session) : .session
        task.state.withLock { $0.judge = judge }
        return judge
    }

    /// The judge that was decided on, unless it has turned out to have no say before the request came to its loop: what
    /// other tasks have taught of its class is known there first.
    func confirms(_ judge: ConnectionJudge) -> ConnectionJudge {
        let sessions = task.session?.delegateView
        return task.state.withLock { state in
            guard let own = state.delegateView, !own.mayJudge(beside: sessions) else { return judge }
            state.judge = .session
            return .session
        }
    }

    /// Asks the delegates, on their queue: the session's method first, then the tasks' (B2.2).
    func askAboutConnection(_ question: ConnectionQuestion) {
        guard let space = URLProtectionSpace(question) else {
            // Passwords are another matter (`TaskAuthentication`).
            if case .proxy(let asked) = question { asked.answer(.giveUp) }
            return
        }
        task.questions.challenge(about: .connection(question, Respondent())) { sender in
            // B2.19.
            URLAuthenticationChallenge(
                protectionSpace: space, proposedCredential: URLCredential(proposedBy: question),
                previousFailureCount: 0, failureResponse: nil,
                error: nil, sender: sender)
        }
    }

    /// Does what was said about a challenge.
    func decideOnChallenge(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?, for challenge: TaskChallenge
    ) {
        switch challenge.subject {
        case .connection(let question, let respondent):
            if !respondent.isTasksOwn { leaveToSession(question) }
            answerHandshake(disposition, credential, to: question)
        case .refusal(let refusal): return task.authentication.decideOnRefusal(disposition, credential, for: refusal)
        case .carrier(let question): question.answer(disposition, credential)
        }
        // Order: the connection goes with the request that was asked; told afterwards, it would be offered to the next.
        if disposition == .cancelAuthenticationChallenge { cancelTask() }
    }

    /// Ends the task whose challenge was cancelled (B2.38). That is a word about who has asked, and not about what was
    /// loaded before.
    func cancelTask() {
        task.download.keepUntouched()
        task.driver.cancel()
    }

    /// The task's own delegate was thought to judge connections, and does not judge this one: from
    /// now on the session does.
    private func leaveToSession(_ question: ConnectionQuestion) {
        let wasOwn = task.state.withLock { state in
            guard let judge = state.judge, judge != .session else { return false }
            state.judge = .session
            return true
        }
        if wasOwn { question.leaveToSession() }
    }

    /// Tells a handshake what was said.
    func answerHandshake(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?,
        to question: ConnectionQuestion
    ) {
        switch question {
        case .peer(let question): question.answer(verdict(disposition, credential, on: question))
        case .identity(let question): question.answer(shown(disposition, credential, for: question))
        case .proxy(let question): question.answer(.giveUp)
        }
    }

    private func verdict(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?, on question: PeerQuestion
    ) -> PeerQuestion.Answer {
        func refusal(_ reason: String) -> PeerQuestion.Answer {
            .refuse(TrustFailure(.other(reason), question.chain.leaf))
        }
        return switch disposition {
        case .cancelAuthenticationChallenge: .cancel
        case .performDefaultHandling: .evaluate
        // B2.40.
        case .rejectProtectionSpace: refusal("the session's delegate has rejected it")
        case .useCredential:
            switch credential {
            // B2.34.
            case nil: .evaluate
            // B2.43: whatever the trust's own evaluation says. It must be about this server, though.
            case let credential? where credential.trust?.presented.leaf == question.chain.leaf: .accept
            // B2.35.
            case _?: refusal("the session's delegate has answered with a credential that does not vouch for it")
            }
        }
    }

    private func shown(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?, for question: IdentityQuestion
    ) -> IdentityQuestion.Answer {
        switch disposition {
        case .cancelAuthenticationChallenge: .cancel
        case .performDefaultHandling: .show(question.usual)
        // B2.41.
        case .rejectProtectionSpace: .show(nil)
        // B2.34, B2.35: what is no identity is no credential.
        case .useCredential: .show(credential?.shownIdentity)
        }
    }
}

extension TaskCore {
    /// Which servers the task trusts.
    var trust: TaskTrust { TaskTrust(task: self) }
}

extension URLCredential {
    /// The identity that a handshake shows by default (B2.14, B2.69); nil where there is none, or
    /// something else is asked.
    convenience init?(proposedBy question: ConnectionQuestion) {
        guard case .identity(let asked) = question, let usual = asked.usual else { return nil }
        self.init(
            identity: SecIdentity(usual), certificates: usual.chain.certificates.dropFirst().map(SecCertificate.init),
            persistence: .forSession)
    }

    /// The identity with the certificates that are to be shown beside it (B2.51).
    var shownIdentity: Identity? {
        guard let identity = identity?.identity else { return nil }
        return intermediates.isEmpty ? identity : identity.showing(intermediates.map(\.certificate))
    }
}

extension URLProtectionSpace {
    /// What a handshake asks about; nil where a proxy asks for a password.
    convenience init?(_ question: ConnectionQuestion) {
        switch question {
        case .peer(let peer):
            self.init(
                serverTrust: SecTrust(presented: peer.chain, policy: peer.policy, evaluator: peer.evaluator),
                host: peer.origin.host, port: peer.origin.port, isProxy: peer.proxy != nil)
        case .identity(let identity):
            self.init(
                distinguishedNames: identity.acceptableIssuers.map { Data($0) }, host: identity.origin.host,
                port: identity.origin.port, isProxy: identity.proxy != nil)
        case .proxy:
            return nil
        }
    }
}
