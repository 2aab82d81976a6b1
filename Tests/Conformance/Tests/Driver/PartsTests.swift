// The driver's own parts: JSON, lines, the hash.

import Foundation
import Testing
import URLLoadingConformanceDriver
import URLLoadingTestSupport

@Suite("Driver parts")
struct PartsTests {
    @Test(
        "JSON is read",
        arguments: [
            ("null", .null), (" true ", true), ("-0", 0), ("12", 12), ("1.5", .number(1.5)), ("1e3", 1000),
            ("9223372036854775807", .integer(.max)), ("18446744073709551616", .number(18446744073709551616)),
            (#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é""#, "a\"\\/\u{8}\u{c}\n\r\t\u{E9}\u{1F600}\u{E9}"),
            ("[]", []), ("[1,[2]]", [1, [2]]), (#"{"a":{"b":[{}]},"":1}"#, ["a": ["b": [[:]]], "": 1]),
        ] as [(String, JSONValue)])
    func jsonIsRead(text: String, value: JSONValue) throws {
        var parser = JSONParser(Array(text.utf8))
        #expect(try parser.parse() == value)
    }

    @Test(
        "What is not JSON is refused",
        arguments: [
            "", " ", "nul", "tru e", "01", "+1", "1.", ".5", "1e", "-", "1e999", "NaN", "\"", "\"\u{1}\"", #""\x""#,
            #""\u12""#, #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#, "[", "[1", "[1,]", "[1 2]", "{", #"{"a"}"#,
            #"{"a":}"#, #"{"a":1,}"#, #"{"a":1,"a":2}"#, "{a:1}", "1 2", "[]]",
        ])
    func faultsAreRefused(text: String) {
        var parser = JSONParser(Array(text.utf8))
        #expect(throws: JSONFault.self) { try parser.parse() }
    }

    @Test("Bytes that are not UTF-8, and deep nesting, are refused")
    func hostileText() {
        for bytes in [[0x22, 0xFF, 0x22], [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)] {
            var parser = JSONParser(bytes)
            #expect(throws: JSONFault.self) { try parser.parse() }
        }
    }

    @Test("A text of escapes is read")
    func escapes() throws {
        let count = 200_000
        let piece = "\(String(repeating: "x", count: 20))\\/\\u00e9\\n"
        var parser = JSONParser(Array("\"\(String(repeating: piece, count: count / 3))\"".utf8))
        let expected = String(repeating: "\(String(repeating: "x", count: 20))/\u{E9}\n", count: count / 3)
        #expect(try parser.parse() == .string(expected))
    }

    @Test("What is written is read back")
    func written() throws {
        let value: JSONValue = [
            "a": [.null, true, false, 1, .number(0.5), "\u{0}\u{1F}\u{7F}\"\\/é\u{2028}"], "b": ["c": [:]], "d": [],
        ]
        let line = JSONWriter.line(value)
        #expect(!line.contains(0x0A))
        var parser = JSONParser(Array(line))
        #expect(try parser.parse() == value)
        #expect(JSONWriter.line(.base64(Data([1, 2, 3]))) == Data(#""AQID""#.utf8))
    }

    @Test(
        "FIPS 180-4: hashes of known texts, whole and in pieces",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1000),
                "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
            ),
        ])
    func hash(text: String, digest: String) {
        let data = Data(text.utf8)
        for length in [1, 3, 55, 56, 63, 64, 65, 200, 2000] {
            var hash = SHA256()
            for start in stride(from: 0, to: data.count, by: length) {
                hash.update(data.dropFirst(start).prefix(length))
            }
            #expect(hash.hexDigest() == digest, "in pieces of \(length)")
        }
    }

    @Test("Lines are cut at their ends; one beyond the limit is skipped")
    func lines() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let text = "a\n\n" + String(repeating: "x", count: 2000) + "\nb\r\nlast"
        _ = text.withCString { write(ends[1], $0, strlen($0)) }
        close(ends[1])
        defer { close(ends[0]) }
        var reader = LineReader(descriptor: ends[0], limit: 1000)
        #expect(reader.next() == .bytes(Array("a".utf8)))
        #expect(reader.next() == .bytes([]))
        #expect(reader.next() == .tooLong)
        #expect(reader.next() == .bytes(Array("b\r".utf8)))
        #expect(reader.next() == .bytes(Array("last".utf8)))
        #expect(reader.next() == .end)
        #expect(reader.next() == .end)
    }

    @Test(
        "Answers wait for a reader that comes late, and writers do not wait for one that does not come",
        arguments: [0, O_NONBLOCK])
    func outbox(flag: Int32) throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        for end in ends { try #require(fcntl(end, F_SETFL, flag) == 0) }
        defer { for end in ends { close(end) } }
        let outbox = Outbox(descriptor: ends[1])
        // More than a pipe holds.
        let line = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
        outbox.send(line)
        outbox.send(Data("last".utf8))
        #expect(!outbox.flush(untilStuckAt: .now(), latest: .now()))
        #expect(!outbox.flush(untilStuckAt: .now(), latest: .distantFuture))
        let isRead = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [descriptor = ends[0], isRead] in
            var reader = LineReader(descriptor: descriptor)
            #expect(reader.next() == .bytes(Array(line)))
            #expect(reader.next() == .bytes(Array("last".utf8)))
            isRead.signal()
        }
        #expect(outbox.flush(untilStuckAt: .distantFuture, latest: .distantFuture))
        isRead.wait()
    }
}
