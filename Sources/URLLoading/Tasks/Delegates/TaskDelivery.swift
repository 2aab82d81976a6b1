// A task's events on their way out: a list, which the delegate queue works through in order.
//
// Must not know: how a delegate is called (`TaskTelling`, `DelegateQuestions`), how a task ends (`TaskCompletion`).

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// A task as one that has events to deliver.
struct TaskDelivery: Sendable {
    let task: TaskCore

    // MARK: Putting in

    /// Adds an event to the task's list; on a loop it sets off at the end of the turn.
    func post(_ event: TaskEvent, on reactor: Reactor? = nil) {
        guard task.usesRelay else { return }
        let (mustSchedule, isHeldUp) = task.mailbox.withLock { ($0.post(event), $0.isWaitingBeforeEnd) }
        if mustSchedule { schedule(on: reactor) }
        if isHeldUp { task.questions.limitWaiting() }
    }

    /// Adds a piece of the body; says whether more can be taken.
    @discardableResult
    func post(body piece: Data, on reactor: Reactor?) -> ReceiverDemand {
        let (mustSchedule, demand) = task.mailbox.withLock { $0.post(body: piece) }
        if mustSchedule { schedule(on: reactor) }
        return demand
    }

    private func schedule(on reactor: Reactor?) {
        guard let relay = task.session?.relay else { return }
        if let reactor { RelayBatch.of(reactor).add(task, to: relay) } else { relay.schedule(task) }
    }

    // MARK: Questions that hold it up

    /// The question under this token has been answered, or is not to be answered any more: what
    /// stands behind it goes on.
    func endQuestion(_ token: WaitNumber) {
        if task.mailbox.withLock({ $0.endWaiting(for: token) }) { schedule(on: nil) }
    }

    /// The task ends: no question holds anything up any more.
    func abandonQuestions() {
        if task.mailbox.withLock({ $0.abandonWaiting() }) { schedule(on: nil) }
    }

    // MARK: Taking out

    /// Delivers what there is, in order, up to a question that is not answered at once, or until others have their
    /// turn. Whether something is left.
    func work(mayGoOn: () -> Bool) -> Bool {
        var events = task.mailbox.withLock { $0.take() }
        while let event = events.popLast() {
            bring(event)
            switch task.mailbox.withLock({ $0.goOn(returning: &events) }) {
            case .next: if events.isEmpty { events = task.mailbox.withLock { $0.take() } }
            case .takeAgain: events = task.mailbox.withLock { $0.take() }
            case .wait:
                if task.mailbox.withLock({ $0.isWaitingBeforeEnd }) { task.questions.limitWaiting() }
                return false
            }
            if !events.isEmpty, !mayGoOn() {
                task.mailbox.withLock { $0.putBack(&events) }
                return true
            }
        }
        return false
    }

    /// Brings one event to the delegate, the handler or the store that it is for.
    private func bring(_ event: TaskEvent) {
        switch event {
        case .informational(let response):
            guard !task.isOver else { return }
            task.telling.tell(.informationalResponse) {
                $0.urlSession($1, task: $2, didReceiveInformationalResponse: response)
            }
        case .sent(let total):
            guard !task.isOver else { return }
            task.telling.tellSent(total)
        case .sendsAgain:
            task.telling.countSentAnew()
        case .cookies(let cookies):
            task.cookies.storeInProgramsOwn(cookies)
        case .ownersCookies(let cookies, let url):
            task.cookies.storeInProgramsOwn(cookies, from: url)
        case .redirect(let response, let request):
            guard !task.isOver else { return }
            task.questions.ask(.redirect(response, request))
        case .response(let response):
            guard !task.isOver else { return }
            task.questions.ask(.response(response))
        case .part(let response):
            task.mailbox.withLock { $0.tellingPart() }
            guard !task.isOver else { return }
            task.counting.responseArrived(response, hasBody: true)
            task.questions.ask(.part(response))
        case .delayed(let request, let wait):
            guard !task.isOver else { return }
            task.questions.ask(.delayed(request, wait))
        case .waiting:
            guard !task.isOver, task.state.withLock({ $0.tellsWaiting() }) else { return }
            task.telling.tell(.waiting) { $0.urlSession($1, taskIsWaitingForConnectivity: $2) }
        case .challenge(let question):
            guard !task.isOver else { return }
            task.trust.askAboutConnection(question)
        case .refusal(let refusal):
            guard task.authentication.isOpen(refusal) else { return }
            task.authentication.askAboutRefusal(refusal)
        case .question(let question):
            guard !task.isOver else { return }
            task.questions.challenge(about: .carrier(question)) { sender in
                URLAuthenticationChallenge(authenticationChallenge: question.challenge, sender: sender)
            }
        case .accepted(let offer):
            task.authentication.storeOffer(offer)
        case .data(let data):
            if task.mailbox.withLock({ $0.tellsBody }) { task.telling.tellData(data) }
            if task.mailbox.withLock({ $0.delivered(bytes: data.count) }) {
                task.hops.resumeReading()
            }
        case .storedBody(let data):
            if task.mailbox.withLock({ $0.tellsBody }) { task.caching.deliver(data) }
        case .caching(let step):
            task.caching.changeProgramsOwn(by: step)
        case .written(let total):
            guard !task.isOver else { return }
            task.download.tellWritten(total)
        case .resumed(let offset, let total):
            guard !task.isOver else { return }
            task.download.tellResumed(at: offset, total: total)
        case .becameDownload(let before, let after):
            guard !task.isOver else { return }
            task.telling.tellBecame(.becomeDownload) { $0.urlSession($1, dataTask: before, didBecome: after) }
        case .becameStream(let before, let after):
            task.telling.tellBecame(.becomeStream) { $0.urlSession($1, dataTask: before, didBecome: after) }
        case .needsBodyStream(let wait):
            guard !task.isOver else { return }
            task.questions.ask(.bodyStream(wait, offset: task.isUpload ? task.state.withLock { $0.streamOffset } : nil))
        case .hopEnded(let end):
            task.mailbox.withLock { $0.tellingEnd() }
            task.hops.goOn(after: end)?.resume()
        case .stream(let event):
            task.stream.heed(event)
        case .webSocket(let event):
            task.webSocket.heed(event)
        case .endedUnloaded(let error):
            task.completion.begin(error)?.resume()
        case .ending(let ending):
            task.completion.goOn(ending)
        case .unanswered:
            break
        }
    }
}

extension TaskCore: RelayClient {
    /// What the task has to tell, on its way.
    var delivery: TaskDelivery { TaskDelivery(task: self) }

    /// Called by the relay.
    func deliver(mayGoOn: () -> Bool) -> Bool { delivery.work(mayGoOn: mayGoOn) }
}
