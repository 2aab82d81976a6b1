// A decoder and an encoder as tests use them: blocks in, fields as text out.

import URLLoadingWire

/// A field as text.
struct TextField: Equatable, Sendable, CustomStringConvertible {
    var name: String
    var value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    var description: String { "\(name): \(value)" }
}

/// One end of a connection that decodes.
struct HPACKReader: ~Copyable {
    var decoder: HPACKDecoder

    init(limits: HPACKLimits = .standard) { decoder = HPACKDecoder(limits: limits) }

    /// Decodes one block that comes in these pieces.
    mutating func read(
        _ pieces: [ArraySlice<UInt8>], for purpose: HPACKDecoder.Purpose = .fields
    ) throws(HPACKError) -> [TextField] {
        decoder.beginBlock(for: purpose)
        for piece in pieces {
            let bytes = Array(piece)
            try decoder.decode(bytes.span.bytes)
        }
        try decoder.endBlock()
        return decoder.list.texts
    }

    /// Decodes one block whole.
    mutating func read(
        _ block: [UInt8], for purpose: HPACKDecoder.Purpose = .fields
    ) throws(HPACKError) -> [TextField] {
        try read([block[...]], for: purpose)
    }
}

extension HeaderList {
    /// The fields as text.
    var texts: [TextField] { (0..<count).map { TextField(name(at: $0), value(at: $0)) } }
}

extension Fields {
    /// The fields as text.
    var texts: [TextField] { (0..<count).map { TextField(name(at: $0), value(at: $0)) } }

    init(_ pairs: [(String, String)]) {
        self.init()
        for (name, value) in pairs { append(name, value) }
    }
}

extension HPACKEncoder {
    /// The block of a list of fields.
    mutating func block(_ fields: [TextField]) -> [UInt8] {
        var out: [UInt8] = []
        beginBlock(into: &out)
        for field in fields {
            Array(field.name.utf8).withUnsafeBytes { name in
                Array(field.value.utf8).withUnsafeBytes { encode(name, $0, into: &out) }
            }
        }
        return out
    }
}

/// Blocks written by hand.
enum Block {
    /// An integer behind bits of its first byte.
    static func integer(_ value: Int, _ bits: UInt8, prefixBits: Int) -> [UInt8] {
        let mask = (1 << prefixBits) - 1
        if value < mask { return [bits | UInt8(value)] }
        var bytes = [bits | UInt8(mask)]
        var rest = value - mask
        while rest >= 128 {
            bytes.append(UInt8(rest % 128) | 128)
            rest /= 128
        }
        return bytes + [UInt8(rest)]
    }

    /// A string without Huffman code.
    static func string(_ bytes: [UInt8]) -> [UInt8] { integer(bytes.count, 0, prefixBits: 7) + bytes }

    /// A field without index; in the table, or not.
    static func literal(_ name: String, _ value: String, indexed: Bool = false) -> [UInt8] {
        [indexed ? 0x40 : 0] + string(Array(name.utf8)) + string(Array(value.utf8))
    }

    /// A field that is an entry of a table.
    static func index(_ index: Int) -> [UInt8] { integer(index, 0x80, prefixBits: 7) }

    /// A change of the table's size.
    static func tableSize(_ size: Int) -> [UInt8] { integer(size, 0x20, prefixBits: 5) }
}
