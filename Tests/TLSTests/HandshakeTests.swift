import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

@Suite struct HandshakeTests {
    private func pair(_ version: TLSVersion, tickets: TLSTickets? = nil) throws -> TLSPair {
        try TLSPair(
            client: .init(minimum: version, maximum: version), server: Made.serverOptions(), tickets: tickets)
    }

    @Test("B3.7: TLS 1.2 and 1.3 are spoken", arguments: [TLSVersion.v12, .v13])
    func versions(_ version: TLSVersion) throws {
        let pair = try pair(version)
        pair.shakeHands()
        #expect(pair.client.end?.error == nil)
        #expect(pair.client.end?.isFinished == true)
        #expect(pair.server.end?.isFinished == true)
        let negotiated = try #require(pair.client.session.negotiated)
        #expect(negotiated.version == version.rawValue)
        #expect(negotiated.cipherName.hasPrefix("TLS_"))
        #expect(negotiated.cipher != 0)
        #expect(negotiated.resumed == false)
        #expect(pair.client.verdictsAsked == 1)
        #expect(pair.client.session.presentedChain?.leaf == (try Made.server.get().certificate))
        try pair.client.write(Array("ping".utf8))
        pair.exchange()
        #expect(pair.server.received == Array("ping".utf8))
        try pair.server.write(Array("pong".utf8))
        pair.exchange()
        #expect(pair.client.received == Array("pong".utf8))
    }

    @Test("B3.7: the newest version that both know is taken, and 1.2 is the lowest by default")
    func versionRanges() throws {
        let newest = try TLSPair(server: Made.serverOptions())
        newest.shakeHands()
        #expect(newest.client.session.negotiated?.version == TLSVersion.v13.rawValue)
        var options = try Made.serverOptions()
        options.maximum = .v12
        let older = try TLSPair(server: options)
        older.shakeHands()
        #expect(older.client.session.negotiated?.version == TLSVersion.v12.rawValue)
    }

    @Test("B3.74: no version in common fails on both sides")
    func noCommonVersion() throws {
        var options = try Made.serverOptions()
        options.maximum = .v12
        let newer = try TLSPair(client: .init(minimum: .v13), server: options)
        newer.shakeHands()
        #expect(newer.client.end?.error == .noCommonVersionOrCipher)
        #expect(newer.server.end?.error == .noCommonVersionOrCipher)
        options.maximum = .v13
        options.minimum = .v13
        let older = try TLSPair(client: .init(maximum: .v12), server: options)
        older.shakeHands()
        #expect(older.client.end?.error == .noCommonVersionOrCipher)
    }

