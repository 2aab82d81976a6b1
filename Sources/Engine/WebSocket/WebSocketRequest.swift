// One web socket as the engine takes it over once the handshake is done, and what is told of it: values, and the seam
// to its receiver.
//
// Must not know: tasks, delegates, Foundation, how the handshake went.

import URLLoadingPolicy
import URLLoadingWire

/// Everything the engine needs to carry a web socket on a connection that has switched to it.
package struct WebSocketSettings: Sendable {
    /// The host that the connection leads to, for the texts of errors.
    package var host: String
    /// How messages are compressed; nil where they are not.
    package var compression: DeflateAgreement?
    /// How many bytes a message may have (B15.19).
    package var maximumMessageSize: Int
    /// When all must have ended (B6.11), as `LoopClock` counts time; nil for never.
    package var resourceDeadline: Duration?

    /// Makes settings of their parts.
    package init(
        host: String, compression: DeflateAgreement? = nil, maximumMessageSize: Int = 1 << 20,
        resourceDeadline: Duration? = nil
    ) {
        self.host = host
        self.compression = compression
        self.maximumMessageSize = maximumMessageSize
        self.resourceDeadline = resourceDeadline
    }
}

/// Takes in what becomes of one web socket. Every call comes on the loop's thread.
package protocol WebSocketReceiver: AnyObject {
    /// So many bytes of messages have come and gone since the last call.
    func moved(received: Int, sent: Int)

    /// How the conversation was closed is known. Comes before the calls that wait are told of it, so that the code that
    /// they wake can look (B15.27).
    func closing(_ close: WebSocketClose)

    /// The end: once, and last. `unclaimed` are messages that came before it and that no call has asked for (B15.14).
    func finished(_ failure: WebSocketFailure, unclaimed: [WebSocketMessage])
}

/// Why a call got nothing, or how the web socket ended.
package enum WebSocketFailure: Error, Sendable {
    /// By the rules of web sockets; a good end among them.
    case end(WebSocketEnd)
    /// By what happened to the connection, or by the clock.
    case engine(EngineError)
    /// By an error that the caller had found before.
    case known(any Error)
}

/// One thing to do with a web socket. Handlers are called on the loop, once.
package enum WebSocketOrder: Sendable {
    /// Sends a message; done when the kernel has it (B15.13).
    case send(WebSocketMessage, handler: @Sendable (WebSocketFailure?) -> Void)
    /// Gives the next message (B15.14).
    case receive(handler: @Sendable (Result<WebSocketMessage, WebSocketFailure>) -> Void)
    /// Sends a ping; done when its pong has come (B15.21).
    case ping(handler: @Sendable (WebSocketFailure?) -> Void)
    /// Says goodbye (B15.24).
    case close(WebSocketClose)
    /// Another limit for messages, from the next byte on.
    case limit(Int)

    /// It is not done.
    package func refuse(_ failure: WebSocketFailure) {
        switch self {
        case .send(_, let handler), .ping(let handler): handler(failure)
        case .receive(let handler): handler(.failure(failure))
        case .close, .limit: break
        }
    }
}
