import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

@Suite struct ClientCertificateTests {
    private func pair(
        _ version: TLSVersion, _ authentication: TLSServerOptions.ClientAuthentication = .required,
        tickets: TLSTickets? = nil, identity: @escaping ([[UInt8]]) throws -> Identity?? = { _ in .some(nil) }
    ) throws -> TLSPair {
        var options = try Made.serverOptions()
        options.clientAuthentication = authentication
        options.clientAuthorities = [try Made.root.get().certificate]
        let pair = try TLSPair(
            client: .init(minimum: version, maximum: version), server: options, tickets: tickets)
        pair.client.onIdentity = { try? identity($0) }
        return pair
    }

    @Test("A client certificate that is asked for is shown and verified", arguments: [TLSVersion.v12, .v13])
    func shown(_ version: TLSVersion) throws {
        let pair = try pair(version) { _ in try Made.client.get().identity }
        pair.shakeHands()
        #expect(pair.client.end?.isFinished == true)
        #expect(pair.server.end?.isFinished == true)
        #expect(pair.client.identitiesAsked.count == 1)
        #expect(pair.server.session.peer?.presented.leaf == (try Made.client.get().certificate))
        try pair.client.write([1, 2])
        pair.exchange()
        #expect(pair.server.received == [1, 2])
    }

    @Test("The server's acceptable issuers reach the client", arguments: [TLSVersion.v12, .v13])
    func issuers(_ version: TLSVersion) throws {
        let pair = try pair(version) { _ in try Made.client.get().identity }
        pair.shakeHands()
        #expect(pair.client.identitiesAsked == [[try Made.root.get().certificate.subjectDER]])
    }

    @Test("The identity may come late", arguments: [TLSVersion.v12, .v13])
    func late(_ version: TLSVersion) throws {
        let pair = try pair(version) { _ in nil }
        pair.shakeHands()
        #expect(pair.client.end == nil)
        for _ in 0..<3 { pair.client.shakeHands(piece: .max) }
        #expect(pair.client.end == nil)
        pair.client.onIdentity = { _ in try? Made.client.get().identity }
        pair.shakeHands()
        #expect(pair.client.end?.isFinished == true)
        #expect(pair.server.end?.isFinished == true)
    }

    @Test("A missing certificate that is required has its own error, TLS 1.2 in the handshake")
    func missing12() throws {
        let pair = try pair(.v12)
        pair.shakeHands()
        #expect(pair.client.end?.error == .clientCertificateRequired)
        #expect(pair.server.end?.error == .clientCertificateRequired)
    }

    @Test("A missing certificate that is required has its own error, TLS 1.3 after the handshake")
    func missing13() throws {
        let pair = try pair(.v13)
        pair.shakeHands()
        #expect(pair.client.end?.isFinished == true)
        pair.client.read()
        #expect(pair.client.readError == .clientCertificateRequired)
        #expect(pair.server.end?.error == .clientCertificateRequired)
    }

    @Test("B2.105: a server that calls the certificate bad, where none was given, wants one", arguments: [40, 41, 42])
    func calledBad(_ alert: UInt8) throws {
        let pair = try pair(.v12, .optional)
        pair.client.shakeHands(piece: .max)
        pair.move()
        pair.server.shakeHands(piece: .max)
        pair.move()
        pair.client.shakeHands(piece: .max)
        #expect(pair.client.identitiesAsked.count == 1 && pair.client.end == nil)
        pair.client.inbox = [21, 3, 3, 0, 2, 2, alert]
        pair.client.shakeHands(piece: .max)
        #expect(pair.client.end?.error == .clientCertificateRequired)
    }

    @Test("A missing certificate that is only optional is not an error", arguments: [TLSVersion.v12, .v13])
    func optional(_ version: TLSVersion) throws {
        let pair = try pair(version, .optional)
        pair.shakeHands()
        #expect(pair.client.end?.isFinished == true)
        #expect(pair.server.end?.isFinished == true)
        #expect(pair.server.session.peer == nil && !pair.client.session.hasIdentity)
    }

    @Test("A certificate that the server does not accept has its own error", arguments: [TLSVersion.v12, .v13])
    func rejected(_ version: TLSVersion) throws {
        let stranger = try CertificateFactory.root("Stranger").issue(.client("Stranger"))
        let pair = try pair(version) { _ in stranger.identity }
        pair.shakeHands()
        pair.client.read()
        let error = pair.client.end?.error ?? pair.client.readError
        #expect(error == .clientCertificateRejected)
        guard case .untrusted(let failure)? = pair.server.end?.error else {
            Issue.record("the server did not refuse: \(String(describing: pair.server.end))")
            return
        }
        #expect(failure.reason == .unknownRoot)
    }

    @Test(
        "B17.43: a client certificate that is too weak to be shown has an error that names it",
        arguments: [TLSVersion.v12, .v13])
    func tooWeak(_ version: TLSVersion) throws {
        let weak = try Made.root.get().issue(.client("Too Weak").with { $0.key = .rsa(512) })
        let pair = try pair(version) { _ in weak.identity }
        pair.shakeHands()
        guard case .clientCertificateUnusable(let name, let reason)? = pair.client.end?.error else {
            Issue.record("the certificate was shown: \(String(describing: pair.client.end))")
            return
        }
        #expect(name == "Too Weak" && reason.contains("too small"))
        #expect(pair.server.session.peer == nil)
    }

    @Test("A server's certificate does not identify a client", arguments: [TLSVersion.v12, .v13])
    func wrongPurpose(_ version: TLSVersion) throws {
        let pair = try pair(version) { _ in try Made.server.get().identity }
        pair.shakeHands()
        #expect(pair.server.end?.isFinished == false)
    }

    @Test("A resumed session keeps the client's certificate", arguments: [TLSVersion.v12, .v13])
    func resumed(_ version: TLSVersion) throws {
        let tickets = TLSTickets()
        let client = try TLSContext(client: .init(minimum: version, maximum: version))
        var options = try Made.serverOptions()
        options.clientAuthentication = .required
        options.clientAuthorities = [try Made.root.get().certificate]
        let server = try TLSContext(server: options)
        for isSecond in [false, true] {
            let pair = try TLSPair(
                TLSSession(client: client, serverName: nil, tickets: tickets),
                TLSSession(server: server))
            pair.client.onIdentity = { _ in try? Made.client.get().identity }
            pair.shakeHands()
            pair.exchange()
            #expect(pair.client.session.negotiated?.resumed == isSecond)
            #expect(pair.client.session.hasIdentity)
            #expect(pair.server.session.peer?.presented.leaf == (try Made.client.get().certificate))
        }
    }
}
