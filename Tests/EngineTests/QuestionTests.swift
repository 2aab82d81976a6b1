// Which receiver is asked about a connection, and what each answer means for its request and for
// those that wait beside it.

import Dispatch
import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@Suite struct QuestionTests {
    private func identity() throws -> (root: Certificate, identity: Identity) {
        try CertificateFactory.server("host.test")
    }

    private func rig(_ change: (inout EngineConfiguration) -> Void = { _ in }) throws -> EngineRig {
        let rig = EngineRig { change(&$0) }
        try rig.serveTLS(identity().identity)
        return rig
    }

    private func accept(_ journal: Journal, _ index: Int = 0, sourceLocation: SourceLocation = #_sourceLocation) {
        guard journal.questions.indices.contains(index), case .peer(let question) = journal.questions[index] else {
            Issue.record("it was not asked about the peer", sourceLocation: sourceLocation)
            return
        }
        question.answer(.accept)
    }

    private func answer(_ journal: Journal, _ answer: PeerQuestion.Answer) throws {
        guard case .peer(let question)? = journal.questions.last else {
            throw EngineError.cancelled
        }
        question.answer(answer)
    }

    // MARK: On a virtual clock

    @Test("B6.9, B1.32: while a verdict is awaited no idle time runs; afterwards it runs on")
    func noIdleTimeWhileAsked() throws {
        let rig = try rig()
        let journal = rig.submit(idleTimeout: .seconds(10), scheme: .https, answers: true)
        rig.settle()
        #expect(journal.questions.count == 1)
        rig.advance(.seconds(3600))
        #expect(!journal.hasEnded)
        accept(journal)
        rig.settle()
        #expect(journal.text == "secret")
        rig.expectClean()
    }

    @Test("B6.8: the resource time runs while a verdict is awaited")
    func resourceTimeWhileAsked() throws {
        let rig = try rig()
        let journal = rig.submit(resourceTimeout: .seconds(100), scheme: .https, answers: true)
        rig.settle()
        rig.advance(.seconds(99))
        #expect(!journal.hasEnded)
        rig.advance(.seconds(2))
        // It is the program that is waited for, and no server.
        guard case .resourceTimeout(_, .waitingForProgram, _, _) = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        accept(journal)
        rig.settle()
        #expect(journal.ends == 1)
        rig.expectClean()
    }

    @Test("B1.32: no idle time runs for requests that wait behind a question to another request")
    func noIdleTimeBehindQuestion() throws {
        let rig = try rig { $0.maximumConnectionsPerHost = 2 }
        let first = rig.submit(idleTimeout: .seconds(10), scheme: .https, answers: true)
        let second = rig.submit(idleTimeout: .seconds(10), scheme: .https, answers: true)
        let third = rig.submit(idleTimeout: .seconds(10), scheme: .https, answers: true)
        let fourth = rig.submit(idleTimeout: .seconds(10), scheme: .https, answers: true)
        rig.settle()
        #expect([first, second, third, fourth].map(\.questions.count) == [1, 1, 0, 0])
        // A new dial begins, which starts the idle time of all that wait.
        try answer(second, .cancel)
        rig.settle()
        #expect(second.error.isCancelled)
        #expect(third.questions.count == 1)
        for _ in 0..<10 { rig.advance(.seconds(60)) }
        #expect([first, third, fourth].allSatisfy { !$0.hasEnded })
        accept(first)
        rig.settle()
        #expect(first.text == "secret")
        #expect(fourth.text == "secret", "it takes over the first one's connection")
        accept(third)
        rig.settle()
        #expect(third.text == "secret")
        rig.expectClean()
    }

    @Test("A dial that hangs, while another one's question is open, ends by the idle time")
    func hangingDialBesideQuestion() throws {
        let rig = try rig()
        let asked = rig.submit(idleTimeout: .seconds(10), scheme: .https, answers: true)
        rig.settle()
        rig.network.setAddress("10.0.0.1:443", .hang)
        let hanging = rig.submit(idleTimeout: .seconds(10), scheme: .https, answers: true)
        rig.settle()
        rig.advance(.seconds(11))
        guard case .idleTimeout = hanging.error else {
            Issue.record("\(String(describing: hanging.error))")
            return
        }
        #expect(!asked.hasEnded)
        accept(asked)
        rig.settle()
        #expect(asked.text == "secret")
        rig.expectClean()
    }

    @Test("B2.38: the answer cancel ends the one that was asked; the next has its own connection and is asked anew")
    func cancelAnswer() throws {
        let rig = try rig { $0.maximumConnectionsPerHost = 1 }
        let first = rig.submit(scheme: .https, answers: true)
        let second = rig.submit(scheme: .https, answers: true)
        rig.settle()
        try answer(first, .cancel)
        rig.settle()
        #expect(first.error.isCancelled)
        #expect(second.questions.count == 1 && !second.hasEnded)
        #expect(rig.network.streams.total == 4, "two connections, two ends each")
        accept(second)
        rig.settle()
        #expect(second.text == "secret")
        rig.expectClean()
    }

    @Test(
        "A request that is cancelled while asked leaves its handshake to the next, which is asked; its own answer is late"
    )
    func passedOn() throws {
        let rig = try rig { $0.maximumConnectionsPerHost = 1 }
        let first = rig.submit(scheme: .https, answers: true)
        let second = rig.submit(scheme: .https, answers: true)
        rig.settle()
        first.handle?.cancel()
        rig.settle()
        #expect(first.error.isCancelled)
        #expect(second.questions.count == 1)
        try answer(first, .refuse(TrustFailure(.pinMismatch, try identity().root)))
        rig.settle()
        #expect(!second.hasEnded)
        accept(second)
        rig.settle()
        #expect(second.text == "secret")
        #expect(rig.network.streams.total == 2, "one connection, two ends")
        rig.expectClean()
    }

    @Test("A handshake ends when the only request that could answer its question is cancelled")
    func abandoned() throws {
        let rig = try rig()
        let journal = rig.submit(scheme: .https, answers: true)
        rig.settle()
        journal.handle?.cancel()
        rig.settle()
        #expect(rig.core.counts == PoolCounts())
        accept(journal)
        rig.settle()
        #expect(journal.ends == 1)
        rig.expectClean()
    }

    @Test("A new connection whose request is served elsewhere is closed, because no receiver is left to judge it")
    func surplusDial() throws {
        let rig = try rig { $0.trust = DangerouslyAcceptAnyEvaluator() }
        let first = rig.submit(scheme: .https, answers: true)
        rig.settle()
        // The second dial takes a while, and by then the first connection has served its request.
        let context = try TLSContext(server: TLSServerOptions(identity: identity().identity))
        rig.network.setAddress(
            "10.0.0.1:443",
            .accept(delay: .seconds(5)) { [unowned rig] stream in
                if let peer = try? TLSPeer(stream, context: context, answer: "") { rig.keep(stream, peer) }
            })
        let second = rig.submit(scheme: .https, answers: true)
        accept(first)
        rig.settle()
        #expect(first.text == "secret" && second.text == "secret")
        rig.advance(.seconds(6))
        #expect(rig.core.counts == PoolCounts(idle: 1), "the second dial's connection is not kept")
        #expect(second.questions.isEmpty)
        rig.expectClean()
    }

    @Test("A request whose receiver answers no questions is judged at once, also beside one whose receiver does")
    func mixed() throws {
        let rig = try rig { $0.trust = DangerouslyAcceptAnyEvaluator() }
        let asked = rig.submit(scheme: .https, answers: true)
        let silent = rig.submit(scheme: .https)
        rig.settle()
        #expect(silent.text == "secret" && silent.questions.isEmpty)
        #expect(!asked.hasEnded && asked.questions.count == 1)
        accept(asked)
        rig.settle()
        #expect(asked.text == "secret")
        rig.expectClean()
    }

    @Test("B1.31, B1.39: a request that is suspended while a verdict is awaited is asked once, and sends nothing")
    func suspended() throws {
        let rig = try rig()
        let journal = rig.submit(idleTimeout: .seconds(10), scheme: .https, answers: true)
        rig.settle()
        journal.handle?.suspend()
        rig.settle()
        rig.advance(.seconds(60))
        accept(journal)
        rig.settle()
        #expect(!journal.hasEnded)
        #expect(rig.core.counts == PoolCounts(idle: 1), "the connection waits")
        journal.handle?.resume()
        rig.settle()
        #expect(journal.text == "secret")
        #expect(journal.questions.count == 1)
        #expect(rig.network.streams.total == 2, "one connection, two ends")
        rig.expectClean()
    }

    @Test(
        "B1.31, B16.77: a request that is suspended while a verdict is awaited is asked once, also where no connection grows old"
    )
    func suspendedWithoutLifetime() throws {
        let rig = try rig { $0.maximumConnectionLifetime = .zero }
        let journal = rig.submit(scheme: .https, answers: true)
        rig.settle()
        journal.handle?.suspend()
        rig.settle()
        accept(journal)
        rig.settle()
        #expect(rig.core.counts == PoolCounts(idle: 1), "the connection waits")
        rig.advance(.seconds(30))
        journal.handle?.resume()
        rig.settle()
        #expect(journal.text == "secret")
        #expect(journal.questions.count == 1)
        #expect(rig.core.counts == PoolCounts(), "it serves no other request")
        rig.expectClean()
    }

    @Test("B1.31: a request that is suspended and resumed while a verdict is awaited is asked once")
    func suspendedForAMoment() throws {
        let rig = try rig()
        let journal = rig.submit(idleTimeout: .seconds(10), scheme: .https, answers: true)
        rig.settle()
        journal.handle?.suspend()
        rig.settle()
        journal.handle?.resume()
        rig.settle()
        rig.advance(.seconds(60))
        #expect(!journal.hasEnded)
        accept(journal)
        rig.settle()
        #expect(journal.text == "secret")
        #expect(journal.questions.count == 1)
        rig.expectClean()
    }

    @Test("B1.41: a request that is suspended while a verdict is awaited can be cancelled, or lose its connection")
    func suspendedEnds() throws {
        for isRefused in [false, true] {
            let rig = try rig()
            let journal = rig.submit(scheme: .https, answers: true)
            rig.settle()
            journal.handle?.suspend()
            rig.settle()
            if isRefused {
                try answer(journal, .refuse(TrustFailure(.pinMismatch, try identity().root)))
            } else {
                journal.handle?.cancel()
            }
            rig.settle()
            #expect(journal.ends == 1)
            #expect(journal.error.isCancelled == !isRefused)
            #expect(rig.core.counts == PoolCounts())
            rig.expectClean()
        }
    }

    @Test("B2.33, B2.36, B2.40: what the answers mean")
    func answers() throws {
        let (root, _) = try identity()
        let cases: [(PeerQuestion.Answer, any TrustEvaluator, String)] = [
            (.accept, AnchorsEvaluator(anchors: [root]), "secret"),
            (.evaluate, DangerouslyAcceptAnyEvaluator(), "secret"),
            (.evaluate, AnchorsEvaluator(anchors: [root]), "unknownRoot"),
            (.refuse(TrustFailure(.pinMismatch, root)), DangerouslyAcceptAnyEvaluator(), "pinMismatch"),
        ]
        for (said, evaluator, expected) in cases {
            let rig = try rig { $0.trust = evaluator }
            let journal = rig.submit(scheme: .https, answers: true)
            rig.settle()
            try answer(journal, said)
            try answer(journal, .cancel)
            rig.settle()
            if case .tls(.untrusted(let failure), _) = journal.error {
                #expect("\(failure.reason)" == expected)
            } else {
                #expect(journal.text == expected)
            }
            rig.expectClean()
        }
    }

    // MARK: On real loops

    @Test("The handshake waits for a verdict that comes late and from another thread; no byte leaves before it")
    func lateVerdict() async throws {
        let (root, identity) = try identity()
        let server = try LoopbackServer.start(.init(tls: TLSServerOptions(identity: identity))) { _ in .text("secret") }
        let live = LiveEngine { $0.trust = AnchorsEvaluator(anchors: [root]) }
        let answer = try await live.get(
            server,
            asked: { question in
                guard case .peer(let peer) = question else { return }
                DispatchQueue.global().async {
                    #expect(server.stats.bytesReceived == 0)
                    #expect(peer.chain.leaf.dnsNames == ["host.test"])
                    peer.answer(.evaluate)
                    peer.answer(.refuse(TrustFailure(.pinMismatch, peer.chain.leaf)))
                }
            })
        #expect(answer.text == "secret", "the first answer counts")
        await server.stop()
    }

    @Test(
        "B3.12: a late verdict sees the stapled response, and no byte leaves before it",
        arguments: [TLSVersion.v12, .v13], [OCSPAnswer.good, .revoked])
    func stapled(_ version: TLSVersion, _ says: OCSPAnswer) async throws {
        let root = try CertificateFactory.root()
        let leaf = try root.issue(.server("host.test"))
        var options = TLSServerOptions(identity: leaf.identity, maximum: version)
        options.stapledResponse = try root.ocspResponse(about: leaf.certificate, says)
        let server = try LoopbackServer.start(.init(tls: options)) { _ in .text("secret") }
        let live = LiveEngine { $0.trust = AnchorsEvaluator(anchors: [root.certificate]) }
        let ended = try await live.get(
            server,
            asked: { question in
                guard case .peer(let peer) = question else { return }
                DispatchQueue.global().async {
                    #expect(server.stats.bytesReceived == 0)
                    peer.answer(.evaluate)
                }
            })
        if says == .good {
            #expect(ended.text == "secret")
        } else {
            guard case .tls(.untrusted(let failure), "host.test") = ended.error else {
                Issue.record("\(String(describing: ended.error))")
                return
            }
            #expect(failure.reason == .revoked)
            #expect(server.stats.bytesReceived == 0)
            #expect(server.stats.requestsBegun == 0)
        }
        await server.stop()
    }

    @Test("Cancelling while a verdict is awaited ends the transfer; a later answer does no harm")
    func cancelDuringVerdict() async throws {
        let server = try LoopbackServer.start(.init(tls: TLSServerOptions(identity: identity().identity))) { _ in
            .text("secret")
        }
        let handle = Guarded<TransactionHandle?>(nil)
        let question = Guarded<ConnectionQuestion?>(nil)
        let answer = try await LiveEngine().get(
            server,
            started: { started in
                handle.withLock { $0 = started }
                if question.withLock({ $0 }) != nil { started.cancel() }
            },
            asked: { asked in
                question.withLock { $0 = asked }
                handle.withLock { $0 }?.cancel()
            })
        #expect(answer.error.isCancelled)
        if case .peer(let peer)? = question.withLock({ $0 }) { peer.answer(.accept) }
        // Its request holds the closures that hold it.
        handle.withLock { $0 = nil }
        await server.wait { $0.connectionsAccepted == 1 && $0.connectionsOpen == 0 }
        #expect(server.stats.requestsBegun == 0)
        await server.stop()
    }
}
