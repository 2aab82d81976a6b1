// Journals as the bytes of files: a preamble of fixed length with a digest, and the record or the settings
// behind it. A file that is torn, cut, of another version or of another program is known for what it is
// (B10.30). It must not know files.
//
//     0   8   "URLLTASK" or "URLLSESS"
//     8   4   version
//    12   4   length of the rest, behind the preamble
//    16   8   digest of the 16 bytes before, and of the rest

import URLLoadingPolicy

/// Journals and bytes.
package enum TransferRecordCoding {
    /// The bytes of a task's journal; nil for one that is too long to be kept.
    package static func encoded(_ record: TransferRecord) -> [UInt8]? {
        encoded(
            record, as: task,
            version: record.isExtended ? TransferLimits.extendedRecordVersion : TransferLimits.recordVersion)
    }

    /// The record in the bytes of a task's journal, whatever they are.
    package static func record(_ bytes: [UInt8]) throws(TransferCodingError) -> TransferRecord {
        try decoded(bytes, as: task)
    }

    /// The bytes of a session's own journal; nil for settings that are too long to be kept.
    package static func encoded(settings: TransferSettings) -> [UInt8]? { encoded(settings, as: session) }

    /// The settings in the bytes of a session's own journal, whatever they are.
    package static func settings(_ bytes: [UInt8]) throws(TransferCodingError) -> TransferSettings {
        try decoded(bytes, as: session)
    }

    private static func encoded(
        _ value: some TransferCoded, as magic: String, version: UInt32 = TransferLimits.recordVersion
    ) -> [UInt8]? {
        var rest = ByteWriter(capacity: 1024)
        rest.value(value)
        guard rest.bytes.count <= TransferLimits.record else { return nil }
        var file = ByteWriter(capacity: preambleLength + rest.bytes.count)
        file.raw(magic.utf8)
        file.number(version)
        file.number(UInt32(rest.bytes.count))
        file.number(digest(file.bytes, rest.bytes))
        file.raw(rest.bytes)
        return file.bytes
    }

    private static func decoded<Value: TransferCoded>(
        _ bytes: [UInt8], as magic: String
    ) throws(TransferCodingError) -> Value {
        guard bytes.starts(with: magic.utf8) else {
            throw magic.utf8.starts(with: bytes) ? .truncated : .notOurs
        }
        guard bytes.count >= preambleLength else { throw .truncated }
        let preamble = Array(bytes.prefix(16))
        let rest = Array(bytes.dropFirst(preambleLength))
        let (version, length, expected) = try numbers(bytes)
        // Order: another version may count and check in another way.
        guard (TransferLimits.recordVersion...TransferLimits.extendedRecordVersion).contains(version) else {
            throw .unknownVersion(version)
        }
        guard length <= TransferLimits.record else { throw .tooLong }
        guard rest.count >= length else { throw .truncated }
        guard rest.count == length else { throw .trailing }
        guard digest(preamble, rest) == expected else { throw .damaged }
        return try wholeValue(rest)
    }

    private static func numbers(_ bytes: [UInt8]) throws(TransferCodingError) -> (UInt32, Int, UInt64) {
        func little<Number: FixedWidthInteger>(_ range: Range<Int>) -> Number {
            range.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: bytes[$1]) }
        }
        let length: UInt32 = little(12..<16)
        return (little(8..<12), Int(length), little(16..<24))
    }

    private static func digest(_ preamble: [UInt8], _ rest: [UInt8]) -> UInt64 {
        let first = preamble.withUnsafeBytes { SipHash.digest($0, key: SipHash.Words(0, 0)) }
        return rest.withUnsafeBytes { SipHash.digest($0, key: SipHash.Words(first, 0)) }
    }

    private static let task = "URLLTASK"
    private static let session = "URLLSESS"
    private static let preambleLength = 24
}

/// The whole of some bytes as one value.
func wholeValue<Value: TransferCoded>(_ bytes: [UInt8]) throws(TransferCodingError) -> Value {
    let outcome = bytes.withUnsafeBytes { bytes -> Result<Value, TransferCodingError> in
        do throws(TransferCodingError) {
            var reader = TransferReader(bytes)
            let value = try reader.value(Value.self)
            try reader.end()
            return .success(value)
        } catch {
            return .failure(error)
        }
    }
    return try outcome.get()
}

