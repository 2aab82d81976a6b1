// What the server has seen, counted where it happens and read from any thread. Knows nothing of how a test uses it.

import Synchronization

/// One consistent reading of the server's counters.
package struct ServerStatistics: Sendable, Equatable {
    /// Connections accepted so far.
    package var connectionsAccepted = 0
    /// Connections that are open now.
    package var connectionsOpen = 0
    /// Connections that the client closed or reset while the server still had something to do on them.
    package var connectionsLost = 0
    /// Requests whose head has arrived.
    package var requestsBegun = 0
    /// Requests that have arrived whole.
    package var requests = 0
    /// Answers that have been handed to the kernel whole.
    package var responses = 0
    /// TLS handshakes completed, resumed ones included.
    package var handshakes = 0
    /// TLS handshakes that resumed an earlier session.
    package var resumedHandshakes = 0
    /// TLS handshakes that failed, or that the client left.
    package var failedHandshakes = 0
    /// Bytes of HTTP received; under TLS these are decrypted ones.
    package var bytesReceived: Int64 = 0
    /// Bytes of HTTP that the kernel has taken, or under TLS that have been encrypted for it.
    package var bytesWritten: Int64 = 0
    /// Connections with something to write that the kernel does not take at present.
    package var blockedWriters = 0
    /// Messages that were not HTTP.
    package var malformedRequests = 0
}

/// The counters themselves: changed on the loop, read from anywhere, awaited by tests.
final class StatisticsBoard: Sendable {
    private struct Waiter {
        let id: Int
        let condition: @Sendable (ServerStatistics) -> Bool
        let continuation: UnsafeContinuation<ServerStatistics?, Never>
    }

    private struct State {
        var statistics = ServerStatistics()
        var waiters: [Waiter] = []
        var cancelled: Set<Int> = []
        var nextID = 0
    }

    private let state = Mutex(State())

    var current: ServerStatistics { state.withLock { $0.statistics } }

    /// Changes the counters and wakes those whose condition now holds.
    func update(_ change: (inout ServerStatistics) -> Void) {
        let ready: [(Waiter, ServerStatistics)] = state.withLock { state in
            change(&state.statistics)
            guard !state.waiters.isEmpty else { return [] }
            let statistics = state.statistics
            let ready = state.waiters.filter { $0.condition(statistics) }
            state.waiters.removeAll { waiter in ready.contains { $0.id == waiter.id } }
            return ready.map { ($0, statistics) }
        }
        for (waiter, statistics) in ready { waiter.continuation.resume(returning: statistics) }
    }

    /// Waits for the counters to fulfil `condition`; nil where the waiting task is cancelled before.
    func wait(until condition: @escaping @Sendable (ServerStatistics) -> Bool) async -> ServerStatistics? {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                add(Waiter(id: id, condition: condition, continuation: continuation))
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func add(_ waiter: Waiter) {
        let answer: ServerStatistics?? = state.withLock { state in
            if state.cancelled.remove(waiter.id) != nil { return .some(nil) }
            if waiter.condition(state.statistics) { return state.statistics }
            state.waiters.append(waiter)
            return nil
        }
        if let answer { waiter.continuation.resume(returning: answer) }
    }

    private func cancel(_ id: Int) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: nil)
    }
}
