// What a head's fields say about where its body ends and whether the connection lives on, gathered in one pass over
// the fields. It collects; `BodyFraming` decides. RFC 9112 §6.1, §6.2, §9.3.

/// Transfer-Encoding, Content-Length and Connection as one summary.
struct FramingFields {
    /// What the Content-Length fields say together.
    enum ContentLength: Equatable {
        case absent
        case bytes(Int64)
        case malformed
        case conflicting
    }

    /// What the Transfer-Encoding fields say together.
    enum TransferEncoding: Equatable {
        case absent
        /// `chunked` comes last, and only there.
        case endsInChunked
        /// Codings we know, but the end of the body is not marked by them.
        case endsOtherwise
        case unknown
    }

    private(set) var contentLength = ContentLength.absent
    private(set) var transferEncoding = TransferEncoding.absent
    private(set) var saysClose = false
    private(set) var saysKeepAlive = false
    /// The shortest `timeout` of the Keep-Alive fields, in seconds; only if it was asked for.
    private(set) var keepAliveSeconds: Int64?

    /// Nothing has been said.
    init() {}

    /// Reads the fields of a head; Keep-Alive only on demand, because only a client's connection needs it.
    init(_ fields: Fields, readsKeepAlive: Bool = false) {
        fields.table.withContents { bytes, slots in
            for slot in slots {
                // The length tells the names apart before any byte is compared.
                switch slot.nameLength {
                case 10 where bytes.name(of: slot).equalsIgnoringCase("Connection"):
                    addConnection(bytes.value(of: slot))
                case 10 where readsKeepAlive && bytes.name(of: slot).equalsIgnoringCase("Keep-Alive"):
                    addKeepAlive(bytes.value(of: slot))
                case 14 where bytes.name(of: slot).equalsIgnoringCase("Content-Length"):
                    addContentLength(bytes.value(of: slot))
                case 17 where bytes.name(of: slot).equalsIgnoringCase("Transfer-Encoding"):
                    addTransferEncoding(bytes.value(of: slot))
                default:
                    break
                }
            }
        }
    }

    /// Whether a response with these fields lets the connection be used again (RFC 9112 §9.3).
    func allowsReuse(version: HTTPVersion) -> Bool {
        // B16.31, B16.33: a message whose framing is doubtful is read, but nothing is read after it.
        if transferEncoding != .absent, contentLength != .absent || !version.persistsByDefault { return false }
        if saysClose { return false }
        return version.persistsByDefault || saysKeepAlive
    }

    private mutating func addConnection(_ value: UnsafeRawBufferPointer) {
        if value.equalsIgnoringCase("keep-alive") {
            saysKeepAlive = true
            return
        }
        var members = ListMembers(value)
        while let member = members.next() {
            if member.equalsIgnoringCase("close") { saysClose = true }
            if member.equalsIgnoringCase("keep-alive") { saysKeepAlive = true }
        }
    }

    /// B16.6: `timeout=n` among the parameters.
    private mutating func addKeepAlive(_ value: UnsafeRawBufferPointer) {
        var members = ListMembers(value)
        while let member = members.next() {
            guard let equals = member.firstIndex(of: ASCII.equals),
                member.part(0, equals).trimmed.equalsIgnoringCase("timeout"),
                let seconds = member.part(equals + 1, member.count).trimmed.decimal
            else { continue }
            keepAliveSeconds = min(keepAliveSeconds ?? .max, seconds)
        }
    }

    /// B16.34: equal values count once, whether they come in one field or in several.
    private mutating func addContentLength(_ value: UnsafeRawBufferPointer) {
        if let number = value.decimal { return addLength(number) }
        var members = ListMembers(value)
        while let member = members.next() {
            guard let number = member.decimal else {
                contentLength = .malformed
                return
            }
            addLength(number)
        }
    }

    private mutating func addLength(_ number: Int64) {
        switch contentLength {
        case .absent: contentLength = .bytes(number)
        case .bytes(let earlier): if earlier != number { contentLength = .conflicting }
        case .malformed, .conflicting: break
        }
    }

    private mutating func addTransferEncoding(_ value: UnsafeRawBufferPointer) {
        var members = ListMembers(value)
        while let member = members.next() {
            if member.isEmpty { continue }
            addCoding(member)
        }
        // A field without any coding says that the sender meant something we cannot know.
        if transferEncoding == .absent { transferEncoding = .unknown }
    }

    private mutating func addCoding(_ coding: UnsafeRawBufferPointer) {
        let isChunked = coding.equalsIgnoringCase("chunked")
        guard isChunked || coding.equalsIgnoringCase("identity") || ContentCoding(transferCoding: coding) != nil else {
            transferEncoding = .unknown
            return
        }
        switch transferEncoding {
        case .absent: transferEncoding = isChunked ? .endsInChunked : .endsOtherwise
        // RFC 9112 §6.1: chunked is applied once and last; what follows it hides the end of the body.
        case .endsInChunked: transferEncoding = isChunked ? .unknown : .endsOtherwise
        case .endsOtherwise: transferEncoding = isChunked ? .endsInChunked : .endsOtherwise
        case .unknown: break
        }
    }
}

extension FramingFields {
    /// The codings that remain to be undone once the chunks are taken off, first applied first (B16.48).
    ///
    /// None where chunked is not the last one: such a body cannot be taken apart and is handed on as it comes.
    static func codingsBelowChunks(_ fields: Fields) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        var endsInChunked = false
        var isOutOfOrder = false
        fields.forEachValue(.transferEncoding) { value in
            var members = ListMembers(value)
            while let member = members.next() {
                if member.isEmpty { continue }
                if endsInChunked { isOutOfOrder = true }
                if member.equalsIgnoringCase("chunked") { endsInChunked = true }
                if let coding = ContentCoding(transferCoding: member) { codings.append(coding) }
            }
        }
        return isOutOfOrder ? [] : codings
    }
}
