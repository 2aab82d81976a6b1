// The proxy for tests, told from outside: what it says byte for byte.

import Testing
import URLLoadingLoopbackServer

@Suite struct ProxyTests {
    private func start(
        _ change: (inout LoopbackProxy.Options) -> Void = { _ in }
    ) throws -> (LoopbackProxy, LoopbackServer) {
        (
            try LoopbackProxy.start(change),
            try LoopbackServer.start { request in
                .text("\(request.head.target) \(request.head.fields.first(.proxyAuthorization) ?? "-")").closing()
            }
        )
    }

    @Test("Plain requests are forwarded in origin form, without the credentials for the proxy")
    func forwards() async throws {
        let (proxy, server) = try start { $0.authorization = "Basic x" }
        let client = try RawClient(port: proxy.port)
        try client.send("GET http://a.test:\(server.port)/b HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(try client.read(through: "login").hasPrefix("HTTP/1.1 407 "))
        try client.send(
            "GET http://a.test:\(server.port)/b HTTP/1.1\r\nHost: a.test\r\nProxy-Authorization: Basic x\r\n\r\n")
        #expect(try client.read(through: "/b -").hasPrefix("HTTP/1.1 200 "))
        #expect(proxy.asks.map(\.kind) == [.forward, .forward])
        await proxy.stop()
        await server.stop()
    }

    @Test("Tunnels by CONNECT, SOCKS5, SOCKS4 and SOCKS4A carry what they are given", arguments: 0..<4)
    func tunnels(way: Int) async throws {
        let (proxy, server) = try start()
        let client = try RawClient(port: proxy.port)
        let port: [UInt8] = [UInt8(server.port >> 8), UInt8(server.port & 0xFF)]
        switch way {
        case 0:
            try client.send("CONNECT a.test:\(server.port) HTTP/1.1\r\nHost: a.test\r\n\r\n")
            #expect(try client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
        case 1:
            try client.send([5, 1, 0])
            try client.send([5, 1, 0, 3, 6] + Array("a.test".utf8) + port)
            #expect(try client.read(count: 12) == [5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        case 2:
            try client.send([4, 1] + port + [127, 0, 0, 1, 0])
            #expect(try client.read(count: 8) == [0, 90, 0, 0, 0, 0, 0, 0])
        default:
            try client.send([4, 1] + port + [0, 0, 0, 1, 0] + Array("a.test".utf8) + [0])
            #expect(try client.read(count: 8) == [0, 90, 0, 0, 0, 0, 0, 0])
        }
        try client.send("GET /c HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(try client.read(through: "/c -").hasPrefix("HTTP/1.1 200 "))
        await proxy.stop()
        await server.stop()
    }

    @Test("An address elsewhere is the loopback's to the proxy, as names are")
    func staysHere() async throws {
        let (proxy, server) = try start()
        let client = try RawClient(port: proxy.port)
        try client.send("CONNECT 192.0.2.1:\(server.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
        try client.send("GET /d HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.read(through: "/d -").hasPrefix("HTTP/1.1 200 "))
        await proxy.stop()
        await server.stop()
    }

    @Test("Wrong passwords and dead targets are refused in the language of the client")
    func refusals() async throws {
        let (proxy, server) = try start { $0.socksCredentials = ("me", "pw") }
        for (said, expected) in [
            ([5, 1, 0], [5, 255]), ([5, 1, 2] + [1, 2, 109, 101, 1, 120], [5, 2, 1, 1]),
            ([4, 1, 0, 1, 127, 0, 0, 1, 120, 0], [0, 93, 0, 0, 0, 0, 0, 0]),
            ([4, 1, 0, 1, 127, 0, 0, 1, 109, 101, 0], [0, 91, 0, 0, 0, 0, 0, 0]),
        ] as [([UInt8], [UInt8])] {
            let client = try RawClient(port: proxy.port)
            try client.send(said)
            #expect(try client.read(count: expected.count) == expected)
        }
        let client = try RawClient(port: proxy.port)
        try client.send("CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 502 "))
        await proxy.stop()
        await server.stop()
    }
}
