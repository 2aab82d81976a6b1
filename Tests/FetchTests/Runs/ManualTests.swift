// The manual is right: it is made of the table of options, and each example works as it is printed, but for the host.

import Foundation
import Testing
import URLLoadingFetch
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("fetch: the manual")
struct ManualTests {
    @Test(
        "docs/fetch.md and docs/fetch-and-curl.md have the tables that the command makes of its options, and its examples"
    )
    func tables() throws {
        let page = try #require(ProjectFiles.text(of: "docs/fetch.md"))
        let curl = try #require(ProjectFiles.text(of: "docs/fetch-and-curl.md"))
        for (text, page) in [(GeneratedText.tables, page), (.curl, curl)] {
            let part = page.components(separatedBy: "<!-- begin: fetch --generate \(text.rawValue) -->\n").last?
                .components(separatedBy: "<!-- end -->").first
            #expect(part == text.text, "make fetch-manual brings the page up to date")
        }
        #expect(page.contains("```sh\n" + ManualProse.examples.joined(separator: "\n") + "\n```"))
        for code in ExitCode.allCases { #expect(page.contains("| \(code.rawValue) | \(code.meaning) |"), "\(code)") }
        for variable in WriteOutVariable.allCases {
            #expect(page.contains("`%{\(variable.rawValue)}`"), "\(variable)")
        }
    }

    @Test("The manual page has every option, exit code, variable and example")
    func complete() {
        let manual = GeneratedText.man.text.replacingOccurrences(of: "\\-", with: "-")
        for rule in OptionTable.all {
            let spelling = rule.spelling.replacingOccurrences(of: "'", with: "\\(aq")
            #expect(manual.contains(".B \(spelling)\n"), "\(rule.word)")
        }
        for code in ExitCode.allCases { #expect(manual.contains(".B \(code.rawValue)\n\(code.meaning)\n"), "\(code)") }
        for variable in WriteOutVariable.allCases {
            #expect(manual.contains("%{\(variable.rawValue)}"), "\(variable)")
        }
        #expect(manual.contains("fetch -O http://example.com/files/disk.img\n"))
    }

    @Test("Completions are understood by their shells", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) async throws {
        let run = try await FetchRun.run("--generate", shell)
        #expect(run.exitCode == 0)
        for rule in OptionTable.all { #expect(run.output.contains(rule.word), "\(rule.word)") }
        guard let program = ["/bin/\(shell)", "/usr/bin/\(shell)"].first(where: FileManager.default.isExecutableFile)
        else {
            return
        }
        let script = try ScratchFile(run.output)
        let check = try await FetchRun.run(["-n", script.path], program: program)
        #expect(check.exitCode == 0 && check.complaints.isEmpty, "\(check.complaints)")
    }

    @Test(
        "bash completes options, files and words",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/bash")))
    func bash() async throws {
        let place = try Workplace()
        try place.write(GeneratedText.bash.text, to: "completion")
        try place.write("", to: "page.html")
        func complete(_ words: String...) async throws -> String {
            let list = words.map { "'\($0)'" }.joined(separator: " ")
            let line =
                "source ./completion; COMP_WORDS=(fetch \(list)); COMP_CWORD=\(words.count); _fetch; echo ${COMPREPLY[*]}"
            return try await place.shell("bash -c \"\(line.replacingOccurrences(of: "$", with: "\\$"))\"").output
        }
        #expect(try await complete("--par") == "--parallel --parallel-max\n")
        #expect(try await complete("-o", "pa") == "page.html\n")
        #expect(try await complete("--tls-max", "1.") == "1.0 1.1 1.2 1.3\n")
        #expect(try await complete("--max-time", "") == "\n")
    }

    private static var groff: String? {
        ["/usr/bin/groff", "/usr/local/bin/groff"].first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    @Test("The manual page is set without a warning", .enabled(if: groff != nil, "groff is not installed"))
    func roff() async throws {
        let manual = try ScratchFile(GeneratedText.man.text)
        let run = try await FetchRun.run(
            ["-man", "-Tutf8", "-ww", "-z", manual.path], program: try #require(Self.groff))
        #expect(run.exitCode == 0 && run.complaints.isEmpty, "\(run.complaints)")
    }

    private static func site(_ request: ServerRequest) -> ServerResponse {
        let target =
            request.target.hasPrefix("http://")
            ? String(request.target.dropFirst("http://example.com".count)) : request.target
        switch target.prefix(while: { $0 != "?" }) {
        case "/moved": return ServerResponse.status(302).adding("Location", "/hello")
        case "/login": return ServerResponse.text("welcome").adding("Set-Cookie", "sid=1; Max-Age=60")
        case "/private" where !request.fields.contains(.authorization):
            return ServerResponse.text("who?", status: 401).adding(
                "WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\"")
        case "/fresh": return ServerResponse.text("fresh").adding("Cache-Control", "max-age=60")
        case "/long": return ServerResponse.text(String(repeating: "again ", count: 1000)).compressed()
        case "/files/disk.img": return .generated(length: 100_000, tag: "\"v\"", to: request)
        case "/hello" where request.fields.contains(.range):
            return ServerResponse(status: 206, body: .bytes(Array("Hello".utf8))).adding("Content-Range", "bytes 0-4/6")
        default: return .text("Hello\n")
        }
    }

    @Test("Each example works as it is printed, but for the host")
    func examples() async throws {
        let root = try CertificateFactory.root()
        let issued = try root.issue(.server(hosts: ["127.0.0.1"]))
        var options = LoopbackServer.Options()
        options.http2 = .offered
        let server = try LoopbackServer.start(options, router: Self.site)
        options.tls = ServerTLS(identity: issued.identity)
        let secure = try LoopbackServer.start(options, router: Self.site)
        let client = try root.issue(.client("me")).identity
        let lines = ManualProse.examples
        let place = try Workplace()
        try place.write(root.certificate.pem, to: "authority.pem")
        try place.write(client.certificatePEM + client.keyPEM, to: "me.pem")
        try place.write(Data(issued.certificate.spkiSHA256).base64EncodedString(), to: "pin")
        try place.write("{}", to: "person.json")
        try place.write("machine 127.0.0.1 login ann password secret", to: "logins")
        for line in lines {
            // What goes on needs something to go on with.
            if line.contains("-C -") {
                _ = try await place.shell(
                    "rm disk.img; head -c 5000 disk.img.whole > disk.img.part; chmod 600 disk.img.part.note")
            }
            let command = line.replacingOccurrences(of: "https://example.com", with: secure.url(""))
                .replacingOccurrences(of: "http://example.com", with: server.url(""))
                .replacingOccurrences(of: "http://proxy.example:8080", with: server.url(""))
            let run = try await place.shell(command, changing: ["XDG_CACHE_HOME": place.path])
            #expect(run.exitCode == 0, "\(line): \(run.complaints)")
            if line.hasSuffix("-O http://example.com/files/disk.img"), !line.contains("-C") {
                try place.write(Self.note(server.url("/files/disk.img")), to: "disk.img.part.note")
                _ = try await place.shell("cp disk.img disk.img.whole")
            }
            if line.contains("-C -") {
                #expect(run.complaints.contains("behind 5.0 kB that were there"), "\(run.complaints)")
                #expect(try await place.shell("cmp disk.img disk.img.whole").exitCode == 0)
            }
        }
        await server.stop()
        await secure.stop()
    }

    private static func note(_ url: String) -> String {
        "{\"version\":1,\"url\":\"\(url)\",\"validator\":\"\\\"v\\\"\"}"
    }
}
