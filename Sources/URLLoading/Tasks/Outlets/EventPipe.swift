// What happens to one task, on its way from the loop to the program's iteration: no queue and no operation in between.
//
// The loop adds events; the consumer takes everything there is at once, so a fast sender costs one wake-up
// per batch and not one per piece. A consumer that does not come stops the sender: above the high-water
// mark the socket is not read.
//
// Must not know: tasks, what the events mean beyond their weight.

import Foundation
import Synchronization
import URLLoadingEngine

/// An ordered list of events between the loop and one consumer.
final class EventPipe: Sendable {
    /// What the consumer wants to see.
    enum Scope: Sendable {
        /// The response, the body and the end.
        case body
        /// Everything.
        case everything
    }

    let scope: Scope
    private let state = Mutex(State())

    private struct State: Sendable {
        var events: [URLSession.TransferEvent] = []
        var bytes = 0
        var isReadingPaused = false
        var hasEnded = false
        /// Consumers that found nothing; more than one only where copies of an iterator are used at once.
        var waiters: [UnsafeContinuation<Void, Never>] = []

        mutating func takeWaiters() -> [UnsafeContinuation<Void, Never>] {
            guard !waiters.isEmpty else { return [] }
            defer { waiters = [] }
            return waiters
        }
    }

    /// Everything that there was at one moment, in order.
    struct Batch: Sendable {
        var events: [URLSession.TransferEvent]
        /// Whether the sender was stopped and can go on now.
        var letsReadingResume: Bool
    }

    init(scope: Scope) {
        self.scope = scope
    }

    // MARK: The loop's side

    /// Adds an event; the last one is `.end`, and nothing is taken after it.
    func post(_ event: URLSession.TransferEvent) {
        let waiters = state.withLock { state -> [UnsafeContinuation<Void, Never>] in
            guard !state.hasEnded else { return [] }
            if case .end = event { state.hasEnded = true }
            // Progress that was not taken yet is out of date.
            if case .progress = event, case .progress = state.events.last { state.events.removeLast() }
            state.events.append(event)
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Adds a piece of the body, whose progress is to follow; says whether more can be taken. The limit is that of
    /// delegates.
    func post(body piece: Data) -> ReceiverDemand {
        let (waiters, demand) = state.withLock { state -> ([UnsafeContinuation<Void, Never>], ReceiverDemand) in
            guard !state.hasEnded else { return ([], .more) }
            state.bytes += piece.count
            if case .progress = state.events.last { state.events.removeLast() }
            state.events.append(.body(piece))
            if state.bytes >= TaskMailbox.highWaterMark { state.isReadingPaused = true }
            return (state.takeWaiters(), state.isReadingPaused ? .pause : .more)
        }
        for waiter in waiters { waiter.resume() }
        return demand
    }

    // MARK: The consumer's side

    /// Everything that has come, waiting if there is nothing; empty only after the end.
    func take(isolation: isolated (any Actor)? = #isolation) async -> Batch {
        while true {
            if let batch = takeNow() { return batch }
            await withUnsafeContinuation(isolation: isolation) { waiter in
                let isReady = state.withLock { state in
                    if state.hasEnded || !state.events.isEmpty { return true }
                    state.waiters.append(waiter)
                    return false
                }
                if isReady { waiter.resume() }
            }
        }
    }

    private func takeNow() -> Batch? {
        state.withLock { state in
            guard state.hasEnded || !state.events.isEmpty else { return nil }
            let batch = Batch(events: state.events, letsReadingResume: state.isReadingPaused)
            state.events = []
            state.bytes = 0
            state.isReadingPaused = false
            return batch
        }
    }
}
