// fetch and curl, line by line, at our own server over HTTP/1.1 and HTTP/2. See CurlLine for the lines; docs/fetch.md
// has a table of what is different on purpose.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("fetch and curl, line by line", .enabled(if: Peers.curl != nil, "curl is not installed"))
struct CurlLinesTests {
    /// What the request was, but for what each command says of itself.
    private static func echo(_ request: ServerRequest) -> ServerResponse {
        let own: Set<String> = [
            "user-agent", "accept-encoding", "accept-language", "connection", "host", "te",
            "upload-complete", "upload-draft-interop-version",
        ]
        var body = String(decoding: request.body, as: UTF8.self)
        var lines: [String] = []
        for index in 0..<request.fields.count {
            let name = request.fields.name(at: index).lowercased()
            var value = request.fields.value(at: index)
            if own.contains(name), !["me", "you"].contains(value) { continue }
            if name == "accept", value == "*/*" { continue }
            if name == "content-length", value == "0" { continue }
            // A POST of curl's that waits for the server's word is a matter of its size.
            if name == "expect" { continue }
            if name == "content-type", let range = value.range(of: "boundary=") {
                let boundary = String(value[range.upperBound...])
                value = String(value[..<range.upperBound])
                body = body.replacingOccurrences(of: boundary, with: "B")
                lines.append("\(name): \(value)")
                continue
            }
            if name == "content-length", request.fields.first(.contentType)?.contains("boundary=") == true { continue }
            lines.append("\(name): \(value)")
        }
        return .text("\(request.method) \(request.target)\n\(lines.sorted().joined(separator: "\n"))\n\(body)\n")
    }

