import Dispatch
import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

/// What lies in a connection's socket before the request for which it is taken: behaviour 16.9 and 16.70.
@Suite(.timeLimit(.minutes(5))) struct UnaskedBytesTests {
    /// What holds the loop up, so that it does not look at its sockets.
    enum Holder: String, CaseIterable {
        case work, task
    }

    @Test(
        "B16.9, B16.70: an answer that lies ready on an idle connection is given to no request, also if the loop was busy"
    )
    func poisonedWhileHeldUp() async throws {
        for holder in Holder.allCases {
            for isTLS in [false, true] {
                for body in [nil, [1]] as [[UInt8]?] {
                    let second = try await afterHold(by: holder, isTLS: isTLS, body: body) { connection in
                        connection.send(BluntConnection.response("forged"))
                        return nil
                    }
                    #expect(
                        second.error == nil && second.text == "second",
                        "\(holder) TLS: \(isTLS) body: \(body ?? [])")
                    #expect(second.outcome.timelines.count == 1)
                }
            }
        }
    }

    @Test("B16.70, B6.27: a connection that ended while the loop was held up is not used, for a POST neither")
    func endedWhileHeldUp() async throws {
        for isTLS in [false, true] {
            for body in [nil, [1]] as [[UInt8]?] {
                let second = try await afterHold(by: .work, isTLS: isTLS, body: body) { connection in
                    connection.finish()
                    return nil
                }
                #expect(second.error == nil && second.text == "second", "TLS: \(isTLS) body: \(body ?? [])")
                #expect(second.outcome.timelines.count == 1)
            }
        }
    }

    @Test("B16.9: a record whose beginning came before the request is not its answer")
    func halfARecord() async throws {
        let second = try await afterHold(by: .work, isTLS: true, body: nil) { connection in
            connection.sendBeginning(of: BluntConnection.response("forged"))
        }
        #expect(second.error == nil && second.text == "second")
    }

    @Test(
        "B6.40, B6.2: a whole message of TLS itself gives a request no more time, a part of a record does",
        arguments: [false, true])
    func tickets(isPart: Bool) throws {
        let (root, identity) = try CertificateFactory.server("host.test")
        let rig = EngineRig { $0.trust = AnchorsEvaluator(anchors: [root]) }
        var peers: [TLSPeer] = []
        try rig.serveTLS(identity) { peer in
            peer.holdsBack = true
            peers.append(peer)
        }
        let journal = rig.submit(idleTimeout: .seconds(15), scheme: .https)
        rig.settle()
        let peer = try #require(peers.first)
        #expect(peer.requests == 1 && !journal.hasEnded)
        rig.advance(.seconds(10))
        peer.sendRecord(without: isPart ? 1 : 0)
        rig.settle()
        rig.advance(.seconds(10))
        if case .idleTimeout? = journal.error {
            #expect(!isPart)
        } else {
            #expect(isPart && !journal.hasEnded, "\(String(describing: journal.error))")
        }
        rig.expectClean()
    }

    @Test("B16.9, B16.29: what comes behind the handshake, before a request, is an answer only if it is a refusal")
    func earlyUnderTLS() throws {
        let (root, identity) = try CertificateFactory.server("host.test")
        for (status, isAccepted) in [("200 OK", false), ("503 Busy", true)] {
            let rig = EngineRig { $0.trust = AnchorsEvaluator(anchors: [root]) }
            // Before TLS 1.3 the server has the last word of a handshake, so that what it adds comes with that.
            try rig.serveTLS(
                identity, maximum: .v12, greeting: "HTTP/1.1 \(status)\r\nContent-Length: 6\r\n\r\nforged")
            let journal = rig.submit(scheme: .https)
            rig.settle()
            #expect(journal.text == (isAccepted ? "forged" : ""))
            if case .connectionLost? = journal.error {
                #expect(!isAccepted)
            } else {
                #expect(isAccepted && journal.error == nil, "\(String(describing: journal.error))")
            }
            #expect(rig.network.dialled.count == 1)
            rig.expectClean()
        }
    }

    /// A first request opens a connection; while the loop is held up the server does `deed` on it; then a second
    /// request is made. Bytes that `deed` returns are sent where a request comes on this connection nevertheless.
    private func afterHold(
        by holder: Holder, isTLS: Bool, body: [UInt8]?, deed: @escaping @Sendable (BluntConnection) -> [UInt8]?
    ) async throws -> LiveEngine.Answer {
        let (root, identity) = try CertificateFactory.server("host.test")
        let server = try BluntServer(isTLS ? TLSContext(server: TLSServerOptions(identity: identity)) : nil)
        let group = LoopGroup(count: 1, name: "held")
        let live = LiveEngine(loop: group.next()) { $0.trust = AnchorsEvaluator(anchors: [root]) }
        let (isHeld, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (done, doneNow) = AsyncStream.makeStream(of: Void.self)
        DispatchQueue.global().async {
            guard let first = server.accept(), first.answer("first") else { return doneNow.finish() }
            isHeld.wait()
            let rest = deed(first)
            first.awaitDelivery()
            doneNow.finish()
            DispatchQueue.global().async { while let second = server.accept(), second.answer("second") {} }
            // Only a request on this connection goes any further here.
            if let rest, first.awaitRequest() { first.sendRaw(rest) }
        }
        let scheme: Scheme = isTLS ? .https : .http
        let first = try await live.load(server.port, scheme: scheme)
        #expect(first.text == "first")
        @Sendable func hold() {
            isHeld.signal()
            gate.wait()
        }
        switch holder {
        case .work: live.engine.loop.run { _ in hold() }
        case .task: Task(executorPreference: live.engine.loop.taskExecutor) { hold() }
        }
        for await _ in done {}
        let second = try await live.load(server.port, scheme: scheme, body: body, started: { _ in gate.signal() })
        live.engine.shutDown(immediately: true)
        server.stop()
        group.stop()
        return second
    }
}
