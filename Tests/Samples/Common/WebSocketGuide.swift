// The code of docs/websockets.md and of the article on web sockets, which SampleTests compares with them block by block.

import Foundation
import URLLoading

/// Says hello and hands on whatever comes until the conversation is over.
public func chat(
    at url: URL, in session: URLSession, _ heard: @escaping @Sendable (String) -> Void
) async throws {
    let task = session.webSocketTask(with: url, protocols: ["chat.v2"])
    task.resume()
    try await task.send(.string("hello"))
    for try await message in task.messages {
        switch message {
        case .string(let text): heard(text)
        case .data(let data): heard("\(data.count) bytes")
        }
    }
}

/// One message and goodbye, with the calls that Apple has too.
public func askOnce(_ task: URLSessionWebSocketTask) async throws -> String {
    task.resume()
    try await task.send(.string("what time is it?"))
    guard case .string(let answer) = try await task.receive() else { throw URLError(.cannotParseResponse) }
    task.cancel(with: .normalClosure, reason: Data("thanks".utf8))
    return answer
}

/// Offers to compress messages.
public func offerCompression(in configuration: URLSessionConfiguration) {
    configuration.compressesWebSocketMessages = true
}

/// Knows when its web sockets opened and how they were closed.
public final class Doorkeeper: NSObject, URLSessionWebSocketDelegate {
    private let note: @Sendable (String) -> Void

    /// `note` hears a line about each.
    public init(note: @escaping @Sendable (String) -> Void) {
        self.note = note
    }

    /// The handshake is over.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        note("open, with \(`protocol` ?? "no protocol")")
    }

    /// Either side has said goodbye.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        note("closed with \(closeCode.rawValue)")
    }
}

/// Asks whether the server is still there.
public func ask(_ task: URLSessionWebSocketTask, _ heard: @escaping @Sendable (String) -> Void) {
    task.sendPing { error in
        heard(error == nil ? "still there" : "gone")
    }
}
