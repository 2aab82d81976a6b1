// Budgets: what a list may hold before it is dropped, and before the connection is; the table is right in any case.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@Suite("HPACK: budgets")
struct HPACKLimitTests {
    private static let limits = HPACKLimits(listBytes: 200, hardListBytes: 1000, blockBytes: 2000)

    /// A field that counts so much in a list.
    private func field(_ size: Int, indexed: Bool = false) -> [UInt8] {
        Block.literal("n", String(repeating: "v", count: size - 33), indexed: indexed)
    }

    private func waysToCut(_ block: [UInt8]) -> [[ArraySlice<UInt8>]] { Array(Pieces.waysToCut(block).prefix(600)) }

    @Test("H4.9: the sum of name, value and 32 may reach the limit; the first field above it drops all")
    func softLimit() throws {
        for pieces in waysToCut(field(100) + field(100)) {
            var reader = HPACKReader(limits: Self.limits)
            #expect(try reader.read(pieces).count == 2)
            #expect(!reader.decoder.list.isTooLarge)
        }
        for pieces in waysToCut(field(100) + field(101)) + waysToCut(field(100) + [0x82] + field(60)) {
            var reader = HPACKReader(limits: Self.limits)
            #expect(try reader.read(pieces) == [])
            #expect(reader.decoder.list.isTooLarge)
            // The next block has the whole limit again.
            #expect(try reader.read(field(200)).count == 1)
            #expect(!reader.decoder.list.isTooLarge)
        }
        #expect(HPACKLimits.standard.listBytes == 256 * 1024)
    }