// MARK: Records

extension TransferRecord {
    /// Whether it has a part that readers of the first form do not know.
    fileprivate var isExtended: Bool {
        original.limitsDecoding || current.limitsDecoding || head?.isExtended == true || state.isExtended
            || measures.isExtended || events.contains { $0.content.isExtended }
    }
}

extension TransferState {
    fileprivate var isExtended: Bool {
        switch self {
        case .asking(let challenge): challenge.head?.isExtended == true
        case .waiting, .running, .retrying, .over: false
        }
    }
}

extension TransferNews.Content {
    fileprivate var isExtended: Bool {
        switch self {
        case .measured(let measures): measures.isExtended
        case .downloaded, .answered, .completed: false
        }
    }
}

extension TransferMeasures {
    fileprivate var isExtended: Bool { exchanges.contains { $0.head?.isExtended == true } }
}

extension TransferInstant: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(wall)
        writer.value(uptime)
        writer.value(boot)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        self.init(wall: try reader.value(), uptime: try reader.value(), boot: try reader.value())
    }
}

extension TransferLifetime: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(allowed)
        writer.value(spent)
        writer.value(noted)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        self.init(allowed: try reader.value(), spent: try reader.value(), noted: try reader.value())
    }
}

extension TransferState: TransferCoded {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .waiting: writer.number(UInt8(1))
        case .running: writer.number(UInt8(2))
        case .retrying(let attempt, let delay):
            writer.number(UInt8(3))
            writer.value(attempt)
            writer.value(delay)
        case .asking(let challenge):
            writer.number(UInt8(4))
            writer.value(challenge)
        case .over: writer.number(UInt8(5))
        }
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        switch try reader.number(UInt8.self) {
        case 1: self = .waiting
        case 2: self = .running
        case 3: self = .retrying(attempt: try reader.value(), delay: try reader.value())
        case 4: self = .asking(try reader.value())
        case 5: self = .over
        default: throw .impossible
        }
    }
}

extension TransferRecord: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(task)
        writer.value(kind)
        writer.value(original)
        writer.value(current)
        writer.value(lifetime)
        writer.value(created)
        writer.value(source)
        writer.value(label)
        writer.value(earliestBegin)
        writer.value(expectedBySender)
        writer.value(expectedByReceiver)
        writer.value(priority)
        writer.number(UInt8(isSuspended ? 1 : 0) | UInt8(awaitsDelegate ? 2 : 0))
        writer.value(isDiscretionary)
        writer.value(state)
        writer.value(counts)
        writer.value(head)
        writer.value(resumption.coded)
        writer.value(failures)
        writer.value(measures)
        writer.value(events)
        writer.value(nextNews)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        let task: UInt64 = try reader.value()
        let kind: TransferKind = try reader.value()
        let original: TransferRequest = try reader.value()
        let current: TransferRequest = try reader.value()
        self.init(
            task: task, kind: kind, request: original, lifetime: try reader.value(), created: try reader.value())
        self.current = current
        source = try reader.value()
        label = try reader.value()
        earliestBegin = try reader.value()
        expectedBySender = try reader.value()
        expectedByReceiver = try reader.value()
        priority = try reader.value()
        let reasons: UInt8 = try reader.number()
        (isSuspended, awaitsDelegate) = (reasons & 1 != 0, reasons & 2 != 0)
        isDiscretionary = try reader.value()
        state = try reader.value()
        counts = try reader.value()
        head = try reader.value()
        resumption = try reader.value(TransferBytes?.self)?.bytes
        failures = try reader.value()
        measures = try reader.value()
        events = try reader.value()
        nextNews = try reader.value()
        // A number that can be counted on from; a file where there has to be one.
        guard reasons < 4, nextNews < UInt64(Int64.max), task <= UInt64(Int64.max),
            (kind == .upload) == (source != nil),
            source?.hasPrefix("/") ?? true
        else { throw .impossible }
    }
}
