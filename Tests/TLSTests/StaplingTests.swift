// Stapled OCSP responses, which TLS 1.3 brings beside the certificate and TLS 1.2 in a message behind it: in both the
// evaluator sees them, and nothing of ours leaves before it has judged.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

@Suite struct StaplingTests {
    /// A server with or without a response about its certificate, and the one root.
    private struct Peers {
        let root: IssuedCertificate
        let leaf: IssuedCertificate
        var options: TLSServerOptions
        let version: TLSVersion

        init(_ version: TLSVersion, _ answer: OCSPAnswer?, promises: Bool = false) throws {
            root = try CertificateFactory.root("Stapling Root")
            leaf = try root.issue(
                .server("example.test").with {
                    // RFC 7633: status_request, number 5.
                    if promises {
                        $0.extensions.append(.init("1.3.6.1.5.5.7.1.24", critical: false, value: [0x30, 3, 2, 1, 5]))
                    }
                })
            options = TLSServerOptions(identity: leaf.identity, maximum: version)
            self.version = version
            options.stapledResponse = try answer.map { try root.ocspResponse(about: leaf.certificate, $0) }
        }

        /// A pair whose client asks the evaluator.
        func pair(
            mode: RevocationPolicy.Mode = .soft, tickets: TLSTickets? = nil, server: TLSSession? = nil
        ) throws -> TLSPair {
            let client = try TLSSession(
                client: TLSContext(client: TLSClientOptions()), serverName: "example.test", tickets: tickets)
            let pair = TLSPair(client, try server ?? TLSSession(server: TLSContext(server: options)))
            let evaluator = AnchorsEvaluator(anchors: [root.certificate])
            let policy = TrustPolicy(host: HostName("example.test"), revocation: RevocationPolicy(mode: mode))
            pair.client.onVerdict = { evaluator.evaluate($0, policy: policy) }
            return pair
        }
    }

    @Test(
        "B3.12: a stapled response reaches the evaluator, which refuses a revoked certificate",
        arguments: [TLSVersion.v12, .v13], [1, Int.max])
    func revoked(_ version: TLSVersion, piece: Int) throws {
        for answer in [OCSPAnswer.good, .revoked] {
            let peers = try Peers(version, answer)
            let pair = try peers.pair()
            pair.shakeHands(piece: piece)
            #expect(pair.client.verdictsAsked == 1)
            #expect(pair.client.session.presentedChain?.stapling == peers.options.stapledResponse.map { .response($0) })
            if answer == .good {
                #expect(pair.client.end?.isFinished == true)
                #expect(pair.server.end?.isFinished == true)
            } else {
                #expect(pair.client.end?.error == .untrusted(TrustFailure(.revoked, peers.leaf.certificate)))
                #expect(pair.server.end?.error == .alertReceived(code: 44, name: "certificate revoked"))
            }
        }
    }

    @Test(
        "B3.12: without any answer a certificate is believed by default; where an answer is demanded it is refused",
        arguments: [TLSVersion.v12, .v13])
    func modes(_ version: TLSVersion) throws {
        let silent = try Peers(version, nil)
        let believed = try silent.pair()
        believed.shakeHands()
        #expect(believed.client.end?.isFinished == true)
        #expect(believed.client.session.presentedChain?.stapling == .absent)
        let demanded = try silent.pair(mode: .hard)
        demanded.shakeHands()
        #expect(reason(demanded) == .revocationUnknown("there was no answer"))
        let answered = try Peers(version, .good).pair(mode: .hard)
        answered.shakeHands()
        #expect(answered.client.end?.isFinished == true)
    }

    @Test("A server that has promised a response and sends none is refused", arguments: [TLSVersion.v12, .v13])
    func mustStaple(_ version: TLSVersion) throws {
        let broken = try Peers(version, nil, promises: true).pair()
        broken.shakeHands()
        guard case .revocationUnknown? = reason(broken) else {
            Issue.record("ended with \(String(describing: broken.client.end))")
            return
        }
        let kept = try Peers(version, .good, promises: true).pair()
        kept.shakeHands()
        #expect(kept.client.end?.isFinished == true)
    }