    @Test("H4.9: a block whose fields are not kept is decoded to its end, for the table")
    func tableBehindLimit() throws {
        let block =
            field(150) + Block.literal("a", "one", indexed: true) + field(90) + Block.literal("b", "two", indexed: true)
            + Block.index(63)
        for pieces in waysToCut(block) {
            var reader = HPACKReader(limits: Self.limits)
            #expect(try reader.read(pieces) == [])
            #expect(reader.decoder.list.isTooLarge)
            #expect(
                try reader.read(Block.index(62) + Block.index(63)) == [TextField("b", "two"), TextField("a", "one")])
        }
    }

    @Test("H4.9: a block of a stream that is gone is decoded for the table only")
    func ignoredBlock() throws {
        let block = [0x82] + Block.literal("a", "one", indexed: true) + Block.literal("c", "d") + Block.index(62)
        for pieces in waysToCut(block) {
            var reader = HPACKReader()
            #expect(try reader.read(pieces, for: .table) == [])
            #expect(!reader.decoder.list.isTooLarge)
            #expect(try reader.read(Block.index(62)) == [TextField("a", "one")])
            #expect(throws: HPACKError.indexOutOfRange) { try reader.read(Block.index(63), for: .table) }
        }
        // A string that is not kept is checked nevertheless.
        for pieces in waysToCut(Hexadecimal.bytes("00 01 61 82 1F FF")) {
            var reader = HPACKReader()
            #expect(throws: HPACKError.malformedPadding) { try reader.read(pieces, for: .table) }
        }
    }

    @Test("H9.5: a list above the hard limit ends the connection, kept or not")
    func hardLimit() throws {
        let block = (0..<11).flatMap { _ in field(100) }
        for purpose in [HPACKDecoder.Purpose.fields, .table] {
            for pieces in waysToCut(block) {
                var reader = HPACKReader(limits: Self.limits)
                #expect(throws: HPACKError.listTooLarge(limit: 1000)) { try reader.read(pieces, for: purpose) }
            }
            var reader = HPACKReader(limits: Self.limits)
            #expect(try reader.read(Array(block.prefix(block.count / 11 * 10)), for: purpose) == [])
        }
        #expect(HPACKLimits.standard.hardListBytes == 1 << 20)
    }

    @Test("H9.5: a block above the limit of the wire ends the connection")
    func blockLimit() throws {
        // Changes of the table's size count in no list.
        let block = (0..<2001).map { _ in UInt8(0x20) }
        for pieces in waysToCut(block) {
            var reader = HPACKReader(limits: Self.limits)
            #expect(throws: HPACKError.blockTooLarge(limit: 2000)) { try reader.read(pieces) }
        }
        var reader = HPACKReader(limits: Self.limits)
        #expect(try reader.read(Array(block.dropLast())) == [])
        #expect(try reader.read(Array(block.dropLast())) == [])
        #expect(HPACKLimits.standard.blockBytes == 1 << 20)
    }

    @Test("H9.5, H11: a string that is too long is refused by its length, before its bytes have come")
    func announcedLength() {
        func expect(_ start: [UInt8], _ error: HPACKError, _ location: SourceLocation = #_sourceLocation) {
            var reader = HPACKReader(limits: Self.limits)
            #expect(throws: error, sourceLocation: location) { try reader.read(start) }
        }
        expect([0x00] + Block.integer(2001, 0, prefixBits: 7), .blockTooLarge(limit: 2000))
        expect([0x00] + Block.integer(2001, 0x80, prefixBits: 7), .blockTooLarge(limit: 2000))
        expect([0x00] + Block.integer(969, 0, prefixBits: 7), .listTooLarge(limit: 1000))
        expect([0x00] + Block.integer(968, 0, prefixBits: 7), .truncatedBlock)
        expect([0x00, 1, 0x61] + Block.integer(968, 0, prefixBits: 7), .listTooLarge(limit: 1000))
        expect(field(100) + [0x00] + Block.integer(869, 0, prefixBits: 7), .listTooLarge(limit: 1000))
        // Of a code at least a byte in thirty bits comes.
        let small = HPACKLimits(listBytes: 50, hardListBytes: 100, blockBytes: 2000)
        var reader = HPACKReader(limits: small)
        #expect(throws: HPACKError.listTooLarge(limit: 100)) {
            try reader.read([0x00] + Block.integer(259, 0x80, prefixBits: 7))
        }
        reader = HPACKReader(limits: small)
        #expect(throws: HPACKError.truncatedBlock) { try reader.read([0x00] + Block.integer(258, 0x80, prefixBits: 7)) }
    }

    @Test("H9.5, H11: a code that becomes too long ends where it does")
    func longCode() throws {
        // "0" has five bits: 2,000 of them in 1,250 bytes.
        let zeros = [UInt8](repeating: 0, count: 1250)
        let block = [0x00, 1, 0x61] + Block.integer(1250, 0x80, prefixBits: 7) + zeros
        for pieces in Pieces.waysToCut(block).prefix(40) {
            var reader = HPACKReader(limits: Self.limits)
            #expect(throws: HPACKError.listTooLarge(limit: 1000)) { try reader.read(pieces) }
        }
        let limits = HPACKLimits(listBytes: 200, hardListBytes: 3000, blockBytes: 2000)
        for isForTable in [false, true] {
            var block = block
            block[0] = isForTable ? 0x40 : 0
            for pieces in Pieces.waysToCut(block).prefix(40) {
                var reader = HPACKReader(limits: limits)
                #expect(try reader.read(pieces) == [])
                #expect(reader.decoder.list.isTooLarge)
                guard isForTable else { continue }
                // It was no use to the list, and the table has it.
                #expect(try reader.read(pieces, for: .table) == [])
                #expect(throws: HPACKError.indexOutOfRange) { try reader.read(Block.index(64)) }
            }
        }
    }

    @Test("H11: an entry that is referred to again and again costs no more than the limits")
    func bomb() throws {
        var reader = HPACKReader()
        let entry = Block.literal("a", String(repeating: "b", count: 4000), indexed: true)
        _ = try reader.read(entry)
        #expect(try reader.read(Array(repeating: 0xBE, count: 64)).count == 64)
        #expect(try reader.read(Array(repeating: 0xBE, count: 70)) == [])
        #expect(reader.decoder.list.isTooLarge)
        #expect(throws: HPACKError.listTooLarge(limit: 1 << 20)) {
            try reader.read(Array(repeating: 0xBE, count: 16_000))
        }
    }

    @Test("H8.10: an entry that is larger than the table empties it, and is still a field of the list")
    func largeEntry() throws {
        let block =
            Block.literal("a", "b", indexed: true)
            + Block.literal("c", String(repeating: "d", count: 4064), indexed: true)
        for pieces in waysToCut(block) {
            var reader = HPACKReader()
            #expect(try reader.read(pieces).map(\.name) == ["a", "c"])
            #expect(throws: HPACKError.indexOutOfRange) { try reader.read(Block.index(62)) }
        }
        // One byte less is the whole table.
        let largest = Block.literal("c", String(repeating: "d", count: 4063), indexed: true)
        var reader = HPACKReader()
        _ = try reader.read(Block.literal("a", "b", indexed: true) + largest)
        #expect(try reader.read(Block.index(62)).map(\.name) == ["c"])
        #expect(throws: HPACKError.indexOutOfRange) { try reader.read(Block.index(63)) }
    }

    @Test("H8.10: a name may come from the entry that its own field drops")
    func droppedName() throws {
        let block =
            Block.literal("name", String(repeating: "d", count: 4000), indexed: true) + [0x7E]
            + Block.string(Array(repeating: 0x65, count: 100))
        for pieces in Pieces.waysToCut(block).prefix(100) {
            var reader = HPACKReader()
            #expect(try reader.read(pieces).map(\.name) == ["name", "name"])
            #expect(try reader.read(Block.index(62)) == [TextField("name", String(repeating: "e", count: 100))])
        }
    }
}
