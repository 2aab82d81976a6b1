// JSON for people, cut at every place, and requests in short.

import Foundation
import Testing
import URLLoadingFetch

@Suite("fetch: JSON for people")
struct PrettyTests {
    private func print(_ text: String, colours: Bool = false, indents: Bool = true) -> String {
        let bytes = Array(text.utf8)
        var whole = PrettyJSON(Paint(isOn: colours), indents: indents)
        let result = whole.print(bytes) + whole.finish()
        // Wherever it is cut, the same comes out.
        for cut in 0...bytes.count {
            var printer = PrettyJSON(Paint(isOn: colours), indents: indents)
            let parts = printer.print(bytes[..<cut]) + printer.print(bytes[cut...]) + printer.finish()
            #expect(parts == result, "cut at \(cut)")
        }
        return String(decoding: result, as: UTF8.self)
    }

    @Test(
        "Members stand on lines of their own, empty ones do not, and what is no JSON comes out as it is",
        arguments: [
            ("{}", "{}\n"), ("[ ]", "[]\n"), ("{\"a\":1}", "{\n  \"a\": 1\n}\n"), ("", ""), ("12", "12\n"),
            ("  \n", ""),
            ("[1,[2,{}],\"x\"]", "[\n  1,\n  [\n    2,\n    {}\n  ],\n  \"x\"\n]\n"),
            ("{\"a\" : { \"b\" : null } }", "{\n  \"a\": {\n    \"b\": null\n  }\n}\n"),
            ("{\"a\\\"{\":\"b\\\\\"}", "{\n  \"a\\\"{\": \"b\\\\\"\n}\n"),
            ("{\"a\":1}\n{\"b\":2}\n", "{\n  \"a\": 1\n}\n{\n  \"b\": 2\n}\n"),
            ("\"ä€😀\"", "\"ä€😀\"\n"), ("}]", "\n}\n]"), ("\"open", "\"open\n"), ("no json", "no\njson\n"),
        ])
    func indents(text: String, pretty: String) { #expect(print(text) == pretty) }

    @Test("Names, texts, numbers and words have colours of their own, also where white space stays")
    func colours() {
        let (name, text, number, word, end) = ("\u{1B}[34m", "\u{1B}[32m", "\u{1B}[36m", "\u{1B}[35m", "\u{1B}[0m")
        #expect(
            print("{\"a\":\"b\",\"c\":-1.5,\"d\":true}", colours: true, indents: false)
                == "{\(name)\"a\"\(end):\(text)\"b\"\(end),\(name)\"c\"\(end):\(number)-1.5\(end),\(name)\"d\"\(end):\(word)true\(end)}"
        )
        #expect(print("{ \"a\" :\n1 }", indents: false) == "{ \"a\" :\n1 }")
        #expect(print("\"open", colours: true) == "\(text)\"open\(end)\n")
    }

    @Test("Nothing in it steers a terminal")
    func harmless() {
        #expect(print("\"a\u{1B}[2J\u{9B}b\u{7F}\"") == "\"a\\u001b[2J\\u009bb\\u007f\"\n")
        #expect(print("\u{1B}c") == "\\u001bc\n" && print("\u{A0}") == "\u{A0}\n")
        var printer = PrettyJSON(Paint(isOn: false))
        #expect(printer.print([0xC2]) + printer.finish() == [0xC2, 0x0A])
    }

    @Test("What is deep is not indented without end")
    func deep() {
        let depth = 2000
        var printer = PrettyJSON(Paint(isOn: false))
        let text = printer.print(Array(String(repeating: "[", count: depth).utf8)) + printer.finish()
        #expect(text.count < depth * 110)
    }
}

@Suite("fetch: requests in short")
struct ShorthandTests {
    private func options(_ operands: String...) throws -> Options {
        guard case .fetch(let groups) = try CommandLineReading.read(operands) else {
            throw CocoaError(.featureUnsupported)
        }
        return groups[0]
    }

    @Test("Fields, queries and members of a JSON object")
    func items() throws {
        let options = try options(
            "post", "localhost/a", "n=a b", "c:=[1, 2]", "X-A:b", "q==ä", "e\\:f=g", "h=@file", "i:=@file")
        #expect(options.method == "POST" && options.targets.map(\.url.absoluteString) == ["http://localhost/a"])
        #expect(options.fields == [HeaderField(name: "X-A", value: "b")])
        #expect(options.query == [.encoded(name: "q", .text("ä"))])
        #expect(
            options.body
                == .object([
                    JSONMember(name: "n", value: .string(.text("a b"))),
                    JSONMember(name: "c", value: .raw(.text("[1, 2]"))),
                    JSONMember(name: "e:f", value: .string(.text("g"))),
                    JSONMember(name: "h", value: .string(.file("file"))),
                    JSONMember(name: "i", value: .raw(.file("file"))),
                ]))
    }

    @Test("A file makes a form of it")
    func forms() throws {
        #expect(
            try options("PUT", "a", "photo@me.jpg", "n=x").body
                == .multipart([
                    FormPart(name: "photo", content: .file("me.jpg")), FormPart(name: "n", content: .text("x")),
                ]))
        #expect(try options("post", "a").body == .none && options("post", "a").method == "POST")
        #expect(try options("head", "a").showsHead && options("get", "a", "q==1").query.count == 1)
        #expect(try options("get").targets.map(\.url.absoluteString) == ["https://get"], "a host of that name")
    }

    @Test(
        "What cannot be is told",
        arguments: [
            (["get", "a", "n=x"], "a GET sends no body"), (["post", "a", "word"], "word is no part of a request"),
            (["post", "a", "n:={"], "n is no JSON"), (["post", "a", "n=1", "n=2"], "twice"),
            (["post", "a", "f@x", "n:=1"], "n is JSON"), (["post", "a", "n=1", "-d", "x"], "one body"),
            (["-X", "PUT", "post", "a"], "both name the method"), (["post", "a", "b c:d"], "no field"),
            (["post", "a", "=x"], "no part of a request"),
        ])
    func mistakes(words: [String], complaint: String) {
        let error = #expect(throws: UsageError.self) { try CommandLineReading.read(words) }
        #expect(error?.message.contains(complaint) == true, "\(error?.message ?? "")")
    }
}
