// fetch as its users see it: output, exit codes, and for each thing that goes wrong one line that says what.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("fetch")
struct FetchTests {
    private func site(_ request: ServerRequest) -> ServerResponse {
        switch request.path {
        case "/hello": .text("Hello!\n")
        case "/gzip": .text("Hello, compressed!\n").compressed()
        case "/missing": .text("Nothing here.\n", status: 404)
        case "/fields": .text(request.fields.first("X-Test") ?? "none")
        case "/fresh": .text("fresh").adding("Cache-Control", "max-age=3600")
        case "/tagged" where request.fields.contains("If-None-Match"): ServerResponse(status: 304, body: .none)
        case "/tagged": .text("tagged").adding("ETag", "\"v\"")
        case "/garbage": .script([.text("SSH-2.0-OpenSSH_9.2\r\n\r\n"), .close])
        case "/short":
            .script([.lines("HTTP/1.1 200 OK\nContent-Length: 4096\n\n"), .sendGenerated(length: 512), .close])
        case "/corrupt":
            .script([.lines("HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: 8\n\nno gzip!"), .close])
        case "/never": .script([.waitForClose])
        default: .status(500)
        }
    }

    @Test("The body goes to standard output, and nothing else")
    func body() async throws {
        let server = try LoopbackServer.start(router: site)
        let plain = try await FetchRun.run(server.url("/hello"))
        #expect(plain.output == "Hello!\n" && plain.exitCode == 0 && plain.complaints.isEmpty)
        let compressed = try await FetchRun.run(server.url("/gzip"))
        #expect(compressed.output == "Hello, compressed!\n" && compressed.exitCode == 0)
        await server.stop()
    }

    @Test("-i shows the head, -H sends a field, -v says where the time went")
    func options() async throws {
        let server = try LoopbackServer.start(router: site)
        let head = try await FetchRun.run("-i", server.url("/hello"))
        #expect(head.output.hasPrefix("HTTP/1.1 200 OK\n"))
        #expect(head.output.contains("Content-Type: text/plain; charset=utf-8\n"))
        #expect(head.output.hasSuffix("\n\nHello!\n"))
        #expect(try await FetchRun.run("-H", "X-Test: sent", server.url("/fields")).output == "sent")
        let verbose = try await FetchRun.run("-v", server.url("/hello"))
        #expect(verbose.output == "Hello!\n")
        #expect(verbose.complaints.contains("127.0.0.1 port \(server.port)"))
        await server.stop()
    }

    @Test("--cache keeps answers between runs, and says whether there was a hit, a validation or a miss")
    func cache() async throws {
        let server = try LoopbackServer.start(router: site)
        let folder = FileManager.default.temporaryDirectory.appending(path: "fetch-cache-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for (path, uses) in [("/fresh", ["miss", "hit", "hit"]), ("/tagged", ["miss", "revalidated", "revalidated"])] {
            for use in uses {
                let run = try await FetchRun.run(
                    ["--cache", server.url(path)], changing: ["XDG_CACHE_HOME": folder.path])
                #expect(run.output == String(path.dropFirst()) && run.exitCode == 0)
                #expect(run.complaints == "* cache: \(use)\n")
            }
        }
        #expect(server.stats.requests == 4)
        await server.stop()
    }

