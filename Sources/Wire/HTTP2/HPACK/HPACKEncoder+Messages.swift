// Encodes the heads of messages: pseudo-header fields first, then the fields that HTTP/2 has, in lower case. The heads
// are the same values that HTTP/1.1 writes, with what it needs for its connections; that is left out here. Everything
// is checked before a byte is written, since a block that was begun must be sent. RFC 9113 §8.2, §8.3; H3.1 to H3.5.

extension HPACKEncoder {
    /// Appends the block of a request.
    ///
    /// `authority` is the origin's; a Host field of the head stands in its place. `content-length` follows from
    /// `framing`. Throws, and appends nothing, if a part may not be sent.
    package mutating func encode(
        _ head: RequestHead, scheme: String, authority: String, framing: BodyFraming, into out: inout [UInt8]
    ) throws(WireError) {
        guard Tokens.isToken(head.method), head.method != "CONNECT" else { throw .unsendableMethod }
        guard head.target.withUTF8Span({ $0.isPath && $0.endOfVisible(from: 0) == $0.byteCount })
        else { throw .unsendableTarget }
        if framing == .untilClose { throw .unsendableFraming }
        _ = try FieldSection(head.fields, framing: framing, replacesFraming: true)
        guard head.fields.withHost(or: authority, { $0.isAuthority }) else { throw .unsendableFieldValue }

        beginBlock(into: &out)
        encode(":method", head.method, into: &out)
        encode(":scheme", scheme, into: &out)
        head.fields.withHost(or: authority) { encode(":authority", $0, into: &out) }
        encode(":path", head.target, into: &out)
        encode(head.fields, leavesOutLength: true, into: &out)
        encodeLength(framing, into: &out)
    }

    /// Appends the block of a response, which may be an informational one.
    ///
    /// `.length` writes `content-length`; otherwise that field is the head's, so that the answer to a HEAD can name a
    /// length. Throws, and appends nothing, if a part may not be sent.
    package mutating func encode(
        _ head: ResponseHead, framing: BodyFraming, into out: inout [UInt8]
    ) throws(WireError) {
        guard (100...999).contains(head.status), head.status != 101 else { throw .unsendableStatus }
        let hasLength =
            switch framing {
            case .length: true
            case .none, .chunked, .untilClose: false
            }
        _ = try FieldSection(head.fields, framing: framing, replacesFraming: hasLength)

        beginBlock(into: &out)
        encode(":status", decimal: Int64(head.status), into: &out)
        encode(head.fields, leavesOutLength: hasLength, into: &out)
        encodeLength(framing, into: &out)
    }

    /// Appends the block of trailers; throws, and appends nothing, if a part may not be sent.
    package mutating func encode(trailers fields: Fields, into out: inout [UInt8]) throws(WireError) {
        _ = try FieldSection(fields, framing: .none, replacesFraming: true)
        beginBlock(into: &out)
        encode(fields, leavesOutLength: true, into: &out)
    }

    // MARK: Steps

    private mutating func encode(_ fields: Fields, leavesOutLength: Bool, into out: inout [UInt8]) {
        let namesFields = fields.connectionNamesFields
        fields.table.withContents { bytes, slots in
            withUnsafeTemporaryAllocation(byteCount: fields.longestName, alignment: 8) { memory in
                for slot in slots {
                    let (name, value) = (bytes.name(of: slot), bytes.value(of: slot).trimmed)
                    switch FieldRole(name) {
                    case .ordinary: break
                    case .connection, .connectionSpecific, .host: continue
                    case .te:
                        if value.acceptsTrailers { encode("te", "trailers", into: &out) }
                        continue
                    case .contentLength: if leavesOutLength { continue }
                    }
                    if namesFields, fields.connectionNames(name) { continue }
                    encode(name.lowercased(in: memory), value, into: &out)
                }
            }
        }
    }

    private mutating func encodeLength(_ framing: BodyFraming, into out: inout [UInt8]) {
        if case .length(let count) = framing { encode("content-length", decimal: count, into: &out) }
    }

    private mutating func encode(_ name: StaticString, decimal number: Int64, into out: inout [UInt8]) {
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { memory in
            var writer = WireWriter(memory)
            writer.write(decimal: number)
            encode(name, UnsafeRawBufferPointer(memory).part(0, writer.count), into: &out)
        }
    }

    private mutating func encode(_ name: StaticString, _ value: String, into out: inout [UInt8]) {
        value.withUTF8Bytes { encode(name, $0, into: &out) }
    }

    private mutating func encode(_ name: StaticString, _ value: UnsafeRawBufferPointer, into out: inout [UInt8]) {
        encode(name.bytes, value, into: &out)
    }
}

extension Fields {
    /// Calls `body` with the value of the first Host field, or else with the authority.
    fileprivate func withHost<R>(or authority: String, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        table.withContents { bytes, slots in
            for slot in slots where slot.nameLength == 4 && bytes.name(of: slot).equalsIgnoringCase("Host") {
                return body(bytes.value(of: slot).trimmed)
            }
            return authority.withUTF8Bytes(body)
        }
    }

    fileprivate var longestName: Int {
        table.withContents { _, slots in
            var longest = 0
            for slot in slots { longest = Swift.max(longest, slot.nameLength) }
            return longest
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The run in lower case, written to memory that has room for it.
    @inline(__always)
    fileprivate func lowercased(in memory: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
        let count = Swift.min(count, memory.count)
        var offset = 0
        if count < 8 {
            while offset < count {
                memory[offset] = ASCII.lowercased(self[offset])
                offset &+= 1
            }
        }
        while offset < count {
            // The last eight bytes may have been written in part.
            let place = Swift.min(offset, count &- 8)
            let word = loadUnaligned(fromByteOffset: place, as: UInt64.self)
            memory.storeBytes(of: ASCII.lowercased(eightBytes: word), toByteOffset: place, as: UInt64.self)
            offset &+= 8
        }
        return UnsafeRawBufferPointer(memory).part(0, count)
    }
}

extension RawSpan {
    /// Whether the bytes can be `:path`: a path, or the asterisk of OPTIONS (H3.2).
    var isPath: Bool { byte(at: 0) == UInt8(ascii: "/") || byteCount == 1 && byte(at: 0) == UInt8(ascii: "*") }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes can be `:authority`: visible, and without user information (H3.2).
    var isAuthority: Bool {
        !isEmpty && allSatisfy { $0 &- 0x21 < 0x5E && $0 != UInt8(ascii: "@") }
    }
}
