// HTTP/2 with the servers of other people: the same questions for each of them.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Servers of HTTP/2", .timeLimit(.minutes(5)))
struct HTTP2PeersTests {
    /// Runs `body` with a server in front of an origin, and a session for it.
    private func with(
        _ peer: HTTP2Peer, _ body: (HTTP2PeerServer, PeerOrigin, URLSession) async throws -> Void
    ) async throws {
        try peer.require()
        let origin = try PeerOrigin()
        let server = try await HTTP2PeerServer.start(peer, before: origin)
        let session = try server.session()
        do {
            try await body(server, origin, session)
        } catch {
            Issue.record(error)
        }
        session.invalidateAndCancel()
        server.process.end()
        await origin.server.stop()
    }

    private static let passingOn = HTTP2Peer.allCases.filter(\.passesOn)

    @Test(
        "H1.2, H1.8, H1.9, H3.5: a GET, and 10 MiB there and back, on one connection of HTTP/2",
        arguments: HTTP2Peer.allCases)
    func thereAndBack(peer: HTTP2Peer) async throws {
        try await with(peer) { server, _, session in
            let first = try await MeasuredLoad(session, server.url("/hello"))
            #expect(first.text == PeerOrigin.hello && first.status == 200)
            #expect(first.protocolName == "h2" && !first.isReused)
            let body = Data(GeneratedBytes.bytes(10 << 20))
            var request = URLRequest(url: try server.url("/echo"))
            request.httpMethod = "POST"
            let echo = try await MeasuredLoad(session, request, from: body)
            #expect(echo.status == 200 && echo.data == body, "\(echo.data.count) bytes")
            #expect(echo.protocolName == "h2" && echo.isReused && echo.localPort == first.localPort)
        }
    }

    @Test(
        "H2.1, H2.3, H2.4: a hundred requests at once on one connection, and all of them at the origin where a server goes so far",
        arguments: HTTP2Peer.allCases)
    func hundred(peer: HTTP2Peer) async throws {
        try await with(peer) { server, origin, session in
            // So that it is known what the server speaks.
            let first = try await MeasuredLoad(session, server.url("/hello"))
            try await withThrowingTaskGroup(of: MeasuredLoad.self) { group in
                for number in 1...100 {
                    let url = try server.url(peer.passesOnAHundred ? "/held?\(number)" : "/hello?\(number)")
                    group.addTask { try await MeasuredLoad(session, url) }
                }
                if peer.passesOnAHundred {
                    let seen = await origin.server.wait { $0.requests == 101 }
                    #expect(seen?.responses == 1)
                    origin.gate.open()
                }
                for try await load in group {
                    #expect(load.status == 200 && load.text == (peer.passesOnAHundred ? "let go" : PeerOrigin.hello))
                    #expect(load.protocolName == "h2" && load.localPort == first.localPort)
                }
            }
        }
    }

    @Test(
        "H4.4, B16.46: an answer with trailers is whole, they are no fields of its head, and the connection goes on",
        arguments: HTTP2Peer.allCases)
    func trailers(peer: HTTP2Peer) async throws {
        try await with(peer) { server, _, session in
            let load = try await MeasuredLoad(session, server.url(peer.passesOn ? "/trailers" : "/hello"))
            #expect(load.text == PeerOrigin.hello && load.status == 200)
            let fields = (load.response?.allHeaderFields ?? [:]).keys.compactMap { ($0 as? String)?.lowercased() }
            #expect(!fields.contains(PeerOrigin.trailer.name.lowercased()), "\(fields)")
            let trailer = load.response?.value(forHTTPTrailerField: PeerOrigin.trailer.name)
            #expect(trailer == (peer.passesTrailersOn ? PeerOrigin.trailer.value : nil))
            if peer == .nghttpd {
                let trailer = "\(PeerOrigin.trailer.name.lowercased()): \(PeerOrigin.trailer.value)"
                try await server.process.line(containing: trailer)
            }
            let next = try await MeasuredLoad(session, server.url("/hello"))
            #expect(next.text == PeerOrigin.hello && next.localPort == load.localPort)
        }
    }

    @Test(
        "H7.4, H4.6: an answer that the server breaks off is an error of its request; others on the connection notice nothing",
        arguments: passingOn)
    func cut(peer: HTTP2Peer) async throws {
        try await with(peer) { server, origin, session in
            let first = try await MeasuredLoad(session, server.url("/hello"))
            let held = try server.url("/held")
            async let other = MeasuredLoad(session, held)
            await origin.server.wait { $0.requests == 2 }
            let url = try server.url("/cut")
            let cut = Task { try await session.data(from: url) }
            if peer.holdsResetsBack {
                try await server.process.line(containing: "entry /cut")
                _ = try await session.data(from: server.url("/hello"))
            }
            let error = await #expect(throws: URLError.self) { try await cut.value }
            // HAProxy ends the stream as if that were all.
            let expected: URLError.Code = peer == .haproxy ? .cannotParseResponse : .networkConnectionLost
            #expect(error?.code == expected, "\(String(describing: error))")
            origin.gate.open()
            let end = try await other
            #expect(end.text == "let go" && end.localPort == first.localPort)
        }
    }

    @Test("H6.1: a task that is cancelled ends its stream and nothing else", arguments: passingOn)
    func cancelled(peer: HTTP2Peer) async throws {
        try await with(peer) { server, origin, session in
            let first = try await MeasuredLoad(session, server.url("/hello"))
            let url = try server.url("/held")
            let load = Task { try await session.data(from: url) }
            await origin.server.wait { $0.requests == 2 }
            load.cancel()
            let error = await #expect(throws: URLError.self) { try await load.value }
            #expect(error?.code == .cancelled)
            let next = try await MeasuredLoad(session, server.url("/hello"))
            #expect(next.text == PeerOrigin.hello && next.localPort == first.localPort)
        }
    }
}
