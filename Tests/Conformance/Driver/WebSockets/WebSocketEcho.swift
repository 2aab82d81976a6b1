// Sends back every message of a web socket as it came, until the connection ends. Driver protocol, section 8.

import Foundation
import Synchronization
import URLLoading
import URLLoadingTestSupport

/// An echo while it runs: one step after the other, each of which must be over before its time is.
final class WebSocketEcho: Sendable {
    private struct State {
        var messages = 0
        var bytes = 0
        /// When the step that is under way has taken too long.
        var deadline = DispatchTime.distantFuture
        var isOver = false
    }

    private let socket: DriverWebSocket
    private let patience: Int
    private let state = Mutex(State())
    private let done: @Sendable (JSONValue) -> Void

    /// `done` is called once, with the result; no message may take longer than so many milliseconds to come or to go,
    /// nor may the end.
    init(_ socket: DriverWebSocket, patience: Int, done: @escaping @Sendable (JSONValue) -> Void) {
        self.socket = socket
        self.patience = patience
        self.done = done
    }

    func begin() {
        socket.begin()
        next()
        watch()
    }

    /// The result for a URL that is none.
    static let impossible = result(State(), closed: nil, error: .badURL)

    // MARK: The steps

    private func next() {
        beginStep()
        socket.receive { [self] result in
            guard case .success(let message) = result else { return waitForEnd() }
            state.withLock { state in
                state.messages += 1
                state.bytes += message.byteCount
            }
            // The next is asked for when this one is out, so that a peer that does not read is not read.
            beginStep()
            socket.send(message) { [self] error in
                if error == nil { next() } else { waitForEnd() }
            }
        }
    }

    private func waitForEnd() {
        beginStep()
        socket.end.whenKnown { [self] end in finish(closed: end.close, error: end.error) }
    }

    private func finish(closed: DriverWebSocket.Close?, error: TransferError?) {
        let last = state.withLock { state -> State? in
            defer { state.isOver = true }
            return state.isOver ? nil : state
        }
        if let last { done(Self.result(last, closed: closed, error: error)) }
    }

    private static func result(_ state: State, closed: DriverWebSocket.Close?, error: TransferError?) -> JSONValue {
        [
            "messages": .count(state.messages), "bytes": .count(state.bytes), "closed": closed.json,
            "error": error.map(\.json) ?? .null,
        ]
    }

    // MARK: The time

    private func beginStep() {
        let deadline = DispatchTime.now() + .milliseconds(patience)
        state.withLock { $0.deadline = deadline }
    }

    /// Looks when the time of the present step is over, which often is a later one by then. One timer at a time: one
    /// for each step would stay behind for its whole time, millions of them where messages are short.
    private func watch() {
        let (deadline, isOver) = state.withLock { ($0.deadline, $0.isOver) }
        if isOver { return }
        if deadline <= .now() { return giveUp() }
        DispatchQueue.global().asyncAfter(deadline: deadline) { [weak self] in self?.watch() }
    }

    /// A peer that neither sends nor reads, or does not end the connection, is waited for no longer.
    private func giveUp() {
        finish(closed: nil, error: TransferError(URLError(.timedOut)))
        socket.cancel()
    }
}

extension URLSessionWebSocketTask.Message {
    fileprivate var byteCount: Int {
        switch self {
        case .data(let data): data.count
        case .string(let text): text.utf8.count
        }
    }
}
