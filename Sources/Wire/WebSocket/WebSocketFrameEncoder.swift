// Writes frames: a header, and the payload under the mask in the same pass that copies it. Large payloads can be
// written in pieces by a caller that has only a small buffer. It knows no order and no randomness. RFC 6455 §5.

/// Writes frames.
package enum WebSocketFrameEncoder {
    /// Appends a frame; `mask` is a client's, and new for each frame.
    package static func encode(_ frame: WebSocketFrame, mask: WebSocketMask?, into out: inout [UInt8]) {
        encode(frame.opcode, frame.payload, mask: mask, into: &out)
    }

    /// Appends a frame of its parts.
    package static func encode(
        _ opcode: WebSocketOpcode, _ payload: [UInt8], isFinal: Bool = true, isCompressed: Bool = false,
        mask: WebSocketMask?, into out: inout [UInt8]
    ) {
        let header = WebSocketFrameHeader(
            opcode, isFinal: isFinal, isCompressed: isCompressed, mask: mask, payloadLength: payload.count)
        var mask = mask
        out.makeRoom(for: header.byteCount + payload.count)
        header.encode(into: &out)
        payload.withUnsafeBytes { out.append($0, mask: &mask) }
    }
}
