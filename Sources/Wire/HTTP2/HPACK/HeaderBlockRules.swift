// Makes heads of decoded header lists, or finds that they are malformed. The heads are the same values that HTTP/1.1
// gives: pseudo-header fields become what a start line says, and `:authority` becomes Host. It knows no stream: whether
// a block may come where it does, and whether the data agree with it, is asked elsewhere. RFC 9113 §8.1 to §8.3; H4.2,
// H4.6, H4.7.

/// What a decoded header list says, and what it may not say.
package enum HeaderBlockRules {
    /// A request with what HTTP/1.1's request line does not have.
    package struct Request: Sendable, Equatable {
        /// The method, `:path` or else the authority of a CONNECT as target, and `:authority` as the first field, Host.
        package var head: RequestHead
        /// The scheme; empty for CONNECT.
        package var scheme: String
    }

    /// The head of a response; `byteCount` is what it took on the wire (H6.6).
    package static func responseHead(
        _ list: borrowing HeaderList, byteCount: Int = 0
    ) throws(HeaderFault) -> ResponseHead {
        let pseudo = try PseudoFields(list)
        guard pseudo.method == nil, pseudo.scheme == nil, pseudo.authority == nil, pseudo.path == nil
        else { throw .unexpectedPseudoField }
        guard let slot = pseudo.status else { throw .missingPseudoField }
        guard let status = list.bytes.withUnsafeBytes({ status($0.value(of: slot)) }) else { throw .malformedStatus }
        if status == 101 { throw .switchingProtocols }
        return ResponseHead(
            status: status, unusualReason: nil, version: .http2, fields: try fields(list, behind: pseudo.count),
            byteCount: byteCount)
    }

    /// The head of a request.
    package static func requestHead(_ list: borrowing HeaderList) throws(HeaderFault) -> Request {
        let pseudo = try PseudoFields(list)
        guard pseudo.status == nil else { throw .unexpectedPseudoField }
        guard let method = pseudo.method.map({ list.text($0) }) else { throw .missingPseudoField }
        guard Tokens.isToken(method) else { throw .malformedTarget }
        let authority = pseudo.authority.map { list.text($0) }
        if let authority, !authority.withUTF8Bytes({ $0.isAuthority }) { throw .malformedTarget }
        let fields = try requestFields(list, pseudo, authority)
        if method == "CONNECT" {
            // RFC 9113 §8.5
            guard pseudo.scheme == nil, pseudo.path == nil else { throw .unexpectedPseudoField }
            guard let authority else { throw .missingPseudoField }
            return Request(head: RequestHead(method: method, target: authority, fields: fields), scheme: "")
        }
        guard let scheme = pseudo.scheme.map({ list.text($0) }), let path = pseudo.path.map({ list.text($0) })
        else { throw .missingPseudoField }
        guard Tokens.isToken(scheme), path.withUTF8Span({ $0.isPath && $0.endOfVisible(from: 0) == $0.byteCount })
        else { throw .malformedTarget }
        return Request(head: RequestHead(method: method, target: path, fields: fields), scheme: scheme)
    }

    /// The fields of trailers.
    package static func trailers(_ list: borrowing HeaderList) throws(HeaderFault) -> Fields {
        try fields(list, behind: 0)
    }

    /// How the body of a final response ends: by a length that it has, or with the stream (H4.3, H4.6).
    package static func bodyFraming(
        of head: ResponseHead, to request: ExpectedResponse
    ) throws(HeaderFault) -> BodyFraming {
        // What these say about a length is about another answer.
        if request == .toHEAD || head.isInformational || head.status == 204 || head.status == 304 { return .none }
        return try framing(byLengthIn: head.fields)
    }

    /// How the body of a request ends: by a length that it has, or with the stream, which may be at once.
    package static func bodyFraming(of request: Request) throws(HeaderFault) -> BodyFraming {
        try framing(byLengthIn: request.head.fields)
    }

    private static func framing(byLengthIn fields: Fields) throws(HeaderFault) -> BodyFraming {
        switch FramingFields(fields).contentLength {
        case .absent: return .untilClose
        case .bytes(let count): return .length(count)
        case .malformed: throw .malformedContentLength
        case .conflicting: throw .conflictingContentLengths
        }
    }

    // MARK: Fields

    /// The ordinary fields, all of them checked, and no more than HTTP/1.1 takes (H4.9).
    private static func fields(
        _ list: borrowing HeaderList, behind pseudoCount: Int
    ) throws(HeaderFault) -> Fields {
        if list.isTooLarge || list.slots.count - pseudoCount > WireLimits.standard.fieldCount { throw .tooLarge }
        guard list.slots.count > pseudoCount else { return Fields() }
        let bytes = list.bytes.span.bytes
        // Measured: one look at all bytes is cheaper than one at each value, and nearly always finds nothing.
        let hasControls = bytes.endOfText(from: 0) < bytes.byteCount
        var needsTrimming = false
        for index in pseudoCount..<list.slots.count {
            let slot = list.slots[index]
            try checkName(slot, bytes)
            if hasControls { try checkControls(slot, bytes) }
            needsTrimming = needsTrimming || hasOuterWhitespace(slot, bytes)
        }
        // Copies of the sizes that are needed: the list keeps its own for the next block.
        var fields = Fields(list.bytes.withUnsafeBytes { FieldTable($0, list.slots, from: pseudoCount) })
        if needsTrimming { fields.trimValues() }
        if hasControls { fields.cleanValues() }
        return fields
    }

    @inline(__always)
    private static func checkName(_ slot: Fields.Slot, _ bytes: RawSpan) throws(HeaderFault) {
        let nameEnd = slot.nameStart &+ slot.nameLength
        let tokenEnd = bytes.endOfToken(from: slot.nameStart, to: nameEnd, inLowercase: true)
        guard tokenEnd == nameEnd, slot.nameLength > 0 else {
            let byte = tokenEnd < nameEnd ? bytes.byte(at: tokenEnd) : 0
            if tokenEnd == slot.nameStart, byte == ASCII.colon { throw .latePseudoField }
            throw ASCII.isUppercase(byte) ? .uppercaseFieldName : .malformedFieldName
        }
        switch bytes.withUnsafeBytes({ FieldRole($0.name(of: slot)) }) {
        case .ordinary, .host, .contentLength: break
        case .connection, .connectionSpecific: throw .connectionSpecificField
        case .te:
            guard bytes.withUnsafeBytes({ $0.value(of: slot).trimmed.equalsIgnoringCase("trailers") })
            else { throw .connectionSpecificField }
        }
    }

    /// NUL and line ends are refused; other control bytes become spaces, as in HTTP/1.1 (B16.26).
    private static func checkControls(_ slot: Fields.Slot, _ bytes: RawSpan) throws(HeaderFault) {
        for offset in slot.valueStart..<(slot.valueStart + slot.valueLength) {
            let byte = bytes.byte(at: offset)
            if byte == 0 || byte == ASCII.carriageReturn || byte == ASCII.lineFeed { throw .malformedFieldValue }
        }
    }

    @inline(__always)
    private static func hasOuterWhitespace(_ slot: Fields.Slot, _ bytes: RawSpan) -> Bool {
        guard slot.valueLength > 0 else { return false }
        return Tokens.isWhitespace(bytes.byte(at: slot.valueStart))
            || Tokens.isWhitespace(bytes.byte(at: slot.valueStart &+ slot.valueLength &- 1))
    }

    /// The fields of a request: the authority as Host before all others, and cookies in one field.
    private static func requestFields(
        _ list: borrowing HeaderList, _ pseudo: PseudoFields, _ authority: String?
    ) throws(HeaderFault) -> Fields {
        var fields = try fields(list, behind: pseudo.count)
        fields.joinCookies()
        guard let authority else { return fields }
        // RFC 9113 §8.3.1: two that differ would be read in one way here and in another elsewhere.
        guard fields.values(.host).allSatisfy({ $0 == authority }) else { throw .malformedTarget }
        fields.removeAll(.host)
        fields.insertHost(authority)
        return fields
    }

    private static func status(_ value: UnsafeRawBufferPointer) -> Int? {
        guard value.count == 3, let status = value.decimal, status >= 100 else { return nil }
        return Int(status)
    }
}

