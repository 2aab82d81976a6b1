// One hop that something else than a transaction carries: takes in what its carrier reports, from any thread, and
// passes it to where the task's result goes, as `HopReceiver` does for HTTP.
//
// Reports form a line that one thread at a time works through: the one that finds no other at work. The line stands
// still while a delegate is asked, while a receiver is full and while the task is suspended; the carrier is then told
// to pause. State is behind one Mutex, and nothing is called while it is held.
//
// Must not know: schemes, URLProtocol, what a delegate says.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// The load of one hop by a carrier.
final class SchemeLoad: LoadHandle {
    /// What is loaded.
    let request: URLRequest
    let answer: HopAnswer
    let state: Mutex<SchemeLoadState>
    private let limits: Limits

    /// When a load takes too long.
    struct Limits: Sendable {
        /// Without a report (B14.54); nil where the carrier looks after that.
        let idle: Duration?
        /// As a whole, as `LoopClock` counts time.
        let deadline: Duration?
    }

    init(_ request: URLRequest, _ answer: HopAnswer, by carrier: any SchemeCarrier, limits: Limits) {
        self.request = request
        self.answer = answer
        self.limits = limits
        state = Mutex(SchemeLoadState(carrier: carrier, now: LoopClock.elapsed))
    }

    var core: TaskCore { answer.task }
    var plan: HopPlan { answer.plan }

    /// The session, for what a carrier has to know of its settings.
    var session: SessionCore? { core.session }

    /// Starts the carrier, unless the load has been cancelled already.
    func begin() {
        guard let carrier = state.withLock({ $0.begin() }) else { return }
        carrier.start(request, self)
        let (stopped, works) = state.withLock { ($0.noteStarted(), $0.claimWork()) }
        stopped?.stop()
        if works { work() }
        tellCarrierAboutSuspension()
        watchTime()
    }

    // MARK: What the carrier reports

    /// The response; several may come, each with data of its own (B14.43).
    @discardableResult
    func received(_ response: URLResponse, policy: URLCache.StoragePolicy = .notAllowed) -> ReceiverDemand {
        report(.response(response, policy))
        return demand
    }

    /// What comes is the rest of so much, behind what a download has; after the response (B9.27).
    func resumed(at offset: Int64, total: Int64) -> ReceiverDemand {
        report(.resumed(at: offset, total: total))
        return demand
    }

    /// More of the body; after `.pause` nothing more should come until the carrier's `resumeReading()`, and what comes
    /// all the same is kept.
    @discardableResult
    func received(body data: Data) -> ReceiverDemand {
        if data.isEmpty { noteProgress() } else { report(.data(data)) }
        return demand
    }

    /// What is stored is the answer (B14.51).
    func received(stored cached: CachedURLResponse) { report(.stored(cached)) }

    /// The request leads elsewhere; nothing more is taken (B14.49).
    func redirected(to request: URLRequest, by response: URLResponse) {
        report(.redirect(request, response))
    }

    /// Everything has come.
    func finished() { report(.end(nil)) }

    /// The load has failed, with an error of any domain (B14.47); `failure` is why no way led to where it is loaded
    /// from, if that is what has failed.
    func failed(_ error: any Error, forWantOfWay failure: EngineError? = nil) {
        if let failure { state.withLock { $0.lackOfWay = failure } }
        report(.end(LoadFailure.naming(error)))
    }

    /// Something has happened that keeps the load from being idle.
    func noteProgress() {
        state.withLock { state in
            state.isWaitingForNetwork = false
            state.quietSince = LoopClock.elapsed
        }
    }

    /// There is no way to where it is loaded from; until there is progress no idle time counts (B6.16, B6.17).
    func waitsForConnectivity() {
        state.withLock { $0.isWaitingForNetwork = true }
        if plan.tellsDelegate { core.delivery.post(.waiting) }
    }

    private func report(_ report: SchemeReport) {
        let (stopped, works) = state.withLock { $0.take(report, now: LoopClock.elapsed) }
        stopped?.stop()
        if works { work() }
    }

    private var demand: ReceiverDemand { state.withLock { $0.demand() } }

    // MARK: Steering

    func cancel() {
        // Order: what is not told any more goes here, when the lock is free.
        let (stopped, works) = state.withLockLettingGo { $0.cancel() }
        stopped?.stop()
        if works { work() }
    }

    func resumeReading() { goOn { $0.letGoOn() } }

    func discardRest() {
        dropRest()
        goOn { $0.letGoOn() }
    }

    func suspend() {
        state.withLock { $0.isSuspended = true }
        tellCarrierAboutSuspension()
    }

    func resume() {
        goOn { state in
            state.isSuspended = false
            state.quietSince = LoopClock.elapsed
        }
        tellCarrierAboutSuspension()
    }

    /// Brings the carrier's suspension in line with the load's; two threads cannot tell it in the wrong order.
    private func tellCarrierAboutSuspension() {
        while let (carrier, suspends) = state.withLock({ $0.suspensionToTell() }) {
            if suspends { carrier.suspend() } else { carrier.resume() }
            state.withLock { $0.toldSuspension() }
        }
    }

    func setPriority(_ priority: Float) { state.withLock { $0.carrier }?.setPriority(priority) }

    private func goOn(_ change: (inout SchemeLoadState) -> Void) {
        let works = state.withLock { state in
            change(&state)
            return state.claimWork()
        }
        if works { work() }
    }

    // MARK: The line

    private func work() {
        while true {
            switch state.withLock({ $0.next() }) {
            case .rest: return
            case .room(let carrier): return carrier.resumeReading()
            case .report(let report): deliver(report)
            case .end(let error, let isCancelled): return end(error, isCancelled: isCancelled)
            }
        }
    }

    // MARK: Time

    private func watchTime() {
        guard let wait = timeLeft() else { return }
        let watch = Alarm(at: LoopClock.elapsed + wait) { [weak self] in self?.watchTime() }
        let isLate = state.withLock { state in
            if state.hasEnded { return true }
            state.watch = watch
            return false
        }
        if isLate { watch.cancel() }
    }

    /// How long nothing has to be looked at; nil where nothing has to any more: the load has ended, is ended for being
    /// late, or may take as long as it likes.
    private func timeLeft() -> Duration? {
        let now = LoopClock.elapsed
        let (isOver, quietSince) = state.withLock { state in
            // B6.9: while a question is open, or the receiver is not done with what has come, the
            // carrier is not to blame.
            if state.standsStill { state.quietSince = now }
            return (state.hasEnded, state.quietSince)
        }
        if isOver { return nil }
        let idle = limits.idle.map { quietSince + $0 - now }
        guard let rest = [idle, limits.deadline.map { $0 - now }].compactMap(\.self).min() else { return nil }
        if rest > .zero { return rest }
        let silence = idle.map { $0 <= .zero } ?? false ? limits.idle : nil
        core.hops.willFail(
            LoadFailure.make(
                .timedOut, request.url,
                silence.map { "Nothing was heard of the load for \($0)." }
                    ?? "The transfer took longer than its time-out."))
        cancel()
        return nil
    }
}

/// Something that a carrier has to tell.
enum SchemeReport: Sendable {
    case response(URLResponse, URLCache.StoragePolicy)
    case resumed(at: Int64, total: Int64)
    case data(Data)
    case stored(CachedURLResponse)
    case redirect(URLRequest, URLResponse)
    case end((any Error)?)

    /// Whether nothing more is taken from the carrier.
    var isLast: Bool {
        switch self {
        case .stored, .redirect, .end: true
        case .response, .resumed, .data: false
        }
    }
}
