// A task that is a web socket. Everything it does is `TaskWebSocket`'s.

import Foundation

/// A web socket (RFC 6455): messages to and from a server, over a connection that began as an HTTP request.
///
/// Calls may be made before the task is resumed and before the server has agreed; they wait, and are carried out in
/// their order (B15.9). Handlers are called on the session's delegate queue. The task is complete when the conversation
/// was closed by either side, and fails when the connection is lost or the server breaks the protocol.
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    // Safe to share: it has no state but the core, which guards its own.

    /// Makes a task that belongs to no session, for mocks.
    @available(*, deprecated, message: "Tasks are made by sessions")
    public override init() {
        super.init()
    }

    override init(core: TaskCore) {
        super.init(core: core)
    }

    /// What is sent and received.
    public enum Message: Sendable {
        /// Bytes.
        case data(Data)
        /// Text.
        case string(String)
    }

    /// Sends a ping; the handler is called when the server's pong has come, in the order of the pings, or with an error
    /// (B15.21).
    @preconcurrency
    open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        core.webSocket.ping(pongReceiveHandler)
    }

    /// Says goodbye with a code and a reason, behind what was sent before; the task is complete when the server has
    /// answered, or after five seconds (B15.24).
    ///
    /// Before the handshake is over it is the same as `cancel()`. A code that must not be sent becomes 1000,
    /// `invalid` and `noStatusReceived` send none (B15.30); of a reason the part is sent that is UTF-8 and fits
    /// into 123 bytes (B15.29).
    open func cancel(with closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        core.webSocket.close(closeCode, reason: reason)
    }

    /// How many bytes a received message may have, all its fragments together; 1 MiB unless set. A longer one fails the
    /// task with `POSIXError.EMSGSIZE` (B15.19, B15.20).
    open var maximumMessageSize: Int {
        get { core.webSocket.maximumMessageSize }
        set { core.webSocket.maximumMessageSize = newValue }
    }

    /// The code with which the conversation was closed; `invalid` until then and where it was not closed properly,
    /// `noStatusReceived` where the close frame had none (B15.27).
    open var closeCode: URLSessionWebSocketTask.CloseCode { core.webSocket.closeCode }

    /// The reason with which the conversation was closed; `nil` also where it was empty (B15.28).
    open var closeReason: Data? { core.webSocket.closeReason }
}

extension URLSessionWebSocketTask {
    /// Sends a message; the handler is called when the system has it, which says nothing of the server (B15.13).
    @preconcurrency
    public func send(
        _ message: URLSessionWebSocketTask.Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        core.webSocket.send(message, completionHandler)
    }

    /// Sends a message; returns when the system has it, which says nothing of the server (B15.13).
    public func send(_ message: URLSessionWebSocketTask.Message) async throws {
        try await core.webSocket.send(message)
    }

    /// Gives one whole message, the first that no other call has got (B15.14). Without calls that wait for messages no
    /// more than a few are read, and the server has to wait.
    @preconcurrency
    public func receive(
        completionHandler: @escaping @Sendable (Result<URLSessionWebSocketTask.Message, any Error>) -> Void
    ) {
        core.webSocket.receive(completionHandler)
    }

    /// Gives one whole message, the first that no other call has got (B15.14). Cancelling the surrounding Swift task
    /// does not end the call: cancel the web socket task.
    public func receive() async throws -> URLSessionWebSocketTask.Message {
        try await core.webSocket.receive()
    }
}
