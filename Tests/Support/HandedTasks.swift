// A place for tasks that is whatever the test makes of it: each piece of a task, from one suspension to the next, is
// handed over as work to be done.

import Dispatch
import Synchronization

/// Hands pieces of tasks over, in order.
package final class HandedTasks: TaskExecutor {
    private let take: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// `take` gets each piece, and has it done when it likes, once.
    package init(_ take: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { self.take = take }

    /// Hands a piece over; the runtime calls this on any thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        take { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// This executor as the runtime wants it.
    package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
}

/// Pieces of tasks that wait until they are let go.
package final class WaitingTasks: Sendable {
    private final class Line: Sendable {
        let state = Mutex(State())

        func add(_ piece: @escaping @Sendable () -> Void) {
            let isOpen = state.withLock { state in
                if !state.isOpen { state.pieces.append(piece) }
                return state.isOpen
            }
            if isOpen { WaitingTasks.queue.async(execute: piece) }
        }
    }

    private struct State: Sendable {
        var pieces: [@Sendable () -> Void] = []
        var isOpen = false
    }

    /// Where tasks are to run that are held here.
    package let executor: HandedTasks
    private let line: Line
    private static let queue = DispatchQueue.global()

    /// Holds everything.
    package init() {
        let line = Line()
        self.line = line
        executor = HandedTasks { line.add($0) }
    }

    /// Does the first piece, here; false where there is none.
    @discardableResult
    package func runNext() -> Bool {
        let piece = line.state.withLock { $0.pieces.isEmpty ? nil : $0.pieces.removeFirst() }
        piece?()
        return piece != nil
    }

    /// Holds nothing any more.
    package func open() {
        let pieces = line.state.withLock { state in
            defer { state = State(isOpen: true) }
            return state.pieces
        }
        for piece in pieces { Self.queue.async(execute: piece) }
    }
}
