// What a stream task is asked to do, from before it is resumed to after its end: kept until there is a connection to
// be, passed on in order while there is, and answered from memory afterwards.
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
        /// Ends without a failure where the end is a good one.
        var orders = OrderLine<StreamOrder, StreamHandle, StreamFailure?>()
        var hasClosedRead = false
    }

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Asks for something behind what was asked before.
    func say(_ order: StreamOrder) {
        let way = state.withLock { state in
            if case .closeRead = order { state.hasClosedRead = true }
            return state.orders.take(order)
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
            let orders = state.withLock { $0.orders.passOn(to: handle) }
            if orders.isEmpty { return }
            for order in orders { handle.perform(order) { [self] in answer($0) } }
        }
    }

    /// The task has ended; what was never passed on is answered. Counts once.
    func end(_ failure: StreamFailure?) {
        let orders = state.withLock { $0.orders.close(failure) }
        for order in orders ?? [] { answer(order) }
    }

    /// B15.40: behind a good end there is the end, again and again.
    private func answer(_ order: StreamOrder) {
        let (failure, isAtEnd) = state.withLock { ($0.orders.end ?? .fault(.cancelled), !$0.hasClosedRead) }
        switch order {
        case .read(_, _, _, let handler) where failure == nil && isAtEnd:
            handler(.success(StreamPiece(bytes: [], isAtEnd: true)))
        case .read: order.refuse(failure ?? .fault(.readingClosed))
        case .write: order.refuse(failure ?? .fault(.writingClosed))
        case .closeRead, .closeWrite, .startSecure, .capture: break
        }
    }
}
