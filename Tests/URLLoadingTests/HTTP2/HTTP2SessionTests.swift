// Sessions that may speak HTTP/2, with the tests' own server: which version is chosen, and what
// that changes for a program.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Sessions over HTTP/2", .timeLimit(.minutes(5)))
struct HTTP2SessionTests {
    @Test(
        "H1.1, H1.2, H4.1: the server chooses the version, or speaks HTTP/1.1 only; the response's statusLine says which",
        arguments: [ServerHTTP2.off, .offered, .required])
    func choice(use: ServerHTTP2) async throws {
        try await withHTTP2Session(use, router: { .text($0.protocolName) }) { server, session in
            let (data, response) = try await session.data(from: server.at())
            let isHTTP2 = use.use != .off
            #expect(String(decoding: data, as: UTF8.self) == (isHTTP2 ? "h2" : "http/1.1"))
            #expect((response as? HTTPURLResponse)?.statusLine == (isHTTP2 ? "HTTP/2 200" : "HTTP/1.1 200 OK"))
            #expect(server.stats.http2Connections == (isHTTP2 ? 1 : 0))
        }
    }

    @Test("H7.3, B11.8: a streamed body is asked for anew as often as the server turns its request away")
    func refusedStreams() async throws {
        let tries = Guarded(0)
        let router: LoopbackServer.Router = { request in
            tries.change { $0 += 1 }
            return tries.value <= 2 ? .reset(.refusedStream) : .echo(request)
        }
        try await withHTTP2Session(.offered, router: router) { server, session in
            let delegate = UploadDelegate(.stream { InputStream(data: Data("a stream".utf8)) })
            var request = URLRequest(url: try server.at())
            request.httpMethod = "POST"
            request.httpBodyStream = InputStream(data: Data("a stream".utf8))
            let (data, _) = try await session.data(for: request, delegate: delegate)
            #expect(data == Data("a stream".utf8) && tries.value == 3)
            #expect(delegate.transcript.calls.filter { $0 == "stream" }.count == 2)
        }
    }

    @Test("H1.12: a suite that HTTP/2 forbids is refused before a request is sent")
    func weakSuite() async throws {
        try await withHTTP2Session(
            .offered, configure: { ($0.maximum, $0.ciphersBefore13) = (.v12, "AES128-SHA:ECDHE+SHA") },
            router: { _ in .text("secret") }
        ) { server, session in
            let error = await #expect(throws: URLError.self) { try await session.data(from: server.at()) }
            #expect(error?.code == .secureConnectionFailed)
            #expect(server.stats.requests == 0)
        }
    }

    @Test(
        "B2.105: a server that gets no certificate refuses behind the handshake, and the load fails with clientCertificateRequired"
    )
    func certificateWanted() async throws {
        try await withHTTP2Session(
            .offered, configure: { $0.clientAuthentication = .required }, router: { _ in .text("secret") }
        ) { server, session in
            let error = await #expect(throws: URLError.self) { try await session.data(from: server.at()) }
            #expect(error?.code == .clientCertificateRequired)
            #expect(server.stats.requests == 0)
        }
    }

    @Test(
        "H1.11: TLS below 1.2 never carries HTTP/2, whatever the server chooses",
        arguments: [ServerHTTP2.off, .offered])
    func oldVersion(use: ServerHTTP2) async throws {
        try await withHTTP2Session(
            use, configure: { ($0.minimum, $0.maximum) = (.v10, .v11) },
            session: { $0.tlsMinimumSupportedProtocolVersion = .TLSv10 }, router: { .text($0.protocolName) }
        ) { server, session in
            if use.use == .off {
                let (data, _) = try await session.data(from: server.at())
                #expect(data == Data("http/1.1".utf8))
            } else {
                let error = await #expect(throws: URLError.self) { try await session.data(from: server.at()) }
                #expect(error?.code == .secureConnectionFailed)
                #expect(server.stats.requests == 0)
            }
        }
    }

