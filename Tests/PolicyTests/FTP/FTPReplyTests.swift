// Replies of FTP servers: every vector whole, byte by byte, cut at every place and with bytes behind it; and bytes of
// servers that do not speak FTP.

import Testing
import URLLoadingPolicy

@Suite struct FTPReplyTests {
    /// What came out of some bytes.
    private struct Outcome: Equatable {
        var replies: [FTPReply] = []
        var failure: FTPFailure?
        var isInside = false
    }

    private func decode(_ pieces: [ArraySlice<UInt8>]) -> Outcome {
        var decoder = FTPReplyDecoder()
        var outcome = Outcome()
        for piece in pieces {
            piece.withUnsafeBytes { bytes in
                var offset = 0
                do throws(FTPFailure) {
                    while let reply = try decoder.next(bytes, offset: &offset) { outcome.replies.append(reply) }
                } catch {
                    outcome.failure = error
                }
            }
        }
        outcome.isInside = decoder.isInside
        return outcome
    }

    /// What comes of a text in one piece; checks that byte by byte and cut at every place it comes to that too.
    private func everySplit(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) -> Outcome {
        let bytes = Array(text.utf8)
        let whole = decode([bytes[...]])
        #expect(decode(bytes.indices.map { bytes[$0...$0] }) == whole, sourceLocation: sourceLocation)
        for cut in bytes.indices {
            #expect(
                decode([bytes[..<cut], bytes[cut...]]) == whole, "cut at \(cut)", sourceLocation: sourceLocation)
        }
        return whole
    }

    private func reply(_ code: Int, _ text: String) -> FTPReply { FTPReply(code: code, text: Array(text.utf8)) }

    @Test(
        "A reply is one line, or several between two lines with one number (RFC 959 §4.2)",
        arguments: [
            ("220 ready\r\n", 220, "ready"),
            ("226\r\n", 226, ""),
            ("226 \r\n", 226, ""),
            ("200 bare line end\n", 200, "bare line end"),
            ("123-First line\r\nSecond line\r\n  234 with numbers\r\n123 The last line\r\n", 123, "The last line"),
            ("230-\r\n230-again\r\n231 other\r\n\r\n12\r\n230 end\r\n", 230, "end"),
            ("230-a\r\n230x\r\n230\r\n", 230, ""),
        ] as [(String, Int, String)])
    func reply(text: String, code: Int, last: String) {
        #expect(everySplit(text) == Outcome(replies: [reply(code, last)]))
        #expect(
            everySplit(text + "200 next\r\n331")
                == Outcome(replies: [reply(code, last), reply(200, "next")], isInside: true))
    }

    @Test(
        "A line that is not a reply is refused",
        arguments: [
            "HTTP/1.1 400 Bad Request\r\n", "\r\n", "22\r\n", "999 too large\r\n", "099 too small\r\n", "2 20 x\r\n",
            "220+x\r\n", "\u{0}\u{0}\u{0}\r\n", "2²0 x\r\n", "-20 x\r\n",
        ])
    func garbage(text: String) {
        let outcome = everySplit(text)
        #expect(outcome.replies.isEmpty)
        #expect(outcome.failure == .malformedReply(.noReply))
    }

    @Test("A line or a reply that does not end is refused at a limit") func limits() {
        let line = [UInt8](repeating: UInt8(ascii: "2"), count: 5000)
        #expect(decode([line[...]]).failure == .malformedReply(.lineTooLong))
        #expect(decode(line.map { [$0][...] }).failure == .malformedReply(.lineTooLong))
        let lines = Array(("220-\r\n" + String(repeating: "x\r\n", count: 2000)).utf8)
        #expect(decode([lines[...]]).failure == .malformedReply(.tooManyLines))
        let allowed = Array(("220-\r\n" + String(repeating: "x\r\n", count: 1000) + "220 end\r\n").utf8)
        #expect(decode([allowed[...]]).replies == [reply(220, "end")])
    }

    @Test("After a malformed line even a good reply is refused") func staysFailed() {
        let bytes = Array("nonsense\r\n".utf8)
        let more = Array("220 ready\r\n".utf8)
        let outcome = decode([bytes[...], more[...]])
        #expect(outcome.replies.isEmpty)
        #expect(outcome.failure == .malformedReply(.noReply))
    }

    @Test(
        "The first digit of a code says what kind of reply it is",
        arguments: [
            (150, .preliminary), (226, .completion), (331, .intermediate), (425, .transientRefusal), (550, .refusal),
        ] as [(Int, FTPReply.Kind)])
    func kind(code: Int, kind: FTPReply.Kind) {
        #expect(FTPReply(code: code).kind == kind)
    }
}

