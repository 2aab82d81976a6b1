// The manual is right: every option, every exit code, every variable is in it, and each example works as it is printed, but
// for the host.

import Foundation
import Testing
import URLLoadingFetch
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("fetch: the manual")
struct ManualTests {
    private static func text(_ name: String) throws -> String {
        // Tests/FetchTests/Runs/ManualTests.swift, below the package.
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { folder.deleteLastPathComponent() }
        return try String(contentsOf: folder.appendingPathComponent("docs/\(name)"), encoding: .utf8)
    }

    @Test("Options, exit codes and variables are all in both forms of the manual")
    func complete() throws {
        let page = try Self.text("fetch.md")
        let manual = try Self.text("fetch.1").replacingOccurrences(of: "\\-", with: "-")
        for rule in OptionRule.all {
            #expect(page.contains("`--\(rule.word)") || page.contains("--\(rule.word) "), "\(rule.word)")
            #expect(manual.contains("--\(rule.word)"), "\(rule.word)")
            if let letter = rule.letter {
                #expect(page.contains("`-\(letter)`, `--\(rule.word)"), "\(rule.word)")
                #expect(manual.contains("-\(letter), --\(rule.word)"), "\(rule.word)")
            }
        }
        for code in ExitCode.allCases {
            #expect(page.contains("| \(code.rawValue) | \(code.meaning) |"))
            #expect(
                manual.contains(".B \(code.rawValue)\n\(code.meaning)\n".replacingOccurrences(of: "\\-", with: "-")),
                "\(code)")
        }
        for variable in WriteOutFormat.Variable.allCases {
            #expect(page.contains("`%{\(variable.rawValue)}`") && manual.contains(variable.rawValue), "\(variable)")
        }
    }

    private static var groff: String? {
        ["/usr/bin/groff", "/usr/local/bin/groff"].first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    @Test("The manual page is set without a warning", .enabled(if: groff != nil, "groff is not installed"))
    func roff() async throws {
        let manual = try ScratchFile(try Self.text("fetch.1"))
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
        let page = try Self.text("fetch.md")
        let block = try #require(
            page.components(separatedBy: "```sh\n").dropFirst().first?.components(separatedBy: "```").first)
        let lines = block.split(separator: "\n").map(String.init)
        #expect(lines.count > 20)
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
