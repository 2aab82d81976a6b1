// A task's way through the engine: one transaction per hop, until a hop's response is the task's.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension TaskCore {
    // MARK: Beginning

    /// Starts the task of an async call. A task that was cancelled before answers at once, and no request goes out
    /// (B1.90).
    func start(resuming continuation: TaskContinuation) {
        // Without an engine there is no loop that the caller could be on.
        let call = WaitingCall(continuation: continuation, isOnLoop: engine?.loop.isCurrent ?? false)
        let (step, error) = state.withLock { state -> (TaskMachine.Resumption, (any Error)?) in
            if state.machine.phase == .completed {
                return (.none, state.error ?? LoadFailure.cancelled(state.currentRequest?.url))
            }
            state.call = call
            return (state.machine.resume(pretends: session == nil), nil)
        }
        if let error { continuation.resume(throwing: error) } else { finishResuming(step) }
    }

    /// The first `resume()`.
    func start() {
        guard let session else { return }
        guard slot != nil else {
            endUnloaded(LoadFailure.cancelled(originalRequest?.url))
            return
        }
        if let background = session.background { return transfer.start(in: background, of: session) }
        if session.settings.honorsEarliestBeginDate, let date = hints.earliestBeginDate, date.timeIntervalSinceNow > 0 {
            return delay(until: date)
        }
        begin(in: session)
    }

    /// Begins to load what `currentRequest` says.
    func begin(in session: SessionCore) {
        if let background = session.background { return transfer.handOver(to: background) }
        let (request, body) = state.withLock { state in
            state.resourceDeadline = session.settings.resourceDeadline(from: LoopClock.elapsed)
            state.firstRequest = state.currentRequest
            return (state.currentRequest, state.body)
        }
        if kindName == .stream { return stream.open(in: session) }
        guard let request else {
            endUnloaded(
                LoadFailure.unsupportedURL(nil, "The task has no request: its resume data cannot be read."))
            return
        }
        if savesFile { download.openPartial() }
        load(request, body: body)
    }

    // MARK: One hop

    /// Called on the loop when the engine takes the hop up; what was done to the task since it was submitted is made
    /// up for.
    func beginHop(_ handle: TransactionHandle, on reactor: Reactor) -> TransferReceiver {
        let (plan, late) = noteHop(handle)
        if let priority = late.priority { handle.setPriority(Self.usable(priority)) }
        return TransferReceiver(core: self, plan: plan, beginning: late.beginning, reactor: reactor)
    }

    private func noteHop(_ handle: TransactionHandle) -> (HopPlan, TaskMachine.Arrears) {
        let sessionView = tellingView
        return state.withLock { state in
            let late = state.machine.takenUp(priority: state.priority)
            if late.isWanted { state.load = .transaction(handle) }
            return (plan(of: state, sessionView), late)
        }
    }

    /// The session's delegate, where it may be told: without a delegate queue there is none.
    var tellingView: DelegateView? { usesRelay ? session?.delegateView : nil }

    /// What is to become of the hop's answer, as things stand.
    func plan(of state: borrowing TaskState, _ sessionView: DelegateView?) -> HopPlan {
        let taskView = state.delegateView
        func mayImplement(_ method: AskingMethod) -> Bool {
            taskView?.mayImplement(method) ?? false || sessionView?.mayImplement(method) ?? false
        }
        let outlet = outlet
        let streams: Bool
        let asksResponse: Bool
        switch state.handshake == nil ? outlet.audience : .nobody {
        case .all:
            streams = true
            asksResponse = mayImplement(.response)
        case .own:
            streams = taskView?.data != nil
            asksResponse = taskView?.mayImplement(.response) ?? false
        case .nobody:
            streams = false
            asksResponse = false
        }
        let tells = taskView?.task != nil || sessionView?.task != nil
        return HopPlan(
            request: state.currentRequest, sentFields: state.sentFields, outlet: outlet, streamsBody: streams,
            asksResponse: asksResponse, asksRedirect: mayImplement(.redirect), tellsDelegate: usesRelay && tells,
            redirectsSoFar: state.redirect.count, provesItself: state.isAuthenticating,
            cache: state.cachePart,
            asksStoring: state.cachePart?.session.asksDelegates ?? false && mayImplement(.storing),
            upload: isUpload ? state.uploadHop : nil, webSocket: state.handshake)
    }

    // MARK: What the receiver reports, on the loop

    /// The response that the task will show (B1.49).
    func responseArrived(_ response: URLResponse, hasBody: Bool) {
        counters.expectedToReceive.store(hasBody ? response.expectedContentLength : 0, ordering: .relaxed)
        state.withLock { $0.response = response }
        updateProgress()
    }

    func bodyArrived(bytes: Int) {
        counters.received.wrappingAdd(Int64(bytes), ordering: .relaxed)
        updateProgress()
    }

    func bodySent(total: Int64, tellsDelegate: Bool, on reactor: Reactor) {
        counters.sent.store(total, ordering: .relaxed)
        updateProgress()
        if tellsDelegate { post(.sent(total), on: reactor) }
        announceProgress()
    }

    /// The hop's response leads elsewhere: to a next hop, or to an error if it leads out of HTTP (B4.31).
    func noteRedirect(to request: URLRequest, by response: HTTPURLResponse) {
        let target = webSocketCalls == nil ? request : request.overHTTP
        if let refusal = RedirectedRequest.refusal(target, handled: session?.protocols?.mayCarry ?? false) {
            willFail(refusal)
            cancelHop()
        } else {
            announce { .redirect(response, request) }
            state.withLock { $0.redirect.next = request }
        }
    }

    /// Nothing more of this hop is wanted.
    func cancelHop() {
        state.withLock { $0.load.handle }?.cancel()
    }

    /// The hop ends the task with an error of the API's own layer.
    func willFail(_ error: URLError) {
        state.withLock { if $0.ownFailure == nil { $0.ownFailure = error } }
    }

    /// The hop's request is sent once more, without conditions.
    func omitConditions() {
        state.withLock { state in
            state.omitsConditions = true
            state.sentFields = nil
        }
    }

    /// Whether the body that now comes is the task's; `nil` while a delegate has not said.
    var deliversRedirectBody: Bool? { state.withLock { $0.redirect.deliversBody } }

    /// Returns the async call that ended with the hop, for the caller to resume.
    func hopEnded(_ end: HopEnd, on reactor: Reactor? = nil) -> EndedCall? {
        guard usesRelay else { return decide(after: end) }
        post(.hopEnded(end), on: reactor)
        return nil
    }

    // MARK: What follows a hop

    /// Goes on with the next hop or ends the task; after everything that the hop had to tell.
    func decide(after end: HopEnd) -> EndedCall? {
        let error = end.failure.map { urlError($0, url: end.url) }
        let sent = isUpload ? counters.sent.load(ordering: .relaxed) : nil
        let (sequel, result) = state.withLock { state -> (HopSequel, TaskResult?) in
            state.exchangeEnded()
            if !end.records.isEmpty { state.records += end.records }
            let sequel = state.sequel(of: end, error: error, sent: sent)
            // Where nobody hears of the end but its caller, it is noted at once.
            guard case .end(nil) = sequel, endsQuietly else { return (sequel, nil) }
            return (sequel, state.end(with: nil, quietly: true))
        }
        if let result { return conclude(result, body: end.body, file: end.file) }
        switch sequel {
        case .hop(let request, let body): load(request, body: body)
        case .detour(let detour): goRound(by: detour)
        case .otherStream: loadAgain()
        case .upload(let step): return upload.goOn(with: step)
        case .end(let error) where webSocketCalls != nil:
            webSocket.endHandshake(error ?? ErrorMapping.refusedWebSocket(.upgradeMissing, url: end.url))
        case .end(let error): return complete(error, body: end.body, file: end.file)
        }
        return nil
    }

    /// What a hop's failure is to the program.
    private func urlError(_ failure: EngineError, url: URL?) -> URLError {
        let evaluator = session?.settings.evaluator ?? SecTrust.system
        return webSocketCalls == nil
            ? ErrorMapping.urlError(failure, url: url, evaluator: evaluator, ofDownload: savesFile)
            : ErrorMapping.handshakeError(failure, url: url, evaluator: evaluator)
    }

    /// Ends the task without (further) loading, from wherever the caller is.
    func endUnloaded(_ error: URLError) {
        state.withLock { state in
            state.machine.end()
            state.load = .none
        }
        kind.stream?.end(.known(error))
        webSocketCalls?.end(.known(error))
        if usesRelay {
            post(.endedUnloaded(error))
        } else {
            complete(error)?.resume()
        }
    }
}

extension TaskMachine.Arrears {
    /// How the exchange begins after what was done to its task on the way.
    var beginning: LoadBeginning { isCancelled ? .cancelled : isSuspended ? .suspended : .atOnce }
}
