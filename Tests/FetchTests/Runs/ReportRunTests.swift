// What runs tell about themselves: traces, drawings, archives, variables, silence.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("fetch: reports")
struct ReportRunTests {
    private static func site(_ request: ServerRequest) -> ServerResponse {
        switch request.path {
        case "/moved": ServerResponse.text("moved", status: 302).adding("Location", "/there?q=1&r=%20x")
        case "/hostile":
            ServerResponse.text("x").adding("X-Evil", "\u{9B}2J\u{202E}").adding("Set-Cookie", "sid=Tr0ub4dor")
        default: ServerResponse.text("there").adding("Set-Cookie", "sid=Tr0ub4dor; Path=/")
        }
    }

    @Test("-v tells both exchanges of a redirect, field by field, and no secret")
    func verbose() async throws {
        let server = try LoopbackServer.start(router: Self.site)
        let run = try await FetchRun.run(
            "-v", "-b", "a=Tr0ub4dor", "-H", "Authorization: Bearer Tr0ub4dor", "-H", "X-Api-Key: Tr0ub4dor",
            server.url("/moved"))
        let lines = run.complaints.split(separator: "\n").map(String.init)
        #expect(run.output == "there" && !run.complaints.contains("Tr0ub4dor"), "\(run.complaints)")
        #expect(lines.contains("> GET /moved HTTP/1.1") && lines.contains("> GET /there?q=1&r=%20x HTTP/1.1"))
        #expect(lines.contains("> Host: 127.0.0.1:\(server.port)") && lines.contains("> Cookie: (not shown)"))
        #expect(lines.contains("> Authorization: (not shown)") && lines.contains("> X-Api-Key: (not shown)"))
        #expect(lines.contains { $0.hasPrefix("< HTTP/1.1 302 ") } && lines.contains("< Set-Cookie: (not shown)"))
        #expect(lines.contains { $0.hasPrefix("* 302 leads to http://127.0.0.1") })
        #expect(lines.contains { $0.contains("by a connection that was open already") })
        #expect(lines.last?.hasPrefix("* took ") == true && lines.contains { $0.contains("wait ") })
        await server.stop()
    }

    @Test("-v over TLS names the certificates; what a server sends cannot steer the terminal")
    func verboseTLS() async throws {
        let root = try CertificateFactory.root()
        let identity = try root.issue(.server(hosts: ["127.0.0.1"])).identity
        let server = try LoopbackServer.start(.init(tls: .init(identity: identity)), router: Self.site)
        let anchor = try ScratchFile(root.certificate.pem)
        let run = try await FetchRun.run("-v", "--cacert", anchor.path, server.url("/hostile"))
        #expect(run.exitCode == 0 && run.complaints.contains(" shows certificate 1: "), "\(run.complaints)")
        #expect(run.complaints.contains("TLS 1.3"))
        #expect(!run.complaints.unicodeScalars.contains { $0.value == 0x9B || $0.value == 0x202E })
        await server.stop()
    }

