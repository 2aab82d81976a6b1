// What an encoder writes: which fields enter the table, which never do, and how it follows the peer's table size.

import Testing
import URLLoadingWire

@Suite("HPACK: what an encoder writes")
struct HPACKEncoderTests {
    private func block(_ pairs: (String, String)..., again: Bool = false) -> [UInt8] {
        var encoder = HPACKEncoder()
        let fields = pairs.map { TextField($0, $1) }
        let first = encoder.block(fields)
        return again ? encoder.block(fields) : first
    }

    // MARK: Indexing

    @Test(
        "H3.8: authorization and short cookies are literals that are never indexed",
        arguments: [
            ("authorization", "Basic dXNlcjpwYXNz", 23), ("authorization", String(repeating: "t", count: 300), 23),
            ("proxy-authorization", "Basic dXNlcjpwYXNz", 49), ("cookie", "a=1", 32),
            ("cookie", "session=abcdefghijk", 32),
        ])
    func neverIndexed(name: String, value: String, index: Int) throws {
        var encoder = HPACKEncoder()
        var reader = HPACKReader()
        let field = TextField(name, value)
        let first = encoder.block([field])
        #expect(first.starts(with: Block.integer(index, 0x10, prefixBits: 4)))
        #expect(encoder.block([field]) == first)
        #expect(try reader.read(first) == [field])
        #expect(throws: HPACKError.indexOutOfRange) { try reader.read(Block.index(62)) }
    }

    @Test("H3.8: a cookie of twenty bytes is indexed")
    func longCookie() {
        #expect(block(("cookie", "session=abcdefghijkl"), again: true) == [0xBE])
    }

    @Test(
        "H3.9: what differs from request to request stays out of the table",
        arguments: [
            (":path", "/search?q=1", 4), ("content-length", "1234", 28), ("if-none-match", "\"abc\"", 41),
            ("if-modified-since", "Wed, 01 Jan 2020 12:30:00 GMT", 40), ("if-range", "\"abc\"", 42),
            ("range", "bytes=0-", 50),
            ("age", "17", 21), ("etag", "\"abc\"", 34), ("last-modified", "Wed, 01 Jan 2020 12:30:00 GMT", 44),
            ("location", "/there", 46), ("set-cookie", "a=1", 55), ("content-range", "bytes 0-1/2", 30),
        ])
    func plain(name: String, value: String, index: Int) throws {
        let first = block((name, value))
        #expect(first.starts(with: Block.integer(index, 0, prefixBits: 4)))
        #expect(block((name, value), again: true) == first)
        var reader = HPACKReader()
        #expect(try reader.read(first) == [TextField(name, value)])
    }

