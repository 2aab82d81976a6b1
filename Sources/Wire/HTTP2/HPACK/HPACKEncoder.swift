// Encodes header blocks, field by field, and keeps the table that the peer builds from them. Blocks must be sent in the
// order in which they were encoded, and none may be left out (H3.10). It knows no frames and no streams; which fields a
// message has is said in `HPACKEncoder+Messages`. RFC 7541 §3, §6; H3.8, H3.9.

/// An encoder of the header blocks of one connection.
package struct HPACKEncoder: ~Copyable {
    private let names = HPACKNames.shared
    private let code = HuffmanCode.shared
    private var table = HPACKDynamicTable(maximumSize: HPACKDynamicTable.initialSize)
    private var finder = HPACKFinder()
    /// The size that the peer allows, and the smallest that it has allowed since the last block.
    private var allowedSize = HPACKDynamicTable.initialSize
    private var smallestSize = HPACKDynamicTable.initialSize
    /// The bytes of a field that enters the table.
    private var field: [UInt8] = []

    /// Makes an encoder for a new connection.
    package init() {}

    /// The peer's settings have a SETTINGS_HEADER_TABLE_SIZE; the next block tells it what we make of it (H3.9).
    package mutating func peerTableSizeChanged(to size: Int) {
        // A larger table than the initial one is not worth its memory.
        allowedSize = min(max(size, 0), HPACKDynamicTable.initialSize)
        smallestSize = min(smallestSize, allowedSize)
    }

    /// Begins a block: changes of the table's size stand before all fields (RFC 7541 §4.2).
    package mutating func beginBlock(into out: inout [UInt8]) {
        if smallestSize < table.maximumSize, smallestSize < allowedSize { resizeTable(to: smallestSize, &out) }
        if allowedSize != table.maximumSize { resizeTable(to: allowedSize, &out) }
        smallestSize = allowedSize
    }

    /// Appends a field whose name is in lower case.
    package mutating func encode(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, into out: inout [UInt8]
    ) {
        let nameHash = HPACKHash.of(name)
        let valueMark = HPACKHash.mark(of: value)
        // Measured: what is repeated is nearly always found here, and need not be looked at otherwise.
        let match = finder.find(name, nameHash, value, valueMark, in: table)
        if let number = match.field {
            return HPACKInteger.append(index(of: number), 0x80, prefixBits: 7, to: &out)
        }
        var nameIndex = names.index(of: name, hash: nameHash)
        if let index = names.index(ofValue: value, nameIndex: nameIndex) {
            return HPACKInteger.append(index, 0x80, prefixBits: 7, to: &out)
        }
        var indexing = HPACKIndexing(nameIndex: nameIndex, value: value)
        // An entry that takes most of the table would drop all that is of use.
        let size = name.count + value.count + HPACKEntry.overhead
        if indexing == .indexed, size > table.maximumSize / 4 * 3 { indexing = .plain }
        if nameIndex == 0, let number = match.name { nameIndex = index(of: number) }
        appendLiteral(name, value, nameIndex: nameIndex, indexing, to: &out)
        guard indexing == .indexed else { return }
        insert(name, value)
        finder.noteInsertion(nameHash, valueMark, in: table)
    }

    // MARK: Steps

    private mutating func resizeTable(to size: Int, _ out: inout [UInt8]) {
        table.resize(to: size)
        HPACKInteger.append(size, 0x20, prefixBits: 5, to: &out)
    }

    private mutating func insert(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        field.removeAll(keepingCapacity: true)
        field.append(contentsOf: name)
        field.append(contentsOf: value)
        field.withUnsafeBytes { table.insert($0, nameLength: name.count) }
    }

    /// The index, over both tables, of an entry by its number.
    private func index(of number: Int) -> Int { HPACKStaticTable.count + table.insertions - number }

    /// RFC 7541 §6.2: the way it is indexed, the name or its index, the value.
    private func appendLiteral(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, nameIndex: Int, _ indexing: HPACKIndexing,
        to out: inout [UInt8]
    ) {
        switch indexing {
        case .indexed: HPACKInteger.append(nameIndex, 0x40, prefixBits: 6, to: &out)
        case .plain: HPACKInteger.append(nameIndex, 0x00, prefixBits: 4, to: &out)
        case .never: HPACKInteger.append(nameIndex, 0x10, prefixBits: 4, to: &out)
        }
        if nameIndex == 0 { append(name, to: &out) }
        append(value, to: &out)
    }

    /// A string, in the Huffman code where that is shorter (RFC 7541 §5.2).
    private func append(_ string: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        let length = code.encodedLength(string)
        if length < string.count {
            HPACKInteger.append(length, 0x80, prefixBits: 7, to: &out)
            code.encode(string, length: length, to: &out)
        } else {
            HPACKInteger.append(string.count, 0, prefixBits: 7, to: &out)
            out.append(contentsOf: string)
        }
    }
}
