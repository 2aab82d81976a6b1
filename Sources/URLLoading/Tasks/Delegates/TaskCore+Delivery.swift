// A task's events on their way out: a list, which the delegate queue works through in order.
//
// Must not know: how a delegate is called (`TaskCore+Telling`), how a task ends (`TaskCore+End`).

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension TaskCore: RelayClient {
    /// Adds an event to the task's list; on a loop it sets off at the end of the turn.
    func post(_ event: TaskEvent, on reactor: Reactor? = nil) {
        guard usesRelay else { return }
        let (mustSchedule, isHeldUp) = mailbox.withLock { ($0.post(event), $0.isWaitingBeforeEnd) }
        if mustSchedule { schedule(on: reactor) }
        if isHeldUp { limitWaiting() }
    }

    /// Adds a piece of the body; says whether more can be taken.
    @discardableResult
    func post(body piece: Data, on reactor: Reactor?) -> ReceiverDemand {
        let (mustSchedule, demand) = mailbox.withLock { $0.post(body: piece) }
        if mustSchedule { schedule(on: reactor) }
        return demand
    }

    private func schedule(on reactor: Reactor?) {
        guard let relay = session?.relay else { return }
        if let reactor { RelayBatch.of(reactor).add(self, to: relay) } else { relay.schedule(self) }
    }

    /// Delivers what there is, in order, up to a question that is not answered at once, or until others have their turn.
    func deliver(mayGoOn: () -> Bool) -> Bool {
        var events = mailbox.withLock { $0.take() }[...]
        while let event = events.popFirst() {
            deliver(event)
            switch mailbox.withLock({ $0.goOn(returning: events) }) {
            case .next: if events.isEmpty { events = mailbox.withLock { $0.take() }[...] }
            case .takeAgain: events = mailbox.withLock { $0.take() }[...]
            case .wait:
                if mailbox.withLock({ $0.isWaitingBeforeEnd }) { limitWaiting() }
                return false
            }
            if !events.isEmpty, !mayGoOn() {
                mailbox.withLock { $0.putBack(events) }
                return true
            }
        }
        return false
    }

    private func deliver(_ event: TaskEvent) {
        switch event {
        case .informational(let response):
            guard !isOver else { return }
            tell(.informationalResponse) { $0.urlSession($1, task: $2, didReceiveInformationalResponse: response) }
        case .sent(let total):
            guard !isOver else { return }
            tellSent(total)
        case .cookies(let cookies):
            storeCookies(cookies)
        case .redirect(let response, let request):
            guard !isOver else { return }
            ask(.redirect(response, request))
        case .response(let response):
            guard !isOver else { return }
            ask(.response(response))
        case .part(let response):
            mailbox.withLock { $0.tellingPart() }
            guard !isOver else { return }
            responseArrived(response, hasBody: true)
            ask(.part(response))
        case .delayed(let request, let wait):
            guard !isOver else { return }
            ask(.delayed(request, wait))
        case .waiting:
            guard !isOver, state.withLock({ $0.tellsWaiting() }) else { return }
            tell(.waiting) { $0.urlSession($1, taskIsWaitingForConnectivity: $2) }
        case .challenge(let question):
            guard !isOver else { return }
            trust.askAboutConnection(question)
        case .refusal(let refusal):
            guard authentication.isOpen(refusal) else { return }
            authentication.askAboutRefusal(refusal)
        case .question(let question):
            guard !isOver else { return }
            askAboutCarrier(question)
        case .accepted(let offer):
            authentication.storeOffer(offer)
        case .data(let data):
            if mailbox.withLock({ $0.tellsBody }) { tellData(data) }
            if mailbox.withLock({ $0.delivered(bytes: data.count) }) {
                state.withLock { $0.load.handle }?.resumeReading()
            }
        case .storedBody(let data):
            if mailbox.withLock({ $0.tellsBody }) { caching.deliver(data) }
        case .caching(let step):
            caching.changeProgramsOwn(by: step)
        case .written(let total):
            guard !isOver else { return }
            download.tellWritten(total)
        case .resumed(let offset, let total):
            guard !isOver else { return }
            download.tellResumed(at: offset, total: total)
        case .becameDownload(let before, let after):
            guard !isOver else { return }
            tellBecame(.becomeDownload) { $0.urlSession($1, dataTask: before, didBecome: after) }
        case .becameStream(let before, let after):
            tellBecame(.becomeStream) { $0.urlSession($1, dataTask: before, didBecome: after) }
        case .needsBodyStream(let wait):
            guard !isOver else { return }
            ask(.bodyStream(wait, offset: isUpload ? state.withLock { $0.streamOffset } : nil))
        case .hopEnded(let end):
            mailbox.withLock { $0.tellingEnd() }
            decide(after: end)?.resume()
        case .stream(let event):
            stream.heed(event)
        case .webSocket(let event):
            webSocket.heed(event)
        case .endedUnloaded(let error):
            complete(error)?.resume()
        case .ending(let ending):
            goOn(ending)
        }
    }

    var isOver: Bool { state.withLock { $0.isOver } }
}
