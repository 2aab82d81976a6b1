// What a progress shows of a task (B1.52): how much is done, and of how much. Lengths come from servers and programs,
// so they may be anything; a body may be sent twice, and counts may be told late. What is shown as done never becomes
// less. All of it is done once the task is complete, and not before: Foundation's Progress drops a child when it
// becomes finished, and adds its units to the parent each time it becomes so.
//
// A value. Must not know which object counts, nor which looks.

/// What a progress shows.
package struct ProgressUnits: Sendable, Equatable {
    /// What a task has counted.
    package struct Counts: Sendable, Equatable {
        package var received: Int64
        package var sent: Int64
        /// Below zero where it is not known.
        package var expectedToReceive: Int64
        /// Below zero where it is not known.
        package var expectedToSend: Int64

        package init(received: Int64, sent: Int64, expectedToReceive: Int64, expectedToSend: Int64) {
            self.received = received
            self.sent = sent
            self.expectedToReceive = expectedToReceive
            self.expectedToSend = expectedToSend
        }

        fileprivate var done: Int64 { max(received, 0).addingSaturated(max(sent, 0)) }

        /// All of it; nil where a length is not known.
        fileprivate var all: Int64? {
            guard expectedToReceive >= 0, expectedToSend >= 0 else { return nil }
            return expectedToReceive.addingSaturated(expectedToSend)
        }
    }

    /// How far a task is.
    package enum Stage: Sendable, Equatable {
        /// What will come is not known yet.
        case unanswered
        /// The response is there.
        case answered
        /// The task is complete, without an error.
        case complete
    }

    /// How many units there are; −1 where that is not known.
    package private(set) var total: Int64 = -1
    /// How many are done.
    package private(set) var completed: Int64 = 0
    /// The most that was counted.
    private var done: Int64 = 0
    private var isComplete = false

    /// Nothing is done, and nothing is known.
    package init() {}

    /// Follows a task. Once it is complete nothing changes any more.
    package mutating func follow(_ counts: Counts, _ stage: Stage) {
        guard !isComplete else { return }
        done = max(done, counts.done)
        switch stage {
        case .unanswered: followUnknown()
        case .answered:
            // More than was announced can have come, as of a body that was sent twice, or of many parts. How much will
            // come is not known then.
            guard let all = counts.all, all >= done, all > completed else { return followUnknown() }
            completed = max(completed, min(done, all - 1))
            total = all
        case .complete:
            // Of nothing, nothing could be shown as done.
            completed = max(done, 1)
            total = completed
            isComplete = true
        }
    }

    private mutating func followUnknown() {
        completed = done
        total = -1
    }
}
