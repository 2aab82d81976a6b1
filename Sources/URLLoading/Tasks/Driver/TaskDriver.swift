// Steers one task: turns what happens to it into calls of its `TaskMachine`, and carries out what the machine says.
// Nothing else calls the machine but `TaskState.end`, which notes the end. Other types take the steps towards an
// exchange and say what becomes of it. They come here for every exchange, every wait (+Waits) and the end.
//
// Must not know: requests and answers, delegates, what carries an exchange.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// A task as something that is steered.
struct TaskDriver: Sendable {
    let task: TaskCore

    // MARK: Resuming

    /// What a resumption leads to.
    private enum Resumption {
        case none
        case tellExchange
        /// The task begins, but not at once or not by itself.
        case begin
        case load(URLRequest?, TaskBody)
    }

    /// Balances one suspension; the first time, the load starts.
    func resume() { carryOut(task.state.withLock { resumption(&$0) }) }

    /// Starts the task of an async call. A task that was cancelled before answers at once, and no request goes out
    /// (B1.90).
    func start(resuming continuation: TaskContinuation) {
        // Without an engine there is no loop that the caller could be on.
        let call = WaitingCall(continuation: continuation, isOnLoop: task.engine?.loop.isCurrent ?? false)
        let (step, error) = task.state.withLock { state -> (Resumption, (any Error)?) in
            if state.machine.phase == .completed {
                return (.none, state.error ?? LoadFailure.cancelled(state.currentRequest?.url))
            }
            state.call = call
            return (resumption(&state), nil)
        }
        if let error { continuation.resume(throwing: error) } else { carryOut(step) }
    }

    /// Balances one suspension; the first time, what begins at once is noted as begun.
    private func resumption(_ state: inout TaskState) -> Resumption {
        // A mock only pretends to run.
        let step = state.machine.resume(pretends: task.session == nil)
        // Whatever has resumed it: the next pause of its progress suspends it again.
        if state.machine.phase == .running { state.isSuspendedByProgress = false }
        switch step {
        case .none: return .none
        case .tellExchange: return .tellExchange
        case .begin:
            // What begins at once needs the lock no second time.
            guard let session = task.session, task.slot != nil, session.beginsTasksAtOnce else { return .begin }
            let (request, body) = state.beginLoading(in: session)
            return .load(request, body)
        }
    }

    private func carryOut(_ step: Resumption) {
        if case .none = step { return }
        task.telling.postNotice(.urlSessionTaskDidResume)
        switch step {
        case .none: break
        case .tellExchange:
            tellExchangeOfSuspension()
            task.session?.background?.tellOfWaiting(task)
        case .begin: beginOtherwise()
        case .load(let request, let body): if let session = task.session { load(request, body, in: session) }
        }
    }

    /// The first `resume()` of a task that does not begin at once, or not by itself.
    private func beginOtherwise() {
        guard let session = task.session else { return }
        guard task.slot != nil else { return endUnloaded(LoadFailure.cancelled(task.originalRequest?.url)) }
        if let background = session.background { return task.transfer.start(in: background, of: session) }
        if let date = task.settings.hints.earliestBeginDate, date.timeIntervalSinceNow > 0 {
            return task.delay.begin(until: date)
        }
        begin(in: session)
    }

    /// Begins to load what `currentRequest` says.
    func begin(in session: SessionCore) {
        if let background = session.background { return task.transfer.handOver(to: background) }
        let (request, body) = task.state.withLock { $0.beginLoading(in: session) }
        load(request, body, in: session)
    }

    private func load(_ request: URLRequest?, _ body: TaskBody, in session: SessionCore) {
        task.trace?.started()
        if task.kindName == .stream { return task.stream.open(in: session) }
        guard let request else {
            return endUnloaded(LoadFailure.unreadableResumeData)
        }
        if task.savesFile, let failure = task.download.openPartial() { return endUnloaded(failure) }
        task.hops.load(request, body: body)
    }

    // MARK: Suspending

    func suspend() { suspend { $0.machine.suspend() } }

    /// Its progress was paused. That is a state and no count: it suspends the task once, however often it is said.
    func progressPaused(_ progress: Progress) {
        suspend { state in
            // Another thread may have resumed it.
            guard progress.isPaused, !state.isSuspendedByProgress else { return false }
            state.isSuspendedByProgress = true
            return state.machine.suspend()
        }
    }

    /// Its progress was resumed. Where that was not paused it resumes the task all the same.
    func progressResumed(_ progress: Progress) {
        carryOut(
            task.state.withLock { state -> Resumption in
                guard !progress.isPaused else { return .none }
                state.isSuspendedByProgress = false
                return resumption(&state)
            })
    }

    private func suspend(_ note: (inout TaskState) -> Bool) {
        guard task.state.withLock({ note(&$0) }) else { return }
        tellExchangeOfSuspension()
        task.session?.background?.tellOfWaiting(task)
        task.telling.postNotice(.urlSessionTaskDidSuspend)
    }

    /// Suspends or resumes the exchange's carrier as the task is suspended or not.
    func tellExchangeOfSuspension() {
        while true {
            let step = task.state.withLock { state -> (load: any LoadHandle, suspends: Bool)? in
                guard let load = state.load.handle, let suspends = state.machine.tell() else { return nil }
                return (load, suspends)
            }
            guard let step else { return }
            if step.suspends { step.load.suspend() } else { step.load.resume() }
            task.state.withLock { $0.machine.told() }
        }
    }

    // MARK: Cancelling