    @Test("H1.6: a web socket has a connection of its own that speaks HTTP/1.1, beside HTTP/2")
    func webSocket() async throws {
        let spoken = Guarded<[String]>([])
        try await withHTTP2Session(
            .offered,
            router: { request in
                spoken.change { $0.append(request.protocolName) }
                return request.path == "/socket" ? .webSocket(WebSocketRoute()) : .text("fine")
            }
        ) { server, session in
            _ = try await session.data(from: server.at())
            let task = session.webSocketTask(with: try server.webSocket("/socket"))
            task.resume()
            try await task.send(.string("hello"))
            guard case .string("hello") = try await task.receive() else {
                Issue.record("another message")
                return
            }
            _ = try await session.data(from: server.at())
            task.cancel(with: .normalClosure, reason: nil)
            #expect(spoken.value == ["h2", "http/1.1", "h2"])
            #expect(server.stats.connectionsAccepted == 2 && server.stats.http2Connections == 1)
        }
    }

    @Test("H1.6: a server that speaks nothing but HTTP/2 has no web sockets")
    func noWebSocket() async throws {
        try await withHTTP2Session(.required, router: { _ in .text("fine") }) { server, session in
            _ = try await session.data(from: server.at())
            let task = session.webSocketTask(with: try server.webSocket())
            task.resume()
            let error = await #expect(throws: URLError.self) { try await task.receive() }
            #expect(error?.code == .secureConnectionFailed)
        }
    }

    @Test("H1.10: Alt-Svc, ALTSVC frames, assumesHTTP3Capable and httpShouldUsePipelining change nothing")
    func hints() async throws {
        // ALTSVC, on stream 0 for an origin and on the stream of a request: RFC 7838 §4.
        let field = Array(#"h3=":443"; ma=86400"#.utf8)
        var options = ServerHTTP2.offered
        options.script = { _ in
            .beside([
                .until(.heads(1)),
                .send(HTTP2Frames.frame(type: 10, [0, 17] + Array("https://127.0.0.1".utf8) + field)),
                .send(HTTP2Frames.frame(type: 10, on: 1, [0, 0] + field)),
            ])
        }
        try await withHTTP2Session(
            options, router: { .text($0.protocolName).adding("Alt-Svc", #"h3=":443"; ma=86400, h2="127.0.0.1:1""#) }
        ) { server, session in
            var request = URLRequest(url: try server.at())
            request.assumesHTTP3Capable = true
            request.httpShouldUsePipelining = true
            for _ in 0..<3 { #expect(try await session.data(for: request).0 == Data("h2".utf8)) }
            #expect(server.stats.connectionsAccepted == 1 && server.stats.requests == 3)
        }
    }

    @Test("H2.9: another host gets a connection of its own, whatever the certificate and ORIGIN frames allow")
    func otherHost() async throws {
        var options = ServerHTTP2.offered
        // RFC 8336 §2.
        let origin = Array("https://b.test".utf8)
        options.script = { _ in .beside([.send(HTTP2Frames.frame(type: 12, [0, UInt8(origin.count)] + origin))]) }
        try await withHTTP2Session(
            options, hosts: ["a.test", "b.test"], router: { .text("\($0.connection)") }
        ) { server, session in
            var connections: [String] = []
            for host in ["a.test", "b.test", "a.test", "b.test"] {
                connections.append(
                    String(decoding: try await session.data(from: server.at(host: host)).0, as: UTF8.self))
            }
            #expect(connections == ["1", "2", "1", "2"])
        }
    }

    @Test("H2.10: 421 is delivered as it is, because no connection serves another host")
    func misdirected() async throws {
        try await withHTTP2Session(.offered, router: { _ in .text("not here", status: 421) }) { server, session in
            let (data, response) = try await session.data(from: server.at())
            #expect((response as? HTTPURLResponse)?.statusCode == 421 && data == Data("not here".utf8))
            #expect(server.stats.requests == 1 && server.stats.connectionsAccepted == 1)
        }
    }
}