    @Test("H3.9: a repeated request is smaller than the first: an index for each field")
    func indexed() {
        #expect(
            block((":method", "GET"), (":scheme", "https"), (":path", "/"), ("accept-encoding", "gzip, deflate"))
                == [0x82, 0x87, 0x84, 0x90])
        #expect(block((":path", "/index.html"), (":status", "404"), (":method", "POST")) == [0x85, 0x8D, 0x83])
        #expect(block(("accept", "*/*"), ("x-one", "1"), ("x-two", ""), again: true) == [0xC0, 0xBF, 0xBE])
        #expect(
            block((":method", "PUT"), (":status", "418"), (":authority", "a.b"), again: true) == [0xC0, 0xBF, 0xBE])
    }

    @Test("H3.9: a name that a table has is written as its index, the static one first")
    func names() {
        var encoder = HPACKEncoder()
        #expect(encoder.block([TextField("accept", "a")]).starts(with: [0x53]))
        #expect(encoder.block([TextField("x-name", "a")]).first == 0x40)
        #expect(encoder.block([TextField("x-name", "b")]).starts(with: Block.integer(62, 0x40, prefixBits: 6)))
        #expect(encoder.block([TextField("accept", "b")]).starts(with: [0x53]))
        #expect(encoder.block([TextField("x-name", "a")]) == [0xC0])
    }

    @Test("H3.9: a field that would push out most others stays out of the table")
    func largeField() throws {
        var encoder = HPACKEncoder()
        var reader = HPACKReader()
        let small = TextField("x-small", "1")
        _ = try reader.read(encoder.block([small]))
        let large = TextField("x-large", String(repeating: "v", count: 3100))
        #expect(try reader.read(encoder.block([large])) == [large])
        #expect(encoder.block([small]) == [0xBE])
        let fitting = TextField("x-large", String(repeating: "v", count: 3000))
        #expect(try reader.read(encoder.block([fitting])) == [fitting])
        #expect(encoder.block([fitting]) == [0xBE])
    }

    @Test("H3.9: strings are written in Huffman code where that is shorter")
    func shorter() {
        // No letter has a code of less than five bits, and "{" has fifteen.
        #expect(block(("x", "{{{")).suffix(4) == [3, 0x7B, 0x7B, 0x7B])
        #expect(block(("x", "")).suffix(1) == [0])
        #expect(block(("x", "aaaaaaaa")).suffix(6).first == 0x85)
        // As short one way as the other: the plain way.
        #expect(block(("x", "a")).suffix(2) == [1, 0x61])
    }

    @Test("H3.7: a list of any size is encoded; what a peer advises against is for it to refuse")
    func largeList() throws {
        let fields = (0..<3000).map { TextField("x-field-\($0)", String(repeating: "v", count: 60)) }
        var encoder = HPACKEncoder()
        var reader = HPACKReader(limits: HPACKLimits(listBytes: 1 << 20))
        let block = encoder.block(fields)
        #expect(block.count > 3 * 16_384)
        // Cut like frames: HEADERS and CONTINUATION.
        let pieces = stride(from: 0, to: block.count, by: 16_384).map { block[$0..<min($0 + 16_384, block.count)] }
        #expect(try reader.read(pieces) == fields)
    }

    // MARK: The table's size

    @Test("H3.9: a smaller table is told at the beginning of the next block, and nothing where nothing changes")
    func tableSizes() {
        var encoder = HPACKEncoder()
        encoder.peerTableSizeChanged(to: 4096)
        #expect(encoder.block([TextField(":method", "GET")]) == [0x82])
        encoder.peerTableSizeChanged(to: 65_536)
        #expect(encoder.block([TextField(":method", "GET")]) == [0x82])
        encoder.peerTableSizeChanged(to: 100)
        #expect(encoder.block([TextField(":method", "GET")]) == Block.tableSize(100) + [0x82])
        #expect(encoder.block([TextField(":method", "GET")]) == [0x82])
        encoder.peerTableSizeChanged(to: 1 << 31)
        #expect(encoder.block([]) == Block.tableSize(4096))
        encoder.peerTableSizeChanged(to: -1)
        #expect(encoder.block([]) == Block.tableSize(0))
    }

    @Test("H3.9: of several sizes the smallest comes first, then the last")
    func severalTableSizes() throws {
        var encoder = HPACKEncoder()
        var reader = HPACKReader()
        let field = TextField("x-one", "1")
        _ = try reader.read(encoder.block([field]))
        for size in [2000, 30, 3000] {
            encoder.peerTableSizeChanged(to: size)
            reader.decoder.tableSizeAcknowledged(size)
        }
        let block = encoder.block([field])
        #expect(block.starts(with: Block.tableSize(30) + Block.tableSize(3000) + [0x40]))
        #expect(try reader.read(block) == [field])
        #expect(encoder.block([field]) == [0xBE])
        // Back where it was, but the entries are gone at the peer's.
        for size in [0, 3000] {
            encoder.peerTableSizeChanged(to: size)
            reader.decoder.tableSizeAcknowledged(size)
        }
        let second = encoder.block([field])
        #expect(second.starts(with: Block.tableSize(0) + Block.tableSize(3000) + [0x40]))
        #expect(try reader.read(second) == [field])
    }

    @Test("H3.9: without a table everything is a literal, and right")
    func noTable() throws {
        var encoder = HPACKEncoder()
        var reader = HPACKReader()
        encoder.peerTableSizeChanged(to: 0)
        reader.decoder.tableSizeAcknowledged(0)
        let fields = [TextField("x-one", "1"), TextField("x-one", "1"), TextField("accept", "*/*")]
        #expect(try reader.read(encoder.block(fields)) == fields)
        #expect(try reader.read(encoder.block(fields)) == fields)
        #expect(encoder.block(fields).first == 0)
    }
}
