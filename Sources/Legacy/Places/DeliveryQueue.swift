// The messages of one load on their way to its delegate, in order and one at a time, and the place where they are
// delivered: run loops in certain modes, or an operation queue, but never both.
//
// Messages wait while there is no place. A callback that runs its run loop itself hears the next messages from within.
//
// Must not know: what is delivered.

import Foundation
import Synchronization
import URLLoading

/// An ordered list of messages, with the place where they are delivered.
final class DeliveryQueue: Sendable {
    typealias Message = @Sendable () -> Void

    private let state = Mutex(State())

    private struct State: Sendable {
        var arriving: [Message] = []
        /// The front of the list, last first.
        var leaving: [Message] = []
        var sources: [RunLoopModeSource] = []
        var queue: OperationQueue?
        /// The queue through which an operation is on its way. One on a queue from before may be, too.
        var knocked: OperationQueue?
        /// The thread that is delivering, and how often it has begun: a callback may run its run loop.
        var deliverer: ObjectIdentifier?
        var depth = 0
        var isClosed = false

        var isEmpty: Bool { arriving.isEmpty && leaving.isEmpty }

        mutating func popFirst() -> Message? {
            if leaving.isEmpty {
                swap(&arriving, &leaving)
                leaving.reverse()
            }
            return leaving.popLast()
        }

        /// The queue or the run loops to tell that there are messages.
        mutating func knock() -> Knock {
            guard let queue else { return Knock(sources: sources, queue: nil) }
            guard knocked !== queue else { return Knock(sources: [], queue: nil) }
            knocked = queue
            return Knock(sources: [], queue: queue)
        }
    }

    private struct Knock {
        let sources: [RunLoopModeSource]
        let queue: OperationQueue?
    }

    private enum Place {
        case source(RunLoopModeSource)
        case queue(OperationQueue)
    }

    /// Its places do not hold it: left in their modes, they would keep run loops waiting for messages that never come.
    deinit { close() }

    // MARK: Places

    /// Delivers in that mode of that run loop too, and no more on a queue.
    func add(_ runLoop: RunLoop, _ mode: RunLoop.Mode) {
        let isThere = state.withLock { $0.isClosed || $0.sources.contains { $0.leads(into: runLoop, mode) } }
        guard !isThere else { return }
        let source = RunLoopModeSource(runLoop, mode) { [weak self] source in self?.deliver(at: .source(source)) }
        let knock = state.withLock { state -> Knock? in
            guard !state.isClosed else { return nil }
            state.queue = nil
            state.sources.append(source)
            return state.isEmpty ? Knock(sources: [], queue: nil) : state.knock()
        }
        if let knock { send(knock) } else { source.leave() }
    }

    /// Delivers no more in that mode of that run loop.
    func remove(_ runLoop: RunLoop, _ mode: RunLoop.Mode) {
        let removed = state.withLock { state -> [RunLoopModeSource] in
            let removed = state.sources.filter { $0.leads(into: runLoop, mode) }
            state.sources.removeAll { $0.leads(into: runLoop, mode) }
            return removed
        }
        for source in removed { source.leave() }
    }

    /// Delivers on a queue, and no more in run loops; nowhere without one.
    func move(to queue: OperationQueue?) {
        let (sources, knock) = state.withLock { state -> ([RunLoopModeSource], Knock?) in
            guard !state.isClosed else { return ([], nil) }
            let sources = state.sources
            state.sources = []
            state.queue = queue
            return (sources, state.isEmpty || queue == nil ? nil : state.knock())
        }
        for source in sources { source.leave() }
        if let knock { send(knock) }
    }

    /// Whether there is a place where messages are delivered.
    var hasPlace: Bool { state.withLock { !$0.sources.isEmpty || $0.queue != nil } }

    // MARK: Messages

    /// Adds a message; from any thread.
    func post(_ message: @escaping Message) {
        let knock = state.withLock { state -> Knock? in
            guard !state.isClosed else { return nil }
            state.arriving.append(message)
            return state.knock()
        }
        if let knock { send(knock) }
    }

    /// Delivers nothing more, and leaves all places.
    func close() {
        // What is dropped may be the last that holds something, and must not go with the lock held.
        let (messages, sources) = state.withLock { state -> ([Message], [RunLoopModeSource]) in
            let dropped = (state.arriving + state.leaving, state.sources)
            state.arriving = []
            state.leaving = []
            state.sources = []
            state.queue = nil
            state.isClosed = true
            return dropped
        }
        for source in sources { source.leave() }
        withExtendedLifetime(messages) {}
    }

    private func send(_ knock: Knock) {
        for source in knock.sources { source.ring() }
        if let queue = knock.queue { QueueTurn.add(of: self, to: queue) }
    }

    // MARK: In the place

    private func deliver(at place: Place) {
        let thread = ObjectIdentifier(Thread.current)
        while let (message, isLast) = take(at: place, thread) {
            // A run loop within the callback answers only what is rung from now on.
            if !isLast, case .source(let source) = place { source.ring() }
            message()
            state.withLock { state in
                state.depth -= 1
                if state.depth == 0 { state.deliverer = nil }
            }
        }
        leave(place)
    }

    /// A call of this place has delivered what it could, or never comes. What there is then, or came while it
    /// delivered, is for the next call, and for the place that came in this one's stead.
    private func leave(_ place: Place) {
        let knock = state.withLock { state -> Knock? in
            if case .queue(let queue) = place, state.knocked === queue { state.knocked = nil }
            return state.isEmpty || state.deliverer != nil ? nil : state.knock()
        }
        if let knock { send(knock) }
    }

    /// The next message, and whether none is behind it.
    private func take(at place: Place, _ thread: ObjectIdentifier) -> (Message, isLast: Bool)? {
        state.withLock { state in
            let isHere =
                switch place {
                case .source(let source): state.sources.contains { $0 === source }
                case .queue(let queue): state.queue === queue
                }
            guard isHere, state.deliverer == nil || state.deliverer == thread, let message = state.popFirst()
            else { return nil }
            state.deliverer = thread
            state.depth += 1
            return (message, state.isEmpty)
        }
    }
}

extension DeliveryQueue: QueueWorker {
    func takeTurn(on queue: OperationQueue) { deliver(at: .queue(queue)) }

    func lostTurn(on queue: OperationQueue) { leave(.queue(queue)) }
}
