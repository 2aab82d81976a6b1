// Numbers and texts as bytes of files and back. Whatever the bytes are, a reader answers nil and never leaves their
// bounds. It must not know what is written or read. Numbers are little-endian.

/// Puts values behind one another.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func number(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func words(_ words: SipHash.Words) {
        number(words.first)
        number(words.second)
    }

    mutating func raw(_ run: some Collection<UInt8>) { bytes.append(contentsOf: run) }

    /// A run and its length before it.
    mutating func run(_ run: some Collection<UInt8>) {
        number(UInt32(clamping: run.count))
        bytes.append(contentsOf: run)
    }

    mutating func text(_ text: String) { run(text.utf8) }

    mutating func text(_ text: String?) {
        number(UInt8(text == nil ? 0 : 1))
        if let text { self.text(text) }
    }
}

/// Takes values off the front of bytes.
struct ByteReader {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        let size = MemoryLayout<Number>.size
        guard rest.count >= size else { return nil }
        let number = UnsafeRawBufferPointer(rebasing: rest.prefix(size)).loadUnaligned(as: Number.self)
        rest = rest.dropFirst(size)
        return Number(littleEndian: number)
    }

    mutating func words() -> SipHash.Words? {
        guard let first = number(UInt64.self), let second = number(UInt64.self) else { return nil }
        return SipHash.Words(first, second)
    }

    mutating func run() -> UnsafeRawBufferPointer? {
        guard let count = number(UInt32.self).map(Int.init), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }

    /// A text; nil also where the bytes are none.
    mutating func text() -> String? {
        run().flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// A text that may be missing: nil for bytes that say neither.
    mutating func optionalText() -> String?? {
        switch number(UInt8.self) {
        case 0: .some(nil)
        case 1: text().map { .some($0) }
        default: nil
        }
    }
}
