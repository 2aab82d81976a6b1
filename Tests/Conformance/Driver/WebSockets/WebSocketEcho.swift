// Sends back every message of a web socket as it came, until the connection ends. Driver protocol, section 8.

import ConformanceSupport
import Foundation
import Synchronization
import URLLoading

/// An echo while it runs.
final class WebSocketEcho: Sendable {
    private struct Count {
        var messages = 0
        var bytes = 0
    }

    private let socket: DriverWebSocket
    private let patience: Int
    private let count = Mutex(Count())
    private let done: @Sendable (JSONValue) -> Void

    /// `done` is called once, with the result; no message may take longer than so many milliseconds to come.
    init(_ socket: DriverWebSocket, patience: Int, done: @escaping @Sendable (JSONValue) -> Void) {
        self.socket = socket
        self.patience = patience
        self.done = done
    }

    func begin() {
        socket.begin()
        next()
    }

    private func next() {
        socket.receive(within: patience) { [self] result in
            guard case .success(let message) = result else { return finish(result) }
            count.withLock { count in
                count.messages += 1
                count.bytes += message.byteCount
            }
            // The next is asked for when this one is out, so that a peer that does not read is not read.
            socket.send(message) { [self] error in
                if error == nil { next() } else { finish(result) }
            }
        }
    }

    private func finish(_ result: DriverWebSocket.Received) {
        if case .failure(let error as URLError) = result, error.code == .timedOut { socket.close(1000, nil) }
        socket.end.whenKnown { [self] end in
            let count = count.withLock { $0 }
            done([
                "messages": .count(count.messages), "bytes": .count(count.bytes), "closed": end.close.json,
                "error": end.error.map(\.json) ?? .null,
            ])
        }
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
