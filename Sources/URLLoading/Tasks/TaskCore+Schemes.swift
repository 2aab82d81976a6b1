// Hops that are no HTTP transactions, and what is peculiar to them. Who carries them is found out before
// (`HopPreparation+Classes`, `HopPreparation+Scheme`).
//
// Must not know: how a carrier gets what it reports, bytes.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension TaskCore {
    /// Lets a carrier load the hop. Most know only wholes.
    func carry(
        _ request: URLRequest, by carrier: any SchemeCarrier, cache: CachePart? = nil, fromInside: Bool = false
    ) {
        guard let session else { return }
        if savesFile, !fromInside { download.beginAtBeginning() }
        let sessionView = tellingView
        let load = state.withLock { state -> SchemeLoad? in
            guard state.machine.begin() else { return nil }
            state.cachePart = cache
            state.detour = nil
            state.sentFields = nil
            let load = SchemeLoad(
                request, of: self, plan: plan(of: state, sessionView), by: carrier,
                limits: SchemeLoad.Limits(
                    idle: session.settings.idleTimeout(request), deadline: state.resourceDeadline))
            state.load = .other(load)
            return load
        }
        guard let load else { return endUnloaded(LoadFailure.cancelled(request.url)) }
        tellLoadOfSuspension()
        load.begin()
    }

    // MARK: Questions

    /// Asks the delegates about a carrier's challenge, on their queue (B2.2 to B2.4).
    func askAboutCarrier(_ question: SchemeQuestion) {
        guard let token = mailbox.withLock({ $0.beginWaiting() }) else { return }
        guard question.isAsked(under: token) else {
            _ = mailbox.withLock { $0.endWaiting(for: token) }
            return
        }
        let subject = TaskChallenge.Subject.carrier(question)
        let shown = URLAuthenticationChallenge(
            authenticationChallenge: question.challenge,
            sender: ChallengeSender(core: self, token: token, subject: subject))
        let asked = TaskQuestion.challenge(
            TaskChallenge(shown: shown, subject: subject), ofTask: !question.challenge.protectionSpace.isSessionWide)
        DelegateInquiry(task: self, question: asked, token: token).begin()
    }

    /// The question under this token has no answer any more.
    func stopWaiting(for token: WaitNumber) {
        if mailbox.withLock({ $0.endWaiting(for: token) }) { session?.relay.schedule(self) }
    }
}
