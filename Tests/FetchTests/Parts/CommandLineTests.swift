// The command line, taken apart in this process.

import Foundation
import Testing
import URLLoadingFetch

@Suite("fetch: the command line")
struct CommandLineTests {
    private func options(_ arguments: String...) throws -> Options {
        guard case .fetch(let groups) = try CommandLineReading.read(arguments + ["http://a/"]), groups.count == 1 else {
            throw UnexpectedReading()
        }
        return groups[0]
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
        #expect(bundle.outputs == [.file("file")] && bundle.method == "PUT")
        #expect(bundle.fields == [HeaderField(name: "A", value: "b"), HeaderField(name: "C", value: "d")])
        let two = try options("-o", "-", "--", "http://b/")
        #expect(two.targets.map(\.url.absoluteString) == ["http://b/", "http://a/"])
        #expect(try options("--proxy=").proxy != nil)
    }

    @Test("Every option is known by its word and its letter, and no spelling means two things")
    func rules() {
        let words = OptionTable.all.map(\.word) + RefusedOption.all.map(\.word)
        let letters = OptionTable.all.compactMap(\.letter) + RefusedOption.all.compactMap(\.letter)
        #expect(Set(words).count == words.count && Set(letters).count == letters.count)
        #expect(words.allSatisfy { !$0.isEmpty && !$0.hasPrefix("-") && !$0.contains("=") })
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
            OptionValue.count("-1") == nil && OptionValue.parallel("0") == nil && OptionValue.parallel("301") == nil)
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
        "--connect-to is read as curl reads it: what is empty in front is all, and behind it stays",
        arguments: [
            ("A.test:443:b.test:8443", "a.test:443", "b.test:8443"), ("a::b:", "a", "b"), ("::b:80", "*", "b:80"),
            (":443::8443", "*:443", ":8443"), ("[::1]:80:[::2]:81", "::1:80", "[::2]:81"),
        ])
    func standIns(text: String, place: String, target: String) {
        let read = OptionValue.standIn(text)
        #expect(read?.place == place && read?.target == target, "\(text)")
    }

    @Test(
        "--connect-to that leads nowhere else, or has other parts than four, is refused",
        arguments: ["", ":::", "a:80::", "a:80:b", "a:80:b:80:c", "a:x:b:80", "a:80:b:65536", "a:80:b:0"])
    func wrongStandIns(text: String) {
        #expect(OptionValue.standIn(text) == nil)
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
            (["--headr", "A: b"], "did you mean --header?"), (["-0", "http://a/"], "no -0"), (["-Q"], "no -Q"),
            (["--fail=yes"], "--fail takes no value"), (["-X"], "--request needs a method"),
            (["--xyzzyxyzzy"], "there is no option --xyzzyxyzzy"), ([], "which URL?"),
            (["--key", "k", "http://a/"], "--key needs --cert"),
            (["--har-with-secrets", "http://a/"], "needs --har"),
            (["--retry-delay", "1", "http://a/"], "needs --retry"),
            (["--insecure", "--cacert", "f", "http://a/"], "leave one out"),
            (["-o", "a", "-o", "b", "http://a/"], "more --output than URLs"),
            (["-J", "http://a/"], "needs --remote-name"),
            (["-C", "-", "http://a/"], "needs --output"), (["-C", "-", "-i", "-O", "http://a/"], "cannot go with"),
            (["-C", "-", "--compressed", "-O", "http://a/"], "cannot go with --compressed"),
            (["-r", "0-1", "--compressed", "http://a/"], "cannot go with --compressed"),
            (["-C", "-", "-r", "0-1", "-O", "http://a/"], "both ask for a part"),
            (["-C", "-", "-OJ", "http://a/"], "cannot know the names"),
            (["-C", "-", "-O", "-d", "x", "http://a/"], "cannot go with a body"),
            (["-w", "%{http_cod}", "http://a/"], "did you mean %{http_code}?"),
            (["-G", "http://a/"], "--get needs --data"), (["-G", "--json", "x", "http://a/"], "--get needs --data"),
            (["-F", "a", "http://a/"], "--form needs NAME=TEXT"), (["-F", "a=b", "-d", "c", "http://a/"], "one body"),
            (["-I", "-F", "a=b", "http://a/"], "no body"), (["-X", "GET", "-F", "a=b", "http://a/"], "no body"),
            (["-F", "a=b", "-H", "Content-Type: text/plain", "http://a/"], "leave the Content-Type out"),
            (["-X", "GET", "-d", "a", "http://a/"], "into the query with --get"),
            (["-X", "CONNECT", "http://a/"], "it belongs to proxies"), (["-X", "connect", "http://a/"], "to proxies"),
            (["-X", "GET", "--json", "{}", "http://a/"], "a GET sends no body"),
            (["/user.json"], "is not a URL"), (["localhost:80800/a"], "is not a URL"),
            (["me:secret@a:b/"], "***@a:b/ is not a URL"), (["//me:secret@a:b/"], "//***@a:b/ is not a URL"),
            (["http://me:sec/ret@a b/"], "http://***@a b/ is not a URL"),
            (["http:/me:secret@a/"], "***@a/ is not a URL"), (["me:sec//ret@a/"], "***@a/ is not a URL"),
            (["--resolve", "a:80", "http://a/"], "--resolve needs host:port:address"),
            (["--linger", "1", "http://a/"], "is for web sockets"), (["--linger", "-1", "ws://a/"], "needs a number"),
            (["-n", "-u", "a:b", "http://a/"], "both say who we are"),
            (["-b", "a=1", "-b", "jar", "http://a/"], "has a text and a file"),
            (["ws://a/", "ws://b/"], "one web socket"), (["ws://a/", "-d", "x"], "standard input"),
            (["wss://a/", "-O"], "standard output"), (["wss://a/", "--http2"], "begins in HTTP/1.1"),
            (["--http2-prior-knowledge", "ws://a/"], "begins in HTTP/1.1"), (["--http1"], "did you mean --http2?"),
            (["--no-data", "http://a/"], "cannot be undone"),
            (["-H", "Content-Length: 99", "http://a/"], "Content-Length is not sent"),
            (["-H", "connection: close", "http://a/"], "connection is not sent"),
            (["-H", "Transfer-Encoding;", "ws://a/"], "Transfer-Encoding is not sent"),
            (["-H", "TE: gzip", "http://a/"], "TE is not sent"),
            (["-H", "Trailer: A", "http://a/"], "Trailer is not sent"),
            (["-H", "Upgrade: x", "http://a/"], "Upgrade is not sent"),
            (["-H", "Keep-Alive: 5", "http://a/"], "Keep-Alive is not sent"),
            (["-H", "Proxy-Authorization: Basic eA==", "http://a/"], "Proxy-Authorization is not sent"),
            (["-H", "Host: b", "-H", "host: c", "http://a/"], "one Host"),
            (["post", "http://a/", "http://b/"], "http is no field"),
            (["--unix-socket", String(repeating: "s", count: 108), "http://a/"], "no more than 107 bytes"),
            (["-X", "DELETE", "ftp://a/f"], "ftp knows no --request"), (["-I", "FTP://a/f"], "ftp knows no --head"),
            (["-r", "0-9", "ftps://a/f"], "ftps knows no --range"),
            (["-r", "0-4", "file:/f"], "file knows no --range"),
            (["--json", "{}", "ftp://a/f"], "ftp takes no body"), (["-d", "a=b", "file:/f"], "file takes no body"),
            (["-F", "a=b", "ftp://a/f"], "ftp takes no body"), (["-T", "f", "data:,x"], "data takes no body"),
            (["-z", "2026-11-28", "ftp://a/f"], "no --time-cond"), (["-H", "A: b", "data:,x"], "no --header"),
            (["--etag-save", "t", "ftp://a/f"], "no --etag-save"), (["--compressed", "ftp://a/f"], "no --compressed"),
            (["--etag-compare", "t", "file:/f"], "no --etag-compare"), (["-b", "a=1", "ftp://a/f"], "no --cookie"),
            (["--oauth2-bearer", "t", "ftp://a/f"], "no --oauth2-bearer"), (["-i", "file:/f"], "no --include"),
            (["-D", "h", "ftp://a/f"], "no --dump-header"), (["-R", "-O", "ftp://a/f"], "no --remote-time"),
            (["-u", "a:b", "file:/f"], "no --user"), (["--url-query", "a", "ftp://a/f"], "no --url-query"),
            (["-r", "0-9", "http://a/", "ftp://a/f"], "ftp knows no --range"),
            (["-r", "0-9", "--compare", "file:/f", "http://a/"], "file knows no --range"),
        ] as [([String], String)])
    func complaints(arguments: [String], words: String) {
        do throws(UsageError) {
            _ = try CommandLineReading.read(arguments)
            Issue.record("understood")
        } catch {
            #expect(error.message.contains(words))
        }
    }

    @Test("The help is one screen, and as a whole has every option; each has a text of its own")
    func help() throws {
        let screen = try #require(Help.text(nil)).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(screen.count <= 40 && screen.allSatisfy { $0.count <= 80 }, "\(screen)")
        let all = try #require(Help.text("all"))
        #expect(all.split(separator: "\n").allSatisfy { $0.count <= 80 })
        for rule in OptionTable.all {
            #expect(all.contains(rule.spelling), "\(rule.word)")
            #expect(try #require(Help.text(rule.word)).contains(rule.spelling))
        }
        for section in OptionTable.sections {
            #expect(Help.text(section.name)?.hasPrefix(section.title + "\n") == true)
        }
        for refused in RefusedOption.all { #expect(Help.text(refused.word)?.contains(refused.reason) == true) }
        #expect(Help.text("nonsense") == nil)
    }
}
