// The two to fourteen bytes before a frame's payload, read and written. What is wrong with them is found as soon as the
// byte that is wrong has come, so that cutting changes no verdict. RFC 6455 §5.2.
//
//     FIN RSV1 RSV2 RSV3 opcode | MASK length | none, 2 or 8 more bytes of length | none or 4 bytes of mask

/// The header of a frame.
package struct WebSocketFrameHeader: Sendable, Equatable {
    /// What the frame is.
    package var opcode: WebSocketOpcode
    /// Whether the message is complete with this frame.
    package var isFinal: Bool
    /// RSV1: whether the message that begins is compressed (RFC 7692 §6).
    package var isCompressed: Bool
    /// What the payload is masked with.
    package var mask: WebSocketMask?
    /// How many bytes of payload follow.
    package var payloadLength: Int

    /// Makes a header.
    package init(
        _ opcode: WebSocketOpcode, isFinal: Bool = true, isCompressed: Bool = false, mask: WebSocketMask?,
        payloadLength: Int
    ) {
        self.opcode = opcode
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.mask = mask
        self.payloadLength = payloadLength
    }

    // MARK: Writing

    /// How many bytes the header takes.
    package var byteCount: Int {
        let length = payloadLength < 126 ? 2 : payloadLength <= 0xFFFF ? 4 : 10
        return length + (mask == nil ? 0 : 4)
    }

    /// Appends the header.
    package func encode(into out: inout [UInt8]) {
        out.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        if payloadLength < 126 {
            out.append(maskBit | UInt8(truncatingIfNeeded: payloadLength))
        } else {
            let bytes = payloadLength <= 0xFFFF ? 2 : 8
            out.append(maskBit | (bytes == 2 ? 126 : 127))
            for place in (0..<bytes).reversed() {
                out.append(UInt8(truncatingIfNeeded: payloadLength >> (8 * place)))
            }
        }
        guard let (first, second, third, fourth) = mask?.bytes else { return }
        out.append(contentsOf: [first, second, third, fourth])
    }

    // MARK: Reading

    /// What may come next on a connection.
    struct Rules {
        /// The role of the end that reads; the other end wrote.
        var role: WebSocketRole
        /// Whether compression was agreed on.
        var allowsCompression: Bool
        /// Whether a message has begun and not ended.
        var isInsideMessage = false
    }

    /// Reads a header at the beginning of the bytes; nil if they are too few and nothing is wrong yet.
    init?(_ bytes: UnsafeRawBufferPointer, _ rules: Rules) throws(WebSocketFault) {
        guard bytes.count >= 1 else { return nil }
        opcode = try Self.opcode(bytes[0], rules)
        isFinal = bytes[0] & 0x80 != 0
        isCompressed = bytes[0] & 0x40 != 0
        guard bytes.count >= 2 else { return nil }
        let short = Int(bytes[1] & 0x7F)
        let isMasked = bytes[1] & 0x80 != 0
        switch rules.role {
        case .client: if isMasked { throw .maskedByServer }
        case .server: if !isMasked { throw .unmaskedByClient }
        }
        if opcode.isControl, short > 125 { throw .controlTooLong }
        let lengthBytes = short < 126 ? 0 : short == 126 ? 2 : 8
        payloadLength = short
        if lengthBytes > 0 {
            // The highest bit can be judged before the rest has come.
            if lengthBytes == 8, bytes.count > 2, bytes[2] & 0x80 != 0 { throw .lengthTooLarge }
            guard bytes.count >= 2 + lengthBytes else { return nil }
            payloadLength = bytes[2..<(2 + lengthBytes)].reduce(0) { $0 << 8 | Int($1) }
            guard payloadLength > (lengthBytes == 2 ? 125 : 0xFFFF) else { throw .lengthNotMinimal }
        }
        guard isMasked else { return }
        guard bytes.count >= 6 + lengthBytes else { return nil }
        mask = WebSocketMask(bytes, at: 2 + lengthBytes)
    }

    /// What the first byte says.
    private static func opcode(_ byte: UInt8, _ rules: Rules) throws(WebSocketFault) -> WebSocketOpcode {
        guard byte & 0x30 == 0 else { throw .reservedBit }
        let isCompressed = byte & 0x40 != 0
        if isCompressed, !rules.allowsCompression { throw .reservedBit }
        guard let opcode = WebSocketOpcode(rawValue: byte & 0x0F) else { throw .reservedOpcode }
        switch opcode {
        case .continuation:
            // RFC 7692 §6.1: the bit stands on the first frame of a message.
            if isCompressed { throw .reservedBit }
            guard rules.isInsideMessage else { throw .continuationWithoutStart }
        case .text, .binary:
            guard !rules.isInsideMessage else { throw .messageInsideMessage }
        case .close, .ping, .pong:
            if isCompressed { throw .reservedBit }
            guard byte & 0x80 != 0 else { throw .fragmentedControl }
        }
        return opcode
    }

    /// Two bytes, eight of length and four of mask.
    static var longest: Int { 14 }
}
