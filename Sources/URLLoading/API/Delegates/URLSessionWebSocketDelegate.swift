// What a session tells its delegate, and a task its own, about web sockets.

import Foundation

/// Is told when web sockets open and close.
@preconcurrency
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// The handshake is over; `protocol` is what the server has chosen of the protocols that were offered (B15.8).
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)

    /// The conversation was closed by either side; the task's end follows (B15.24, B15.26). Not called where the
    /// connection was lost or the task was cancelled (B15.25, B15.31).
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

extension URLSessionWebSocketDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        webSocketTask.core.probe.noteMissing(.openedWebSocket, of: self)
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        webSocketTask.core.probe.noteMissing(.closedWebSocket, of: self)
    }
}
