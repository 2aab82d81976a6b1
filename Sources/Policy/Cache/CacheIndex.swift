// The index of a cache on disk: a log of what was stored, used and removed, in records of one length that each carry
// their own digest. Replayed from its beginning it tells what there is, how large it is and in which order it was used.
// A record that is none is passed over. Behaviour B7.5, B7.7, B7.15, B7.18. It must not know files.
//
//     0   1   1 stored, 2 removed, 3 used
//     1   7   0
//     8  16   digest of the key
//    24   8   bytes of the file
//    32   8   when it was stored, in microseconds since the beginning of 1970
//    40   8   digest of the 40 bytes before

/// What a cache on disk holds, as its log tells.
package struct CacheIndex: Sendable {
    /// One record.
    package enum Event: Sendable, Equatable {
        /// A file was written, in place of one of the same name.
        case stored(SipHash.Words, byteCount: Int, at: Int64)
        /// A file was removed.
        case removed(SipHash.Words)
        /// A file was read.
        case used(SipHash.Words)
    }

    /// Names of the files, the longest unused first; each with the moment it was stored.
    package private(set) var files = RecencyTable<SipHash.Words, Int64>()
    /// How many records were taken in.
    package private(set) var recordCount = 0

    /// A log of nothing.
    package init() {}

    /// Bytes of all files.
    package var byteCount: Int { files.totalCost }

    /// Whether so much of the log is history that it is worth writing anew.
    package var isWorthShortening: Bool { recordCount > 4096 + 2 * files.count }

    /// Takes in what has happened.
    package mutating func take(_ event: Event) {
        recordCount += 1
        switch event {
        case .stored(let name, let byteCount, let time):
            // A log may say anything: what adds up to more than can be counted is passed over.
            guard !files.totalCost.addingReportingOverflow(byteCount).overflow else { return }
            files.insert(time, for: name, cost: byteCount)
        case .removed(let name): files.remove(name)
        case .used(let name): _ = files.use(name)
        }
    }

    /// Makes room for what so many bytes of records can hold at most.
    package mutating func expect(byteCount: Int) { files.reserve(byteCount / Self.recordSize) }

    /// Takes in records as they lie in a file.
    package mutating func take(records: UnsafeRawBufferPointer) {
        var offset = 0
        while records.count - offset >= Self.recordSize {
            let record = UnsafeRawBufferPointer(rebasing: records[offset..<(offset + Self.recordSize)])
            if let event = Self.event(record) { take(event) } else { recordCount += 1 }
            offset += Self.recordSize
        }
    }

    /// The names of the files that have to go for the others to fit a capacity, the longest unused first.
    package func excess(over capacity: Int) -> [SipHash.Words] { files.excess(over: capacity) }

    /// The names of the files that were stored at or after a moment (B7.15).
    package func names(storedSince time: Int64) -> [SipHash.Words] {
        var names: [SipHash.Words] = []
        files.forEach { name, storedAt, _ in
            if storedAt >= time { names.append(name) }
        }
        return names
    }

    /// The shortest log that tells the same.
    package var shortened: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(files.count * Self.recordSize)
        files.forEach { name, storedAt, cost in
            bytes += Self.bytes(.stored(name, byteCount: cost, at: storedAt))
        }
        return bytes
    }

    // MARK: Records

    /// Bytes of a record.
    package static let recordSize = 48

    /// A record's bytes.
    package static func bytes(_ event: Event) -> [UInt8] {
        var writer = ByteWriter(capacity: recordSize)
        switch event {
        case .stored(let name, let byteCount, let time): write(1, name, Int64(byteCount), time, to: &writer)
        case .removed(let name): write(2, name, 0, 0, to: &writer)
        case .used(let name): write(3, name, 0, 0, to: &writer)
        }
        writer.number(writer.bytes.withUnsafeBytes { CacheRecord.digest($0) })
        return writer.bytes
    }

    /// Reads a record; nil when the bytes are none.
    package static func event(_ bytes: UnsafeRawBufferPointer) -> Event? {
        guard bytes.count == recordSize else { return nil }
        var reader = ByteReader(bytes)
        let digest = CacheRecord.digest(UnsafeRawBufferPointer(rebasing: bytes[..<40]))
        guard let kind = reader.number(UInt64.self), let name = reader.words(),
            let byteCount = reader.number(Int64.self), let time = reader.number(Int64.self),
            reader.number(UInt64.self) == digest
        else { return nil }
        switch kind {
        case 1:
            return (0...maximumByteCount).contains(byteCount) ? .stored(name, byteCount: Int(byteCount), at: time) : nil
        case 2: return .removed(name)
        case 3: return .used(name)
        default: return nil
        }
    }

    private static func write(
        _ kind: UInt64, _ name: SipHash.Words, _ byteCount: Int64, _ time: Int64, to writer: inout ByteWriter
    ) {
        writer.number(kind)
        writer.words(name)
        writer.number(byteCount)
        writer.number(time)
    }

    /// More than any file that is kept.
    private static let maximumByteCount: Int64 = 1 << 40
}

extension CacheKey {
    /// The name of the file that holds the answer.
    package var fileName: SipHash.Words {
        var text = text
        return text.withUTF8 { SipHash.wideDigest(UnsafeRawBufferPointer($0), key: Self.nameKey) }
    }

    /// Any numbers: no secret hangs on them, since a file says itself which key it is for.
    private static var nameKey: SipHash.Words { SipHash.Words(0x5552_4C4C_6F61_6469, 0x6E67_4361_6368_6500) }
}

extension SipHash.Words {
    /// Thirty-two hexadecimal digits.
    package var hexadecimal: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(32)
        for word in [first, second] {
            for shift in stride(from: UInt64(60), through: 0, by: -4) {
                let digit = UInt8(word >> shift & 15)
                digits.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Reads what `hexadecimal` writes; nil for anything else.
    package init?(hexadecimal text: String) {
        var words: [UInt64] = [0, 0]
        guard text.utf8.count == 32 else { return nil }
        for (index, byte) in text.utf8.enumerated() {
            guard let digit = ASCII.hexValue(byte), !ASCII.isUppercase(byte) else { return nil }
            words[index / 16] = words[index / 16] << 4 | UInt64(digit)
        }
        self.init(words[0], words[1])
    }
}