    @Test(
        "While a verdict with a stapled response is awaited nothing leaves, and the server sees no end",
        arguments: [TLSVersion.v12, .v13])
    func late(_ version: TLSVersion) throws {
        let pair = try Peers(version, .good).pair()
        let judge = pair.client.onVerdict
        pair.client.onVerdict = { _ in nil }
        pair.shakeHands()
        let sent = pair.sentByClient.count
        for _ in 0..<3 { pair.shakeHands() }
        #expect(pair.client.end == nil)
        #expect(pair.server.end == nil)
        #expect(pair.sentByClient.count == sent)
        #expect(!pair.client.session.hasOutgoing)
        #expect(pair.client.session.outgoingCount == 0)
        #expect(throws: TLSError.self) { try pair.client.write([9]) }
        pair.client.onVerdict = judge
        pair.shakeHands()
        #expect(pair.client.end?.isFinished == true)
        #expect(pair.server.end?.isFinished == true)
        try pair.client.write([9])
        pair.exchange()
        #expect(pair.server.received == [9])
    }

    @Test(
        "A server that staples and wants our certificate is judged before it is shown one",
        arguments: [TLSVersion.v12, .v13])
    func beforeIdentity(_ version: TLSVersion) throws {
        let ours = try Made.client.get()
        for answer in [OCSPAnswer.good, .revoked] {
            var peers = try Peers(version, answer)
            peers.options.clientAuthentication = .required
            peers.options.clientAuthorities = [try Made.root.get().certificate]
            let pair = try peers.pair()
            pair.client.onIdentity = { _ in .some(ours.identity) }
            pair.shakeHands()
            #expect(pair.client.verdictsAsked == 1)
            #expect(pair.client.identitiesAsked.count == (answer == .good ? 1 : 0))
            if answer == .good {
                #expect(pair.server.end?.isFinished == true)
                #expect(pair.server.session.presentedChain?.leaf == ours.certificate)
            } else {
                #expect(reason(pair) == .revoked)
                #expect(pair.server.session.presentedChain == nil)
            }
        }
    }

    @Test("A resumed session is judged with the response of its first handshake", arguments: [TLSVersion.v12, .v13])
    func resumed(_ version: TLSVersion) throws {
        let peers = try Peers(version, .good, promises: true)
        let (tickets, context) = (TLSTickets(), try TLSContext(server: peers.options))
        for isResumed in [false, true, true] {
            let pair = try peers.pair(mode: .hard, tickets: tickets, server: TLSSession(server: context))
            pair.shakeHands()
            pair.exchange()
            #expect(pair.client.session.negotiated?.resumed == isResumed)
            #expect(pair.client.session.presentedChain?.stapling == peers.options.stapledResponse.map { .response($0) })
        }
    }

    @Test("B3.86: a ticket whose stapled response is stale is not offered", arguments: [TLSVersion.v12, .v13])
    func stale(_ version: TLSVersion) throws {
        let now = Int64(Date().timeIntervalSince1970)
        var peers = try Peers(version, nil, promises: true)
        peers.options.stapledResponse = try peers.root.ocspResponse(
            about: peers.leaf.certificate, .good, thisUpdate: now - 3_000, nextUpdate: now - 1_000)
        let (tickets, context) = (TLSTickets(), try TLSContext(server: peers.options))
        let evaluator = AnchorsEvaluator(anchors: [peers.root.certificate])
        let policy = TrustPolicy(
            host: HostName("example.test"), time: now - 2_000, revocation: RevocationPolicy(mode: .hard))
        for _ in 0..<2 {
            let pair = try peers.pair(tickets: tickets, server: TLSSession(server: context))
            #expect(tickets.count == 0)
            pair.client.onVerdict = { evaluator.evaluate($0, policy: policy) }
            pair.shakeHands()
            pair.exchange()
            #expect(pair.client.end?.isFinished == true && pair.client.session.negotiated?.resumed == false)
            #expect(tickets.count > 0)
        }
    }

    @Test("A refused server's tickets are not kept", arguments: [TLSVersion.v12, .v13])
    func noTickets(_ version: TLSVersion) throws {
        let tickets = TLSTickets()
        let pair = try Peers(version, .revoked).pair(tickets: tickets)
        pair.shakeHands()
        #expect(reason(pair) == .revoked)
        #expect(tickets.count == 0)
    }

    private func reason(_ pair: TLSPair) -> TrustFailure.Reason? {
        if case .untrusted(let failure)? = pair.client.end?.error { failure.reason } else { nil }
    }
}