    private static func site(_ request: ServerRequest) -> ServerResponse {
        let authorization = request.fields.first(.authorization) ?? ""
        switch request.path {
        case "/page", "/other", "/named":
            let name = request.path == "/named" ? "attachment; filename=given" : nil
            let answer = ServerResponse.text("This is \(request.path).\n").adding("X-One", "1").adding("ETag", "\"v1\"")
            return name.map { answer.adding("Content-Disposition", $0) } ?? answer
        case "/empty": return .status(204)
        case "/missing": return .text("Nothing here.\n", status: 404)
        case "/dated": return ServerResponse.text("dated\n").adding("Last-Modified", "Wed, 03 Feb 2021 04:05:06 GMT")
        case "/tagged":
            return request.fields.first("If-None-Match") == "\"v1\""
                ? ServerResponse.status(304).adding("ETag", "\"v1\"")
                : ServerResponse.text("tagged\n").adding("ETag", "\"v2\"")
        case "/compressed":
            let text = ServerResponse.text(String(repeating: "again ", count: 100))
            return request.accepts(coding: "gzip") ? text.compressed() : text
        case "/private":
            if authorization == "Basic bWU6c2VjcmV0" { return .text("welcome\n") }
            return ServerResponse.text("who?\n", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        case "/digest":
            // The password cannot be seen in what is sent, but the user can.
            if authorization.hasPrefix("Digest"), authorization.contains("username=\"me\"") {
                return .text("welcome\n")
            }
            return ServerResponse.text("who?\n", status: 401).adding(
                "WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
        case "/cookie":
            return ServerResponse.text("set\n").adding(
                "Set-Cookie", "fresh=1; Path=/; Expires=Fri, 01 Jan 2100 00:00:00 GMT")
        case "/cookies":
            return ServerResponse.status(302).adding("Set-Cookie", "fresh=1; Path=/").adding("Location", "/echo")
        case "/moved": return ServerResponse.text("moved\n", status: 302).adding("Location", "/page")
        case "/moved/twice": return ServerResponse.text("moved\n", status: 302).adding("Location", "/moved")
        case "/moved/302", "/moved/303", "/moved/307":
            return ServerResponse.text("moved\n", status: Int(request.path.suffix(3)) ?? 0).adding("Location", "/echo")
        case "/short": return .script([.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8)), .close])
        case "/nothing": return .script([.close])
        case "/continue":
            return .script([
                .send(
                    Array("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)
                )
            ])
        case "/chunked": return .generated(length: 100, framing: .chunked)
        default: return echo(request)
        }
    }

    /// Fills a folder with what the lines name.
    private static func fill(_ place: String, _ server: LoopbackServer) throws {
        let files = [
            "text": "some text", "lines": "one\ntwo\n", "tag": "\"v1\"\n", "part": "Thi",
            "netrc": "machine 127.0.0.1 login me password secret\n",
            "jar":
                "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tmomentary\tone\n127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tlasting\ttwo\n",
            "config": "# options\nurl = \"\(server.url("/echo"))\"\n-A me\nheader = \"X-One: 1\"\nrequest PUT\n",
        ]
        try FileManager.default.createDirectory(atPath: place + "/folder", withIntermediateDirectories: true)
        for (name, text) in files {
            let path = "\(place)/\(name)"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_600_000_000), .posixPermissions: 0o600],
                ofItemAtPath: path)
        }
    }

    /// What a command has written, its files among it, and its exit code.
    private struct Outcome: Equatable {
        let text: String
        let exitCode: Int32
        let complaints: String

        init(_ run: ChildRun) {
            // Behind the status of HTTP/2 curl writes a space.
            text = run.outputText.replacing(/(HTTP\/2 \d+) \n/) { "\($0.1)\n" }
            exitCode = run.exitCode
            complaints = run.complaintsText
        }

        static func == (one: Outcome, other: Outcome) -> Bool {
            one.text == other.text && one.exitCode == other.exitCode
        }
    }

    /// Runs a line with one of the commands.
    private static func run(_ line: CurlLine, _ command: String, _ server: LoopbackServer) async throws -> Outcome {
        let place = NSTemporaryDirectory() + "curl-line-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: place) }
        try fill(place, server)
        let url = server.url("")
        let script = "cd '\(place)'; C='\(command)'; U='\(url)'; P=\(server.port)\n\(line.text)\n"
        var variables = FetchRun.environment
        variables["HOME"] = .some(place)
        return Outcome(try await ChildRun.run("/bin/sh", ["-c", script], changing: variables))
    }

    private func compare(_ lines: [CurlLine], _ options: LoopbackServer.Options, word: String) async throws {
        let server = try LoopbackServer.start(options, router: Self.site)
        let curl = try #require(Peers.curl)
        let fetch = ChildRun.path(of: "fetch")
        let flag = word.isEmpty ? "" : " " + word
        // A line is two processes; several at a time keep the processors busy.
        try await withThrowingTaskGroup(of: Void.self) { group in
            var rest = lines[...]
            func next() {
                guard let line = rest.popFirst() else { return }
                group.addTask {
                    let ours = try await Self.run(line, "\(fetch) -q\(flag)", server)
                    let theirs = try await Self.run(line, "\(curl) -q\(flag)", server)
                    #expect(
                        ours == theirs,
                        "\(line.text)\n  fetch: \(ours.exitCode) \(ours.text) \(ours.complaints)\n  curl:  \(theirs.exitCode) \(theirs.text) \(theirs.complaints)"
                    )
                }
            }
            for _ in 0..<4 { next() }
            while try await group.next() != nil { next() }
        }
        await server.stop()
    }

    @Test("HTTP/1.1: what is written, the files and the exit code are the same")
    func http1() async throws {
        try await compare(CurlLine.chosen(CurlLine.all), .init(), word: "")
    }

    @Test("HTTP/2: what is written, the files and the exit code are the same")
    func http2() async throws {
        let root = try CertificateFactory.root()
        let anchor = try ScratchPEM(root.certificate.pem)
        var options = LoopbackServer.Options()
        options.tls = ServerTLS(identity: try root.issue(.server(hosts: ["127.0.0.1"])).identity)
        options.http2 = .offered
        let lines = CurlLine.all.filter { !$0.isHTTP1Only }
        // In clear, curl 7.88 fails with the second request of a connection.
        try await compare(CurlLine.chosen(lines), options, word: "--http2 --cacert \(anchor.path)")
    }

    @Test("There are at least two hundred lines")
    func count() { #expect(CurlLine.all.count >= 200) }
}

/// A file of certificates that is removed with its owner.
private final class ScratchPEM: Sendable {
    let path = NSTemporaryDirectory() + "curl-lines-\(UUID().uuidString).pem"

    init(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension CurlLine {
    /// Every fifth under a sanitizer, where each start of the command takes a third of a second.
    fileprivate static func chosen(_ lines: [CurlLine]) -> [CurlLine] {
        Sanitizer.isActive ? stride(from: 0, to: lines.count, by: 5).map { lines[$0] } : lines
    }
}
