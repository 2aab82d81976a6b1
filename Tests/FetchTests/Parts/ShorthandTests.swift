// Requests in short, as httpie's.

import Foundation
import Testing
import URLLoadingFetch

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
