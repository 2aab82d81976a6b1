// What the public Autobahn cases 1 to 7, 9 and 10 send to a client, as bytes written anew: a reader must see the
// messages and controls of the case, and fail with its codes, however the bytes are cut. Cases 12 and 13 are in
// WebSocketDeflateTests. Numbers in titles are those of the cases.

import Testing
import URLLoadingWire

@Suite("Web socket conformance")
struct WebSocketConformanceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let title: String
        let bytes: [UInt8]
        let outcomes: [WebSocketOutcome]
        var testDescription: String { title }

        init(_ title: String, _ frames: [[UInt8]], _ outcomes: [WebSocketOutcome]) {
            self.title = title
            bytes = frames.flatMap { $0 }
            self.outcomes = outcomes
        }
    }

    private func run(_ sample: Case, _ ways: [[ArraySlice<UInt8>]]) {
        for pieces in ways {
            #expect(WebSocketOutcome.run(pieces, maximum: 16 << 20) == sample.outcomes, "\(pieces.count) pieces")
        }
    }

    private static func star(_ count: Int) -> String { String(repeating: "*", count: count) }
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    // MARK: Framing

    static let framingCases: [Case] =
        [0, 125, 126, 127, 128].flatMap { count in
            [
                Case("1.1 text of \(count)", [WireFrame.text(star(count))], [.text(star(count))]),
                Case(
                    "1.2 binary of \(count)", [WireFrame.binary([UInt8](repeating: 0xFE, count: count))],
                    [.binary([UInt8](repeating: 0xFE, count: count))]),
            ]
        }

    @Test("B15.38: Messages of the lengths at which the header changes", arguments: framingCases)
    func framing(_ sample: Case) { run(sample, Pieces.waysToCut(sample.bytes)) }

    @Test("B15.38: 1.1.6 to 1.1.8, 1.2.6 to 1.2.8: messages of 64 KiB and what is just below")
    func largeFraming() {
        for count in [65_535, 65_536] {
            let text = Case("text", [WireFrame.text(Self.star(count))], [.text(Self.star(count))])
            run(text, Pieces.someWaysToCut(text.bytes))
            let payload = [UInt8](repeating: 0xFE, count: count)
            let binary = Case("binary", [WireFrame.binary(payload)], [.binary(payload)])
            run(binary, Pieces.someWaysToCut(binary.bytes))
        }
    }

    // MARK: Pings

    static let longPing = [UInt8](repeating: 0xFE, count: 125)
    static let pingsCases: [Case] = [
        Case("2.1 without payload", [WireFrame.ping()], [.ping()]),
        Case("2.2 with text", [WireFrame.ping(bytes("Hello, world!"))], [.ping(bytes("Hello, world!"))]),
        Case("2.3 with binary", [WireFrame.ping([0, 0xFF, 0xFE, 0xFD, 0])], [.ping([0, 0xFF, 0xFE, 0xFD, 0])]),
        Case("2.4, 2.6 with 125 bytes", [WireFrame.ping(longPing)], [.ping(longPing)]),
        Case("2.5 with 126 bytes", [WireFrame.ping(longPing + [0xFE])], [.fault(.controlTooLong)]),
        Case("2.7 a pong without a ping", [WireFrame.pong()], [.pong()]),
        Case("2.8 the same with payload", [WireFrame.pong(bytes("unsolicited"))], [.pong(bytes("unsolicited"))]),
        Case(
            "2.9 the same before a ping", [WireFrame.pong([1]), WireFrame.ping([2])], [.pong([1]), .ping([2])]),
        Case(
            "2.10, 2.11 ten pings", (0..<10).map { WireFrame.ping(bytes("payload-\($0)")) },
            (0..<10).map { .ping(bytes("payload-\($0)")) }),
    ]

    @Test("B15.38: Pings and pongs", arguments: pingsCases)
    func pings(_ sample: Case) { run(sample, Pieces.waysToCut(sample.bytes)) }

    // MARK: Reserved bits and opcodes

    static let reservedCases: [Case] =
        [
            Case("3.1 RSV 1", [WireFrame.bytes(1, bytes("x"), rsv: 1)], [.fault(.reservedBit)]),
            Case(
                "3.2 RSV 2 behind a message",
                [WireFrame.text("x"), WireFrame.bytes(1, bytes("x"), rsv: 2), WireFrame.ping()],
                [.text("x"), .fault(.reservedBit)]),
            Case(
                "3.3, 3.4 RSV 3 and 4 behind a message", [WireFrame.text("x"), WireFrame.bytes(1, bytes("x"), rsv: 3)],
                [.text("x"), .fault(.reservedBit)]),
            Case("3.4 RSV 4", [WireFrame.bytes(1, bytes("x"), rsv: 4)], [.fault(.reservedBit)]),
            Case("3.5 RSV 5, binary", [WireFrame.bytes(2, [1], rsv: 5)], [.fault(.reservedBit)]),
            Case("3.6 RSV 6, ping", [WireFrame.bytes(9, [1], rsv: 6)], [.fault(.reservedBit)]),
            Case("3.7 RSV 7, close", [WireFrame.bytes(8, rsv: 7)], [.fault(.reservedBit)]),
        ]
        + [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].flatMap { opcode in
            [
                Case("4 opcode \(opcode)", [WireFrame.bytes(opcode)], [.fault(.reservedOpcode)]),
                Case(
                    "4 opcode \(opcode) behind a message",
                    [WireFrame.text("x"), WireFrame.bytes(opcode, bytes("y")), WireFrame.ping()],
                    [.text("x"), .fault(.reservedOpcode)]),
            ]
        }

    @Test("B15.38: Reserved bits and opcodes", arguments: reservedCases)
    func reserved(_ sample: Case) { run(sample, Pieces.waysToCut(sample.bytes)) }

    // MARK: Fragments

    static let fragmentsCases: [Case] = [
        Case(
            "5.1 a ping in two", [WireFrame.bytes(9, bytes("a"), fin: false), WireFrame.more("b", fin: true)],
            [.fault(.fragmentedControl)]),
        Case(
            "5.2 a pong in two", [WireFrame.bytes(10, bytes("a"), fin: false), WireFrame.more("b", fin: true)],
            [.fault(.fragmentedControl)]),
        Case(
            "5.3 to 5.5 a text in two", [WireFrame.text("frag1", fin: false), WireFrame.more("frag2", fin: true)],
            [.text("frag1frag2")]),
        Case(
            "5.6 to 5.8 a ping between",
            [WireFrame.text("frag1", fin: false), WireFrame.ping([1]), WireFrame.more("frag2", fin: true)],
            [.ping([1]), .text("frag1frag2")]),
        Case(
            "5.9 to 5.11 a last fragment of nothing", [WireFrame.more("x", fin: true), WireFrame.text("y")],
            [.fault(.continuationWithoutStart)]),
        Case(
            "5.12 to 5.14 a fragment of nothing", [WireFrame.more("x", fin: false), WireFrame.text("y")],
            [.fault(.continuationWithoutStart)]),
        Case(
            "5.15 a fragment of nothing behind a message in two",
            [
                WireFrame.text("1", fin: false), WireFrame.more("2", fin: true), WireFrame.more("3", fin: false),
                WireFrame.text("4"),
            ], [.text("12"), .fault(.continuationWithoutStart)]),
        Case(
            "5.16 fragments of nothing around a message",
            [WireFrame.more("1", fin: false), WireFrame.text("2", fin: false), WireFrame.more("3", fin: true)],
            [.fault(.continuationWithoutStart)]),
        Case(
            "5.17 the same with a last fragment",
            [WireFrame.more("1", fin: true), WireFrame.text("2", fin: false), WireFrame.more("3", fin: true)],
            [.fault(.continuationWithoutStart)]),
        Case(
            "5.18 a message inside of another", [WireFrame.text("1", fin: false), WireFrame.text("2")],
            [.fault(.messageInsideMessage)]),
        Case(
            "5.19, 5.20 five fragments and two pings",
            [
                WireFrame.text("1", fin: false), WireFrame.more("2", fin: false), WireFrame.ping([1]),
                WireFrame.more("3", fin: false), WireFrame.more("4", fin: false), WireFrame.ping([2]),
                WireFrame.more("5", fin: true),
            ], [.ping([1]), .ping([2]), .text("12345")]),
    ]

    @Test("B15.38: Fragments", arguments: fragmentsCases)
    func fragments(_ sample: Case) { run(sample, Pieces.waysToCut(sample.bytes)) }

    // MARK: UTF-8

    static let long = "Hello-µ@ßöäüàá-UTF-8!!"
    static let textsCases: [Case] = [
        Case("6.1.1 no byte", [WireFrame.text("")], [.text("")]),
        Case(
            "6.1.2 three empty fragments",
            [WireFrame.text("", fin: false), WireFrame.more("", fin: false), WireFrame.more("", fin: true)], [.text("")]
        ),
        Case(
            "6.1.3 only the middle one is not empty",
            [WireFrame.text("", fin: false), WireFrame.more("middle", fin: false), WireFrame.more("", fin: true)],
            [.text("middle")]),
        Case("6.2.1 whole", [WireFrame.text(long)], [.text(long)]),
        Case("6.2.3 a fragment for each byte", [WireFrame.fragments(1, bytes(long), of: 1)], [.text(long)]),
        Case("6.2.4 Greek, the same", [WireFrame.fragments(1, bytes("κόσμε"), of: 1)], [.text("κόσμε")]),
        Case("6.3.1 a surrogate", [WireFrame.bytes(1, surrogate)], [.fault(.invalidText)]),
        Case("6.3.2 a fragment for each byte", [WireFrame.fragments(1, surrogate, of: 1)], [.fault(.invalidText)]),
        Case(
            "6.4.1 wrong in the second of three fragments, the last never comes",
            [WireFrame.text("κόσμε", fin: false), WireFrame.bytes(0, [0xF4, 0x90, 0x80, 0x80], fin: false)],
            [.fault(.invalidText)]),
        Case(
            "6.4.2 wrong with the second byte of the second",
            [WireFrame.text("κόσμε", fin: false), WireFrame.bytes(0, [0xF4, 0x90], fin: false)],
            [.fault(.invalidText)]),
        Case(
            "6.4.3, 6.4.4 the rest of the frame is not waited for",
            [Array(WireFrame.bytes(1, bytes("κόσμε") + [0xF4, 0x90, 0x80, 0x80] + bytes("edited")).prefix(14))],
            [.fault(.invalidText)]),
    ]
    static let surrogate = bytes("κόσμε") + [0xED, 0xA0, 0x80] + bytes("edited")

    @Test("B15.38: UTF-8 in messages; the payloads of 6.5 to 6.23 are in WebSocketTextTests", arguments: textsCases)
    func texts(_ sample: Case) { run(sample, Pieces.waysToCut(sample.bytes)) }

    // MARK: Closing

    static let closingCases: [Case] =
        [
            Case(
                "7.1.1 a message and goodbye", [WireFrame.text("x"), WireFrame.close(1000)], [.text("x"), .close(1000)]),
            Case("7.1.2 goodbye twice", [WireFrame.close(1000), WireFrame.close(1000)], [.close(1000)]),
            Case("7.1.3 a ping behind it", [WireFrame.close(1000), WireFrame.ping()], [.close(1000)]),
            Case("7.1.4 a message behind it", [WireFrame.close(1000), WireFrame.text("x")], [.close(1000)]),
            Case(
                "7.1.5 inside of a message",
                [WireFrame.text("1", fin: false), WireFrame.close(1000), WireFrame.more("2", fin: true)],
                [.close(1000)]),
            Case("7.3.1 no payload", [WireFrame.close()], [.close()]),
            Case("7.3.2 one byte", [WireFrame.bytes(8, [0x61])], [.fault(.malformedClose)]),
            Case("7.3.3 a code", [WireFrame.close(1000)], [.close(1000)]),
            Case(
                "7.3.4 a reason", [WireFrame.close(1000, bytes("Hello World!"))], [.close(1000, bytes("Hello World!"))]),
            Case(
                "7.3.5 the longest reason", [WireFrame.close(1000, bytes(star(123)))], [.close(1000, bytes(star(123)))]),
            Case("7.3.6 a longer one", [WireFrame.close(1000, bytes(star(124)))], [.fault(.controlTooLong)]),
            Case("7.5.1 a reason with a surrogate", [WireFrame.close(1000, surrogate)], [.fault(.invalidCloseReason)]),
        ]
        + [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999].map { (code: Int) in
            Case("7.7 code \(code)", [WireFrame.close(code)], [.close(code)])
        }
        + [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65_535].map { (code: Int) in
            Case("7.9, 7.13 code \(code)", [WireFrame.close(code)], [.fault(.invalidCloseCode)])
        }

    @Test("B15.38: Closing", arguments: closingCases)
    func closing(_ sample: Case) { run(sample, Pieces.waysToCut(sample.bytes)) }

    // MARK: Sizes

    @Test("B15.38: 7.1.6, 9.1 to 9.6: large messages, whole, in fragments and in pieces of the network's choice")
    func large() {
        for count in [64 << 10, 256 << 10, 1 << 20] {
            let text = Self.star(count)
            let payload = [UInt8](repeating: 0xFE, count: count)
            let whole = WireFrame.text(text) + WireFrame.binary(payload) + WireFrame.close(1000)
            let outcomes: [WebSocketOutcome] = [.text(text), .binary(payload), .close(1000)]
            for pieces in Pieces.someWaysToCut(whole) {
                #expect(WebSocketOutcome.run(pieces) == outcomes, "\(count) in \(pieces.count)")
            }
            for size in [1 << 10, 16 << 10, 256 << 10] {
                let fragments =
                    WireFrame.fragments(1, Self.bytes(text), of: size) + WireFrame.fragments(2, payload, of: size)
                #expect(WebSocketOutcome.run([fragments[...]]) == Array(outcomes.dropLast()), "\(count) by \(size)")
            }
        }
    }

    @Test("B15.38: 9.7, 9.8: a thousand small messages", arguments: [0, 16, 64, 256, 1024])
    func small(count: Int) {
        let text = Self.star(count)
        let payload = [UInt8](repeating: 0xFE, count: count)
        let bytes = (0..<500).flatMap { _ in WireFrame.text(text) + WireFrame.binary(payload) }
        let outcomes = (0..<500).flatMap { _ in [WebSocketOutcome.text(text), .binary(payload)] }
        for pieces in Pieces.someWaysToCut(bytes) { #expect(WebSocketOutcome.run(pieces) == outcomes) }
    }

    @Test("B15.38: 10.1.1: 64 KiB in frames of 1300 bytes")
    func autoFragments() {
        let text = Self.star(65_536)
        let bytes = WireFrame.fragments(1, Self.bytes(text), of: 1300)
        for pieces in Pieces.someWaysToCut(bytes) { #expect(WebSocketOutcome.run(pieces) == [.text(text)]) }
    }
}
