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

@Suite("fetch: URLs as they are typed")
struct URLTextTests {
    @Test(
        "Braces and brackets stand for several URLs, the last choice first to change",
        arguments: [
            ("a{b,c}d", ["abd", "acd"]), ("[1-3]", ["1", "2", "3"]), ("[08-10]", ["08", "09", "10"]),
            ("[a-c]", ["a", "b", "c"]), ("[0-10:5]", ["0", "5", "10"]), ("[a-e:2]", ["a", "c", "e"]),
            ("{x,y}[1-2]", ["x1", "x2", "y1", "y2"]), ("{a}", ["a"]), ("{,b}", ["", "b"]), ("\\{a\\}", ["{a}"]),
            ("{a\\,b,c}", ["a,b", "c"]), ("http://[::1]:80/[1-2]", ["http://[::1]:80/1", "http://[::1]:80/2"]),
            ("[fe80::1%25lo]", ["[fe80::1%25lo]"]), ("", [""]), ("[3-3]", ["3"]), ("a\\b", ["a\\b"]),
        ])
    func patterns(text: String, urls: [String]) throws {
        let pattern = try URLPattern(text)
        #expect(pattern.expansions.map(\.text) == urls && pattern.count == urls.count)
    }

    @Test(
        "What is no choice is refused with 3, and so are too many URLs",
        arguments: [
            "[1-", "[3-1]", "[a-1]", "{a", "a}", "[1-2-3]", "[]", "{a{b}}", "[1-2:0]", "[1-2:x]", "[-]", "[ä-ö]",
            "[1-100001]", "[1-1000][1-1000]", "[1-99999999999999999999]", "{a[1-2]}", "[0-999999999999999]",
        ])
    func wrongPatterns(text: String) {
        let error = #expect(throws: UsageError.self) { try URLPattern(text) }
        #expect(error?.code == .badURL)
    }

    @Test("What was chosen stands in the names of files")
    func names() throws {
        #expect(URLPattern.fill("a#1-#2#3#0#x#", with: ["x", "y"]) == "ax-y#3#0#x#")
        #expect(URLPattern.fill("#10", with: ["x"]) == "#10" && URLPattern.fill("", with: []) == "")
        guard case .fetch(let groups) = try CommandLineReading.read(["-o", "f#1", "http://a/{x,y}", "http://b/"]) else {
            return
        }
        #expect(groups[0].targets.map(\.output) == [.file("fx"), .file("fy"), nil])
        guard case .fetch(let plain) = try CommandLineReading.read(["-g", "http://a/{x,y}"]) else { return }
        #expect(plain[0].targets.count == 1)
        guard case .fetch(let mixed) = try CommandLineReading.read(["-o", "f", "http://a/", "-O", "http://b/"]) else {
            return
        }
        #expect(mixed[0].targets.map(\.output) == [.file("f"), .remoteName])
        guard case .fetch(let all) = try CommandLineReading.read(["-O", "http://a/", "http://b/"]) else { return }
        #expect(all[0].targets.map(\.output) == [.remoteName, .remoteName])
    }

    @Test(
        "A URL without a scheme is http at home and https elsewhere",
        arguments: [
            ("example.com", "https://example.com", true),
            ("example.com:8443/a?b", "https://example.com:8443/a?b", true),
            ("example.com:80/a", "http://example.com:80/a", false),
            ("localhost:8080/a", "http://localhost:8080/a", false),
            ("app.localhost", "http://app.localhost", false), (":8080/a", "http://localhost:8080/a", false),
            (":/a", "http://localhost/a", false), (":", "http://localhost", false),
            (":80?x", "http://localhost:80?x", false),
            ("127.1.2.3", "http://127.1.2.3", false), ("192.168.1.1/x", "http://192.168.1.1/x", false),
            ("172.32.0.1", "https://172.32.0.1", true), ("172.31.0.1", "http://172.31.0.1", false),
            ("[::1]:80/", "http://[::1]:80/", false), ("[fd00::1]", "http://[fd00::1]", false),
            ("[2001:db8::1]", "https://[2001:db8::1]", true), ("//example.com/a", "https://example.com/a", true),
            ("me:secret@example.com/a", "https://me:secret@example.com/a", true),
            ("http://example.com", "http://example.com", false), ("HTTPS://a/", "HTTPS://a/", false),
            ("file:/etc/hosts", "file:/etc/hosts", false), ("data:,x", "data:,x", false),
            ("example.com?u=http://b/", "https://example.com?u=http://b/", true),
        ])
    func guesses(text: String, url: String, mayBePlain: Bool) throws {
        let reading = try URLGuess.read(text)
        #expect(reading.url.absoluteString == url && reading.mayBePlain == mayBePlain)
    }

