import CURLLoadingOpenSSL
import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

@Suite struct HostilePeerTests {
    /// What a client says to bytes of a server, whole and byte by byte; nil when it still waits.
    private func clientError(_ bytes: [UInt8], piece: Int = .max) throws -> TLSError? {
        let client = Endpoint(try TLSSession(client: TLSContext(client: .init()), serverName: "example.test"))
        client.shakeHands(piece: 1)
        client.inbox = bytes
        while client.end == nil, !client.inbox.isEmpty { client.shakeHands(piece: piece) }
        return client.end?.error
    }

    @Test("B3.74: an answer in plain HTTP is recognised")
    func plainHTTP() throws {
        let answer = Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)
        #expect(try clientError(answer) == .notTLS)
        #expect(try clientError(answer, piece: 1) == .notTLS)
    }

    @Test("B3.74: garbage in place of TLS is recognised")
    func garbage() throws {
        #expect(try clientError([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) == .notTLS)
        #expect(try clientError(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8)) == .notTLS)
        #expect(try clientError([22, 9, 9, 0, 4, 1, 2, 3, 4]) == .notTLS)
    }

    @Test("A server that gets a plain request recognises it")
    func plainRequest() throws {
        let server = Endpoint(try TLSSession(server: TLSContext(server: Made.serverOptions())))
        server.inbox = Array("GET / HTTP/1.1\r\n\r\n".utf8)
        server.shakeHands(piece: .max)
        #expect(server.end?.error == .notTLS)
    }

    @Test("B3.74: an alert in place of an answer is told by name")
    func alert() throws {
        #expect(try clientError([21, 3, 3, 0, 2, 2, 80]) == .alertReceived(code: 80, name: "internal error"))
        #expect(try clientError([21, 3, 3, 0, 2, 2, 40]) == .alertReceived(code: 40, name: "handshake failure"))
        #expect(try clientError([21, 3, 3, 0, 2, 2, 70]) == .noCommonVersionOrCipher)
        #expect(try clientError([21, 3, 3, 0, 2, 2, 112]) == .alertReceived(code: 112, name: "unrecognized name"))
    }

    @Test("B3.74: a connection that ends during the handshake says so")
    func closedDuringHandshake() throws {
        let pair = try TLSPair(server: Made.serverOptions())
        pair.client.shakeHands(piece: .max)
        #expect(pair.client.session.endOfInput() == .closedDuringHandshake)
        pair.shakeHands()
        #expect(pair.client.end?.error == .closedDuringHandshake)
    }

    @Test("A handshake message with any byte changed fails or changes nothing, and never crashes")
    func alteredFlight() throws {
        var index = 0
        while true {
            let pair = try TLSPair(server: Made.serverOptions())
            pair.client.shakeHands(piece: .max)
            pair.move()
            pair.server.shakeHands(piece: .max)
            pair.move()
            guard index < pair.client.inbox.count else { break }
            pair.client.inbox[index] ^= 0x55
            pair.shakeHands()
            #expect(pair.client.end?.isFinished != true, "changed at \(index)")
            index += 23
        }
    }

    @Test("B3.10: a server that asks for renegotiation is refused")
    func renegotiation() throws {
        let server = try RawServer(Made.server.get().identity)
        let client = Endpoint(
            try TLSSession(client: TLSContext(client: .init(maximum: .v12)), serverName: "example.test"))
        try connect(client, server)
        SSL_renegotiate(server.ssl)
        SSL_do_handshake(server.ssl)
        client.inbox += server.take()
        client.read()
        #expect(client.readError == .renegotiationRefused)
        #expect(throws: TLSError.renegotiationRefused) { try client.write([1]) }
    }

    @Test("B3.87: new keys without end and without data between them end the session")
    func endlessKeys() throws {
        let server = try RawServer(Made.server.get().identity)
        let client = Endpoint(try TLSSession(client: TLSContext(client: .init()), serverName: "example.test"))
        try connect(client, server)
        // Data make up for what came before them.
        for _ in 0..<3 {
            server.say(1)
            server.changeKeys(64)
            client.inbox += server.take()
            client.read()
        }
        #expect(client.received == [1, 1, 1] && client.readError == nil)
        server.changeKeys(1)
        client.inbox += server.take()
        client.read()
        guard case .protocolViolation? = client.readError else {
            Issue.record("\(String(describing: client.readEnd))")
            return
        }
        #expect(throws: TLSError.self) { try client.write([1]) }
    }

    @Test("B3.87: new keys that want answers which are not read end the session, whatever data come between them")
    func unreadAnswers() throws {
        let server = try RawServer(Made.server.get().identity)
        let client = Endpoint(try TLSSession(client: TLSContext(client: .init()), serverName: "example.test"))
        try connect(client, server)
        func changeKeys(_ count: Int) {
            for _ in 0..<count where client.readEnd == nil {
                server.changeKeys(1, asking: true)
                server.say(1)
                client.inbox += server.take()
                client.read()
            }
        }
        // Those that were sent count no more.
        for _ in 0..<2 {
            changeKeys(900)
            #expect(client.readEnd == nil && client.takeOutgoing().count > 10_000)
        }
        changeKeys(1_100)
        guard case .protocolViolation? = client.readError else {
            Issue.record("\(String(describing: client.readEnd))")
            return
        }
        #expect(client.session.outgoingCount < 64 << 10)
        #expect(throws: TLSError.self) { try client.write([1]) }
    }

    @Test("RFC 8446 §5.1: while a message of several records is read in part a write is put off, and fails nothing")
    func dividedTicket() throws {
        var options = try Made.serverOptions()
        options.dividesTickets = true
        let pair = try TLSPair(server: options)
        pair.shakeHands()
        let tickets = pair.client.inbox
        let first = 5 + Int(tickets[3]) << 8 + Int(tickets[4])
        pair.client.inbox = Array(tickets[..<first])
        pair.client.read()
        #expect(pair.client.session.isHeldUp)
        for _ in 1...2 { #expect(throws: TLSError.self) { try pair.client.write([1]) } }
        pair.client.session.close()
        #expect(pair.client.session.isHeldUp && !pair.client.session.hasOutgoing)
        pair.client.inbox = Array(tickets[first...])
        pair.client.read()
        #expect(!pair.client.session.isHeldUp && pair.client.readError == nil)
        try pair.client.write([2, 3])
        pair.client.session.close()
        pair.move()
        pair.server.read()
        #expect(pair.server.received == [2, 3] && pair.server.isClosed)
    }

    @Test(
        "RFC 8446 §4.6.1: a ticket with which a ClientHello would be too long is not kept: the next handshake is whole",
        arguments: [TLSVersion.v12, .v13])
    func longTickets(version: TLSVersion) throws {
        let identity = try Made.server.get().identity
        let context = try TLSContext(client: .init(maximum: version))
        for (filler, isKept) in [(1_000, true), (60_000, false)] {
            let tickets = TLSTickets()
            for _ in 0..<2 {
                let client = Endpoint(
                    try TLSSession(client: context, serverName: "example.test", tickets: tickets))
                try connect(client, RawServer(identity, ticketFiller: filler))
                #expect(client.readError == nil)
                #expect((tickets.count > 0) == isKept)
            }
        }
    }

    /// Brings the handshake to its end, and what the server sends behind it to the client.
    private func connect(_ client: Endpoint, _ server: RawServer) throws {
        for _ in 0..<4 {
            client.shakeHands(piece: .max)
            server.give(client.takeOutgoing())
            SSL_do_handshake(server.ssl)
            client.inbox += server.take()
        }
        try #require(client.end?.isFinished == true)
        client.read()
    }
}

