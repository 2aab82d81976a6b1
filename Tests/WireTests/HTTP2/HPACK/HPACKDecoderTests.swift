// Everything that may be wrong with a header block, cut in every way, and every budget.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@Suite("HPACK: what a decoder refuses")
struct HPACKDecoderTests {
    /// What becomes of a block behind others that are right.
    private func outcome(
        _ pieces: [ArraySlice<UInt8>], after: [[UInt8]], limits: HPACKLimits, tableSize: Int?
    ) -> Result<[TextField], HPACKError> {
        var reader = HPACKReader(limits: limits)
        do throws(HPACKError) {
            for block in after { _ = try reader.read(block) }
            if let tableSize { reader.decoder.tableSizeAcknowledged(tableSize) }
            return .success(try reader.read(pieces))
        } catch {
            // H8.10: the tables do not agree any more, whatever comes.
            var again: HPACKError?
            do throws(HPACKError) { _ = try reader.read([0x82]) } catch { again = error }
            #expect(again == error)
            #expect(reader.decoder.list.count == 0)
            return .failure(error)
        }
    }

    private func expect(
        _ block: [UInt8], _ error: HPACKError, after: [[UInt8]] = [], limits: HPACKLimits = .standard,
        tableSize: Int? = nil, _ location: SourceLocation = #_sourceLocation
    ) {
        for pieces in Pieces.waysToCut(block) {
            #expect(
                outcome(pieces, after: after, limits: limits, tableSize: tableSize) == .failure(error),
                "\(pieces.prefix(4).map(\.count))…", sourceLocation: location)
        }
    }

    private func expect(
        _ block: [UInt8], _ fields: [TextField], after: [[UInt8]] = [], limits: HPACKLimits = .standard,
        tableSize: Int? = nil, _ location: SourceLocation = #_sourceLocation
    ) {
        for pieces in Pieces.waysToCut(block) {
            #expect(
                outcome(pieces, after: after, limits: limits, tableSize: tableSize) == .success(fields),
                "\(pieces.prefix(4).map(\.count))…", sourceLocation: location)
        }
    }

    // MARK: Indexes

    @Test("H8.10: index 0, and one beyond the tables, also for a name alone")
    func indexes() {
        expect([0x80], .indexOutOfRange)
        expect(Block.index(61), [TextField("www-authenticate", "")])
        expect(Block.index(62), .indexOutOfRange)
        expect(Block.literal("a", "b", indexed: true) + Block.index(62), [TextField("a", "b"), TextField("a", "b")])
        expect(Block.literal("a", "b", indexed: true) + Block.index(63), .indexOutOfRange)
        // A name has no index 0: it follows. Beyond the tables it is as wrong as a field.
        for (bits, prefixBits) in [(0x40, 6), (0x00, 4), (0x10, 4)] as [(UInt8, Int)] {
            expect(Block.integer(62, bits, prefixBits: prefixBits) + Block.string([0x62]), .indexOutOfRange)
            expect(
                Block.integer(62, bits, prefixBits: prefixBits) + Block.string([0x62]), [TextField("a", "b")],
                after: [Block.literal("a", "c", indexed: true)])
        }
        // What the table has dropped is not there any more.
        expect(
            Block.index(62), .indexOutOfRange,
            after: [Block.literal("a", "b", indexed: true), Block.tableSize(0) + Block.tableSize(4096)])
    }

    @Test("H8.10: an integer above 2^31, or of more than five bytes")
    func integers() {
        expect(Hexadecimal.bytes("FF 80 80 80 80 08"), .integerTooLarge)
        expect(Hexadecimal.bytes("FF FF FF FF FF FF FF FF FF FF 01"), .integerTooLarge)
        expect(Hexadecimal.bytes("FF 80 80 80 80 80 00"), .integerTooLarge)
        // As large as it may be, and as long.
        expect(Block.integer(1 << 31, 0x80, prefixBits: 7), .indexOutOfRange)
        expect(Block.integer((1 << 31) + 1, 0x80, prefixBits: 7), .integerTooLarge)
        expect(Hexadecimal.bytes("00 7F 80 80 80 80 08"), .integerTooLarge)
        expect(Hexadecimal.bytes("00 01 61 7F FF FF FF FF 0F"), .integerTooLarge)
        expect(Hexadecimal.bytes("3F FF FF FF FF 7F"), .integerTooLarge)
        // More bytes than needed are allowed.
        expect(Hexadecimal.bytes("0F AB 80 80 80 00") + Block.string([0x62]), [TextField("user-agent", "b")])
    }

    // MARK: Huffman code

    @Test("H12.2: every two visible bytes behind each other in Huffman code, whole and byte by byte")
    func huffmanPairs() throws {
        for first in UInt8(0x20)...0x7E {
            // Bytes with short codes before them, or the code would be longer than the string.
            let pairs = (UInt8(0x21)...0x7E).flatMap { [first, $0] }
            let value = String(repeating: "e", count: 1_000) + String(decoding: pairs, as: UTF8.self)
            var encoder = HPACKEncoder()
            let field = TextField("x", value)
            let block = encoder.block([field])
            #expect(block.count < value.utf8.count)
            var reader = HPACKReader()
            #expect(try reader.read(block) == [field])
            var slow = HPACKReader()
            #expect(try slow.read(block.indices.map { block[$0...$0] }) == [field])
        }
    }

    @Test("H8.10: a Huffman code with the end of a string, or padding that is none")
    func huffman() {
        expect(Hexadecimal.bytes("00 81 1F") + Block.string([]), [TextField("a", "")])
        // 30 ones, and more of them.
        expect(Hexadecimal.bytes("00 84 FF FF FF FF 00"), .endOfStringSymbol)
        expect(Hexadecimal.bytes("00 85 1F FF FF FF FF 00"), .endOfStringSymbol)
        expect(Hexadecimal.bytes("00 01 61 88 FF FF FF FF FF FF FF FF"), .endOfStringSymbol)
        // Seven ones are padding behind a whole byte, eight are not.
        expect(Hexadecimal.bytes("00 82 1F FF 00"), .malformedPadding)
        expect(Hexadecimal.bytes("00 81 FF 00"), .malformedPadding)
        expect(Hexadecimal.bytes("00 83 FF FF FF 00"), .malformedPadding)
        // Zeros, and a one too few.
        expect(Hexadecimal.bytes("00 81 18 00"), .malformedPadding)
        expect(Hexadecimal.bytes("00 81 1E 00"), .malformedPadding)
        expect(Hexadecimal.bytes("00 01 61 81 1B"), .malformedPadding)
        // A code that is cut.
        expect(Hexadecimal.bytes("00 82 FF C0 00"), .malformedPadding)
        // The next string begins anew.
        expect(Hexadecimal.bytes("00 81 1F 81 1F 00 81 1F 81 1F"), [TextField("a", "a"), TextField("a", "a")])
    }

    @Test("H12.1: every byte has the code of appendix B, and comes out of it, wherever it is cut")
    func everyByte() throws {
        let bytes = (0...255).map { UInt8($0) }
        let code = Hexadecimal.bytes(Self.codeOfEveryByte)
        let block = [0x00, 1, 0x61] + Block.integer(code.count, 0x80, prefixBits: 7) + code
        for pieces in Pieces.waysToCut(block) {
            var reader = HPACKReader()
            reader.decoder.beginBlock()
            for piece in pieces { try reader.decoder.decode(Array(piece).span.bytes) }
            try reader.decoder.endBlock()
            // Bytes that are no UTF-8 are shown one by one.
            let value = reader.decoder.list.value(at: 0).unicodeScalars.map { UInt8($0.value) }
            guard value == bytes else {
                #expect(value == bytes, "\(pieces.map(\.count))")
                return
            }
        }
        // An encoder does not use the code where it is longer: letters behind it make it shorter.
        let value = bytes + [UInt8](repeating: 0x61, count: 1000)
        var written: [UInt8] = []
        var encoder = HPACKEncoder()
        encoder.beginBlock(into: &written)
        Array("x".utf8).withUnsafeBytes { name in value.withUnsafeBytes { encoder.encode(name, $0, into: &written) } }
        #expect(written.dropFirst(6).starts(with: code.dropLast()))
    }

    /// The codes of all bytes from 0 to 255 one behind the other, then ones.
    private static let codeOfEveryByte = """
        FFC7FFFD8FFFFFE2FFFFFE3FFFFFE4FFFFFE5FFFFFE6FFFFFE7FFFFFE8FFFFEAFFFFFFF3FFFFFA7FFFFFABFFFFFFDFFFFFEBFFFFFECF
        FFFFEDFFFFFEEFFFFFEFFFFFFF0FFFFFF1FFFFFF2FFFFFFFBFFFFFCFFFFFFD3FFFFFD7FFFFFDBFFFFFDFFFFFFE3FFFFFE7FFFFFEBFFF
        FFED4FE3F9FFAFFCABF1FEBFAFEFE7FDFD2CBB00089969B71D79FB9F7FFF20FFBFF3FF50DDBD7F061C58F265CD9F469D5AF66DDDBF87
        1E5F9CFF7FF7FFFC3FF9FFE45FFF4719242CB34E6E9D68A6A3D7DAC426DEFE3CFAF7FFFBFE7FFBFFDFFFFFFCFFFE6FFFF4BFFF9FFFFA
        3FFFD3FFFF53FFFD5FFFFB3FFFEB7FFFDAFFFFB7FFFF73FFFEEFFFFDEFFFFEBFFFFBFFFFFD9FFFFDBFFFEBFFFFE0FFFFEEFFFFC3FFFF
        8BFFFF1FFFFE4FFFEE7FFFB1FFFF97FFFD9FFFFCDFFFF9FFFFFBFFFFDAFFFEEFFFF4FFFFB7FFFEE7FFFE8FFFFD3FFFDEFFFFD5FFFEEF
        FFFBDFFFFE1FFFDFFFFF7FFFFF5FFFFECFFFF07FFF87FFFE0FFFF17FFFEDFFFF87FFFF77FFFEFFFFEAFFFF8BFFFE3FFFF93FFFF87FFF
        CBFFFF37FFFF1FFFFF83FFFFE1FFFEBFFFE3FFFF3FFFFF2FFFFA3FFFFD9FFFFF17FFFFC7FFFFF27FFFFDEFFFFFBFFFFFF2FFFFF8FFFF
        FB7FFF97FFF8FFFFFE6FFFFFC1FFFFF87FFFFE7FFFFFC5FFFFE5FFFE4FFFF2FFFFFD1FFFFF4FFFFFFEFFFFFE3FFFFFC9FFFFF97FFFB3
        FFFFCFFFFB7FFFCDFFFF4FFFF9FFFFD1FFFFCFFFFEAFFFFAFFFFFDDFFFFEFFFFFF4FFFFF5FFFFFABFFFFA7FFFFD7FFFFF9BFFFFECFFF
        FFB7FFFFF3FFFFFE8FFFFFD3FFFFFABFFFFF5FFFFFFF7FFFFECFFFFFDBFFFFFBBFFFFF7FFFFFF0FFFFFBBF
        """

    // MARK: The table's size

    @Test("H8.10: a table size above ours, or behind a field")
    func tableSizes() {
        expect(Block.tableSize(4096) + [0x82], [TextField(":method", "GET")])
        expect(Block.tableSize(4097), .tableSizeTooLarge(limit: 4096))
        expect(Block.tableSize(100) + Block.tableSize(4097), .tableSizeTooLarge(limit: 4096))
        expect(Block.tableSize(8192), [], tableSize: 8192)
        expect(Block.tableSize(8193), .tableSizeTooLarge(limit: 8192), tableSize: 8192)
        expect([0x82] + Block.tableSize(100), .lateTableSizeUpdate)
        expect(Block.literal("a", "b") + Block.tableSize(100), .lateTableSizeUpdate)
        expect(Block.tableSize(100) + [0x82] + Block.tableSize(100), .lateTableSizeUpdate)
    }

    @Test("H8.10: no change of the table's size although ours was lowered and that was acknowledged")
    func missingTableSize() {
        expect([0x82], .missingTableSizeUpdate, tableSize: 100)
        expect(Block.literal("a", "b"), .missingTableSizeUpdate, tableSize: 0)
        expect([], .missingTableSizeUpdate, tableSize: 4095)
        expect(Block.tableSize(101), .tableSizeTooLarge(limit: 100), tableSize: 100)
        expect(Block.tableSize(100) + [0x82], [TextField(":method", "GET")], tableSize: 100)
        // A table that is not larger has nothing to tell.
        expect([0x82], [TextField(":method", "GET")], after: [Block.tableSize(50)], tableSize: 100)
        expect([0x82], [TextField(":method", "GET")], tableSize: 5000)
    }

    @Test("H8.10, H3.9: of several sizes the smallest comes first")
    func severalTableSizes() throws {
        var reader = HPACKReader()
        _ = try reader.read(Block.literal("a", "b", indexed: true))
        for size in [1000, 0, 4096] { reader.decoder.tableSizeAcknowledged(size) }
        #expect(try reader.read(Block.tableSize(0) + Block.tableSize(4096)) == [])
        // The entry went with the smallest size.
        #expect(throws: HPACKError.indexOutOfRange) { try reader.read(Block.index(62)) }

        var other = HPACKReader()
        for size in [0, 4096] { other.decoder.tableSizeAcknowledged(size) }
        #expect(throws: HPACKError.tableSizeTooLarge(limit: 0)) { try other.read(Block.tableSize(4096)) }
    }

    // MARK: The end

    @Test("H8.10: a block that is cut off at any place inside a field")
    func cutOff() {
        let field = Block.literal("name", "value", indexed: true)
        for count in 1..<field.count { expect(Array(field.prefix(count)), .truncatedBlock) }
        expect(Hexadecimal.bytes("FF"), .truncatedBlock)
        expect(Hexadecimal.bytes("FF 80"), .truncatedBlock)
        expect(Hexadecimal.bytes("3F 80"), .truncatedBlock)
        expect([0x82] + field.dropLast(), .truncatedBlock, after: [field])
        expect([], [])
    }

    @Test("H8.10: an error is COMPRESSION_ERROR, a budget that was exceeded ENHANCE_YOUR_CALM")
    func kinds() {
        let errors: [HPACKError] = [
            .indexOutOfRange, .integerTooLarge, .endOfStringSymbol, .malformedPadding, .tableSizeTooLarge(limit: 1),
            .lateTableSizeUpdate, .missingTableSizeUpdate, .truncatedBlock,
        ]
        for error in errors { #expect(!error.isExcess, "\(error)") }
        for error in [.blockTooLarge(limit: 1), .listTooLarge(limit: 1)] as [HPACKError] {
            #expect(error.isExcess, "\(error)")
        }
        #expect(Set((errors + [.blockTooLarge(limit: 1), .listTooLarge(limit: 1)]).map(\.description)).count == 10)
    }
}
