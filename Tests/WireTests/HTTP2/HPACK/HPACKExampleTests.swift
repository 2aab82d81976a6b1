// The examples of RFC 7541 appendix C, each sequence whole, byte by byte, and cut at every place.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@Suite("HPACK: the examples of RFC 7541")
struct HPACKExampleTests {
    /// A block and what is in it.
    struct Example: Sendable {
        var block: [UInt8]
        var fields: [TextField]

        init(_ hex: String, _ fields: [(String, String)]) {
            block = Hexadecimal.bytes(hex)
            self.fields = fields.map { TextField($0, $1) }
        }
    }

    private func expect(_ examples: [Example], tableSize: Int? = nil) throws {
        let longest = examples.map(\.block.count).max() ?? 0
        for place in 0...longest { try expect(examples, tableSize) { [$0.prefix(place), $0.dropFirst(place)] } }
        try expect(examples, tableSize) { block in block.indices.map { block[$0...$0] } }
    }

    private func expect(
        _ examples: [Example], _ tableSize: Int?, _ cut: ([UInt8]) -> [ArraySlice<UInt8>]
    ) throws {
        var reader = HPACKReader()
        if let tableSize {
            // The examples leave out what an encoder has to say first.
            reader.decoder.tableSizeAcknowledged(tableSize)
            #expect(try reader.read(Block.tableSize(tableSize)) == [])
        }
        for example in examples { #expect(try reader.read(cut(example.block)) == example.fields) }
    }

    @Test("H12.1: C.1, integers")
    func integers() throws {
        var encoder = HPACKEncoder()
        encoder.peerTableSizeChanged(to: 10)
        #expect(encoder.block([]) == [0x2A])
        encoder.peerTableSizeChanged(to: 1337)
        #expect(encoder.block([]) == [0x3F, 0x9A, 0x0A])
        try expect([Example("2A", []), Example("3F9A0A", []), Example("AA", [("if-range", "")])])
    }

    @Test("H12.1: C.2, literals and an index")
    func literals() throws {
        try expect([
            Example(
                "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", [("custom-key", "custom-header")]),
            Example("be", [("custom-key", "custom-header")]),
        ])
        try expect([Example("040c 2f73 616d 706c 652f 7061 7468", [(":path", "/sample/path")])])
        try expect([Example("1008 7061 7373 776f 7264 0673 6563 7265 74", [("password", "secret")])])
        try expect([Example("82", [(":method", "GET")])])
    }

    private static let requests: [[(String, String)]] = [
        [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")],
        [
            (":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com"),
            ("cache-control", "no-cache"),
        ],
        [
            (":method", "GET"), (":scheme", "https"), (":path", "/index.html"), (":authority", "www.example.com"),
            ("custom-key", "custom-value"),
        ],
    ]

    @Test("H12.1: C.3, requests without Huffman code")
    func plainRequests() throws {
        try expect([
            Example("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", Self.requests[0]),
            Example("8286 84be 5808 6e6f 2d63 6163 6865", Self.requests[1]),
            Example(
                "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", Self.requests[2]),
        ])
    }

    private static let codedRequests = [
        Example("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", requests[0]),
        Example("8286 84be 5886 a8eb 1064 9cbf", requests[1]),
        Example("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", requests[2]),
    ]

    @Test("H12.1: C.4, requests with Huffman code, read")
    func codedRequests() throws { try expect(Self.codedRequests) }

    @Test("H12.1, H3.9: C.4, requests with Huffman code, written as in the examples")
    func writtenRequests() {
        var encoder = HPACKEncoder()
        for example in Self.codedRequests { #expect(encoder.block(example.fields) == example.block) }
    }

    private static let cookie = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"
    private static let responses: [[(String, String)]] = [
        [
            (":status", "302"), ("cache-control", "private"), ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
            ("location", "https://www.example.com"),
        ],
        [
            (":status", "307"), ("cache-control", "private"), ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
            ("location", "https://www.example.com"),
        ],
        [
            (":status", "200"), ("cache-control", "private"), ("date", "Mon, 21 Oct 2013 20:13:22 GMT"),
            ("location", "https://www.example.com"), ("content-encoding", "gzip"), ("set-cookie", cookie),
        ],
    ]

    @Test("H12.1: C.5, responses without Huffman code, in a table of 256 bytes that drops entries")
    func plainResponses() throws {
        try expect(
            [
                Example(
                    """
                    4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32
                    3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d
                    """, Self.responses[0]),
                Example("4803 3330 37c1 c0bf", Self.responses[1]),
                Example(
                    """
                    88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970
                    7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61
                    6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31
                    """, Self.responses[2]),
            ], tableSize: 256)
    }

    @Test("H12.1: C.6, responses with Huffman code, in a table of 256 bytes that drops entries")
    func codedResponses() throws {
        try expect(
            [
                Example(
                    """
                    4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad
                    1718 63c7 8f0b 97c8 e9ae 82ae 43d3
                    """, Self.responses[0]),
                Example("4883 640e ffc1 c0bf", Self.responses[1]),
                Example(
                    """
                    88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2
                    e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07
                    """, Self.responses[2]),
            ], tableSize: 256)
    }
}