/// A server of bare OpenSSL over memory, for what a session of ours does not do.
private final class RawServer {
    struct Failure: Error {}

    let ssl: OpaquePointer
    private let context: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    /// Its tickets have so many bytes of no meaning.
    init(_ identity: Identity, ticketFiller: Int = 0) throws {
        guard let context = SSL_CTX_new(TLS_server_method()), let ssl = SSL_new(context),
            let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem())
        else { throw Failure() }
        (self.context, self.ssl, self.incoming, self.outgoing) = (context, ssl, incoming, outgoing)
        SSL_CTX_set_session_ticket_cb(
            context,
            { ssl, count in
                let filler = [UInt8](repeating: 0, count: count.map { Int(bitPattern: $0) } ?? 0)
                return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), filler, filler.count)
            }, nil, UnsafeMutableRawPointer(bitPattern: ticketFiller))
        SSL_use_certificate(ssl, identity.chain.leaf.pointer)
        SSL_use_PrivateKey(ssl, identity.keyPointer)
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_accept_state(ssl)
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    func give(_ bytes: [UInt8]) {
        BIO_write(incoming, bytes, Int32(bytes.count))
    }

    func say(_ byte: UInt8) {
        #expect(SSL_write(ssl, [byte], 1) == 1)
    }

    /// Changes the key with which it sends, so many times, and may ask the client to do the same.
    func changeKeys(_ count: Int, asking: Bool = false) {
        for _ in 0..<count {
            #expect(SSL_key_update(ssl, asking ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED) == 1)
            #expect(SSL_do_handshake(ssl) == 1)
        }
    }

    func take() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = BIO_read(outgoing, &bytes, Int32(bytes.count))
        return Array(bytes.prefix(Int(max(0, count))))
    }
}
