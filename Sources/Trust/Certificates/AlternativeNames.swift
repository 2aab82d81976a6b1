// Walks a certificate's subject alternative names in place, without copying them. Does not know which host is wanted.
// RFC 5280 section 4.2.1.6.

import COpenSSL

/// The kinds of alternative name a host can be compared with; all others never match (B3.23).
enum AlternativeNameKind {
    case dns
    case ipAddress
    case other
}

extension Certificate {
    /// Calls `visit` for each alternative name; answers false when the extension is malformed.
    @discardableResult
    func forEachAlternativeName(_ visit: (AlternativeNameKind, UnsafeRawBufferPointer) -> Void) -> Bool {
        var count: Int32 = 0
        guard let start = shim_x509_extension(pointer, NID_subject_alt_name, &count) else { return true }
        var whole = DERReader(UnsafeRawBufferPointer(start: start, count: Int(count)))
        guard let sequence = whole.next(), sequence.tag == DERReader.sequence, whole.isAtEnd else { return false }
        var names = DERReader(sequence.content)
        while !names.isAtEnd {
            guard let name = names.next() else { return false }
            switch name.tag {
            case 0x82: visit(.dns, name.content)
            case 0x87: visit(.ipAddress, name.content)
            default: visit(.other, name.content)
            }
        }
        return true
    }
}

/// Reads definite-length DER elements one after the other, in place.
struct DERReader {
    static let sequence: UInt8 = 0x30

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    /// The next element's tag octet, its content, and the whole of it; nil when it is cut off or not definite-length
    /// DER.
    mutating func next() -> (tag: UInt8, content: UnsafeRawBufferPointer, whole: UnsafeRawBufferPointer)? {
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
        }
        guard length <= bytes.count - position else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: bytes[position..<position + length])
        position += length
        return (tag, content, UnsafeRawBufferPointer(rebasing: bytes[start..<position]))
    }

    private mutating func octet() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }
}
