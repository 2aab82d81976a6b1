// Which protocol a connection of the server speaks: by ALPN, by the client's first bytes, or by the server's will.

import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("LoopbackServer chooses the protocol", .timeLimit(.minutes(5)))
struct HTTP2ChoiceTests {
    private let get = "GET / HTTP/1.1\r\nHost: server.test\r\nConnection: close\r\n\r\n"

    private func withSecureServer<R>(
        _ http2: ServerHTTP2, _ body: (LoopbackServer, [Certificate]) async throws -> R
    ) async throws -> R {
        let (root, identity) = try CertificateFactory.server("server.test")
        var options = LoopbackServer.Options(tls: ServerTLS(identity: identity))
        options.http2 = http2
        return try await withServer(options, router: { .text($0.protocolName) }) { try await body($0, [root]) }
    }

    private func client(
        of server: LoopbackServer, _ anchors: [Certificate], offering protocols: [String]
    ) throws -> SecureClient {
        try SecureClient(
            port: server.port, anchors: anchors, context: TLSContext(client: TLSClientOptions(alpn: protocols)))
    }

    @Test("Under TLS the client's offer decides, and h2 is preferred")
    func offered() async throws {
        try await withSecureServer(.offered) { server, anchors in
            let both = try client(of: server, anchors, offering: ["http/1.1", "h2"])
            #expect(try HTTP2Client(over: both).exchange().text == "h2")
            for protocols in [["http/1.1"], []] {
                let old = try client(of: server, anchors, offering: protocols)
                try old.send(get)
                #expect(try old.readToEnd().hasSuffix("\r\n\r\nhttp/1.1"))
            }
        }
    }

    @Test("A server of HTTP/2 agrees to nothing else, and takes one that offers nothing for HTTP/2")
    func required() async throws {
        try await withSecureServer(.required) { server, anchors in
            #expect(throws: TLSError.self) { try client(of: server, anchors, offering: ["http/1.1"]) }
            #expect(await server.wait { $0.failedHandshakes == 1 } != nil)
            let silent = try client(of: server, anchors, offering: [])
            #expect(try HTTP2Client(over: silent).exchange().text == "h2")
        }
    }

    @Test("A server can be made to agree to HTTP/2 with a suite that HTTP/2 forbids")
    func weakSuite() async throws {
        let (root, identity) = try CertificateFactory.server("server.test")
        let tls = ServerTLS(identity: identity, maximum: .v12, ciphersBefore13: "AES128-SHA:ECDHE+SHA")
        var options = LoopbackServer.Options(tls: tls)
        options.http2 = .offered
        try await withServer(options, router: { .text($0.tls?.cipherName ?? "") }) { server in
            let client = try client(of: server, [root], offering: ["h2"])
            let answer = try HTTP2Client(over: client).exchange()
            #expect(answer.text.hasSuffix("_CBC_SHA"))
        }
    }

    @Test("A server without HTTP/2 does not speak it")
    func off() async throws {
        try await withSecureServer(.off) { server, anchors in
            let old = try client(of: server, anchors, offering: ["h2", "http/1.1"])
            try old.send(get)
            #expect(try old.readToEnd().hasSuffix("\r\n\r\nhttp/1.1"))
            #expect(server.stats.http2Connections == 0)
        }
    }

    @Test("Without TLS the first bytes decide, however they are cut")
    func priorKnowledge() async throws {
        var options = LoopbackServer.Options()
        options.http2 = .offered
        try await withServer(options, router: { .text($0.protocolName + ";") }) { server in
            #expect(try HTTP2Client(port: server.port).exchange().text == "h2;")
            let old = try RawClient(port: server.port)
            try old.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            #expect(try old.read(through: "http/1.1;").hasPrefix("HTTP/1.1 200 "))
            // As far as it goes this could be either.
            let slow = try RawClient(port: server.port)
            let before = server.stats.bytesReceived
            try slow.send("P")
            #expect(await server.wait { $0.bytesReceived == before + 1 } != nil)
            try slow.send("OST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
            #expect(try slow.read(through: "http/1.1;").hasPrefix("HTTP/1.1 200 "))
            let cut = try RawClient(port: server.port)
            for byte in "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8 { try cut.send([byte]) }
            #expect(try cut.read(count: 9)[3] == HTTP2FrameType.settings.rawValue)
        }
    }

    @Test("A server of HTTP/2 begins at once, and takes HTTP/1.1 for a broken rule")
    func requiredWithoutTLS() async throws {
        var options = LoopbackServer.Options()
        options.http2 = .required
        let record = HTTP2Record()
        options.http2.record = record
        try await withServer(options, router: { _ in .text("x") }) { server in
            let old = try RawClient(port: server.port)
            #expect(try old.read(count: 9)[3] == HTTP2FrameType.settings.rawValue)
            try old.send(get)
            _ = try old.readToEnd()
            #expect(record.contents.faults.map(\.reason) == [.notHTTP2])
            #expect(server.stats.malformedRequests == 1)
        }
    }
}
