// Numbers and texts as bytes of files and back. Whatever the bytes are, a reader answers nil and never leaves their
// bounds. It must not know what is written or read. Numbers are little-endian.

/// Puts values behind one another.
package struct ByteWriter {
    /// What has been put so far.
    package private(set) var bytes: [UInt8] = []

    /// Makes one with room for so many bytes.
    package init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// A number, the lowest byte first.
    package mutating func number(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Two words, the first before the second.
    package mutating func words(_ words: SipHash.Words) {
        number(words.first)
        number(words.second)
    }

    /// Bytes as they are.
    package mutating func raw(_ run: some Collection<UInt8>) { bytes.append(contentsOf: run) }

    /// A run and its length before it.
    package mutating func run(_ run: some Collection<UInt8>) {
        number(UInt32(clamping: run.count))
        bytes.append(contentsOf: run)
    }

    /// A text and its length before it.
    package mutating func text(_ text: String) { run(text.utf8) }

    /// A text that may be missing, and whether it is.
    package mutating func text(_ text: String?) {
        number(UInt8(text == nil ? 0 : 1))
        if let text { self.text(text) }
    }
}

/// Takes values off the front of bytes.
package struct ByteReader {
    private var rest: Slice<UnsafeRawBufferPointer>

    /// Reads from the front of these bytes, which have to stay where they are.
    package init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    /// Whether nothing is left.
    package var isAtEnd: Bool { rest.isEmpty }

    /// A number, the lowest byte first.
    package mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        let size = MemoryLayout<Number>.size
        guard rest.count >= size else { return nil }
        let number = UnsafeRawBufferPointer(rebasing: rest.prefix(size)).loadUnaligned(as: Number.self)
        rest = rest.dropFirst(size)
        return Number(littleEndian: number)
    }

    /// Two words, the first before the second.
    package mutating func words() -> SipHash.Words? {
        guard let first = number(UInt64.self), let second = number(UInt64.self) else { return nil }
        return SipHash.Words(first, second)
    }

    /// A run that has its length before it.
    package mutating func run() -> UnsafeRawBufferPointer? {
        guard let count = number(UInt32.self).map(Int.init), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }

    /// A text; nil also where the bytes are none.
    package mutating func text() -> String? {
        run().flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// A text that may be missing: nil for bytes that say neither.
    package mutating func optionalText() -> String?? {
        switch number(UInt8.self) {
        case 0: .some(nil)
        case 1: text().map { .some($0) }
        default: nil
        }
    }
}