    @Test("--proto-default says what a URL without a scheme has")
    func usualScheme() throws {
        #expect(try URLGuess.read("example.com", scheme: "http").url.absoluteString == "http://example.com")
        #expect(try !URLGuess.read("example.com", scheme: "https").mayBePlain)
        #expect(try URLGuess.read(":80", scheme: "https").url.absoluteString == "https://localhost:80")
    }

    @Test(
        "What is no URL is refused with 3",
        arguments: [
            "", "/a", "./a", "a:b", "http:/a/", "HTTPS:/a", "a:99999", "mailto:a:b", ".a", "[::1", "?x", "-a", ":x",
        ])
    func noURLs(text: String) {
        let error = #expect(throws: UsageError.self) { try URLGuess.read(text) }
        #expect(error?.code == .badURL && error?.advice != nil)
    }

    @Test("--proto knows =, + and -, and nothing but schemes")
    func schemes() {
        #expect(
            OptionValue.schemes("=https")?.contains("http") == false
                && OptionValue.schemes("=https")?.contains("HTTPS") == true)
        #expect(
            OptionValue.schemes("-ftp,-ftps")?.contains("ftp") == false
                && OptionValue.schemes("-ftp")?.contains("ws") == true)
        #expect(OptionValue.schemes("-all,https")?.contains("https") == true && OptionValue.schemes("-all") == nil)
        #expect(OptionValue.schemes("=gopher") == nil && OptionValue.schemes("") == nil)
        #expect(
            OptionValue.redirectSchemes("+ftp")?.contains("ftp") == true
                && OptionValue.redirectSchemes("=all")?.contains("file") == true)
    }

    @Test("Bytes have curl's units, and no number is too large")
    func bytes() {
        #expect(OptionValue.bytes("10") == 10 && OptionValue.bytes("2k") == 2048 && OptionValue.bytes("1G") == 1 << 30)
        #expect(OptionValue.bytes("9999999T") == nil && OptionValue.bytes("-1") == nil && OptionValue.bytes("k") == nil)
        #expect(OptionValue.rate("0") == nil && OptionValue.rate("1M") == 1 << 20 && OptionValue.bytes("") == nil)
    }

    @Test("Text is encoded as forms are")
    func encoding() {
        #expect(OptionValue.encodedPiece("a b") == .encoded(name: nil, .text("a b")))
        #expect(OptionValue.encodedPiece("n=a=b") == .encoded(name: "n", .text("a=b")))
        #expect(OptionValue.encodedPiece("=a") == .encoded(name: nil, .text("a")))
        #expect(
            OptionValue.encodedPiece("n@f") == .encoded(name: "n", .file("f"))
                && OptionValue.encodedPiece("@f") == .encoded(name: nil, .file("f")))
        #expect(OptionValue.queryPiece("+a b") == .text("a b"))
        #expect(QueryText.form(Data("a b/ä~-._&=".utf8)) == "a+b%2F%C3%A4~-._%26%3D")
    }

    @Test("Dates of --time-cond")
    func dates() {
        let day = Date(timeIntervalSince1970: 1_795_824_000)
        for text in [
            "2026-11-28", "20261128", "28 Nov 2026", "Sat, 28 Nov 2026 00:00:00 GMT", "2026-11-28 00:00",
            "2026-11-28T01:00:00+01:00",
        ] {
            #expect(RequestConditions.date(in: text) == day, "\(text)")
        }
        #expect(RequestConditions.date(in: "soon") == nil && RequestConditions.date(in: "2026-13-01") == nil)
        #expect(HTTPDate.text(day) == "Sat, 28 Nov 2026 00:00:00 GMT")
        // RFC 9110 §5.6.7 has these three.
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            #expect(HTTPDate.read(text) == Date(timeIntervalSince1970: 784_111_777), "\(text)")
        }
    }
}
