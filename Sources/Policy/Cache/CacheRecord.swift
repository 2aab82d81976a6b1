// One stored answer as the bytes of its file: a preamble of fixed length, the head, the body. The preamble tells how
// long the two others are and carries digests of itself, the head and the body, so that a file that is torn, cut or of
// another program is known for what it is. Behaviour B7.18 to B7.20. It must not know files or directories.
//
//     0   8   "URLLCV02"; "URLLCV01" where earlier versions have written it, without how the server was trusted
//     8   4   length of the head
//    12   4   0
//    16   8   length of the body
//    24   8   digest of the body
//    32   8   digest of the head
//    40   8   digest of the 40 bytes before

import URLLoadingWire

/// What a file of the cache says of an answer, its body apart.
package struct CacheRecord: Sendable, Equatable {
    /// What the answer is found by.
    package var key: String
    /// The URL of the response; nil where it had none.
    package var url: String?
    /// Status, fields, times; a status of 0 and no fields for answers that are not HTTP's.
    package var answer: StoredAnswer
    /// Whether the answer is one of HTTP.
    package var isHTTP: Bool
    /// The announced length of the body, −1 where it is not known.
    package var expectedLength: Int64
    /// The media type of an answer that is not HTTP's.
    package var mimeType: String?
    /// The text encoding of an answer that is not HTTP's.
    package var textEncoding: String?
    /// When it was stored: microseconds since the beginning of 1970.
    package var storedAt: Int64
    /// What the application keeps with it, as a property list; empty for nothing.
    package var userInfo: [UInt8]

    /// Makes a record of its parts.
    package init(
        key: String, url: String?, answer: StoredAnswer, isHTTP: Bool, expectedLength: Int64, mimeType: String? = nil,
        textEncoding: String? = nil, storedAt: Int64, userInfo: [UInt8] = []
    ) {
        self.key = key
        self.url = url
        self.answer = answer
        self.isHTTP = isHTTP
        self.expectedLength = expectedLength
        self.mimeType = mimeType
        self.textEncoding = textEncoding
        self.storedAt = storedAt
        self.userInfo = userInfo
    }

    // MARK: The preamble

    /// What the beginning of a file says of the rest.
    package struct Preamble: Sendable, Equatable {
        /// Bytes of the head.
        package let headLength: Int
        /// Bytes of the body.
        package let bodyLength: Int
        /// What the body's digest must be.
        package let bodyDigest: UInt64
        /// What the head's digest must be.
        package let headDigest: UInt64
        /// In which form the head is.
        package let form: Form

        /// Where the body begins.
        package var bodyOffset: Int { Preamble.length + headLength }
        /// How long the file must be.
        package var fileLength: Int { bodyOffset + bodyLength }

        /// Bytes of a preamble.
        package static let length = 48

        /// Reads a preamble; nil when the bytes are none.
        package init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count >= Self.length else { return nil }
            let checked = UnsafeRawBufferPointer(rebasing: bytes[..<40])
            guard let form = Form.allCases.first(where: { checked[..<8].elementsEqual($0.magic) }) else { return nil }
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[8..<Self.length]))
            guard let headLength = reader.number(UInt32.self), reader.number(UInt32.self) == 0,
                let bodyLength = reader.number(Int64.self), (0...Self.maximumLength).contains(bodyLength),
                headLength <= Self.maximumHeadLength, let bodyDigest = reader.number(UInt64.self),
                let headDigest = reader.number(UInt64.self),
                reader.number(UInt64.self) == CacheRecord.digest(checked)
            else { return nil }
            self.headLength = Int(headLength)
            self.bodyLength = Int(bodyLength)
            self.bodyDigest = bodyDigest
            self.headDigest = headDigest
            self.form = form
        }

        /// More than any answer that is kept.
        private static let maximumLength: Int64 = 1 << 48
        private static let maximumHeadLength: UInt32 = 1 << 24
    }

    /// The forms in which heads have been written.
    package enum Form: Sendable, CaseIterable {
        /// Without a word of trust.
        case first
        /// With how the server was trusted.
        case current

        fileprivate var magic: [UInt8] {
            switch self {
            case .first: Array("URLLCV01".utf8)
            case .current: Array("URLLCV02".utf8)
            }
        }
    }

    /// The digest by which parts of a file are checked.
    package static func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        SipHash.digest(bytes, key: SipHash.Words(0, 0))
    }

    // MARK: Writing

    /// The bytes that come before the body in a file; nil for a head that is too long to be kept.
    package func encoded(bodyLength: Int, bodyDigest: UInt64) -> [UInt8]? {
        let head = head()
        guard head.count <= 1 << 24 else { return nil }
        var file = ByteWriter(capacity: Preamble.length + head.count)
        file.raw(Form.current.magic)
        file.number(UInt32(head.count))
        file.number(UInt32(0))
        file.number(Int64(bodyLength))
        file.number(bodyDigest)
        file.number(head.withUnsafeBytes { Self.digest($0) })
        file.number(file.bytes.withUnsafeBytes { Self.digest($0) })
        file.raw(head)
        return file.bytes
    }

    private func head() -> [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        writer.text(key)
        writer.text(url)
        writer.number(UInt8(isHTTP ? 1 : 0))
        writer.number(Int64(answer.status))
        writer.number(answer.requestTime.seconds)
        writer.number(answer.responseTime.seconds)
        writer.number(storedAt)
        writer.number(expectedLength)
        writer.text(mimeType)
        writer.text(textEncoding)
        writer.run(userInfo)
        writer.number(UInt32(clamping: answer.fields.count))
        for index in 0..<answer.fields.count {
            writer.text(answer.fields.name(at: index))
            // As it came: what no longer is what the server has sent could not be followed or asked for.
            answer.fields.withValueBytes(at: index) { writer.run($0) }
        }
        let selection = answer.selection
        writer.number(UInt8(selection.isUnrepeatable ? 1 : 0))
        writer.words(selection.salt)
        writer.number(UInt32(clamping: selection.members.count))
        for member in selection.members {
            writer.text(member.name)
            switch member.value {
            case .absent: writer.number(UInt8(0))
            case .text(let text):
                writer.number(UInt8(1))
                writer.text(text)
            case .digest(let words):
                writer.number(UInt8(2))
                writer.words(words)
            }
        }
        answer.trust.write(to: &writer)
        return writer.bytes
    }

    // MARK: Reading

    /// Reads the head of a file, whose digest has been compared; nil when it is none.
    package init?(head: UnsafeRawBufferPointer, form: Form = .current) {
        var reader = ByteReader(head)
        guard let key = reader.text(), let url = reader.optionalText(), let kind = reader.number(UInt8.self),
            kind <= 1, let status = reader.number(Int64.self), (0...999).contains(status),
            let requestTime = reader.number(Int64.self), let responseTime = reader.number(Int64.self),
            let storedAt = reader.number(Int64.self), let expectedLength = reader.number(Int64.self),
            let mimeType = reader.optionalText(), let textEncoding = reader.optionalText(),
            let userInfo = reader.run(), let fields = Self.fields(&reader), let selection = Self.selection(&reader),
            let trust = form == .first ? Self.trustOfFirstForm(key) : AnswerTrust(from: &reader), reader.isAtEnd
        else { return nil }
        self.init(
            key: key, url: url,
            answer: StoredAnswer(
                status: Int(status), fields: fields, requestTime: WallTime(seconds: requestTime),
                responseTime: WallTime(seconds: responseTime), selection: selection, trust: trust),
            isHTTP: kind == 1, expectedLength: max(-1, expectedLength), mimeType: mimeType, textEncoding: textEncoding,
            storedAt: storedAt, userInfo: Array(userInfo))
    }

    /// B7.102: what earlier versions have kept does not say how its server was trusted, if it had to be.
    private static func trustOfFirstForm(_ key: String) -> AnswerTrust {
        key.hasPrefix("http:") ? .plain : .unknown
    }

    private static func fields(_ reader: inout ByteReader) -> Fields? {
        guard let count = reader.number(UInt32.self) else { return nil }
        var fields = Fields()
        // Each takes eight bytes at least, so a wrong count ends with the bytes.
        for _ in 0..<count {
            guard let name = reader.text(), let value = reader.run() else { return nil }
            fields.append(name, value)
        }
        return fields
    }

    private static func selection(_ reader: inout ByteReader) -> Selection? {
        guard let flag = reader.number(UInt8.self), flag <= 1, let salt = reader.words(),
            let count = reader.number(UInt32.self)
        else { return nil }
        var members: [Selection.Member] = []
        for _ in 0..<count {
            guard let name = reader.text(), let value = value(&reader) else { return nil }
            members.append(Selection.Member(name: name, value: value))
        }
        return Selection(isUnrepeatable: flag == 1, members: members, salt: salt)
    }

    private static func value(_ reader: inout ByteReader) -> Selection.Value? {
        switch reader.number(UInt8.self) {
        case 0: .absent
        case 1: reader.text().map { .text($0) }
        case 2: reader.words().map { .digest($0) }
        default: nil
        }
    }
}
