// The server's TLS, seen by a client made of a TLSSession over a blocking socket.

import Testing
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust

/// A TLS client that judges by the given anchors and blocks its thread.
final class SecureClient {
    private let raw: RawClient
    private let session: TLSSession
    private var plaintext: [UInt8] = []
    private(set) var sawCloseNotify = false

    init(
        port: Int, anchors: [Certificate], context: TLSContext? = nil, tickets: TLSTickets? = nil
    ) throws {
        raw = try RawClient(port: port)
        let context = try context ?? TLSContext(client: TLSClientOptions())
        session = try TLSSession(client: context, serverName: "server.test", tickets: tickets)
        let evaluator = AnchorsEvaluator(anchors: anchors)
        var input: [UInt8] = []
        while true {
            var offset = 0
            let step = input.withUnsafeBytes { session.handshake($0, offset: &offset) }
            input = Array(input.dropFirst(offset))
            switch step {
            case .needVerdict(let chain):
                switch evaluator.evaluate(chain, policy: TrustPolicy(host: HostName("server.test"))) {
                case .trusted(let peer): session.supply(peer)
                case .refused(let failure): session.refuse(failure)
                }
            case .needIdentity:
                session.supply(identity: nil)
            case .needInput:
                try flush()
                input += try raw.readSome()
            case .failed(let error):
                try flush()
                throw error
            case .finished:
                try flush()
                try decrypt(input)
                return
            }
        }
    }

    var wasResumed: Bool { session.negotiated?.resumed ?? false }
    var version: UInt16 { session.negotiated?.version ?? 0 }

    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try session.encrypt($0) }
        try flush()
    }

    func readToEnd() throws -> String {
        String(decoding: try readBytesToEnd(), as: UTF8.self)
    }

    func readBytesToEnd() throws -> [UInt8] {
        while !sawCloseNotify {
            let input = try raw.readSome()
            if input.isEmpty { break }
            try decrypt(input)
        }
        return plaintext
    }

    /// Whatever comes next; empty where the server has ended its side.
    func readSome() throws -> [UInt8] {
        while plaintext.isEmpty, !sawCloseNotify {
            let input = try raw.readSome()
            if input.isEmpty { break }
            try decrypt(input)
        }
        defer { plaintext = [] }
        return plaintext
    }

    private func flush() throws {
        while session.hasOutgoing {
            let bytes = session.withOutgoing { Array($0) }
            try raw.send(bytes)
            session.outgoingSent(bytes.count)
        }
    }

    private func decrypt(_ input: [UInt8]) throws {
        var offset = 0
        var room = [UInt8](repeating: 0, count: 32 << 10)
        while true {
            let step = input.withUnsafeBytes { source in
                room.withUnsafeMutableBytes { session.decrypt(source, offset: &offset, into: $0) }
            }
            switch step {
            case .plaintext(let count): plaintext += room.prefix(count)
            case .needInput: return
            case .closed:
                sawCloseNotify = true
                return
            case .failed(let error): throw error
            }
        }
    }
}

@Suite("LoopbackServer over TLS")
struct TLSTests {
    private let get = "GET / HTTP/1.1\r\nHost: server.test\r\nConnection: close\r\n\r\n"

    @Test("A request is answered, and the end is announced by close_notify", arguments: [TLSVersion.v12, .v13])
    func request(version: TLSVersion) async throws {
        let (root, identity) = try CertificateFactory.server("server.test")
        let tls = ServerTLS(identity: identity, minimum: version, maximum: version)
        let server = try LoopbackServer.start(.init(tls: tls)) { request in
            .text("TLS \(request.tls?.version ?? 0)")
        }
        let client = try SecureClient(port: server.port, anchors: [root])
        try client.send(get)
        #expect(try client.readToEnd().hasSuffix("\r\n\r\nTLS \(version.rawValue)"))
        #expect(client.sawCloseNotify)
        #expect(client.version == version.rawValue)
        #expect(server.stats.handshakes == 1)
        #expect(server.url("/a") == "https://127.0.0.1:\(server.port)/a")
        await server.stop()
    }

    @Test("A dropped connection ends without close_notify")
    func drop() async throws {
        let (root, identity) = try CertificateFactory.server("server.test")
        let server = try LoopbackServer.start(.init(tls: ServerTLS(identity: identity))) { _ in
            .script([.text("cut"), .drop])
        }
        let client = try SecureClient(port: server.port, anchors: [root])
        try client.send(get)
        #expect(try client.readToEnd() == "cut")
        #expect(!client.sawCloseNotify)
        await server.stop()
    }

    @Test("Resumed sessions are counted")
    func resumption() async throws {
        let (root, identity) = try CertificateFactory.server("server.test")
        let server = try LoopbackServer.start(.init(tls: ServerTLS(identity: identity))) { _ in .text("x") }
        let context = try TLSContext(client: TLSClientOptions())
        let tickets = TLSTickets()
        for isResumed in [false, true] {
            let client = try SecureClient(port: server.port, anchors: [root], context: context, tickets: tickets)
            try client.send(get)
            _ = try client.readToEnd()
            #expect(client.wasResumed == isResumed)
        }
        #expect(server.stats.handshakes == 2)
        #expect(server.stats.resumedHandshakes == 1)
        await server.stop()
    }

    @Test("A client that refuses the certificate sends no request, and counts as a failed handshake")
    func refused() async throws {
        let (_, identity) = try CertificateFactory.server("server.test")
        let server = try LoopbackServer.start(.init(tls: ServerTLS(identity: identity, maximum: .v12))) { _ in
            .text("x")
        }
        #expect(throws: TLSError.self) { try SecureClient(port: server.port, anchors: []) }
        let stats = try #require(await server.wait { $0.failedHandshakes == 1 && $0.connectionsOpen == 0 })
        #expect(stats.requestsBegun == 0)
        await server.stop()
    }

    @Test("Large bodies arrive whole through TLS")
    func largeBody() async throws {
        let (root, identity) = try CertificateFactory.server("server.test")
        let server = try LoopbackServer.start(.init(tls: ServerTLS(identity: identity))) { _ in
            .generated(length: 3_000_000)
        }
        let client = try SecureClient(port: server.port, anchors: [root])
        try client.send(get)
        let body = try client.readBytesToEnd().suffix(3_000_000)
        let isRight = body.withUnsafeBytes { GeneratedBytes.matches($0, at: 0) }
        #expect(isRight)
        await server.stop()
    }
}