    @Test("An error status is an answer, unless --fail asks otherwise")
    func errorStatus() async throws {
        let server = try LoopbackServer.start(router: site)
        let lenient = try await FetchRun.run(server.url("/missing"))
        #expect(lenient.output == "Nothing here.\n" && lenient.exitCode == 0)
        let strict = try await FetchRun.run("--fail", server.url("/missing"))
        #expect(strict.output.isEmpty && strict.exitCode == 22)
        #expect(strict.complaints == "fetch: the server answered with status 404\nfetch: is the path spelled right?\n")
        let shown = try await FetchRun.run("-f", "-i", server.url("/missing"))
        #expect(
            shown.output.hasPrefix("HTTP/1.1 404 Not Found\n") && shown.output.hasSuffix("\n\n") && shown.exitCode == 22
        )
        await server.stop()
    }

    @Test("A mistyped command line ends with 2 and says what is wrong with it")
    func usage() async throws {
        for (arguments, complaint) in [
            ("--nonsense", "there is no option --nonsense"), ("-Q", "FTP commands"),
            ("--max-time=soon", "--max-time needs a number"), ("--cacert", "--cacert needs a file"),
            ("--max-redirs=21", "--max-redirs needs a number from 0 to 20: more are never followed"),
            ("--max-redirs=-1", "--max-redirs needs a number from 0 to 20"),
        ] {
            let run = try await FetchRun.run(arguments)
            #expect(run.exitCode == 2 && run.complaints.contains(complaint), "\(run.complaints)")
            let lines = run.complaints.split(separator: "\n")
            #expect([1, 2].contains(lines.count) && lines.allSatisfy { $0.hasPrefix("fetch: ") }, "\(lines)")
        }
        let help = try await FetchRun.run("--help")
        #expect(help.exitCode == 0 && help.output.hasPrefix("usage: fetch"))
        for spelling in ["retry", "--retry"] {
            #expect(try await FetchRun.run(["--help", spelling]).output.hasPrefix("--retry N\n"))
        }
    }

    @Test("B17.13, B17.14, B17.15: scheme, host name and port each have their code and their line")
    func addressing() async throws {
        // A port below 1024 on which no server listens; one that was free a moment ago may be another test's by now.
        let port = 1
        try await expect(1, "scheme", "gopher://127.0.0.1/")
        try await expect(6, "no-such-host.invalid", "http://no-such-host.invalid/")
        try await expect(7, "127.0.0.1:\(port): connect: Connection refused", "http://127.0.0.1:\(port)/")
    }

    @Test("B17.12, B17.16, B17.27, B17.29: what a server can do wrong, each with its code and its line")
    func answers() async throws {
        let server = try LoopbackServer.start(router: site)
        try await expect(8, "HTTP", server.url("/garbage"))
        try await expect(18, "512 of 4096", server.url("/short"))
        try await expect(61, "corrupt", server.url("/corrupt"))
        try await expect(28, "time", "--max-time=0.2", server.url("/never"))
        await server.stop()
    }

    @Test("B17.38, B17.50: HTTPS with a server that speaks HTTP")
    func notTLS() async throws {
        let server = try LoopbackServer.start(router: site)
        try await expect(35, "TLS", "https://127.0.0.1:\(server.port)/")
        await server.stop()
    }

    @Test("B3.69, B17.40: certificates are refused with the reason, and trusted through --cacert")
    func certificates() async throws {
        let root = try CertificateFactory.root()
        let anchor = try ScratchFile(root.certificate.pem)
        var template = CertificateTemplate.server()
        template.names = [.host("127.0.0.1")]
        let good = try LoopbackServer.start(.init(tls: .init(identity: root.issue(template).identity)), router: site)
        #expect(try await FetchRun.run("--cacert", anchor.path, good.url("/hello")).output == "Hello!\n")
        #expect(try await FetchRun.run("--insecure", good.url("/hello")).output == "Hello!\n")
        try await expect(60, "does not lead to a trusted root", good.url("/hello"))
        try await expect(
            60, "not valid for \"other.test\"", "--cacert", anchor.path, "--resolve", "other.test:127.0.0.1",
            good.url("/hello", host: "other.test"))
        try await expect(77, "/nowhere.pem", "--cacert=/nowhere.pem", good.url("/hello"))
        await good.stop()

        template.notBefore = 1_500_000_000
        template.notAfter = 1_600_000_000
        let expired = try LoopbackServer.start(.init(tls: .init(identity: root.issue(template).identity)), router: site)
        try await expect(60, "expired on 2020-09-13", "--cacert", anchor.path, expired.url("/hello"))
        await expired.stop()

        template = CertificateTemplate.server()
        template.names = [.host("127.0.0.1")]
        let identity = try CertificateFactory.selfSigned(template).identity
        let selfSigned = try LoopbackServer.start(.init(tls: .init(identity: identity)), router: site)
        try await expect(60, "self-signed", "--cacert", anchor.path, selfSigned.url("/hello"))
        await selfSigned.stop()
    }

    private func expect(
        _ code: Int32, _ reason: String, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let run = try await FetchRun.run(arguments)
        #expect(run.exitCode == code, "\(run.complaints)", sourceLocation: sourceLocation)
        #expect(isComplaint(run.complaints, with: reason), "\(run.complaints)", sourceLocation: sourceLocation)
    }

    /// Whether it is a line that has the reason, with no more than a line of advice behind it.
    private func isComplaint(_ text: String, with reason: String) -> Bool {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return [2, 3].contains(lines.count) && lines.last == "" && lines[0].contains(reason)
            && lines.dropLast().allSatisfy { $0.hasPrefix("fetch: ") }
    }
}
