// Lines, characters and scalars out of bytes that come one by one.

import Testing
import URLLoading
import URLLoadingTestSupport

@Suite("Text out of bytes")
struct AsyncTextTests {
    /// Bytes as an asynchronous sequence.
    private struct Bytes: AsyncSequence, Sendable {
        typealias Element = UInt8
        typealias Failure = Never

        let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        init(_ text: String) { bytes = Array(text.utf8) }

        func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }

        struct Iterator: AsyncIteratorProtocol {
            var rest: ArraySlice<UInt8>

            mutating func next() async -> UInt8? { rest.popFirst() }

            mutating func next(isolation actor: isolated (any Actor)?) async -> UInt8? { rest.popFirst() }
        }
    }

    /// Bytes that break off with an error.
    private struct BrokenBytes: AsyncSequence, Sendable {
        typealias Element = UInt8
        typealias Failure = Lost

        struct Lost: Error {}

        let bytes: [UInt8]

        init(_ text: String) { bytes = Array(text.utf8) }

        func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }

        struct Iterator: AsyncIteratorProtocol {
            var rest: ArraySlice<UInt8>
            var isBroken = false

            mutating func next() async throws(Lost) -> UInt8? { try take() }

            mutating func next(isolation actor: isolated (any Actor)?) async throws(Lost) -> UInt8? { try take() }

            private mutating func take() throws(Lost) -> UInt8? {
                if isBroken { return nil }
                if let byte = rest.popFirst() { return byte }
                isBroken = true
                throw Lost()
            }
        }
    }

    private func collect<S: AsyncSequence>(_ sequence: S) async throws -> [S.Element] {
        var all: [S.Element] = []
        for try await element in sequence { all.append(element) }
        return all
    }

    @Test(
        "Lines end at LF, CR, CRLF, VT, FF, NEL, LS and PS, and have no terminator",
        arguments: [
            "\n", "\r", "\r\n", "\u{0B}", "\u{0C}", "\u{85}", "\u{2028}", "\u{2029}",
        ])
    func lineEnds(_ end: String) async throws {
        #expect(try await collect(Bytes("one\(end)two\(end)three").lines) == ["one", "two", "three"])
        #expect(try await collect(Bytes("one\(end)\(end)two\(end)").lines) == ["one", "two"])
        #expect(try await collect(Bytes("one\(end)\(end)two\(end)").lines(keepingEmpty: true)) == ["one", "", "two"])
    }

    @Test("Bytes that only look like the end of a line belong to it")
    func notLineEnds() async throws {
        let text = "a\u{A8}b\u{2027}c\u{205}d\u{E9}\u{D7A8}"
        #expect(try await collect(Bytes(text).lines) == [text])
    }

    @Test(
        "CR LF ends one line, also beside line ends of other kinds",
        arguments: [
            ("a\r\n\nb", ["a", "", "b"]), ("a\n\rb", ["a", "", "b"]), ("\r\na", ["", "a"]),
            ("a\r\r\nb", ["a", "", "b"]),
            ("", []), ("\n", [""]),
        ])
    func mixedEnds(text: String, lines: [String]) async throws {
        #expect(try await collect(Bytes(text).lines(keepingEmpty: true)) == lines)
        #expect(try await collect(Bytes(text).lines) == lines.filter { !$0.isEmpty })
    }

    @Test("Bytes that are not UTF-8 become U+FFFD in lines")
    func brokenLine() async throws {
        #expect(try await collect(Bytes([0x61, 0xFF, 0x62, 0x0A, 0xC3]).lines) == ["a\u{FFFD}b", "\u{FFFD}"])
    }

    @Test("B1.120: nothing follows an error, also where a line or a character had begun before it")
    func broken() async throws {
        var lines = BrokenBytes("one\ntwo").lines.makeAsyncIterator()
        #expect(try await lines.next() == "one")
        await #expect(throws: BrokenBytes.Lost.self) { _ = try await lines.next() }
        #expect(try await lines.next() == nil)

        var characters = BrokenBytes("ab").characters.makeAsyncIterator()
        #expect(try await characters.next() == "a")
        await #expect(throws: BrokenBytes.Lost.self) { _ = try await characters.next() }
        #expect(try await characters.next() == nil)
    }

    @Test("Scalars are those that String decodes from the bytes, also where the bytes are not UTF-8")
    func scalars() async throws {
        // Every pair and many triples of bytes from the borders of the table of well-formed UTF-8.
        let borders: [UInt8] = [
            0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
            0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        for first in borders {
            for second in borders {
                for third in [0x41, 0x80, 0xBF, 0xE2, 0xF0] as [UInt8] {
                    let bytes = [first, second, third, 0x82, 0x42]
                    let expected = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
                    let scalars = try await collect(Bytes(bytes).unicodeScalars)
                    #expect(scalars == expected, "\(bytes)")
                }
            }
        }
    }

    @Test("A scalar that is cut off by the end of the bytes is decoded as String does it")
    func cutScalars() async throws {
        let whole = Array("aé€😀".utf8)
        for count in 0...whole.count {
            let bytes = Array(whole.prefix(count))
            let expected = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
            #expect(try await collect(Bytes(bytes).unicodeScalars) == expected)
        }
    }

    @Test(
        "Characters are whole, from however many scalars",
        arguments: [
            "", "a", "hello\r\nworld\n\n", "e\u{301}a", "👩‍👩‍👧‍👦🇩🇪🇫🇷!", "\u{1112}\u{1161}\u{11AB}x", "é€😀",
        ])
    func characters(_ text: String) async throws {
        #expect(try await collect(Bytes(text).characters) == Array(text))
    }

    @Test("Characters are those of String, whichever scalars stand beside each other")
    func manyCharacters() async throws {
        // One of each kind that the rules for breaks know, and two of those that they count.
        let kinds: [Unicode.Scalar] = [
            "a", "\r", "\n", "\u{0}", "\u{301}", "\u{200D}", "\u{903}", "\u{600}", "\u{1F1E9}", "\u{1F1EA}", "\u{1100}",
            "\u{1161}", "\u{11A8}", "\u{AC00}", "\u{AC01}", "\u{1F469}", "\u{1F3FD}", "\u{2764}", "\u{FE0F}", "\u{915}",
            "\u{937}",
            "\u{94D}",
        ]
        var random = SeededRandom(seed: 7)
        for _ in 0..<2000 {
            var text = ""
            for _ in 0..<12 { text.unicodeScalars.append(kinds[Int.random(in: 0..<kinds.count, using: &random)]) }
            let characters = try await collect(Bytes(text).characters)
            #expect(characters.map { Array($0.unicodeScalars) } == text.map { Array($0.unicodeScalars) })
        }
    }

    // By reading it again for each of its scalars it would take half an hour.
    @Test("A character of a mebibyte is read like any other", .timeLimit(.minutes(5)))
    func longCharacter() async throws {
        let marks = 1 << 19
        let bytes = Array(("e" + String(repeating: "\u{301}", count: marks) + "a").utf8)
        let characters = try await collect(Bytes(bytes).characters)
        #expect(characters.map(\.unicodeScalars.count) == [marks + 1, 1])
    }
}
