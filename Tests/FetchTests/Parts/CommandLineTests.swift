// The command line, taken apart in this process.

import Testing
import URLLoadingFetch

@Suite("fetch: the command line")
struct CommandLineTests {
    private func options(_ arguments: String...) throws -> Options {
        guard case .fetch(let options) = try CommandLineReading.read(arguments + ["http://a/"]) else {
            throw UnexpectedReading()
        }
        return options
    }

    private func complaint(_ arguments: String...) -> String {
        do throws(UsageError) {
            _ = try CommandLineReading.read(arguments)
            return ""
        } catch {
            return error.message
        }
    }

    private struct UnexpectedReading: Error {}

    @Test("Letters in bundles, values behind them or next to them, words with = or without")
    func spellings() throws {
        let bundle = try options("-sSfo", "file", "-XPUT", "-HA: b", "--header=C: d")
        #expect(bundle.isSilent && bundle.showsErrors && bundle.failsOnErrorStatus)
        #expect(bundle.outputs == ["file"] && bundle.method == "PUT")
        #expect(bundle.fields == [HeaderField(name: "A", value: "b"), HeaderField(name: "C", value: "d")])
        let two = try options("-o", "-", "--", "http://b/")
        #expect(two.urls.map(\.absoluteString) == ["http://b/", "http://a/"] && two.outputs == ["-"])
        #expect(try options("--proxy=").proxy != nil)
    }

    @Test("Every option is known by its word and its letter, and no spelling means two things")
    func rules() {
        let words = OptionRule.all.map(\.word)
        let letters = OptionRule.all.compactMap(\.letter)
        #expect(Set(words).count == words.count && Set(letters).count == letters.count)
        #expect(!words.contains("help") && !letters.contains("k") && !letters.contains("h") && !letters.contains("V"))
    }

    @Test("Bodies: pieces of one kind are joined, of two kinds refused")
    func bodies() throws {
        #expect(try options("-d", "a=1", "-d", "@f").body == .form([.text("a=1"), .file("f", keepsLines: false)]))
        #expect(try options("--data-binary", "@f").body == .form([.file("f", keepsLines: true)]))
        #expect(try options("--json", "{}").body == .json([.text("{}")]))
        #expect(try options("-T", "-").body == .upload("-"))
        let parts = [FormPart(name: "a", content: .text("b")), FormPart(name: "c", content: .file("d"))]
        #expect(try options("-F", "a=b", "--form", "c=@d").body == .multipart(parts))
        #expect(try options("-n").netrc == .home && options("-n", "--netrc-file", "f", "-n").netrc == .file("f"))
        #expect(complaint("-d", "a", "--json", "{}", "http://a/").contains("one body"))
        #expect(complaint("-T", "f", "-d", "a", "http://a/").contains("one body"))
        #expect(complaint("-I", "-d", "a", "http://a/").contains("no body"))
    }

    @Test("The last of two that contradict each other counts, as with -L and --no-redirects")
    func lastCounts() throws {
        #expect(try options().followsRedirects)
        #expect(try !options("--no-redirects").followsRedirects)
        #expect(try options("--no-redirects", "-L").followsRedirects)
        #expect(try options().http2 == nil && options("--http2", "--http1.1").http2 == .off)
        #expect(try options("--http1.1", "--http2-prior-knowledge").http2 == .priorKnowledge)
        #expect(try options("-A", "one", "-H", "User-Agent: two", "-A", "three").fields.map(\.value) == ["three"])
    }

