// JSON for people, cut at every place.

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
