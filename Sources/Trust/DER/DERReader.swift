// Reads the distinguished encoding in place, strictly: one length has one spelling, nothing is indefinite. The sender
// of the bytes may be hostile; what is not DER ends the reading. Does not know what the elements mean. X.690.

/// One element: its tag octet, and where its content and the whole of it lie in the bytes that are read.
struct DERElement: Sendable, Hashable {
    let tag: UInt8
    let content: Range<Int>
    let whole: Range<Int>
}

/// Reads elements one after the other.
struct DERReader {
    static let boolean: UInt8 = 0x01
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let enumerated: UInt8 = 0x0A
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31

    private let bytes: UnsafeRawBufferPointer
    private var position: Int
    private let end: Int

    /// Reads all of the bytes.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes, 0..<bytes.count)
    }

    /// Reads a part of the bytes, an element's content perhaps.
    init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        self.bytes = bytes
        end = min(max(0, range.upperBound), bytes.count)
        position = min(max(0, range.lowerBound), end)
    }

    var isAtEnd: Bool { position >= end }

    /// The tag of the next element, which is not taken; nil at the end.
    var nextTag: UInt8? { isAtEnd ? nil : bytes[position] }

    /// The next element; nil when it is cut off or not DER.
    mutating func next() -> DERElement? {
        let start = position
        guard let tag = octet(), tag & 0x1F != 0x1F, let first = octet() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let octets = Int(first & 0x7F)
            guard (1...4).contains(octets) else { return nil }
            length = 0
            for _ in 0..<octets {
                guard let next = octet() else { return nil }
                length = length << 8 | Int(next)
            }
            // X.690 section 10.1: the shortest form only.
            let shortest = length < 0x80 ? 0 : (Int.bitWidth - length.leadingZeroBitCount + 7) / 8
            guard octets == shortest else { return nil }
        }
        // Where an Int has 32 bits only, four octets can make a negative one.
        guard length >= 0, length <= end - position else { return nil }
        let content = position..<position + length
        position += length
        return DERElement(tag: tag, content: content, whole: start..<position)
    }

    /// The next element if it has this tag; nil, and nothing is taken, when it has not.
    mutating func next(_ tag: UInt8) -> DERElement? {
        guard nextTag == tag else { return nil }
        let start = position
        if let element = next() { return element }
        position = start
        return nil
    }

    private mutating func octet() -> UInt8? {
        guard position < end else { return nil }
        defer { position += 1 }
        return bytes[position]
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of a range that an element of these bytes gave.
    subscript(part range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range.clamped(to: 0..<count)])
    }
}
