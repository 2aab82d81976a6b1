// A task's hops: what is common to them while they last, and the step from one to the next. How a hop gets to a server
// is `HopPreparation`, what becomes of its answer `HopAnswer`, and what follows it `HopSequel`.
//
// Must not know: what carries a hop.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// A task as what goes from hop to hop until an answer is its own.
struct TaskHops: Sendable {
    let task: TaskCore

    // MARK: The beginning of a hop

    /// Called on the loop when the engine takes the hop up.
    func begin(_ handle: TransactionHandle, on reactor: Reactor) -> HopReceiver {
        let sessionView = tellingView
        let (plan, late) = task.driver.takeUp(.transaction(handle)) { (state: borrowing TaskState) -> HopPlan in
            self.plan(of: state, sessionView)
        }
        if let priority = late.priority { handle.setPriority(TaskSettings.usable(priority)) }
        return HopReceiver(HopAnswer(task: task, plan: plan), beginning: late.beginning, reactor: reactor)
    }

    /// The session's delegate, where it may be told: without a delegate queue there is none.
    var tellingView: DelegateView? { task.usesRelay ? task.session?.delegateView : nil }

    /// What is to become of the hop's answer, as things stand.
    func plan(of state: borrowing TaskState, _ sessionView: DelegateView?) -> HopPlan {
        let taskView = state.delegateView
        func mayImplement(_ method: AskingMethod) -> Bool {
            taskView?.mayImplement(method) ?? false || sessionView?.mayImplement(method) ?? false
        }
        let outlet = task.outlet
        let streams: Bool
        let asksResponse: Bool
        switch state.handshake == nil ? outlet.audience : .noDelegate {
        case .all:
            streams = true
            asksResponse = mayImplement(.response)
        case .own:
            streams = taskView?.data != nil
            asksResponse = taskView?.mayImplement(.response) ?? false
        case .noDelegate:
            streams = false
            asksResponse = false
        }
        let tells = taskView?.task != nil || sessionView?.task != nil
        return HopPlan(
            request: state.currentRequest, sentFields: state.sentFields, outlet: outlet, streamsBody: streams,
            asksResponse: asksResponse, asksRedirect: mayImplement(.redirect), tellsDelegate: task.usesRelay && tells,
            redirectsSoFar: state.redirect.count, provesItself: state.isAuthenticating,
            cache: state.cachePart,
            asksStoring: state.cachePart?.session.asksDelegates ?? false && mayImplement(.storing),
            upload: task.isUpload ? state.uploadHop : nil, webSocket: state.handshake)
    }

    // MARK: While it lasts

    /// The receiver can take more.
    func resumeReading() { task.state.withLock { $0.load.handle }?.resumeReading() }

    /// The receiver can take more, but the next hop does not wait long for it (B4.33).
    func resumeReadingBriefly() { task.state.withLock { $0.load.handle }?.resumeReadingBriefly() }

    /// What is left of the answer is of no interest.
    func discardRest() { task.state.withLock { $0.load.handle }?.discardRest() }

    /// Nothing more of this hop is wanted.
    func cancel() { task.state.withLock { $0.load.handle }?.cancel() }

    /// The hop ends the task with an error of the API's own layer.
    func willFail(_ error: URLError) {
        task.state.withLock { if $0.ownFailure == nil { $0.ownFailure = error } }
    }

    /// Ends the task, which cannot do what a delegate wants of it.
    func end(unsupported description: String) {
        willFail(LoadFailure.unsupportedURL(task.originalRequest?.url, description))
        cancel()
    }

    // MARK: The end of a hop

    /// The hop is over; what follows comes after everything that it had to tell. Returns the async call that ended with
    /// it, for the caller to resume.
    func ended(_ end: HopEnd, on reactor: Reactor? = nil) -> EndedCall? {
        guard task.usesRelay else { return goOn(after: end) }
        task.delivery.post(.hopEnded(end), on: reactor)
        return nil
    }

    /// Does what follows a hop.
    func goOn(after end: HopEnd) -> EndedCall? {
        let error = end.failure.map { urlError($0, url: end.url) }
        let failed = error == nil && end.foreignError == nil ? nil : task.retry.failure(after: end, error)
        let sent = task.isUpload ? task.counters.sent.load(ordering: .relaxed) : nil
        let outcome = task.driver.exchangeEnded { state -> Outcome in
            if !end.records.isEmpty { state.records += end.records }
            let sequel = state.sequel(of: end, error: error, sent: sent, failed: failed)
            guard case .end(nil) = sequel, task.endsQuietly else { return .sequel(sequel) }
            return .ended(state.end(with: nil, quietly: true))
        }
        switch consume outcome {
        case .ended(let result): return task.completion.conclude(result, body: end.body, file: end.file)
        case .sequel(let sequel): return carryOut(sequel, after: end)
        }
    }

    private func carryOut(_ sequel: HopSequel, after end: HopEnd) -> EndedCall? {
        switch sequel {
        case .hop(let request, let body):
            task.counting.willSend(body, of: request)
            load(request, body: body)
        case .otherRoute(let reroutable): goRound(by: reroutable)
        case .otherStream: loadWithOtherStream()
        case .upload(let step): return task.upload.goOn(with: step)
        case .retry(let pause): task.retry.begin(after: pause)
        case .failed(let failed): return task.retry.goOn(after: failed, end)
        case .end(let error) where task.webSocketCalls != nil:
            task.webSocket.endHandshake(error ?? ErrorMapping.refusedWebSocket(.upgradeMissing, url: end.url))
        case .end(let error): return task.completion.begin(error, body: end.body, file: end.file)
        }
        return nil
    }

    /// What a hop's end comes to.
    private enum Outcome: ~Copyable, Sendable {
        case sequel(HopSequel)
        /// The end of the task, noted at once where only its caller hears of it.
        case ended(TaskResult)
    }

    /// What a hop's failure is to the program.
    private func urlError(_ failure: EngineError, url: URL?) -> URLError {
        let evaluator = task.trust.evaluator
        return task.webSocketCalls == nil
            ? ErrorMapping.urlError(failure, url: url, evaluator: evaluator, ofDownload: task.savesFile)
            : ErrorMapping.handshakeError(failure, url: url, evaluator: evaluator)
    }
}

extension TaskCore {
    /// The task's hops.
    var hops: TaskHops { TaskHops(task: self) }
}
