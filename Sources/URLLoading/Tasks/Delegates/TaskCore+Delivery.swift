// A task's events on their way out: to the delegates and handlers on the delegate queue, or straight to an async call.

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
            store(cookies)
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
            askAboutConnection(question)
        case .refusal(let refusal):
            guard isOpen(refusal) else { return }
            askAboutRefusal(refusal)
        case .question(let question):
            guard !isOver else { return }
            askAboutCarrier(question)
        case .accepted(let offer):
            store(offer)
        case .data(let data):
            if mailbox.withLock({ $0.tellsBody }) { tellData(data) }
            if mailbox.withLock({ $0.delivered(bytes: data.count) }) {
                state.withLock { $0.load.handle }?.resumeReading()
            }
        case .storedBody(let data):
            if mailbox.withLock({ $0.tellsBody }) { deliverStored(data) }
        case .caching(let step):
            changeProgramsCache(by: step)
        case .written(let total):
            guard !isOver else { return }
            tellWritten(total)
        case .resumed(let offset, let total):
            guard !isOver else { return }
            tellResumed(at: offset, total: total)
        case .becameDownload(let before, let after):
            guard !isOver else { return }
            tellBecame(.becomeDownload) { $0.urlSession($1, dataTask: before, didBecome: after) }
        case .becameStream(let before, let after):
            tellBecame(.becomeStream) { $0.urlSession($1, dataTask: before, didBecome: after) }
        case .needsBodyStream(let wait):
            guard !isOver else { return }
            ask(.bodyStream(wait, offset: kind == .upload ? state.withLock { $0.streamOffset } : nil))
        case .hopEnded(let end):
            mailbox.withLock { $0.tellingEnd() }
            decide(after: end)?.resume()
        case .stream(let event):
            deliver(event)
        case .webSocket(let event):
            deliver(event)
        case .endedUnloaded(let error):
            complete(error)?.resume()
        case .ending(let ending):
            goOn(ending)
        }
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    // MARK: Telling

    /// Calls a method of the task's delegate or, if that has none such, of the session's (B1.95, B1.96).
    func tell(
        _ method: DelegateMethod, _ call: (any URLSessionTaskDelegate, URLSession, URLSessionTask) -> Void
    ) {
        let (view, urlSession) = state.withLock { ($0.delegateView, $0.session) }
        guard let urlSession else { return }
        if let delegate = view?.task, tell(delegate, method, call, urlSession) { return }
        if let delegate = session?.delegateView?.task { _ = tell(delegate, method, call, urlSession) }
    }

    private func tell(
        _ delegate: any URLSessionTaskDelegate, _ method: DelegateMethod,
        _ call: (any URLSessionTaskDelegate, URLSession, URLSessionTask) -> Void, _ urlSession: URLSession
    ) -> Bool {
        probe.arm(method)
        call(delegate, urlSession, face)
        return probe.disarm()
    }

    private func tellSent(_ total: Int64) {
        // The body is sent once more, from its beginning.
        let base = kind == .upload ? state.withLock { $0.upload?.base ?? 0 } : 0
        guard total > base else { return state.withLock { $0.sentTold = base } }
        let before = state.withLock { state in
            defer { state.sentTold = total }
            // A replay or a redirect starts again from the beginning.
            return total < state.sentTold ? base : state.sentTold
        }
        let expected = counters.expectedToSend.load(ordering: .relaxed)
        tell(.sendBodyData) {
            $0.urlSession(
                $1, task: $2, didSendBodyData: total - before, totalBytesSent: total,
                totalBytesExpectedToSend: expected)
        }
    }

    /// Calls the data method of the task's delegate or, where it is asked for pieces, of the session's.
    func tellData(_ data: Data) {
        guard !isOver, let task = face as? URLSessionDataTask else { return }
        let (view, urlSession) = state.withLock { ($0.delegateView, $0.session) }
        guard let urlSession else { return }
        let call = { (delegate: any URLSessionDataDelegate) in
            self.probe.arm(.data)
            delegate.urlSession(urlSession, dataTask: task, didReceive: data)
            return self.probe.disarm()
        }
        if let delegate = view?.data, call(delegate) { return }
        if case .delegate = outlet, let delegate = session?.delegateView?.data { _ = call(delegate) }
    }

    // MARK: The end

    /// Ends the task: metrics, then the last message (B1.60). A cancellation that comes before the last message wins
    /// (B17.54). Returns the async call that waits for the end, for the caller to resume.
    func complete(_ failure: (any Error)?, body: Data? = nil, file: TemporaryFile? = nil) -> EndedCall? {
        let failure = kind == .upload ? endingUpload(failure) : failure
        let file = outlet.savesFile ? file ?? takeStored() : nil
        if failure != nil, let file, session?.background == nil { keepWhole(file) }
        let ending = TaskEnding(failure: failure, body: body, file: file)
        // B1.100.
        if failure == nil, let file {
            tellFinished(file)
            session?.background?.toldFile(self)
            if usesRelay { return tellNext(ending) }
        }
        return goOnToEnd(ending)
    }

    /// The metrics, and what comes behind them.
    private func goOnToEnd(_ ending: TaskEnding) -> EndedCall? {
        if usesRelay { tellMetrics() }
        announce { state.withLock { $0.machine.hasStarted } ? .metrics(collectedMetrics) : nil }
        guard usesRelay else { return conclude(ending) }
        var ending = ending
        ending.hasMetrics = true
        return tellNext(ending)
    }

    private func conclude(_ ending: TaskEnding) -> EndedCall? {
        conclude(
            state.withLock { $0.end(with: ending.failure, quietly: endsQuietly) }, body: ending.body, file: ending.file)
    }

    /// Puts what is left of an end before everything else: each message is a call of its own (B1.110).
    private func tellNext(_ ending: TaskEnding) -> EndedCall? {
        mailbox.withLock { $0.putFirst(.ending(ending)) }
        return nil
    }

    private func goOn(_ ending: TaskEnding) {
        (ending.hasMetrics ? conclude(ending) : goOnToEnd(ending))?.resume()
    }

    /// Whether nobody is told anything at the end but the async call that waits: all of it may then happen at once.
    var endsQuietly: Bool {
        if case .awaiting = outlet { !usesRelay } else { false }
    }

    /// What follows the end: the last message, and nothing that the session keeps.
    func conclude(_ end: TaskResult, body: Data?, file: TemporaryFile?) -> EndedCall? {
        end.alarm?.cancel()
        end.answerLimit?.cancel()
        if kind == .upload { uploadEnded() }
        if end.error == nil { updateProgress() }
        if let kept = end.kept { session?.engine.abandonKept(after: kept) }
        settle(end.download)
        if endsQuietly {
            session?.ended(self, of: end.session)
            return finish(end, body: body, file: file)
        }
        let wasListed = session?.unlist(self) ?? false
        if end.error != nil { file?.remove() }
        let call = finish(end, body: body, file: file)
        session?.background?.ended(self)
        postNotice(.urlSessionTaskDidComplete)
        state.withLock { $0.letGo() }
        if wasListed { session?.taskEnded(of: end.session) }
        return call
    }

    private func finish(_ end: TaskResult, body: Data?, file: TemporaryFile?) -> EndedCall? {
        switch outlet {
        case .delegate:
            tell(.complete) { $0.urlSession($1, task: $2, didCompleteWithError: end.error) }
        case .handler(let handler):
            // B1.82, B1.83.
            handler(end.error == nil ? body ?? Data() : nil, end.response, end.error)
        case .stream(let pipe):
            pipe.post(.end(end.error))
        case .file(.delegate):
            tell(.complete) { $0.urlSession($1, task: $2, didCompleteWithError: end.error) }
        case .file(.handler(let handler)):
            handler(end.error == nil ? file?.url : nil, end.response, end.error)
            // B1.87.
            file?.remove()
        case .awaiting, .file(.awaiting):
            return end.call.map { EndedCall($0, answer(end, body: body, file: file, to: $0.continuation)) }
        }
        return nil
    }

    /// What the async call that waits is resumed with.
    private func answer(
        _ end: TaskResult, body: Data?, file: TemporaryFile?, to continuation: TaskContinuation
    ) -> EndedCall.Answer {
        switch (continuation, end.error, end.response, file) {
        case (_, let error?, _, _):
            return .failure(error)
        case (.data, nil, let response?, _):
            return .data(body ?? Data(), response)
        case (.file, nil, let response?, let file?):
            // B1.91.
            file.letGo()
            return .file(file.url, response)
        case (_, nil, _, _):
            return .failure(LoadFailure.make(.unknown, originalRequest?.url, "The load ended without a response."))
        }
    }

    /// B12.1, B12.2: for tasks that were resumed, once.
    private func tellMetrics() {
        guard state.withLock({ $0.machine.hasStarted }) else { return }
        tell(.metrics) {
            $0.urlSession($1, task: $2, didFinishCollecting: collectedMetrics)
        }
    }

    private var collectedMetrics: URLSessionTaskMetrics {
        let (records, redirects, earlierCreation) = state.withLock {
            ($0.records, $0.redirect.count, $0.earlierCreation)
        }
        return URLSessionTaskMetrics(
            records: records, redirectCount: redirects, creation: creation, earlierCreation: earlierCreation)
    }

    // MARK: Whoever iterates

    /// Adds an event to the sequence of one who wants everything.
    func announce(_ event: () -> URLSession.TransferEvent?) {
        guard let pipe = outlet.pipe, pipe.scope == .everything, let event = event() else { return }
        pipe.post(event)
    }

    /// Adds how far the transfer has come.
    func announceProgress() {
        announce {
            .progress(
                URLSession.TransferProgress(
                    bytesSent: counters.sent.load(ordering: .relaxed),
                    bytesExpectedToSend: counters.expectedToSend.load(ordering: .relaxed),
                    bytesReceived: counters.received.load(ordering: .relaxed),
                    bytesExpectedToReceive: counters.expectedToReceive.load(ordering: .relaxed)))
        }
    }
}
