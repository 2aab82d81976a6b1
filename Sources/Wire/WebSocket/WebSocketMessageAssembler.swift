// Makes messages of frames: counts their bytes before it takes memory for them, undoes compression, and checks
// text while it comes, so that a message is refused with the first byte that makes it wrong. What a frame
// announces is believed only so far as its bytes have come. It knows no frame's grammar. Behaviour B15.16, B15.17,
// B15.19. RFC 6455 §5.4, §8.1.

/// The message that is being received.
package struct WebSocketMessageAssembler: ~Copyable {
    private var kind = WebSocketMessage.Kind.binary
    /// What there is of the message.
    package private(set) var bytes: [UInt8] = []
    private var isCompressed = false
    /// How many bytes there will be at the end of the frame.
    private var announced = 0
    private var text = UTF8Validator()
    private var inflater: MessageInflater?

    /// How many bytes a message may have, compression undone; a new number holds from the next byte on.
    package var maximumSize: Int

    /// Makes an assembler; without `compression` no message may be compressed.
    package init(maximumSize: Int, inflater: consuming MessageInflater? = nil) {
        self.maximumSize = maximumSize
        self.inflater = inflater
    }

    /// Whether the message is compressed, so that few bytes can become many.
    package var isInflating: Bool { isCompressed }

    /// How many bytes of the message there are.
    package var byteCount: Int { bytes.count }

    /// A frame of a message begins.
    package mutating func frameBegan(_ header: WebSocketFrameHeader) throws(WebSocketFault) {
        switch header.opcode {
        case .text: begin(.text, header)
        case .binary: begin(.binary, header)
        case .continuation: break
        case .close, .ping, .pong: return
        }
        guard !isCompressed else { return }
        // B15.19: refused before it is received.
        guard header.payloadLength <= maximumSize - bytes.count else { throw .messageTooBig(limit: maximumSize) }
        announced = bytes.count + header.payloadLength
        // Behind the last frame nothing comes that would need more room.
        let most = header.isFinal ? bytes.count + header.payloadLength : maximumSize
        bytes.makeRoom(for: min(header.payloadLength, Self.believedAtOnce), upTo: most)
    }

    /// Bytes of the message came.
    package mutating func received(
        _ payload: UnsafeRawBufferPointer, mask: WebSocketMask?
    ) throws(WebSocketFault) {
        let start = bytes.count
        if isCompressed {
            do throws(WebSocketFault) {
                try inflate(payload, mask)
            } catch {
                // Whatever is wrong first is told, however the bytes were cut.
                try checkText(from: start)
                throw error
            }
        } else {
            guard payload.count <= maximumSize - start else { throw .messageTooBig(limit: maximumSize) }
            makeRoom(for: payload.count)
            var mask = mask
            bytes.append(payload, mask: &mask)
        }
        try checkText(from: start)
    }

    /// A frame is complete: the message if it was the last.
    package mutating func frameEnded(isFinal: Bool) throws(WebSocketFault) -> WebSocketMessage? {
        guard isFinal else { return nil }
        if isCompressed {
            let start = bytes.count
            do throws(WebSocketFault) {
                try inflater?.finishMessage(into: &bytes, limit: maximumSize)
            } catch {
                try checkText(from: start)
                throw error
            }
            try checkText(from: start)
        }
        guard kind == .binary || text.isComplete else { throw .invalidText }
        defer { bytes = [] }
        return WebSocketMessage(kind, bytes)
    }

    // MARK: Private steps

    private mutating func begin(_ kind: WebSocketMessage.Kind, _ header: WebSocketFrameHeader) {
        self.kind = kind
        isCompressed = header.isCompressed
        text = UTF8Validator()
        bytes = []
    }

    /// A peer that has sent much is believed more, so that a large message does not move each
    /// time its memory has doubled.
    private mutating func makeRoom(for count: Int) {
        let needed = bytes.count + count
        guard bytes.capacity < needed else { return }
        bytes.reserveCapacity(max(needed, min(announced, bytes.count * Self.believedForEachByte)))
    }

    private mutating func inflate(_ payload: UnsafeRawBufferPointer, _ mask: WebSocketMask?) throws(WebSocketFault) {
        guard mask != nil else {
            try inflater?.inflate(payload, into: &bytes, limit: maximumSize)
            return
        }
        var mask = mask
        var unmasked: [UInt8] = []
        unmasked.append(payload, mask: &mask)
        try unmasked.span.bytes.withUnsafeBytes { plain throws(WebSocketFault) in
            try inflater?.inflate(plain, into: &bytes, limit: maximumSize)
        }
    }

    private mutating func checkText(from start: Int) throws(WebSocketFault) {
        // A byte that is already too many does not matter any more.
        let end = min(bytes.count, maximumSize)
        guard kind == .text, start < end else { return }
        guard bytes.withUnsafeBytes({ text.consume($0.part(start, end)) }) else { throw .invalidText }
    }

    /// What a frame announces costs a peer nothing; so much is believed at once. Picked by feel.
    private static var believedAtOnce: Int { 64 * 1024 }
    /// And so much for each byte that has come. Picked by feel: a megabyte moves once.
    private static var believedForEachByte: Int { 16 }
}
