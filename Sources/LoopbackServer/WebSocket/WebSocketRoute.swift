// What the server does with a web socket once a request for one has come. Values; the conversation carries them out.
// RFC 6455.

import URLLoadingWire

/// A web socket as a route offers it.
package struct WebSocketRoute: Sendable {
    /// What is done with what comes.
    package enum Behaviour: Sendable {
        /// Every message goes back as it came.
        case echo
        /// Steps played one after the other, whatever comes being what later steps expect.
        case script([WebSocketStep])
        /// Steps for each message, ping that is not answered by itself, pong and close, behind those that are left.
        case react(@Sendable (WebSocketReader.Event) -> [WebSocketStep])
    }

    /// What is done with what comes.
    package var behaviour: Behaviour
    /// The protocols that the server speaks; the first is taken that the client has named.
    package var protocols: [String] = []
    /// Whether permessage-deflate is agreed to where the client offers it.
    package var compresses = false
    /// How long a message may be.
    package var maximumMessageSize = 64 << 20
    /// Whether pings are answered by themselves; where not they are events like others.
    package var answersPings = true
    /// Whether a close frame is answered, and the connection then ended; a script's own steps come first.
    package var answersClose = true
    /// Changes the answer to the handshake, for answers that are wrong.
    package var changesAnswer: (@Sendable (inout ResponseHead) -> Void)?
    /// Writes down what comes.
    package var record: WebSocketRecord?

    /// Makes a route.
    package init(_ behaviour: Behaviour = .echo, record: WebSocketRecord? = nil) {
        self.behaviour = behaviour
        self.record = record
    }
}

/// One step of a scripted web socket.
package enum WebSocketStep: Sendable {
    /// A message in one frame, compressed if that was agreed on.
    case send(WebSocketMessage)
    /// A frame as one says it, well formed or in the wrong place, and never compressed.
    case frame(WebSocketOpcode, [UInt8], isFinal: Bool = true)
    /// Bytes as they are, frames or not.
    case raw([UInt8])
    /// A close frame; 1005 makes one without content.
    case close(Int, String = "")
    /// Waits for this and nothing else; another thing ends the web socket with 1008 and is written down as a problem.
    case expect(WebSocketReader.Event)
    /// Waits for any message, ping that is not answered by itself, pong or close.
    case expectAnything
    /// Waits for the client to end the connection.
    case expectEnd
    /// Nothing until the test opens the gate; what comes meanwhile is read and kept.
    case wait(ServerGate)
    /// Nothing for a while.
    case delay(Duration)
    /// What the client sends from here on stays in the kernel.
    case stopReading
    /// It is read again.
    case startReading
    /// Ends the connection in good order: close_notify under TLS, then the server's side.
    case end
    /// Ends the TCP connection without a close_notify.
    case drop
    /// Ends it with RST in place of FIN.
    case reset

    /// A text message.
    package static func text(_ text: String) -> WebSocketStep { .send(WebSocketMessage(text: text)) }

    /// A binary message.
    package static func binary(_ bytes: [UInt8]) -> WebSocketStep { .send(WebSocketMessage(.binary, bytes)) }

    /// Waits for a text message.
    package static func expect(text: String) -> WebSocketStep { .expect(.message(WebSocketMessage(text: text))) }

    /// Waits for a close frame with a code and a reason; 1005 is one without content.
    package static func expectClose(_ code: Int, _ reason: String = "") -> WebSocketStep {
        .expect(.close(WebSocketClose(code: code, reason: Array(reason.utf8))))
    }
}

extension ServerResponse {
    /// Opens a web socket if the request asks for one, and answers 426 if not.
    package static func webSocket(_ route: WebSocketRoute = WebSocketRoute()) -> ServerResponse {
        ServerResponse(status: 426, body: .webSocket(route))
            .adding("Sec-WebSocket-Version", "13").adding("Upgrade", "websocket")
    }

    /// Opens a web socket and plays steps on it.
    package static func webSocket(_ steps: [WebSocketStep], record: WebSocketRecord? = nil) -> ServerResponse {
        webSocket(WebSocketRoute(.script(steps), record: record))
    }
}
