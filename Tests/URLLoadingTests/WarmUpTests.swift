// Connections that a program has opened beforehand: `URLSession.warmUp`.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite("Connections opened beforehand by a session", .endsSessions, .timeLimit(.minutes(5)))
struct WarmUpTests {
    @Test(
        "B16.81: connections are opened without a request, and the next requests use them",
        .http1Only("counts connections"))
    func opens() async throws {
        try await withServer(router: { .text("\($0.connection)") }) { server in
            let session = URLSession.made { $0.httpMaximumConnectionsPerHost = 3 }
            #expect(try await session.warmUp(server.at("/some/path"), connections: 2) == 2)
            // The kernel answers a connection before the server takes it.
            await server.wait { $0.connectionsAccepted == 2 }
            #expect(server.stats.requests == 0)
            #expect(try await session.warmUp(server.at(), connections: 2) == 2, "they are there")
            let load = try await Load(server.at(), in: session)
            #expect(["1", "2"].contains(load.text) && server.stats.connectionsAccepted == 2)
            #expect(try await session.warmUp(server.at(), connections: 100) == 3, "B16.1")
            await server.wait { $0.connectionsAccepted == 3 }
            #expect(server.stats.requests == 1)
            for none in [0, -1, Int.min] { #expect(try await session.warmUp(server.at(), connections: none) == 0) }
        }
    }

    @Test("B16.81: over HTTP/2 one connection is opened, however many are wanted")
    func http2() async throws {
        try await withHTTP2Session(.required, router: { .text("\($0.connection)") }) { server, session in
            #expect(try await session.warmUp(server.at(), connections: 5) == 1)
            let load = try await Load(server.at(), in: session)
            #expect(load.text == "1" && server.stats.connectionsAccepted == 1)
        }
    }

    @Test(
        "B16.81, B2.9: the session's delegate judges each connection like that of a load; a refusal is the error"
    )
    func judged() async throws {
        let (_, identity) = try CertificateFactory.server("localhost")
        try await withServer(
            .init(tls: ServerTLS(identity: identity)), router: { .text("\($0.connection)") }
        ) { server in
            let url = try server.at("/", host: "localhost")
            let vouching = Vouching()
            let session = URLSession(configuration: .ephemeral, delegate: vouching, delegateQueue: nil)
            defer { session.invalidateAndCancel() }
            #expect(try await session.warmUp(url, connections: 1) == 1)
            await vouching.asked.wait()
            #expect(await Load(url, in: session).text == "1")
            let refusing = URLSession.made()
            #expect(await codeThrown { try await refusing.warmUp(url, connections: 3) } == .serverCertificateUntrusted)
        }
    }

    @Test("B16.81: the error of a connection that cannot be opened is thrown; URLs without connections are refused")
    func failures() async throws {
        let session = URLSession.made { $0.hostOverrides = ["closed.test": "127.0.0.1"] }
        let closed = try #require(URL(string: "http://closed.test:1/"))
        #expect(await codeThrown { try await session.warmUp(closed, connections: 2) } == .cannotConnectToHost)
        for text in ["file:///tmp", "ftp://a.test/", "data:,x", "mailto:a@b.test"] {
            let url = try #require(URL(string: text))
            #expect(await codeThrown { try await session.warmUp(url) } == .unsupportedURL, "\(text)")
        }
        let mock = URLSession.made { $0.mock = URLSession.Mock() }
        #expect(try await mock.warmUp(closed) == 0)
    }

    @Test("B16.81: a cancelled Swift task gives up the connections that are being opened")
    func cancelled() async throws {
        let (begun, ended) = (Signal(), Signal())
        let session = URLSession.made {
            $0.hostResolver = { _ in
                begun.fire()
                await untilCancelled(ended)
                throw CancellationError()
            }
        }
        let url = try #require(URL(string: "http://shop.test/"))
        let task = Task { try await session.warmUp(url, connections: 3) }
        await begun.wait()
        task.cancel()
        await ended.wait()
        #expect(await codeThrown { _ = try await task.value } == .cancelled)
    }
}
