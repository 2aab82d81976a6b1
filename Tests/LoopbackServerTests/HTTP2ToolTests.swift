// The server beside clients of HTTP/2 that others have written, where they are installed: by what they print. Neither
// must know our machines.

import Testing
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("LoopbackServer and other clients of HTTP/2", .timeLimit(.minutes(5)))
struct HTTP2ToolTests {
    private static let curl = ChildRun.installed("curl")
    private static let nghttp = ChildRun.installed("nghttp")

    private static let router: LoopbackServer.Router = { request in
        switch request.path {
        case "/trailers":
            var trailers = Fields()
            trailers.append("Checksum", "abc")
            return .chunks([Array("body".utf8)], trailers: trailers)
        case "/echo": return .echo(request)
        case "/large": return .generated(length: 10 << 20)
        default: return .text("\(request.protocolName) \(request.stream ?? 0) \(request.bodyByteCount);")
        }
    }

    private func withServer<R>(
        secure: Bool, _ body: (LoopbackServer) async throws -> R
    ) async throws -> R {
        let identity = try CertificateFactory.server("localhost").identity
        var options = LoopbackServer.Options(tls: secure ? ServerTLS(identity: identity) : nil)
        options.http2 = .offered
        return try await URLLoadingLoopbackServer.withServer(options, router: Self.router, body)
    }

    /// A file of 10 MiB, for the length of `body`.
    private func withLargeFile<R>(_ body: (String) async throws -> R) async throws -> R {
        let path = "/tmp/loopback-\(UInt64.random(in: 0 ... .max)).body"
        let made = try await ChildRun.run("/bin/sh", ["-c", "head -c 10485760 /dev/zero > \(path)"])
        #expect(made.exitCode == 0)
        defer { unlink(path) }
        return try await body(path)
    }

    @Test("curl", .enabled(if: curl != nil, "curl is not installed"), arguments: [true, false])
    func curlAsks(secure: Bool) async throws {
        let program = try #require(Self.curl)
        let common = ["-sS", "-k", secure ? "--http2" : "--http2-prior-knowledge"]
        try await withServer(secure: secure) { server in
            let get = try await ChildRun.run(program, common + ["-w", "%{http_version}", server.url("/")])
            #expect(get.outputText == "h2 1 0;2", "\(get.complaintsText)")
            let head = try await ChildRun.run(program, common + ["-I", server.url("/large")])
            #expect(head.outputText.hasPrefix("HTTP/2 200") && head.outputText.contains("content-length: 10485760"))
            let trailers = try await ChildRun.run(program, common + ["-i", server.url("/trailers")])
            #expect(trailers.outputText.contains("\r\n\r\nbody") && trailers.outputText.contains("checksum: abc"))
            let large = try await ChildRun.run(program, common + [server.url("/large")])
            #expect(
                large.output.withUnsafeBytes { GeneratedBytes.matches($0, at: 0) } && large.output.count == 10 << 20)
            try await withLargeFile { path in
                let post = try await ChildRun.run(program, common + ["--data-binary", "@\(path)", server.url("/post")])
                #expect(post.outputText == "h2 1 10485760;", "\(post.complaintsText)")
                let echo = try await ChildRun.run(program, common + ["-T", path, server.url("/echo")])
                #expect(echo.output.count == 10 << 20 && echo.output.allSatisfy { $0 == 0 })
            }
            // Quirk: curl 7.88 by prior knowledge fails at once with many, whatever the server.
            guard secure else { return }
            let before = server.stats
            let many = try await ChildRun.run(
                program, common + ["-Z", "--parallel-max", "100", server.url("/[1-100]")])
            #expect(many.outputText.split(separator: ";").count == 100, "\(many.complaintsText)")
            let after = server.stats
            #expect(after.requests - before.requests == 100)
            #expect(after.malformedRequests == 0)
        }
    }

    @Test("nghttp", .enabled(if: nghttp != nil, "nghttp is not installed"), arguments: [true, false])
    func nghttpAsks(secure: Bool) async throws {
        let program = try #require(Self.nghttp)
        try await withServer(secure: secure) { server in
            let get = try await ChildRun.run(program, [server.url("/")])
            #expect(get.outputText.hasPrefix("h2 ") && get.outputText.hasSuffix(" 0;"), "\(get.complaintsText)")
            let trailers = try await ChildRun.run(program, ["-v", server.url("/trailers")])
            #expect(trailers.outputText.contains("checksum: abc"))
            try await withLargeFile { path in
                let post = try await ChildRun.run(program, ["--trailer", "sum: 1", "-d", path, server.url("/post")])
                #expect(post.outputText.hasSuffix(" 10485760;"), "\(post.complaintsText)")
            }
            let before = server.stats
            let many = try await ChildRun.run(program, ["-m", "100", server.url("/")])
            #expect(many.outputText.split(separator: ";").count == 100, "\(many.complaintsText)")
            let after = server.stats
            #expect(after.requests - before.requests == 100)
            #expect(after.http2Connections - before.http2Connections == 1)
            #expect(after.malformedRequests == 0)
        }
    }
}

extension ChildRun {
    /// Where a program is that the machine may have; nil where it has none.
    fileprivate static func installed(_ name: String) -> String? {
        ["/usr/bin/", "/usr/local/bin/", "/bin/"].map { $0 + name }.first { access($0, X_OK) == 0 }
    }
}