    @Test("--timing draws each exchange on standard error")
    func timing() async throws {
        let server = try LoopbackServer.start(router: Self.site)
        let run = try await FetchRun.run("--timing", server.url("/moved"))
        let lines = run.complaints.split(separator: "\n")
        #expect(run.output == "there" && lines.first?.hasPrefix("GET http://127.0.0.1") == true)
        #expect(
            lines.first?.hasSuffix(" 302, HTTP/1.1") == true
                && lines.contains { $0.hasPrefix("  connect ") && $0.contains("#") })
        let titles = lines.filter { $0.hasPrefix("GET ") }
        #expect(titles.count == 2 && titles.last?.hasSuffix(" 200, HTTP/1.1, on an open connection") == true)
        #expect(lines.count { $0.hasPrefix("  wait ") } == 2 && lines.last?.hasPrefix("in all ") == true)
        #expect(lines.allSatisfy { $0.count <= 80 })
        await server.stop()
    }

    /// The members that HAR 1.2 requires of each object, by its place.
    private static let required: [String: Set<String>] = [
        "log": ["version", "creator", "entries"], "creator": ["name", "version"],
        "entry": ["startedDateTime", "time", "request", "response", "cache", "timings"],
        "request": [
            "method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize",
        ],
        "response": [
            "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
            "bodySize",
        ],
        "content": ["size", "mimeType"], "timings": ["send", "wait", "receive"],
        "postData": ["mimeType", "params", "text"], "pair": ["name", "value"],
    ]

    private func check(_ value: Any?, _ kind: String) throws -> [String: Any] {
        let object = try #require(value as? [String: Any], "\(kind)")
        #expect(Self.required[kind, default: []].subtracting(object.keys).isEmpty, "\(kind)")
        return object
    }

    @Test("--har is HTTP Archive 1.2 with all required members, without secrets unless asked, for its owner alone")
    func har() async throws {
        let server = try LoopbackServer.start(router: Self.site)
        let place = try Workplace()
        let line = "umask 0; fetch --har run.har -d password=Tr0ub4dor -b 'a=Tr0ub4dor; b=2' "
        let run = try await place.shell(line + server.url("/moved") + " http://127.0.0.1:1/")
        #expect(run.exitCode == 7 && run.output == "there")
        #expect(try place.rights("run.har") == 0o600)
        let text = try #require(place.text("run.har"))
        #expect(!text.contains("Tr0ub4dor"))
        let root = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let log = try check(root["log"], "log")
        #expect(log["version"] as? String == "1.2")
        _ = try check(log["creator"], "creator")
        let entries = try #require(log["entries"] as? [Any])
        #expect(entries.count == 3)
        for entry in entries {
            let entry = try check(entry, "entry")
            let request = try check(entry["request"], "request")
            let response = try check(entry["response"], "response")
            _ = try check(response["content"], "content")
            let timings = try check(entry["timings"], "timings")
            for list in [
                request["headers"], request["queryString"], request["cookies"], response["headers"],
                response["cookies"],
            ] {
                for pair in try #require(list as? [Any]) { _ = try check(pair, "pair") }
            }
            if let data = request["postData"] { _ = try check(data, "postData") }
            // The whole is the sum of its parts, of which TLS is a part of connecting.
            let parts = try ["blocked", "dns", "connect", "send", "wait", "receive"]
                .map { try #require(timings[$0] as? Double) }
            #expect(abs(parts.filter { $0 > 0 }.reduce(0, +) - (try #require(entry["time"] as? Double))) < 1e-6)
            let date = try #require(entry["startedDateTime"] as? String)
            #expect((try? Date(date, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))) != nil)
        }
        let second = try check((entries[1] as? [String: Any])?["request"], "request")
        #expect((second["queryString"] as? [[String: String]])?.last == ["name": "r", "value": " x"])
        let failed = try check((entries[2] as? [String: Any])?["response"], "response")
        #expect(failed["status"] as? Int == 0)

        _ = try await place.shell("fetch --har run.har --har-with-secrets -b a=Tr0ub4dor \(server.url("/moved"))")
        #expect(place.text("run.har")?.contains("Tr0ub4dor") == true && place.names == ["run.har"])
        #expect(try await place.shell("fetch --har /nowhere/har \(server.url("/"))").exitCode == 23)
        await server.stop()
    }

    @Test("-w tells numbers and fields when all is over, failures too")
    func writeOut() async throws {
        let server = try LoopbackServer.start(router: Self.site)
        let run = try await FetchRun.run(
            "-w",
            "|%{http_code} %{size_download} %{num_redirects} %{remote_ip} %{http_version} %{method} %header{content-type}\\n",
            server.url("/moved"))
        #expect(run.output == "there|200 5 1 127.0.0.1 1.1 GET text/plain; charset=utf-8\n")
        let packed = try LoopbackServer.start { request in
            let text = ServerResponse.text(String(repeating: "again ", count: 1000))
            if request.path == "/plain" { return text }
            var packed = text.compressed()
            guard request.path == "/chunks", case .bytes(let bytes) = packed.body else { return packed }
            packed.body = .pieces(bytes.map { ServerResponse.Piece([$0]) })
            packed.framing = .chunked
            return packed.adding("X-Length", "\(bytes.count)")
        }
        let sizes = try await FetchRun.run(
            "--compressed", "-o", "/dev/null", "-s", "-w", "%{size_download} %header{content-length}", packed.url("/"))
        let numbers = sizes.output.split(separator: " ")
        #expect(numbers.count == 2 && numbers.first == numbers.last && numbers.first != "6000", "\(sizes.output)")
        let plain = try await FetchRun.run("-o", "/dev/null", "-s", "-w", "%{size_download}", packed.url("/plain"))
        #expect(plain.output == "6000")
        let chunks = try await FetchRun.run(
            "--compressed", "-o", "/dev/null", "-s", "-w", "%{size_download} %header{x-length}", packed.url("/chunks"))
        let counts = chunks.output.split(separator: " ")
        #expect(counts.count == 2 && counts.first == counts.last, "frames are no part of the body: \(chunks.output)")
        await packed.stop()
        let failed = try await FetchRun.run(
            "-s", "-w", "%{http_code} %{exitcode} %{num_connects} %{errormsg}", "http://127.0.0.1:1/")
        #expect(failed.output.hasPrefix("000 7 0 ") && failed.output.contains("refused") && failed.complaints.isEmpty)
        await server.stop()
    }

    @Test("-s says nothing, -S what went wrong all the same; --insecure warns in any case")
    func silence() async throws {
        let place = try Workplace()
        let server = try LoopbackServer.start(router: Self.site)
        #expect(try await place.shell("fetch -so f \(server.url("/"))").complaints.isEmpty)
        #expect(try await FetchRun.run("-s", "http://127.0.0.1:1/").complaints.isEmpty)
        #expect(try await FetchRun.run("-sS", "http://127.0.0.1:1/").complaints.hasPrefix("fetch: "))
        #expect(try await FetchRun.run("-s", "--insecure", server.url("/")).complaints.contains("an attacker between"))
        let version = try await FetchRun.run("-V")
        #expect(version.exitCode == 0 && version.output.hasPrefix("fetch "))
        #expect(try await FetchRun.run("--version").output == version.output)
        await server.stop()
    }
}