    @Test("B3.7: a minimum above the maximum is refused when the context is made")
    func contradiction() {
        #expect(throws: TLSError.versionsContradict) {
            try TLSContext(client: .init(minimum: .v13, maximum: .v12))
        }
    }

    @Test("TLS 1.0 can be asked for")
    func oldVersion() throws {
        var options = try Made.serverOptions()
        options.minimum = .v10
        options.maximum = .v10
        let pair = try TLSPair(client: .init(minimum: .v10, maximum: .v13), server: options)
        pair.shakeHands()
        #expect(pair.client.session.negotiated?.version == TLSVersion.v10.rawValue)
    }

    @Test("A handshake succeeds in pieces of any size", arguments: [TLSVersion.v12, .v13])
    func pieces(_ version: TLSVersion) throws {
        for piece in [1, 2, 3, 5, 7, 11, 64, 333, 1_000] {
            let pair = try pair(version)
            pair.shakeHands(piece: piece)
            #expect(pair.client.end?.isFinished == true)
            #expect(pair.server.end?.isFinished == true)
            #expect(pair.client.verdictsAsked == 1)
        }
    }

    @Test("The server's first flight may be cut anywhere", arguments: [TLSVersion.v12, .v13])
    func everySplit(_ version: TLSVersion) throws {
        var split = 0
        while true {
            let pair = try pair(version)
            pair.client.shakeHands(piece: .max)
            pair.move()
            pair.server.shakeHands(piece: .max)
            pair.move()
            let flight = pair.client.inbox
            if split > flight.count { break }
            pair.client.inbox = Array(flight[..<split])
            pair.client.shakeHands(piece: .max)
            pair.client.inbox += flight[split...]
            pair.shakeHands()
            #expect(pair.client.end?.isFinished == true, "cut at \(split)")
            split += 17
        }
    }

    @Test("The verdict may come as late as it likes; until then nothing moves", arguments: [TLSVersion.v12, .v13])
    func lateVerdict(_ version: TLSVersion) throws {
        let pair = try pair(version)
        pair.client.onVerdict = { _ in nil }
        pair.shakeHands()
        let sent = pair.sentByClient.count
        for _ in 0..<5 {
            var offset = 0
            let more: [UInt8] = [22, 3, 3]
            let step = more.withUnsafeBytes { pair.client.session.handshake($0, offset: &offset) }
            guard case .needVerdict(let chain) = step else {
                Issue.record("no verdict asked for: \(step)")
                return
            }
            #expect(chain.leaf.dnsNames == ["example.test"])
            #expect(offset == 0)
            #expect(pair.client.session.hasOutgoing == false)
        }
        #expect(pair.sentByClient.count == sent)
        #expect(throws: TLSError.self) { try pair.client.write([1]) }
        #expect(pair.client.session.hasOutgoing == false)
        pair.client.onVerdict = { .trusted(.vouchedForByApplication($0)) }
        pair.shakeHands()
        #expect(pair.client.end?.isFinished == true)
        #expect(pair.server.end?.isFinished == true)
    }

    @Test("A refused peer is told by an alert, and no application byte leaves", arguments: [TLSVersion.v12, .v13])
    func refused(_ version: TLSVersion) throws {
        let failure = TrustFailure(.unknownRoot, certificate: "example.test")
        let pair = try pair(version)
        pair.client.onVerdict = { _ in .refused(failure) }
        pair.shakeHands()
        #expect(pair.client.end?.error == .untrusted(failure))
        #expect(pair.server.end?.error == .alertReceived(code: 48, name: "unknown CA"))
        #expect(throws: TLSError.untrusted(failure)) { try pair.client.write([1, 2, 3]) }
        #expect(pair.client.session.hasOutgoing == false)
        #expect(pair.client.session.peer == nil)
        pair.server.read()
        #expect(pair.server.received.isEmpty)
    }

    @Test("A verdict about another certificate is not accepted")
    func foreignVerdict() throws {
        let pair = try TLSPair(server: Made.serverOptions())
        let other = try Made.client.get().chain
        pair.client.onVerdict = { _ in .trusted(.vouchedForByApplication(other)) }
        pair.shakeHands()
        #expect(pair.client.end?.isFinished == false)
        #expect(pair.client.session.peer == nil)
    }

    @Test("B3.1: the default evaluation decides with the shared root and refuses without")
    func evaluated() throws {
        let root = try Made.root.get().certificate
        for (anchors, host, isGood) in [
            ([root], "example.test", true), ([root], "other.test", false), ([], "example.test", false),
        ] {
            let pair = try TLSPair(server: Made.serverOptions())
            let policy = TrustPolicy(host: HostName(host))
            pair.client.onVerdict = { AnchorsEvaluator(anchors: anchors).evaluate($0, policy: policy) }
            pair.shakeHands()
            #expect(pair.client.end?.isFinished == isGood)
        }
    }

    @Test("B3.9: the server sees the name of a DNS host, and none for a numeric one")
    func serverName() throws {
        let named = try TLSPair(server: Made.serverOptions(), serverName: "example.test")
        named.shakeHands()
        #expect(named.server.session.serverName == "example.test")
        let numeric = try TLSPair(server: Made.serverOptions(), serverName: nil)
        numeric.shakeHands()
        #expect(numeric.server.end?.isFinished == true)
        #expect(numeric.server.session.serverName == nil)
    }

    @Test("A name too long for SNI is an error of ours")
    func impossibleServerName() throws {
        let context = try TLSContext(client: .init())
        #expect(throws: TLSError.self) {
            try TLSSession(client: context, serverName: String(repeating: "a", count: 300))
        }
    }

    @Test("B3.8: http/1.1 is offered and selected; no answer is fine")
    func alpn() throws {
        let pair = try TLSPair(server: Made.serverOptions())
        pair.shakeHands()
        #expect(pair.client.session.negotiated?.alpn == "http/1.1")
        #expect(pair.server.session.negotiated?.alpn == "http/1.1")
        var options = try Made.serverOptions()
        options.alpn = []
        let silent = try TLSPair(server: options)
        silent.shakeHands()
        #expect(silent.client.end?.isFinished == true)
        #expect(silent.client.session.negotiated?.alpn == nil)
    }

    @Test("B3.8: the server's preference decides among several offers")
    func alpnPreference() throws {
        var options = try Made.serverOptions()
        options.alpn = ["b", "a"]
        let pair = try TLSPair(client: .init(alpn: ["a", "b"]), server: options)
        pair.shakeHands()
        #expect(pair.client.session.negotiated?.alpn == "b")
    }

    @Test("B3.8: a protocol that was not offered fails the handshake", arguments: [TLSVersion.v12, .v13])
    func alpnMismatch(_ version: TLSVersion) throws {
        var options = try Made.serverOptions()
        options.alpnSelectedWithoutOffer = "h2"
        let pair = try TLSPair(client: .init(minimum: version, maximum: version), server: options)
        pair.shakeHands()
        guard case .alpnMismatch? = pair.client.end?.error else {
            Issue.record("\(String(describing: pair.client.end))")
            return
        }
        #expect(throws: TLSError.self) { try pair.client.write([1]) }
        #expect(pair.server.received.isEmpty)
    }

    @Test("B3.8: a server that knows none of the offered protocols ends with an alert")
    func alpnRefusedByServer() throws {
        var options = try Made.serverOptions()
        options.alpn = ["other"]
        let pair = try TLSPair(server: options)
        pair.shakeHands()
        #expect(pair.client.end?.error == .alertReceived(code: 120, name: "no application protocol"))
    }
}
