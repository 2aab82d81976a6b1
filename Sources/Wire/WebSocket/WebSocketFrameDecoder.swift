// Takes a connection's bytes apart into frames and tells what may not follow what. The payload of messages is lent
// where it lies, still masked if it is; that of control frames is collected, since it is 125 bytes at most. It
// assembles nothing and knows no text. After a close frame every byte is ignored (RFC 6455 §5.5.1). RFC 6455 §5.

/// A resumable decoder of the frames on one connection.
package struct WebSocketFrameDecoder: ~Copyable {
    /// What was found.
    package enum Step: Sendable, Equatable {
        /// All bytes were used; partial headers are kept inside.
        case needMore
        /// A frame of a message begins; of the first the opcode says what the message is.
        case frame(WebSocketFrameHeader)
        /// Bytes of that frame's payload, as offsets into the bytes given; never empty. To be
        /// unmasked if there is a mask.
        case payload(Range<Int>, mask: WebSocketMask?)
        /// The frame is complete, and so is the message if it was the last.
        case frameEnd(isFinal: Bool)
        /// A whole control frame, its payload unmasked.
        case control(WebSocketOpcode, [UInt8])
    }

    private enum Phase {
        case header
        case payload(remaining: Int)
        case control
        case closed
        case failed(WebSocketFault)
    }

    private var rules: WebSocketFrameHeader.Rules
    private var phase = Phase.header
    private var header = WebSocketFrameHeader(.continuation, mask: nil, payloadLength: 0)
    /// A header that was cut, or what has come of a control frame's payload.
    private var held: [UInt8] = []

    /// Makes a decoder for a new connection; `role` is the reader's.
    package init(_ role: WebSocketRole, allowsCompression: Bool = false) {
        rules = WebSocketFrameHeader.Rules(role: role, allowsCompression: allowsCompression)
    }

    /// Whether the peer has sent its close frame.
    package var isClosed: Bool {
        if case .closed = phase { return true }
        return false
    }

    /// Decodes from `bytes` at `offset` and moves `offset` behind what was used; of a payload at most `limit` bytes.
    ///
    /// After a fault every call throws it again.
    package mutating func next(
        _ bytes: RawSpan, offset: inout Int, limit: Int = .max
    ) throws(WebSocketFault) -> Step {
        do throws(WebSocketFault) {
            return try step(bytes, &offset, limit)
        } catch {
            phase = .failed(error)
            throw error
        }
    }

    private mutating func step(
        _ bytes: RawSpan, _ offset: inout Int, _ limit: Int
    ) throws(WebSocketFault) -> Step {
        switch phase {
        case .header:
            guard offset < bytes.byteCount, try readHeader(bytes, &offset) else { return .needMore }
            guard header.opcode.isControl else {
                rules.isInsideMessage = !header.isFinal
                phase = .payload(remaining: header.payloadLength)
                return .frame(header)
            }
            phase = .control
            return readControl(bytes, &offset)
        case .payload(let remaining):
            guard remaining > 0 else {
                phase = .header
                return .frameEnd(isFinal: header.isFinal)
            }
            guard offset < bytes.byteCount else { return .needMore }
            return takePayload(bytes, &offset, min(remaining, max(limit, 1)), remaining)
        case .control:
            return readControl(bytes, &offset)
        case .closed:
            offset = bytes.byteCount
            return .needMore
        case .failed(let fault): throw fault
        }
    }

    // MARK: Headers

    /// Reads a header; false if it has not come whole.
    private mutating func readHeader(_ bytes: RawSpan, _ offset: inout Int) throws(WebSocketFault) -> Bool {
        if held.isEmpty, let whole = try headerWhole(bytes, offset) {
            header = whole
            offset += whole.byteCount
            return true
        }
        while offset < bytes.byteCount {
            held.append(bytes.byte(at: offset))
            offset += 1
            guard let whole = try heldHeader() else { continue }
            header = whole
            held.removeAll(keepingCapacity: true)
            return true
        }
        return false
    }

    private func headerWhole(_ bytes: RawSpan, _ offset: Int) throws(WebSocketFault) -> WebSocketFrameHeader? {
        let rules = rules
        return try bytes.withUnsafeBytes { memory throws(WebSocketFault) in
            try WebSocketFrameHeader(memory.part(offset, offset + WebSocketFrameHeader.longest), rules)
        }
    }

    private func heldHeader() throws(WebSocketFault) -> WebSocketFrameHeader? {
        let rules = rules
        return try held.span.bytes.withUnsafeBytes { memory throws(WebSocketFault) in
            try WebSocketFrameHeader(memory, rules)
        }
    }

    // MARK: Payloads

    private mutating func takePayload(_ bytes: RawSpan, _ offset: inout Int, _ wanted: Int, _ remaining: Int) -> Step {
        let count = min(wanted, bytes.byteCount - offset)
        let range = offset..<(offset + count)
        let mask = header.mask
        header.mask = mask?.advanced(by: count)
        phase = .payload(remaining: remaining - count)
        offset += count
        return .payload(range, mask: mask)
    }

    private mutating func readControl(_ bytes: RawSpan, _ offset: inout Int) -> Step {
        let count = min(header.payloadLength - held.count, bytes.byteCount - offset)
        if count > 0 {
            bytes.withUnsafeBytes { held.append($0.part(offset, offset + count), mask: &header.mask) }
            offset += count
        }
        guard held.count == header.payloadLength else { return .needMore }
        defer { held = [] }
        phase = header.opcode == .close ? .closed : .header
        return .control(header.opcode, held)
    }
}
