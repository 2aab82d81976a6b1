// The consumer's end of a task's events: starts the task, takes its events in batches, and ends the task when no
// iteration is left that could ask for more.
//
// Must not know: what is made of the events.

import Foundation
import Synchronization

/// One task's events, to be taken once.
final class TransferFeed: Sendable {
    let task: URLSessionDataTask
    private let pipe: EventPipe
    /// Events that were taken before the iteration began.
    private let kept = Mutex<[URLSession.TransferEvent]>([])
    /// How many iterations could ask for more.
    private let iterations = Atomic<Int>(0)

    init(task: URLSessionDataTask, pipe: EventPipe) {
        self.task = task
        self.pipe = pipe
    }

    /// B1.92: what cannot be read any more is not fetched.
    deinit {
        task.core.driver.cancel()
    }

    /// Starts the task and waits for its response; throws the task's error if there is none.
    func start(isolation: isolated (any Actor)? = #isolation) async throws -> URLResponse {
        begin()
        while true {
            let events = await next(isolation: isolation)
            for (index, event) in events.enumerated() {
                switch event {
                case .response(let response):
                    kept.withLock { $0 = Array(events[(index + 1)...]) }
                    return response
                case .end(let error):
                    throw error ?? LoadFailure.make(.unknown, task.originalRequest?.url, "There was no response.")
                case .informational, .redirect, .retry, .progress, .body, .metrics:
                    continue
                }
            }
        }
    }

    /// Starts the task, unless the surrounding one is cancelled already (B1.90).
    func begin() {
        if Task.isCancelled { task.core.driver.cancel() } else { task.core.driver.resume() }
    }

    /// The next events in order; empty only after the end. Cancelling the Swift task ends the transfer.
    func next(isolation: isolated (any Actor)? = #isolation) async -> [URLSession.TransferEvent] {
        let early = kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
        guard early.isEmpty else { return early }
        return await withTaskCancellationHandler {
            let batch = await pipe.take(isolation: isolation)
            if batch.letsReadingResume { task.core.hops.resumeReading() }
            return batch.events
        } onCancel: { [task] in
            task.core.driver.cancel()
        }
    }

    // MARK: Iterations

    /// Something can ask for more until `iterationEnds`.
    fileprivate func iterationBegins() { iterations.add(1, ordering: .relaxed) }

    /// B1.92: with the last iteration the task ends.
    fileprivate func iterationEnds() {
        if iterations.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { task.core.driver.cancel() }
    }
}

/// One iteration of a feed, with all its copies.
final class FeedIteration: Sendable {
    let feed: TransferFeed

    init(_ feed: TransferFeed) {
        self.feed = feed
        feed.iterationBegins()
    }

    deinit { feed.iterationEnds() }
}
