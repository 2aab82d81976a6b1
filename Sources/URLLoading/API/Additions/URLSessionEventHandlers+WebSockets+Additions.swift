// What `URLSession.EventHandlers` hears of web sockets.

import Foundation

extension URLSession.EventHandlers: URLSessionWebSocketDelegate {
    /// Calls `didOpenWebSocket`.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        guard let closure = didOpenWebSocket else { return miss(.openedWebSocket, webSocketTask) }
        closure(session, webSocketTask, `protocol`)
    }

    /// Calls `didCloseWebSocket`.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        guard let closure = didCloseWebSocket else { return miss(.closedWebSocket, webSocketTask) }
        closure(session, webSocketTask, closeCode, reason)
    }
}