/// The pseudo-header fields at the beginning of a list.
private struct PseudoFields {
    var count = 0
    var status: Fields.Slot?
    var method: Fields.Slot?
    var scheme: Fields.Slot?
    var authority: Fields.Slot?
    var path: Fields.Slot?

    init(_ list: borrowing HeaderList) throws(HeaderFault) {
        if list.isTooLarge { throw .tooLarge }
        for index in 0..<list.slots.count {
            let slot = list.slots[index]
            let name = list.bytes.withUnsafeBytes { PseudoFields.name($0.name(of: slot)) }
            switch name {
            case .status: try PseudoFields.set(&status, slot)
            case .method: try PseudoFields.set(&method, slot)
            case .scheme: try PseudoFields.set(&scheme, slot)
            case .authority: try PseudoFields.set(&authority, slot)
            case .path: try PseudoFields.set(&path, slot)
            case .unknown: throw .unexpectedPseudoField
            case .none: return
            }
            count += 1
        }
    }

    private enum Name {
        case status, method, scheme, authority, path, unknown
    }

    /// Which one a name is; nil for the name of an ordinary field.
    private static func name(_ name: UnsafeRawBufferPointer) -> Name? {
        guard name.first == ASCII.colon else { return nil }
        if name.isSame(as: ":status") { return .status }
        if name.isSame(as: ":method") { return .method }
        if name.isSame(as: ":scheme") { return .scheme }
        if name.isSame(as: ":authority") { return .authority }
        return name.isSame(as: ":path") ? .path : .unknown
    }

