// Several groups of options in one command line, and files that have some.

import Foundation
import Testing
import URLLoadingFetch

@Suite("fetch: groups and files of options")
struct OptionFileTests {
    private func groups(_ arguments: [String], own: String? = nil, files: [String: String] = [:]) throws -> [Options] {
        let reading = try CommandLineReading.read(arguments) { (path) throws(UsageError) in
            path == nil ? own : files[path ?? ""]
        }
        guard case .fetch(let groups) = reading else { throw CocoaError(.featureUnsupported) }
        return groups
    }

    private func complaint(_ arguments: [String], own: String? = nil, files: [String: String] = [:]) -> String {
        do {
            _ = try groups(arguments, own: own, files: files)
            return ""
        } catch {
            return (error as? UsageError)?.message ?? "\(error)"
        }
    }

    @Test("--next begins a request with options of its own; what is told counts for all")
    func next() throws {
        let all = try groups(["-d", "a", "-v", "http://a/", "--next", "-o", "f", "http://b/", "-:", "-s", "http://c/"])
        #expect(all.map(\.targets.first?.url.absoluteString) == ["http://a/", "http://b/", "http://c/"])
        #expect(all.map(\.body) == [.form([.text("a")]), .none, .none])
        #expect(all.map(\.isVerbose) == [true, true, true] && all.map(\.isSilent) == [true, true, true])
        #expect(all[1].targets[0].output == .file("f") && all[0].targets[0].output == nil)
        #expect(complaint(["http://a/", "--next"]).contains("no URL before or behind a --next"))
        #expect(complaint(["ws://a/", "--next", "http://a/"]).contains("one web socket"))
    }

    @Test("--write-out @FILE has its text from a file, without the line ends")
    func writeOutFile() throws {
        let files = ["format": "code\\n%\n%\r\nend\n", "wrong": "%{nonsense}"]
        let parts = try groups(["-w", "@format", "http://a/"], files: files)[0].writeOut?.parts(
            NoValues(), terminals: [])
        #expect(parts?.map(\.text) == ["code\n%end"])
        #expect(complaint(["-w", "@nowhere", "http://a/"], files: files).contains("nowhere cannot be read"))
        #expect(complaint(["-w", "@wrong", "http://a/"], files: files).contains("knows no %{nonsense}"))
    }

    /// A transfer of which nothing is known.
    private struct NoValues: WriteOutSource {
        let fields: [HeaderField] = []
        let isFailure = false

        func value(of variable: WriteOutVariable) -> String? { nil }
        func field(_ name: String) -> String { "" }
    }

    @Test("The user's own file counts for all groups and before all, unless -q is the first word")
    func own() throws {
        let text = "# mine\nsilent\n-A \"me and you\"\nuser-agent = other # not this\nmax-redirs: 3\n\n--no-location\n"
        let all = try groups(["-L", "http://a/", "--next", "http://b/"], own: text)
        #expect(all.map(\.isSilent) == [true, true] && all.map(\.maximumRedirects) == [3, 3])
        #expect(all.map(\.followsRedirects) == [true, false])
        #expect(all[1].fields == [HeaderField(name: "User-Agent", value: "other")])
        for first in ["-q", "--disable", "-qs"] {
            #expect(try groups([first, "http://a/"], own: text)[0].maximumRedirects == nil)
        }
        #expect(try groups(["http://a/", "-q"], own: text)[0].maximumRedirects == 3, "not the first word")
        #expect(complaint(["http://a/"], own: "silent\nnext\nverbose\n").contains("--next is for the command line"))
    }

    @Test("A file of -K stands in its place, may name others, and may hold URLs")
    func config() throws {
        let files = [
            "one": "config = two\nurl = http://b/\nheader \"A: \\\"b\\\"\"", "two": "compressed", "x": "config x",
        ]
        let options = try groups(["http://a/", "-K", "one"], files: files)[0]
        #expect(options.targets.map(\.url.absoluteString) == ["http://a/", "http://b/"])
        #expect(options.acceptsCompression && options.fields == [HeaderField(name: "A", value: "\"b\"")])
        #expect(complaint(["-K", "none", "http://a/"]) == "none cannot be read")
        #expect(complaint(["-K", "x", "http://a/"], files: files).hasSuffix("files of options name one another: x"))
    }

    @Test(
        "What is wrong in a file is told with its line",
        arguments: [
            ("\nsilnt", "f, line 2: there is no option --silnt; did you mean --silent?"),
            ("data a b", "f, line 1: a value with spaces stands in double quotes, and there is one on each line"),
            ("data \"a", "f, line 1: a value with spaces stands in double quotes, and there is one on each line"),
            ("silent yes", "f, line 1: --silent takes no value"),
            ("data", "f, line 1: --data needs a text, or @ and a file"),
            ("help", "f, line 1: --help is for the command line"), ("-sS", "f, line 1: -sS is not one option"),
            ("-0", "f, line 1: there is no -0: HTTP/1.0"), ("max-time soon", "--max-time needs a number of seconds"),
        ])
    func mistakes(text: String, words: String) {
        #expect(complaint(["-K", "f", "http://a/"], files: ["f": text]).hasPrefix(words))
    }
}