    /// Ends the task with −999, unless it has ended (B1.41, B1.43).
    func cancel() { finishCancelling(beginCancelling()) }

    /// What is left to do of a cancellation.
    enum Cancellation { case none, load(any LoadHandle), end(URL?) }

    /// Decides that the task is cancelled: whatever befalls it from now on, that is its end.
    func beginCancelling() -> Cancellation {
        task.state.withLock { state in
            switch state.machine.cancel() {
            case .none: .none
            case .exchange: state.load.handle.map { .load($0) } ?? .none
            case .end: .end(state.currentRequest?.url)
            }
        }
    }

    /// Does the rest of it.
    func finishCancelling(_ step: Cancellation) {
        switch step {
        case .none: break
        case .load(let load): load.cancel()
        case .end(let url): endUnloaded(LoadFailure.cancelled(url))
        }
        stopAsking()
    }

    // MARK: Exchanges

    /// Hands an exchange over to the engine, which takes it up on its loop; nil where the task is over, and the caller
    /// ends it. `note` is done under the lock.
    func submit<Noted: Sendable>(_ note: (inout TaskState) -> Noted) -> Noted? {
        task.state.withLock { state in
            state.machine.submit(priority: state.priority) ? note(&state) : nil
        }
    }

    /// Called on the loop when the engine takes the exchange up: `load` carries it from now on, and what was done to
    /// the task since it was submitted is made up for.
    func takeUp<Noted: Sendable>(
        _ load: TaskLoad, _ note: (borrowing TaskState) -> Noted
    ) -> (Noted, TaskMachine.Arrears) {
        task.state.withLock { state in
            let late = state.machine.takenUp(priority: state.priority)
            if late.isWanted { state.load = load }
            return (note(state), late)
        }
    }

    /// Begins an exchange that is not the engine's with what is made to carry it; nil where the task is
    /// over, and the caller ends it.
    func beginExchange<Load: LoadHandle>(_ make: (inout TaskState) -> Load) -> Load? {
        task.state.withLock { state in
            guard state.machine.begin() else { return nil }
            let load = make(&state)
            state.load = .other(load)
            return load
        }
    }

    /// The exchange goes on with another carrier; whether the task was cancelled, and the new carrier has to be told.
    func goOn(with load: any LoadHandle) -> Bool {
        // Order: the handle of before goes when the lock is free, and not with the task's end.
        task.state.withLockLettingGo { state in
            let before = exchange(&state.load, with: .other(load))
            return (state.machine.goOnElsewhere(), before)
        }
    }

    /// An exchange has begun with this carrier, whatever was to be waited for; false where nothing is.
    func leaveWait(for load: any LoadHandle) -> Bool {
        // Order: the handle of before goes when the lock is free.
        task.state.withLockLettingGo { state in
            guard state.machine.isWaiting else { return (false, TaskLoad.none) }
            let before = exchange(&state.load, with: .other(load))
            state.machine.goOnElsewhere()
            return (true, before)
        }
    }

    /// The exchange is over, and nothing carries it any more. What follows is decided under the lock.
    func exchangeEnded<Sequel: Sendable & ~Copyable>(_ decide: (inout TaskState) -> Sequel) -> Sequel {
        var (load, spent): (TaskLoad, [any Sendable]?) = (.none, nil)
        // Order: what is let go of ends when the lock is free, since a `deinit` of the program's
        // may ask its task something.
        defer { withExtendedLifetime((load, spent)) {} }
        return task.state.withLock { state in
            state.machine.exchangeEnded()
            load = exchange(&state.load, with: .none)
            defer { spent = state.takeSpent() }
            return decide(&state)
        }
    }

    /// Takes up a task that an earlier run of the program has begun: `load` carries its exchange.
    func takeUpAgain(_ load: any LoadHandle, isSuspended: Bool, _ note: (inout TaskState) -> Void) {
        task.state.withLock { state in
            state.machine.takeUp(isSuspended: isSuspended)
            state.load = .other(load)
            note(&state)
        }
    }

    // MARK: Ends

    /// Ends the task without (further) loading, from wherever the caller is.
    func endUnloaded(_ error: URLError) {
        task.state.letGo { state in
            state.machine.end()
            state.keepFace()
            return exchange(&state.load, with: .none)
        }
        task.kind.stream?.end(.known(error))
        task.webSocketCalls?.end(.known(error))
        if task.usesRelay {
            task.delivery.post(.endedUnloaded(error))
        } else {
            task.completion.begin(error)?.resume()
        }
    }
}

extension TaskState {
    /// Notes that the load begins, and gives what is loaded.
    fileprivate mutating func beginLoading(in session: SessionCore) -> (URLRequest?, TaskBody) {
        resourceDeadline = session.settings.resourceDeadline(from: LoopClock.elapsed)
        if session.retryRules(for: currentRequest) != nil { session.settings.retries.payIn() }
        firstRequest = currentRequest
        return (currentRequest, body)
    }
}

extension SessionCore {
    /// Whether its tasks load with their first resumption: no other process carries them, and no date is waited for.
    fileprivate var beginsTasksAtOnce: Bool { background == nil && !settings.honorsEarliestBeginDate }
}

extension TaskMachine.Arrears {
    /// How the exchange begins after what was done to its task on the way.
    var beginning: LoadBeginning { isCancelled ? .cancelled : isSuspended ? .suspended : .atOnce }
}

extension TaskCore {
    /// What steers the task.
    var driver: TaskDriver { TaskDriver(task: self) }
}
