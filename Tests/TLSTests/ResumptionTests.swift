import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

@Suite struct ResumptionTests {
    /// Sessions of one client and one server context with a common list of tickets.
    private struct Peers {
        let client: TLSContext
        let server: TLSContext
        let tickets = TLSTickets()

        init(_ version: TLSVersion, tickets: Int = 2) throws {
            client = try TLSContext(client: .init(minimum: version, maximum: version))
            var options = try Made.serverOptions()
            options.tickets = tickets
            server = try TLSContext(server: options)
        }

        /// A pair after its handshake and one exchange, in which TLS 1.3 sends its tickets.
        func connect(_ prepare: (TLSPair) -> Void = { _ in }) throws -> TLSPair {
            let pair = try TLSPair(
                TLSSession(client: client, serverName: "example.test", tickets: tickets),
                TLSSession(server: server))
            prepare(pair)
            pair.shakeHands()
            if pair.client.end?.isFinished == true {
                try pair.client.write([1])
                pair.exchange()
                try pair.server.write([2])
                pair.exchange()
            }
            return pair
        }
    }

    @Test("A second session is resumed", arguments: [TLSVersion.v12, .v13])
    func resumed(_ version: TLSVersion) throws {
        let peers = try Peers(version)
        #expect(try peers.connect().client.session.negotiated?.resumed == false)
        #expect(peers.tickets.count > 0)
        for _ in 0..<3 {
            let pair = try peers.connect()
            #expect(pair.client.session.negotiated?.resumed == true)
            #expect(pair.server.session.negotiated?.resumed == true)
            #expect(pair.client.received == [2])
        }
    }

    @Test("A resumed session's peer is judged again, before application data", arguments: [TLSVersion.v12, .v13])
    func judgedAgain(_ version: TLSVersion) throws {
        let peers = try Peers(version)
        let first = try peers.connect()
        let second = try peers.connect()
        #expect(first.client.verdictsAsked == 1)
        #expect(second.client.verdictsAsked == 1)
        #expect(second.client.session.negotiated?.resumed == true)
        #expect(second.client.session.presentedChain == first.client.session.presentedChain)
        #expect(second.client.session.peer != nil)
    }

    @Test("A resumed session whose peer is refused sends no application byte", arguments: [TLSVersion.v12, .v13])
    func refusedWhenResumed(_ version: TLSVersion) throws {
        let peers = try Peers(version)
        _ = try peers.connect()
        let failure = TrustFailure(.pinMismatch, certificate: "example.test")
        let pair = try peers.connect { $0.client.onVerdict = { _ in .refused(failure) } }
        #expect(pair.client.end?.error == .untrusted(failure))
        #expect(throws: TLSError.untrusted(failure)) { try pair.client.write([9]) }
        pair.exchange()
        #expect(pair.server.received.isEmpty)
        #expect(peers.tickets.count == 0)
    }

    @Test("A resumed session waits for a late verdict", arguments: [TLSVersion.v12, .v13])
    func lateVerdictWhenResumed(_ version: TLSVersion) throws {
        let peers = try Peers(version)
        _ = try peers.connect()
        let pair = try peers.connect { $0.client.onVerdict = { _ in nil } }
        #expect(pair.client.end == nil)
        #expect(throws: TLSError.self) { try pair.client.write([9]) }
        pair.client.onVerdict = { .trusted(.vouchedForByApplication($0)) }
        pair.shakeHands()
        #expect(pair.client.end?.isFinished == true)
        #expect(pair.client.session.negotiated?.resumed == true)
    }

    @Test("TLS 1.3 tickets are used once, and several are kept")
    func usedOnce() throws {
        let peers = try Peers(.v13, tickets: 3)
        _ = try peers.connect()
        #expect(peers.tickets.count == 3)
        _ = try TLSSession(client: peers.client, serverName: nil, tickets: peers.tickets)
        #expect(peers.tickets.count == 2)
    }

    @Test("A list keeps no more tickets than it is allowed to")
    func bounded() throws {
        let peers = try Peers(.v13, tickets: 8)
        _ = try peers.connect()
        #expect(peers.tickets.count == 4)
        let small = TLSTickets(most: 1)
        let pair = try TLSPair(
            TLSSession(client: peers.client, serverName: nil, tickets: small), TLSSession(server: peers.server))
        pair.shakeHands()
        pair.exchange()
        #expect(small.count == 1)
        small.removeAll()
        #expect(small.count == 0)
    }

    @Test("Without tickets nothing is resumed", arguments: [TLSVersion.v12, .v13])
    func noTickets(_ version: TLSVersion) throws {
        let peers = try Peers(version, tickets: 0)
        _ = try peers.connect()
        #expect(try peers.connect().client.session.negotiated?.resumed == false)
    }

    @Test("A ticket that the server has forgotten leads to a full handshake", arguments: [TLSVersion.v12, .v13])
    func forgottenTicket(_ version: TLSVersion) throws {
        let peers = try Peers(version)
        _ = try peers.connect()
        let restarted = try Peers(version)
        let pair = try TLSPair(
            TLSSession(client: peers.client, serverName: "example.test", tickets: peers.tickets),
            TLSSession(server: restarted.server))
        pair.shakeHands()
        #expect(pair.client.end?.isFinished == true)
        #expect(pair.client.verdictsAsked == 1)
        #expect(pair.client.session.negotiated?.resumed == false)
    }

    @Test(
        "B3.86: a ticket whose certificate is out of date is not offered, and is dropped",
        arguments: [TLSVersion.v12, .v13])
    func outOfDate(_ version: TLSVersion) throws {
        let root = try CertificateFactory.root("A root of earlier days")
        let leaf = try root.issue(
            .server("example.test").with {
                $0.notBefore = 1_600_000_000
                $0.notAfter = 1_700_000_000
            })
        let evaluator = AnchorsEvaluator(anchors: [root.certificate])
        let policy = TrustPolicy(host: HostName("example.test"), time: 1_650_000_000)
        let client = try TLSContext(client: TLSClientOptions())
        let server = try TLSContext(server: TLSServerOptions(identity: leaf.identity, maximum: version))
        let tickets = TLSTickets()
        for _ in 0..<2 {
            let pair = try TLSPair(
                TLSSession(client: client, serverName: "example.test", tickets: tickets), TLSSession(server: server))
            #expect(tickets.count == 0)
            pair.client.onVerdict = { evaluator.evaluate($0, policy: policy) }
            pair.shakeHands()
            pair.exchange()
            #expect(pair.client.end?.isFinished == true && pair.client.session.negotiated?.resumed == false)
            #expect(tickets.count > 0)
        }
    }

    @Test("A refused full handshake leaves no ticket behind", arguments: [TLSVersion.v12, .v13])
    func refusedLeavesNoTicket(_ version: TLSVersion) throws {
        let peers = try Peers(version)
        _ = try peers.connect {
            $0.client.onVerdict = { _ in .refused(TrustFailure(.unknownRoot, certificate: "")) }
        }
        #expect(peers.tickets.count == 0)
    }
}
