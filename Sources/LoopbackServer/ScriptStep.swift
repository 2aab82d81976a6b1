// The steps of an answer that no well-behaved server would give: raw bytes in any pieces, pauses, resets, half-closes.
// Values only; the connection plays them.

/// One step of a scripted exchange, played in order on the connection.
package enum ScriptStep: Sendable {
    /// Raw bytes, as they are.
    case send([UInt8])
    /// Raw bytes, each in a segment of its own.
    case sendOneByteAtATime([UInt8])
    /// The pattern of `GeneratedBytes`, from its first byte or a later one.
    case sendGenerated(length: Int64, from: Int64 = 0)
    /// The pattern of `GeneratedBytes` in chunks of 64 KiB, without the last chunk.
    case sendGeneratedChunks(length: Int64)
    /// Nothing for a while.
    case delay(Duration)
    /// Nothing until the test opens the gate.
    case wait(ServerGate)
    /// Nothing until another whole request has arrived on this connection.
    case waitForRequest
    /// Nothing until the client has closed its side.
    case waitForClose
    /// Ends the server's side of the TCP connection, under TLS without a close_notify, and keeps reading.
    case halfClose
    /// Sends TLS's close_notify and keeps the TCP connection; nothing on a plain connection.
    case closeNotify
    /// Closes in good order: close_notify under TLS, then the server's side, then, after the client's, the rest.
    case close
    /// Closes the TCP connection without a close_notify.
    case drop
    /// Closes with RST in place of FIN; what the client has not read yet may be lost.
    case reset

    /// Text as raw bytes, with every line feed written as CR LF unless it already is.
    package static func lines(_ text: String) -> ScriptStep {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 32)
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\n"), bytes.last != UInt8(ascii: "\r") { bytes.append(UInt8(ascii: "\r")) }
            bytes.append(byte)
        }
        return .send(bytes)
    }

    /// Text as raw bytes, untouched.
    package static func text(_ text: String) -> ScriptStep { .send(Array(text.utf8)) }
}
