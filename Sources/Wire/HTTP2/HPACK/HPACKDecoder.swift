// Decodes header blocks as they come, in pieces that may end anywhere. Nothing of a block is collected but the field
// that is being read, and of this no more than may be used: every budget is looked at before a string is decoded. A
// block is always decoded to its end, because the table must stay the same as the peer's, also where its fields are not
// wanted. It knows no frames and no streams, and what fields mean. RFC 7541 §3, §6; RFC 9113 §4.3.
//
// A literal is decoded to the end of the list's buffer. Then it is copied to the table, if it belongs there, and
// becomes a field of the list or is taken out of the buffer again.

/// A resumable decoder of the header blocks of one connection.
package struct HPACKDecoder: ~Copyable {
    /// What a block is decoded for.
    package enum Purpose: Sendable {
        /// Its fields.
        case fields
        /// The table only: the stream is gone (H6.2).
        case table
    }

    private enum Phase {
        /// Between two fields.
        case field
        case integer(IntegerMeaning)
        /// The next byte begins the length of a string.
        case length
        case string
        case failed(HPACKError)
    }

    private enum IntegerMeaning {
        case index
        case nameIndex
        case tableSize
        case length
    }

    /// A field that is no entry of a table, as far as it has been read.
    private struct Literal {
        var isForTable = false
        var isInValue = false
        /// Where it begins in the list's buffer.
        var start = 0
        var nameLength = 0
        var valueLength = 0
        /// How many bytes it may have to be of any use.
        var room = 0
        /// Whether it still has no more than that, and its bytes are kept.
        var isStored = false
        /// Of the string that is being read.
        var isHuffman = false
        var remaining = 0

        var byteCount: Int { nameLength &+ valueLength }
    }

    private let limits: HPACKLimits
    private let staticTable = HPACKStaticTable.shared
    private var table: HPACKDynamicTable
    /// The size that we allow the peer's table.
    private var allowedSize: Int
    /// The next block must begin with a size that is not above this one.
    private var demandedSize: Int?

    private var phase = Phase.field
    private var integer = HPACKInteger(0, prefixBits: 8)
    private var literal = Literal()
    private var huffman = HuffmanDecoder()

    // The current block.
    private var blockBytes = 0
    private var listBytes = 0
    private var isKeeping = false
    private var hasBegunFields = false

    /// The fields of the latest block, once it has ended; empty where they were not asked for, or `isTooLarge`.
    package private(set) var list = HeaderList()

    /// Makes a decoder for a new connection.
    package init(limits: HPACKLimits = .standard) {
        self.limits = limits
        table = HPACKDynamicTable(maximumSize: HPACKDynamicTable.initialSize)
        allowedSize = HPACKDynamicTable.initialSize
    }

    // MARK: Events

    /// The peer has acknowledged a SETTINGS_HEADER_TABLE_SIZE of ours; never in the middle of a block.
    package mutating func tableSizeAcknowledged(_ size: Int) {
        allowedSize = size
        if size < table.maximumSize { demandedSize = min(size, demandedSize ?? size) }
    }

    /// A block begins: its HEADERS frame has come.
    package mutating func beginBlock(for purpose: Purpose = .fields) {
        list.removeAll()
        isKeeping = purpose == .fields
        (blockBytes, listBytes) = (0, 0)
        hasBegunFields = false
    }

    /// Decodes the next bytes of the block.
    ///
    /// After an error every call throws it again.
    package mutating func decode(_ fragment: RawSpan) throws(HPACKError) {
        do throws(HPACKError) {
            try read(fragment)
        } catch {
            throw fail(error)
        }
    }

    /// The block is over, and `list` may be read until the next one begins.
    package mutating func endBlock() throws(HPACKError) {
        switch phase {
        case .field: if demandedSize != nil { throw fail(.missingTableSizeUpdate) }
        case .integer, .length, .string: throw fail(.truncatedBlock)
        case .failed(let error): throw error
        }
    }

    private mutating func fail(_ error: HPACKError) -> HPACKError {
        phase = .failed(error)
        list.removeAll()
        return error
    }

    // MARK: Steps

    private mutating func read(_ bytes: RawSpan) throws(HPACKError) {
        if case .failed(let error) = phase { throw error }
        guard bytes.byteCount <= limits.blockBytes - blockBytes else {
            throw .blockTooLarge(limit: limits.blockBytes)
        }
        blockBytes += bytes.byteCount
        var offset = 0
        while offset < bytes.byteCount {
            switch phase {
            case .field:
                let first = bytes.byte(at: offset)
                if first & 0x80 == 0, let end = try readWholeLiteral(bytes, at: offset) {
                    offset = end
                } else {
                    try beginField(first)
                    offset &+= 1
                }
            case .integer(let meaning):
                if try integer.add(bytes.byte(at: offset)) { try finish(meaning, integer.value) }
                offset &+= 1
            case .length:
                let first = bytes.byte(at: offset)
                literal.isHuffman = first & 0x80 != 0
                try beginInteger(first, prefixBits: 7, .length)
                offset &+= 1
            case .string:
                let count = min(literal.remaining, bytes.byteCount &- offset, HPACKDecoder.pieceBytes)
                try readString(bytes.extracting(offset..<(offset &+ count)))
                offset &+= count
            case .failed(let error): throw error
            }
        }
    }

    /// RFC 7541 §6: the highest bits tell what it is.
    @inline(__always)
    private mutating func beginField(_ first: UInt8) throws(HPACKError) {
        if first & 0x80 != 0 { return try beginInteger(first, prefixBits: 7, .index) }
        if first & 0xE0 == 0x20 { return try beginInteger(first, prefixBits: 5, .tableSize) }
        literal.isForTable = first & 0x40 != 0
        try beginInteger(first, prefixBits: literal.isForTable ? 6 : 4, .nameIndex)
    }

    @inline(__always)
    private mutating func beginInteger(
        _ first: UInt8, prefixBits: Int, _ meaning: IntegerMeaning
    ) throws(HPACKError) {
        let integer = HPACKInteger(first, prefixBits: prefixBits)
        if integer.isWhole(prefixBits: prefixBits) { return try finish(meaning, integer.value) }
        self.integer = integer
        phase = .integer(meaning)
    }

    @inline(__always)
    private mutating func finish(_ meaning: IntegerMeaning, _ value: Int) throws(HPACKError) {
        switch meaning {
        case .index:
            try addEntry(value)
            phase = .field
        case .nameIndex: try beginLiteral(nameIndex: value)
        case .length: try beginString(length: value)
        case .tableSize:
            try changeTableSize(to: value)
            phase = .field
        }
    }

    private mutating func changeTableSize(to size: Int) throws(HPACKError) {
        guard !hasBegunFields else { throw .lateTableSizeUpdate }
        let limit = demandedSize ?? allowedSize
        guard size <= limit else { throw .tableSizeTooLarge(limit: limit) }
        demandedSize = nil
        table.resize(to: size)
    }

    // MARK: Fields

    /// A field that is an entry of a table (RFC 7541 §6.1).
    @inline(__always)
    private mutating func addEntry(_ index: Int) throws(HPACKError) {
        try noteFields()
        guard let entry = entry(index) else { throw .indexOutOfRange }
        try count(entry.size)
        guard isKeeping else { return }
        if index <= HPACKStaticTable.count {
            list.append(entry, in: staticTable.bytes)
        } else {
            list.append(entry, in: table.bytes)
        }
    }

    /// A field that begins with an index for its name, 0 if its name follows (RFC 7541 §6.2).
    private mutating func beginLiteral(nameIndex: Int) throws(HPACKError) {
        try noteFields()
        let roomInList = isKeeping ? limits.listBytes - listBytes : 0
        let room = max(roomInList, literal.isForTable ? table.maximumSize : 0) - HPACKEntry.overhead
        literal = Literal(
            isForTable: literal.isForTable, start: list.bytes.count, room: room, isStored: room >= 0)
        phase = .length
        guard nameIndex > 0 else { return }
        guard let entry = entry(nameIndex) else { throw .indexOutOfRange }
        literal.isInValue = true
        literal.nameLength = Int(entry.nameLength)
        try checkLiteral(atLeast: 0)
        if literal.isStored { appendName(of: entry, nameIndex) }
    }

    @inline(__always)
    private mutating func appendName(of entry: HPACKEntry, _ index: Int) {
        if index <= HPACKStaticTable.count {
            list.appendBytes(entry.start, Int(entry.nameLength), in: staticTable.bytes)
        } else {
            list.appendBytes(entry.start, Int(entry.nameLength), in: table.bytes)
        }
    }

    /// Adds bytes of the list to the table.
    private mutating func insert(from start: Int, nameLength: Int, valueLength: Int) {
        list.bytes.withUnsafeBytes { bytes in
            table.insert(bytes.part(start, start &+ nameLength &+ valueLength), nameLength: nameLength)
        }
    }

    private mutating func endLiteral() throws(HPACKError) {
        if literal.isForTable {
            if literal.isStored {
                insert(from: literal.start, nameLength: literal.nameLength, valueLength: literal.valueLength)
            } else {
                // What was not stored is larger than the table (RFC 7541 §4.4).
                table.evictAll()
            }
        }
        try count(literal.byteCount &+ HPACKEntry.overhead)
        if isKeeping {
            list.appendSlot(
                start: literal.start, nameLength: literal.nameLength, valueLength: literal.valueLength)
        } else {
            list.bytes.removeAll(keepingCapacity: true)
        }
        phase = .field
    }

    /// A field begins: behind it the table's size stays, and a change that we wait for has been missed.
    @inline(__always)
    private mutating func noteFields() throws(HPACKError) {
        guard !hasBegunFields else { return }
        if demandedSize != nil { throw .missingTableSizeUpdate }
        hasBegunFields = true
    }

    /// The entry with an index over both tables, if there is one (RFC 7541 §2.3.3).
    @inline(__always)
    private func entry(_ index: Int) -> HPACKEntry? {
        if index > HPACKStaticTable.count { return table.entry(at: index &- HPACKStaticTable.count &- 1) }
        return index > 0 ? staticTable.entries[index &- 1] : nil
    }

    /// Counts a field; the first above the list's limit ends the keeping.
    @inline(__always)
    private mutating func count(_ size: Int) throws(HPACKError) {
        listBytes &+= size
        guard listBytes > limits.listBytes else { return }
        guard listBytes <= limits.hardListBytes else { throw .listTooLarge(limit: limits.hardListBytes) }
        guard isKeeping else { return }
        isKeeping = false
        list.removeAll()
        list.isTooLarge = true
    }

    // MARK: Whole literals

    /// Reads a literal that has come whole, if its strings are short and fit into the list whatever they decode to.
    ///
    /// Returns the offset behind it. Nearly all literals are like that; where this one is not, nil is returned, nothing
    /// has been read, and the literal is to be read in steps.
    private mutating func readWholeLiteral(_ bytes: RawSpan, at offset: Int) throws(HPACKError) -> Int? {
        let first = bytes.byte(at: offset)
        let isForTable = first & 0x40 != 0
        guard isKeeping, isForTable || first & 0x20 == 0 else { return nil }
        let index = Int(first & (isForTable ? 0x3F : 0x0F))
        guard index < (isForTable ? 0x3F : 0x0F) else { return nil }
        let entry = entry(index)
        let name = index == 0 ? HPACKShortString(bytes, at: offset &+ 1) : nil
        guard let longestName = entry.map({ Int($0.nameLength) }) ?? name?.longest,
            let value = HPACKShortString(bytes, at: name?.end ?? offset &+ 1),
            longestName &+ value.longest &+ HPACKEntry.overhead <= limits.listBytes - listBytes
        else { return nil }

        try noteFields()
        let start = list.bytes.count
        if let entry { appendName(of: entry, index) }
        if let name { try append(name, of: bytes) }
        let nameLength = list.bytes.count &- start
        try append(value, of: bytes)
        let valueLength = list.bytes.count &- start &- nameLength
        if isForTable { insert(from: start, nameLength: nameLength, valueLength: valueLength) }
        listBytes &+= nameLength &+ valueLength &+ HPACKEntry.overhead
        list.appendSlot(start: start, nameLength: nameLength, valueLength: valueLength)
        return value.end
    }

    @inline(__always)
    private mutating func append(_ string: HPACKShortString, of bytes: RawSpan) throws(HPACKError) {
        let piece = bytes.extracting(string.start..<string.end)
        guard string.isHuffman else { return piece.withUnsafeBytes { list.bytes.append(contentsOf: $0) } }
        try piece.withUnsafeBytes { bytes throws(HPACKError) in try huffman.decode(bytes, to: &list.bytes) }
        try huffman.finish()
    }

    // MARK: Strings

    private mutating func beginString(length: Int) throws(HPACKError) {
        guard length <= limits.blockBytes else { throw .blockTooLarge(limit: limits.blockBytes) }
        // However the code is made, a byte takes no more than the longest code.
        try checkLiteral(atLeast: literal.isHuffman ? length &* 8 / HuffmanCode.longest : length)
        literal.remaining = length
        phase = .string
        if length == 0 { try endString() }
    }

    private mutating func readString(_ piece: RawSpan) throws(HPACKError) {
        let before = list.bytes.count
        literal.remaining &-= piece.byteCount
        var count = piece.byteCount
        if literal.isHuffman {
            try piece.withUnsafeBytes { bytes throws(HPACKError) in try huffman.decode(bytes, to: &list.bytes) }
            count = list.bytes.count &- before
        } else if literal.isStored {
            piece.withUnsafeBytes { list.bytes.append(contentsOf: $0) }
        }
        if literal.isInValue { literal.valueLength &+= count } else { literal.nameLength &+= count }
        if literal.isHuffman {
            // What is of no use was decoded to see that it can be.
            if !literal.isStored { list.bytes.removeLast(count) }
            try checkLiteral(atLeast: 0)
        }
        if literal.remaining == 0 { try endString() }
    }

    private mutating func endString() throws(HPACKError) {
        if literal.isHuffman { try huffman.finish() }
        guard !literal.isInValue else { return try endLiteral() }
        literal.isInValue = true
        phase = .length
    }

    /// Looks at the budgets for a literal that becomes at least that much longer.
    private mutating func checkLiteral(atLeast more: Int) throws(HPACKError) {
        let byteCount = literal.byteCount &+ more
        guard byteCount <= limits.hardListBytes - listBytes - HPACKEntry.overhead else {
            throw .listTooLarge(limit: limits.hardListBytes)
        }
        guard literal.isStored, byteCount > literal.room else { return }
        literal.isStored = false
        list.bytes.removeLast(list.bytes.count - literal.start)
    }

    /// How much of a string is decoded before the budgets are looked at again.
    private static var pieceBytes: Int { 4096 }
}
