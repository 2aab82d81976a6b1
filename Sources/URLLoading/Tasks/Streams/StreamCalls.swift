// What a stream task is asked to do, from before it is resumed to after its end: kept until there is a connection to be,
// passed on in order while there is, and answered from memory afterwards.
//
// Must not know: delegate queues, how errors are told to users.

import Synchronization
import URLLoadingEngine

/// The calls of one stream task.
final class StreamCalls: Sendable {
    let host: String
    let port: Int
    private let state = Mutex(State())

    private struct State: Sendable {
        var waiting: [StreamOrder] = []
        var handle: StreamHandle?
        /// What reads and writes are answered with once the task has ended; nil for a good end.
        var end: StreamFailure??
        var hasClosedRead = false
    }

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Asks for something behind what was asked before.
    func say(_ order: StreamOrder) {
        enum Way { case kept, to(StreamHandle), answered }
        let way = state.withLock { state -> Way in
            if case .closeRead = order { state.hasClosedRead = true }
            if state.end != nil { return .answered }
            if let handle = state.handle { return .to(handle) }
            state.waiting.append(order)
            return .kept
        }
        switch way {
        case .kept: break
        case .to(let handle): handle.perform(order) { [self] in answer($0) }
        case .answered: answer(order)
        }
    }

    /// There is something that carries the orders out.
    func begin(_ handle: StreamHandle) {
        // Order: all that waits is passed on before other threads find the handle.
        while true {
            let orders = state.withLock { state -> [StreamOrder] in
                if state.waiting.isEmpty, state.end == nil { state.handle = handle }
                defer { state.waiting = [] }
                return state.waiting
            }
            if orders.isEmpty { return }
            for order in orders { handle.perform(order) { [self] in answer($0) } }
        }
    }

    /// The task has ended; what was never passed on is answered. Counts once.
    func end(_ failure: StreamFailure?) {
        let orders = state.withLock { state -> [StreamOrder] in
            guard state.end == nil else { return [] }
            state.end = .some(failure)
            state.handle = nil
            defer { state.waiting = [] }
            return state.waiting
        }
        for order in orders { answer(order) }
    }

    /// B15.40: behind a good end there is the end, again and again.
    private func answer(_ order: StreamOrder) {
        let (failure, isAtEnd) = state.withLock { ($0.end ?? .fault(.cancelled), !$0.hasClosedRead) }
        switch order {
        case .read(_, _, _, let handler) where failure == nil && isAtEnd:
            handler(.success(StreamPiece(bytes: [], isAtEnd: true)))
        case .read: order.refuse(failure ?? .fault(.readingClosed))
        case .write: order.refuse(failure ?? .fault(.writingClosed))
        case .closeRead, .closeWrite, .startSecure, .capture: break
        }
    }
}
