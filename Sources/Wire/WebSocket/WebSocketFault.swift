// Everything that can be wrong with what a peer sends on a web socket, one case a reason, with the code that the close
// frame carries because of it. Cases carry numbers, never bytes of the peer. RFC 6455 §7.4.1, RFC 7692 §6.

/// Why a web socket is failed.
package enum WebSocketFault: Error, Sendable, Equatable {
    // The framing is wrong.

    /// A reserved bit that no extension has given a meaning (B15.18).
    case reservedBit
    /// An opcode that is not defined (B15.18).
    case reservedOpcode
    /// A masked frame from a server (B15.15).
    case maskedByServer
    /// A frame from a client without a mask (RFC 6455 §5.1).
    case unmaskedByClient
    /// A control frame that is a fragment (B15.16).
    case fragmentedControl
    /// A control frame of more than 125 bytes (B15.16).
    case controlTooLong
    /// A length in more bytes than it needs (B15.18).
    case lengthNotMinimal
    /// A length of 64 bits (B15.18).
    case lengthTooLarge
    /// A continuation where no message has begun (B15.18).
    case continuationWithoutStart
    /// A message inside of another (B15.18).
    case messageInsideMessage
    /// A close frame with a payload of one byte (B15.30).
    case malformedClose
    /// A close code that may not be sent (B15.30).
    case invalidCloseCode

    // The framing is right, and its content is not.

    /// A close reason that is not UTF-8 (B15.30).
    case invalidCloseReason
    /// A text message that is not UTF-8 (B15.17).
    case invalidText
    /// A message of more bytes than allowed (B15.19).
    case messageTooBig(limit: Int)
    /// A compressed message that is none, or that stops in the middle.
    case corruptCompression

    /// zlib got no memory.
    case outOfMemory

    /// The code that the close frame carries (RFC 6455 §7.4.1).
    package var closeCode: UInt16 {
        switch self {
        case .reservedBit, .reservedOpcode, .maskedByServer, .unmaskedByClient, .fragmentedControl, .controlTooLong,
            .lengthNotMinimal, .lengthTooLarge, .continuationWithoutStart, .messageInsideMessage, .malformedClose,
            .invalidCloseCode:
            1002
        case .invalidCloseReason, .invalidText, .corruptCompression: 1007
        case .messageTooBig: 1009
        case .outOfMemory: 1011
        }
    }
}

extension WebSocketFault: CustomStringConvertible {
    /// One sentence a person can act on.
    package var description: String {
        switch self {
        case .reservedBit: "A web socket frame has a reserved bit set that no extension was agreed on for."
        case .reservedOpcode: "A web socket frame has an opcode that is not defined."
        case .maskedByServer: "The server sent a masked web socket frame."
        case .unmaskedByClient: "The client sent a web socket frame without a mask."
        case .fragmentedControl: "A web socket control frame is fragmented."
        case .controlTooLong: "A web socket control frame is longer than 125 bytes."
        case .lengthNotMinimal: "A web socket frame gives its length in more bytes than needed."
        case .lengthTooLarge: "A web socket frame announces more than 63 bits can count."
        case .continuationWithoutStart: "A web socket frame continues a message that has not begun."
        case .messageInsideMessage: "A web socket message begins inside of another."
        case .malformedClose: "A web socket close frame has one byte where two or none belong."
        case .invalidCloseCode: "A web socket close frame has a code that may not be sent."
        case .invalidCloseReason: "The reason in a web socket close frame is not UTF-8."
        case .invalidText: "A web socket text message is not UTF-8."
        case .messageTooBig(let limit): "A web socket message is larger than \(limit) bytes."
        case .corruptCompression: "A compressed web socket message cannot be decompressed."
        case .outOfMemory: "There is no memory left to decompress a web socket message."
        }
    }
}