@Suite struct FTPPassiveAddressTests {
    @Test(
        "B14.22: of a 229 the port is taken",
        arguments: [
            ("Entering Extended Passive Mode (|||6446|)", 6446), ("(!!!1!)", 1), ("(|||65535|) ok", 65_535),
            ("(|||65536|)", nil), ("(|||0|)", nil), ("(||||)", nil), ("(|||6446)", nil), ("|||6446|", nil),
            ("(|1|192.0.2.1|6446|)", nil), ("(111644611)", nil), ("(|||99999999999999999999|)", nil), ("(", nil),
            ("", nil), ("(|||", nil), ("(|||6446|", nil), ("(|||-1|)", nil), ("(   6446 )", nil),
        ] as [(String, Int?)])
    func extended(text: String, port: Int?) {
        #expect(FTPPassiveAddress.extendedPort(Array(text.utf8)) == port)
    }

    @Test(
        "B14.22: of a 227 the port is taken, with parentheses or without, and the address is not",
        arguments: [
            ("Entering Passive Mode (192,0,2,1,7,138).", 7 * 256 + 138), ("=192,0,2,1,0,21", 21),
            ("Entering Passive Mode 10,0,0,1,255,255", 65_535), ("v2 (1,2,3,4,5,6)", 5 * 256 + 6),
            ("(1,2,3,4,0,0)", nil), ("(1,2,3,4,256,1)", nil), ("(1,2,3,4,5)", nil), ("", nil), ("1,2,3,4,5,", nil),
            ("(1,2,3,4,5,999999999999999999999)", nil), ("(999,0,0,1,2,3)", nil), ("(1, 2, 3, 4, 5, 6)", nil),
        ] as [(String, Int?)])
    func passive(text: String, port: Int?) {
        #expect(FTPPassiveAddress.port(Array(text.utf8)) == port)
    }
}

@Suite struct FTPPathTests {
    private func names(_ path: FTPPath) -> [String] {
        path.directories.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "B14.23: segments become directories one by one, undone from their escapes; B14.24: a slash at the end means the directory",
        arguments: [
            ("", [], nil), ("/", [], nil), ("/a", [], "a"), ("/a/b/c.txt", ["a", "b"], "c.txt"),
            ("/a/b/", ["a", "b"], nil), ("/%2Fetc/motd", ["/etc"], "motd"), ("/%2Fetc%2Fmotd", [], "/etc/motd"),
            ("//etc/motd", ["/", "etc"], "motd"), ("/a//b", ["a"], "b"), ("/a%20b/%C3%A4", ["a b"], "ä"),
            ("/..%2f", [], "../"), ("//", ["/"], nil),
        ] as [(String, [String], String?)])
    func path(text: String, directories: [String], name: String?) throws {
        let path = try FTPPath(percentEncoded: text)
        #expect(names(path) == directories)
        #expect(path.name.map { String(decoding: $0, as: UTF8.self) } == name)
        #expect(path.form == .image)
    }

    @Test(
        "B14.23: the typecode says how it is transferred",
        arguments: [
            ("/a/b;type=a", .text, ["a"], "b"), ("/b;type=I", .image, [], "b"),
            ("/a/b;type=d", .names, ["a", "b"], nil),
            ("/a/;type=a", .text, ["a"], nil), ("/b;type=x", .image, [], "b;type=x"),
            ("/b%3Btype=a", .image, [], "b;type=a"),
            ("/b;TYPE=A", .text, [], "b"), (";type=d", .names, [], nil),
        ] as [(String, FTPPath.Form, [String], String?)])
    func form(text: String, form: FTPPath.Form, directories: [String], name: String?) throws {
        let path = try FTPPath(percentEncoded: text)
        #expect(path.form == form)
        #expect(names(path) == directories)
        #expect(path.name.map { String(decoding: $0, as: UTF8.self) } == name)
    }

    @Test(
        "B14.23: what would end a command is not sent",
        arguments: ["/a%0Ab", "/a%0D%0ADELE%20x", "/%00", "/a/b%0a/c", "/%zz", "/a%2", "/a%"])
    func unusable(text: String) {
        #expect(throws: FTPFailure.unusablePath) { try FTPPath(percentEncoded: text) }
    }
}
