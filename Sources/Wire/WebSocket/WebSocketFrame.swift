// The words of the web socket protocol as values: opcodes, messages, and frames as they are given to the encoder. They
// know neither bytes nor order. RFC 6455 §5.2, §5.6.

/// Which end of a web socket we are: a client masks what it sends, a server does not (RFC 6455 §5.1).
package enum WebSocketRole: Sendable, Equatable {
    /// The end that asked for the web socket.
    case client
    /// The end that was asked.
    case server
}

/// What a frame is (RFC 6455 §11.8).
package enum WebSocketOpcode: UInt8, Sendable, Equatable {
    /// Goes on with the message that has begun.
    case continuation = 0x0
    /// Begins a text message.
    case text = 0x1
    /// Begins a binary message.
    case binary = 0x2
    /// Ends the conversation.
    case close = 0x8
    /// Wants a pong.
    case ping = 0x9
    /// Answers a ping.
    case pong = 0xA

    /// Whether frames of this kind are about the connection and belong to no message.
    package var isControl: Bool { rawValue & 0x8 != 0 }
}

/// A whole message.
package struct WebSocketMessage: Sendable, Equatable {
    /// What the bytes are.
    package enum Kind: Sendable, Equatable {
        /// Valid UTF-8.
        case text
        /// Anything.
        case binary
    }

    /// What the bytes are.
    package var kind: Kind
    /// The payload of all fragments.
    package var bytes: [UInt8]

    /// Makes a message.
    package init(_ kind: Kind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }

    /// Makes a text message.
    package init(text: String) { self.init(.text, Array(text.utf8)) }

    /// The opcode of its first frame.
    package var opcode: WebSocketOpcode { kind == .text ? .text : .binary }
}

/// A frame to be sent.
package enum WebSocketFrame: Sendable, Equatable {
    /// A message in one frame.
    case message(WebSocketMessage)
    /// Wants a pong with the same bytes, at most 125.
    case ping([UInt8])
    /// Answers a ping.
    case pong([UInt8])
    /// Ends the conversation.
    case close(WebSocketClose)

    /// The opcode.
    package var opcode: WebSocketOpcode {
        switch self {
        case .message(let message): message.opcode
        case .ping: .ping
        case .pong: .pong
        case .close: .close
        }
    }

    /// The payload, not compressed and not masked.
    package var payload: [UInt8] {
        switch self {
        case .message(let message): message.bytes
        case .ping(let payload), .pong(let payload): payload
        case .close(let close): close.payload
        }
    }
}