    @Test("Values are read, or refused with what they should be")
    func values() throws {
        #expect(OptionValue.resumption("-") == .kept && OptionValue.resumption("12") == .at(12))
        #expect(OptionValue.resumption("-1") == nil && OptionValue.resumption("x") == nil)
        #expect(OptionValue.range("0-499,-5") == "0-499,-5" && OptionValue.range("5") == nil)
        #expect(OptionValue.range("-") == nil && OptionValue.range("1-x") == nil)
        #expect(OptionValue.login("me") == Login(name: "me", password: nil))
        #expect(OptionValue.login("me:a:b") == Login(name: "me", password: "a:b"))
        #expect(OptionValue.login("me:")?.password == "" && OptionValue.login(":x") == nil)
        #expect("\(OptionValue.login("me:secret") ?? Login(name: "", password: nil))" == "a login")
        #expect(OptionValue.field("X-Empty;") == HeaderField(name: "X-Empty", value: ""))
        #expect(OptionValue.field("no colon") == nil && OptionValue.field("b ad: x") == nil)
        #expect(OptionValue.field("A: b\r\nC: d") == nil && OptionValue.field("A\n: b") == nil)
        #expect(OptionValue.method("get") == "get" && OptionValue.method("G T") == nil && OptionValue.method("") == nil)
        #expect(
            OptionValue.seconds("0") == nil && OptionValue.seconds("nan") == nil && OptionValue.seconds("0.5") == 0.5)
        #expect(
            OptionValue.count("-1") == nil && OptionValue.parallel("0") == nil && OptionValue.parallel("101") == nil)
        let pin = String(repeating: "A", count: 43) + "="
        #expect(OptionValue.pins("sha256//\(pin);\(pin)") == [pin, pin] && OptionValue.pins("sha256//AAAA") == nil)
    }

    @Test(
        "--resolve is read as curl reads it: a port, several addresses, IPv6 in brackets, * for any host",
        arguments: [
            ("A.test:127.0.0.1", "a.test", "127.0.0.1"), ("a:[::1]", "a", "::1"), ("a:::1", "a", "::1"),
            ("a:443:127.0.0.1", "a:443", "127.0.0.1"), ("a:443:[::1],10.0.0.1", "a:443", "::1,10.0.0.1"),
            ("a:443:::1", "a:443", "::1"), ("*:80:10.0.0.1", "*:80", "10.0.0.1"), ("*:10.0.0.1", "*", "10.0.0.1"),
            ("+a:80:10.0.0.1", "a:80", "10.0.0.1"), ("a:80:[fe80::1%lo]", "a:80", "fe80::1%lo"),
        ])
    func overrides(text: String, host: String, addresses: String) {
        let read = OptionValue.override(text)
        #expect(read?.host == host && read?.addresses == addresses, "\(text)")
    }

    @Test(
        "--resolve without a host, or with what is no address, is refused",
        arguments: [
            "a:", ":80:10.0.0.1", "a:80:", "a:80:b.test", "a:65536:10.0.0.1", "a:80:10.0.0.1,", "-a:80",
            "a:80:10.0.0.256",
        ])
    func wrongOverrides(text: String) {
        #expect(OptionValue.override(text) == nil)
    }

    @Test(
        "What is mistyped or contradicts itself is told in one sentence",
        arguments: [
            (["--headr", "A: b"], "did you mean --header?"), (["-k"], "write --insecure"), (["-Q"], "no option -Q"),
            (["--fail=yes"], "--fail takes no value"), (["-X"], "--request needs a method"),
            (["--xyzzyxyzzy"], "there is no option --xyzzyxyzzy"), ([], "which URL?"),
            (["example.com"], "is not a URL"), (["--key", "k", "http://a/"], "--key needs --cert"),
            (["--har-with-secrets", "http://a/"], "needs --har"),
            (["--retry-delay", "1", "http://a/"], "needs --retry"),
            (["-S", "http://a/"], "needs --silent"), (["--insecure", "--cacert", "f", "http://a/"], "leave one out"),
            (["-o", "a", "-o", "b", "http://a/"], "more --output than URLs"),
            (["-O", "-o", "a", "http://a/"], "both name the file"), (["-J", "http://a/"], "needs --remote-name"),
            (["-C", "-", "http://a/"], "needs --output"), (["-C", "-", "-i", "-O", "http://a/"], "cannot go with"),
            (["-C", "-", "--compressed", "-O", "http://a/"], "cannot go with --compressed"),
            (["-C", "-", "-r", "0-1", "-O", "http://a/"], "both ask for a part"),
            (["-C", "-", "-OJ", "http://a/"], "cannot know the names"),
            (["-C", "-", "-O", "-d", "x", "http://a/"], "cannot go with a body"),
            (["-w", "%{http_cod}", "http://a/"], "did you mean %{http_code}?"),
            (["-G", "http://a/"], "--get needs --data"), (["-G", "--json", "x", "http://a/"], "--get needs --data"),
            (["-F", "a", "http://a/"], "--form needs NAME=TEXT"), (["-F", "a=b", "-d", "c", "http://a/"], "one body"),
            (["-I", "-F", "a=b", "http://a/"], "no body"), (["-X", "GET", "-F", "a=b", "http://a/"], "no body"),
            (["-F", "a=b", "-H", "Content-Type: text/plain", "http://a/"], "leave the Content-Type out"),
            (["-X", "GET", "-d", "a", "http://a/"], "into the query with --get"),
            (["-X", "GET", "--json", "{}", "http://a/"], "a GET sends no body"),
            (["/user.json"], "is not a URL"), (["localhost:8080/a"], "is not a URL"),
            (["me:secret@a/"], "***@a/ is not a URL"), (["//me:secret@a/"], "//***@a/ is not a URL"),
            (["--resolve", "a:80", "http://a/"], "--resolve needs host:port:address"),
            (["--linger", "1", "http://a/"], "is for web sockets"), (["--linger", "-1", "ws://a/"], "needs a number"),
            (["-n", "-u", "a:b", "http://a/"], "both say who we are"),
            (["ws://a/", "ws://b/"], "one web socket"), (["ws://a/", "-d", "x"], "standard input"),
            (["wss://a/", "-O"], "standard output"), (["wss://a/", "--http2"], "begins in HTTP/1.1"),
            (["--http2-prior-knowledge", "ws://a/"], "begins in HTTP/1.1"), (["--http1"], "did you mean --http2?"),
        ] as [([String], String)])
    func complaints(arguments: [String], words: String) {
        do throws(UsageError) {
            _ = try CommandLineReading.read(arguments)
            Issue.record("understood")
        } catch {
            #expect(error.message.contains(words))
        }
    }

    @Test("The help is one screen, and has every option")
    func help() {
        let lines = Help.text.split(separator: "\n")
        #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 80 })
        for rule in OptionRule.all {
            #expect(Help.text.contains("--\(rule.word)"), "\(rule.word)")
            if let letter = rule.letter { #expect(Help.text.contains("-\(letter) --\(rule.word)")) }
        }
    }
}