    private static func set(_ place: inout Fields.Slot?, _ slot: Fields.Slot) throws(HeaderFault) {
        guard place == nil else { throw .repeatedPseudoField }
        place = slot
    }
}

extension HeaderList {
    fileprivate func text(_ slot: Fields.Slot) -> String { bytes.withUnsafeBytes { $0.value(of: slot).text } }
}

extension Fields {
    /// Takes white space away from both ends of all values.
    fileprivate mutating func trimValues() {
        rewrite { bytes, slots in
            for index in slots.indices {
                let (start, length) = (slots[index].valueStart, slots[index].valueLength)
                let value = bytes.span.bytes.trimmed(from: start, to: start + length)
                slots[index].valueStart = value.start
                slots[index].valueLength = value.end - value.start
            }
        }
    }

    /// Puts a Host field before all others.
    fileprivate mutating func insertHost(_ authority: String) {
        rewrite { bytes, slots in
            let start = bytes.count
            bytes += "host".utf8
            bytes += authority.utf8
            slots.insert(
                Slot(
                    nameStart: start, nameLength: 4, valueStart: start + 4, valueLength: bytes.count - start - 4),
                at: 0)
        }
    }

    /// Makes one field of several cookies, in the place of the first (RFC 9113 §8.2.3).
    fileprivate mutating func joinCookies() {
        var joined: [UInt8] = []
        var count = 0
        forEachValue(.cookie) { value in
            if count > 0 { joined += "; ".utf8 }
            joined += value
            count += 1
        }
        guard count > 1 else { return }
        rewrite { bytes, slots in
            var kept: [Slot] = []
            var hasCookie = false
            for var slot in slots {
                if bytes.withUnsafeBytes({ $0.name(of: slot).isSame(as: "cookie") }) {
                    if hasCookie { continue }
                    hasCookie = true
                    slot.valueStart = bytes.count
                    slot.valueLength = joined.count
                }
                kept.append(slot)
            }
            slots = kept
            bytes += joined
        }
    }
}
