// Makes heads of decoded header lists, or finds that they are malformed. The heads are the same values that HTTP/1.1
// gives: pseudo-header fields become what a start line says, and `:authority` becomes Host. It knows no stream: which block
// of a message it is, and whether data agree with it, is `MessageOrder`'s to say. RFC 9113 §8.1 to §8.3; H4.2, H4.6, H4.7.

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
    package static func responseHead(_ list: HeaderList, byteCount: Int = 0) throws(HeaderFault) -> ResponseHead {
        let pseudo = try PseudoFields(list)
        guard pseudo.method == nil, pseudo.scheme == nil, pseudo.authority == nil, pseudo.path == nil
        else { throw .unexpectedPseudoField }
        guard let slot = pseudo.status else { throw .missingPseudoField }
        guard let status = list.bytes.withUnsafeBytes({ status($0.value(of: slot)) }) else { throw .malformedStatus }
        return ResponseHead(
            status: status, unusualReason: nil, version: .http11, fields: try fields(list, behind: pseudo.count),
            byteCount: byteCount)
    }

    /// The head of a request.
    package static func requestHead(_ list: HeaderList) throws(HeaderFault) -> Request {
        let pseudo = try PseudoFields(list)
        guard pseudo.status == nil else { throw .unexpectedPseudoField }
        guard let method = pseudo.method.map({ list.text($0) }) else { throw .missingPseudoField }
        guard Tokens.isToken(method) else { throw .malformedTarget }
        let authority = pseudo.authority.map { list.text($0) }
        if let authority, !authority.withUTF8Span({ $0.isAuthority }) { throw .malformedTarget }
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
    package static func trailers(_ list: HeaderList) throws(HeaderFault) -> Fields {
        try fields(list, behind: 0)
    }

    /// What the fields say about the length of the body; nil if nothing (H4.6).
    package static func contentLength(_ fields: Fields) throws(HeaderFault) -> Int64? {
        switch FramingFields(fields).contentLength {
        case .absent: return nil
        case .bytes(let count): return count
        case .malformed: throw .malformedContentLength
        case .conflicting: throw .conflictingContentLengths
        }
    }

    // MARK: Fields

    /// The ordinary fields, all of them checked.
    private static func fields(_ list: HeaderList, behind pseudoCount: Int) throws(HeaderFault) -> Fields {
        if list.isTooLarge { throw .tooLarge }
        let count = list.slots.count - pseudoCount
        guard count > 0 else { return Fields() }
        var slots: [Fields.Slot] = []
        slots.reserveCapacity(count)
        var needsCleaning = false
        let span = list.bytes.span.bytes
        for slot in list.slots[pseudoCount...] {
            slots.append(try checked(slot, span, &needsCleaning))
        }
        // A copy of the size that is needed: the list keeps its own for the next block.
        var fields = Fields(bytes: list.bytes.withUnsafeBytes { [UInt8]($0) }, slots: slots)
        if needsCleaning { fields.cleanValues() }
        return fields
    }

    /// A field's place without the white space around its value; throws if the field may not be.
    @inline(__always)
    private static func checked(
        _ slot: Fields.Slot, _ bytes: RawSpan, _ needsCleaning: inout Bool
    ) throws(HeaderFault) -> Fields.Slot {
        let nameEnd = slot.nameStart &+ slot.nameLength
        guard slot.nameLength > 0, bytes.endOfToken(from: slot.nameStart, to: nameEnd) == nameEnd else {
            throw bytes.byte(at: slot.nameStart) == ASCII.colon && slot.nameLength > 0
                ? .latePseudoField : .malformedFieldName
        }
        guard bytes.endOfLowercase(from: slot.nameStart, to: nameEnd) == nameEnd else { throw .uppercaseFieldName }
        let value = bytes.trimmed(from: slot.valueStart, to: slot.valueStart &+ slot.valueLength)
        let textEnd = bytes.endOfText(from: value.start, to: value.end)
        if textEnd < value.end {
            try checkControls(bytes.extracting(textEnd..<value.end))
            needsCleaning = true
        }
        let trimmed = Fields.Slot(
            nameStart: slot.nameStart, nameLength: slot.nameLength, valueStart: value.start,
            valueLength: value.end &- value.start)
        switch bytes.withUnsafeBytes({ FieldRole($0.name(of: trimmed)) }) {
        case .ordinary, .host, .contentLength: return trimmed
        case .connection, .connectionSpecific: throw .connectionSpecificField
        case .te:
            guard bytes.withUnsafeBytes({ $0.value(of: trimmed).equalsIgnoringCase("trailers") })
            else { throw .connectionSpecificField }
            return trimmed
        }
    }

    /// NUL and line ends are refused; other control bytes become spaces, as in HTTP/1.1 (B16.26).
    private static func checkControls(_ bytes: RawSpan) throws(HeaderFault) {
        for offset in 0..<bytes.byteCount {
            let byte = bytes.byte(at: offset)
            if byte == 0 || byte == ASCII.carriageReturn || byte == ASCII.lineFeed { throw .malformedFieldValue }
        }
    }

    /// The fields of a request: the authority as Host before all others, and cookies in one field.
    private static func requestFields(
        _ list: HeaderList, _ pseudo: PseudoFields, _ authority: String?
    ) throws(HeaderFault) -> Fields {
        var fields = try fields(list, behind: pseudo.count)
        // RFC 9113 §8.2.3
        let cookies = fields.values(.cookie)
        if cookies.count > 1 { fields.replace(.cookie, with: cookies.joined(separator: "; ")) }
        guard let authority else { return fields }
        // RFC 9113 §8.3.1: two that differ would be read in one way here and in another elsewhere.
        guard fields.values(.host).allSatisfy({ $0 == authority }) else { throw .malformedTarget }
        fields.removeAll(.host)
        return fields.behindHost(authority)
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

    init(_ list: HeaderList) throws(HeaderFault) {
        if list.isTooLarge { throw .tooLarge }
        for slot in list.slots {
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
        if name.elementsEqual(":status".utf8) { return .status }
        if name.elementsEqual(":method".utf8) { return .method }
        if name.elementsEqual(":scheme".utf8) { return .scheme }
        if name.elementsEqual(":authority".utf8) { return .authority }
        return name.elementsEqual(":path".utf8) ? .path : .unknown
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
    /// The same fields behind a Host field.
    fileprivate func behindHost(_ authority: String) -> Fields {
        var fields = Fields()
        fields.append("host", authority)
        for index in 0..<count { fields.append(name(at: index), value(at: index)) }
        return fields
    }
}
