// Decides what a task does next: what a resumption, a suspension and a cancellation lead to, which answer still counts,
// and when the task is over. What the steps of a task are, and what they are about, its driver knows.
//
// The rules:
// 1. A task stands still as long as it has been suspended more often than resumed. A new task counts as suspended once.
//    It begins the first time that it does not stand still any more, and only then.
// 2. One thing goes on at a time: steps are taken, an answer is waited for, or an exchange is under way. A suspension
//    stops the exchange only.
// 3. Every wait has a number. An answer counts while its wait lasts, and once; an answer with an
//    older number changes nothing.
// 4. A cancellation ends the task itself where the task has not begun or waits for an answer. An exchange is told of
//    the cancellation, and its end ends the task. Where steps are taken, the next wait or exchange is refused, and the
//    driver ends the task then.
// 5. The exchange is told of suspensions one at a time and in their order, whichever threads they come from.
// 6. What happened to the task while its exchange was on its way is made up for when the exchange is taken up.
//
// Must not know: requests, delegates, what carries an exchange, locks, time.

/// What a task is doing, and what comes next.
package struct TaskMachine: ~Copyable, Sendable {
    /// What users see.
    package enum Phase: Sendable {
        case suspended, running, canceling, completed
    }

    private enum Activity: Sendable {
        /// It was never resumed.
        case unstarted
        /// Steps are taken towards an exchange, a wait or the end.
        case preparing
        /// An answer has to come first.
        case waiting(WaitNumber)
        /// An exchange was handed over with that priority, and has not been taken up.
        case submitted(Float)
        /// An exchange is under way.
        case exchanging
        /// The end is decided; the last messages may still be on their way.
        case ended(hasStarted: Bool)
    }

    /// What users see.
    package private(set) var phase = Phase.suspended
    private var suspensions = 1
    private var activity = Activity.unstarted
    private var waits = WaitNumbers()
    /// Whether the exchange was told to stand still.
    package private(set) var isExchangeSuspended = false
    /// Whether a thread is just telling it.
    private var isTelling = false

    /// Makes the machine of a new task.
    package init() {}

    // MARK: Questions

    /// Whether a cancellation or an end has been decided.
    package var isOver: Bool { phase == .canceling || phase == .completed }

    /// Whether the task was resumed at least once.
    package var hasStarted: Bool {
        switch activity {
        case .unstarted, .ended(hasStarted: false): false
        case .preparing, .waiting, .submitted, .exchanging, .ended(hasStarted: true): true
        }
    }

    /// What it is doing, in a word, for pictures.
    package var doing: String {
        if phase == .completed { return "completed" }
        return switch activity {
        case .unstarted: "unstarted"
        case .preparing: "preparing"
        case .waiting: "waiting"
        case .submitted: "submitted"
        case .exchanging: "exchanging"
        case .ended: "ended"
        }
    }

    /// Whether an answer has to come before it goes on.
    package var isWaiting: Bool { if case .waiting = activity { true } else { false } }

    /// Whether this is still waited for.
    package func isWaiting(for number: WaitNumber) -> Bool {
        guard case .waiting(let open) = activity else { return false }
        return open == number
    }

    // MARK: Steering

    /// What a resumption leads to.
    package enum Resumption: Sendable {
        case none
        /// The caller begins with the first step.
        case begin
        /// The exchange is told, if there is one.
        case tellExchange
    }

    /// Balances one suspension. Where nothing is ever carried out, `pretends` says so.
    package mutating func resume(pretends: Bool = false) -> Resumption {
        guard !isOver, suspensions > 0 else { return .none }
        suspensions -= 1
        guard suspensions == 0 else { return .none }
        phase = .running
        guard case .unstarted = activity else { return .tellExchange }
        guard !pretends else { return .none }
        activity = .preparing
        return .begin
    }

    /// Stands still once more; answers whether the exchange is to be told.
    package mutating func suspend() -> Bool {
        guard !isOver else { return false }
        suspensions += 1
        phase = .suspended
        return suspensions == 1
    }

    /// What is left to do of a cancellation.
    package enum Cancellation: Sendable {
        /// Nothing: the task is over, or it ends at its next step.
        case none
        /// The exchange is cancelled.
        case exchange
        /// The caller ends the task.
        case end
    }

    /// Decides that the task is cancelled: whatever befalls it from now on, that is its end.
    package mutating func cancel() -> Cancellation {
        guard !isOver else { return .none }
        phase = .canceling
        switch activity {
        case .unstarted:
            activity = .ended(hasStarted: false)
            return .end
        case .waiting:
            activity = .ended(hasStarted: true)
            return .end
        case .exchanging: return .exchange
        case .preparing, .submitted, .ended: return .none
        }
    }

    // MARK: Waits

    /// Begins to wait for an answer; nil where the task is over, and the caller ends it.
    package mutating func wait() -> WaitNumber? {
        guard !isOver else { return nil }
        let number = waits.next()
        activity = .waiting(number)
        return number
    }

    /// An answer has come. Whether it counts: the caller then takes the next step.
    package mutating func answered(_ number: WaitNumber) -> Bool {
        guard isWaiting(for: number) else { return false }
        activity = .preparing
        return true
    }

    /// The time for an answer is over. Whether it was still waited for: the caller then ends the task.
    package mutating func timedOut(_ number: WaitNumber) -> Bool {
        guard isWaiting(for: number) else { return false }
        activity = .ended(hasStarted: true)
        return true
    }

    // MARK: Exchanges

    /// An exchange is handed over to what carries it; false where the task is over, and the caller ends it.
    package mutating func submit(priority: Float) -> Bool {
        guard !isOver else { return false }
        activity = .submitted(priority)
        isExchangeSuspended = false
        return true
    }

    /// What was done to a task while its exchange was on its way.
    package struct Arrears: Sendable {
        /// The exchange is the one that the task waits for: it is the task's from now on.
        package let isWanted: Bool
        package let isCancelled: Bool
        /// The exchange begins standing still, and knows of the suspension then.
        package let isSuspended: Bool
        /// The priority has become another one.
        package let priority: Float?
    }

    /// The exchange that was handed over has been taken up. `priority` is the task's at this moment.
    package mutating func takenUp(priority: Float) -> Arrears {
        guard case .submitted(let submitted) = activity else {
            return Arrears(
                isWanted: false, isCancelled: phase == .canceling, isSuspended: suspensions > 0, priority: nil)
        }
        activity = .exchanging
        isExchangeSuspended = suspensions > 0
        return Arrears(
            isWanted: true, isCancelled: phase == .canceling, isSuspended: suspensions > 0,
            priority: priority == submitted ? nil : priority)
    }

    /// An exchange begins at once; false where the task is over, and the caller ends it.
    package mutating func begin() -> Bool {
        guard !isOver else { return false }
        goOnElsewhere()
        return true
    }

    /// The exchange goes on with another carrier, which knows of no suspension. True where the task was cancelled and
    /// the new carrier has to be told.
    @discardableResult
    package mutating func goOnElsewhere() -> Bool {
        activity = .exchanging
        isExchangeSuspended = false
        return phase == .canceling
    }

    /// The exchange is over, and the caller takes the next step.
    package mutating func exchangeEnded() { activity = .preparing }

    /// What the exchange is to be told of suspensions: true to stand still, false to go on, nil for nothing. It is nil
    /// also while another thread is telling it something: that thread asks once more afterwards. Ends with `told()`.
    package mutating func tell() -> Bool? {
        guard case .exchanging = activity, !isTelling, (suspensions > 0) != isExchangeSuspended else { return nil }
        isTelling = true
        isExchangeSuspended = suspensions > 0
        return isExchangeSuspended
    }

    /// The exchange was told; the caller asks `tell()` once more.
    package mutating func told() { isTelling = false }

    // MARK: Ends

    /// The end is decided.
    package mutating func end() {
        if case .ended = activity { return }
        activity = .ended(hasStarted: true)
    }

    /// The task has ended.
    package mutating func complete() {
        end()
        phase = .completed
    }

    // MARK: Earlier lives

    /// A task that an earlier run of the program has begun: its exchange is under way, and knows
    /// whether it stands still.
    package mutating func takeUp(isSuspended: Bool) {
        suspensions = isSuspended ? 1 : 0
        phase = isSuspended ? .suspended : .running
        activity = .exchanging
        isExchangeSuspended = isSuspended
    }
}
