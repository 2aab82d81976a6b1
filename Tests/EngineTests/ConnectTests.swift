// Tunnels through HTTP proxies: CONNECT, its rounds of 407, and everything that a proxy can do instead of opening one.

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("Tunnels by CONNECT")
struct ConnectTests {
    private let end: TunnelEnd

    init() throws {
        end = try TunnelEnd()
    }

    private func makeRig(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> EngineRig {
        EngineRig {
            $0.trust = AnchorsEvaluator(anchors: [end.root])
            change(&$0)
        }
    }

    /// The steps of a connection on which CONNECT is answered by these, and then the tunnel stands.
    private func tunnel(
        _ before: [ScriptedPeer.Step] = [], _ answer: ScriptedPeer.Step = .established
    ) -> (EngineRig, MemoryStream) -> [ScriptedPeer.Step] {
        let context = end.context
        return { rig, stream in before + [.receiveHead, answer, .tunnelTLS(rig, stream, context)] }
    }

    private func submit(
        _ rig: EngineRig, answers: Bool = false, idleTimeout: Duration? = .seconds(60)
    ) throws -> Journal {
        let journal = rig.submit(
            idleTimeout: idleTimeout, scheme: .https, answers: answers, route: .proxied(try testProxy()))
        rig.settle()
        return journal
    }

    /// Answers the question about the origin behind the tunnel: the session's own evaluator judges it.
    private func believe(_ journal: Journal, _ rig: EngineRig) {
        guard case .peer(let question)? = journal.questions.last else {
            Issue.record("the tunnel does not stand")
            return
        }
        question.answer(.evaluate)
        rig.settle()
    }

    private static let connect = "CONNECT host.test:443 HTTP/1.1\r\nHost: host.test:443\r\n"

    // MARK: Success

    @Test("B13.15: https goes through CONNECT with host and port, and TLS is with the origin")
    func opens() throws {
        let rig = makeRig { $0.connectUserAgent = "tests/1" }
        let proxy = rig.serveProxy("proxy.test", [tunnel()])
        let journal = try submit(rig)
        #expect(journal.text == "secret" && journal.error == nil)
        #expect(proxy.texts == [Self.connect + "User-Agent: tests/1\r\n\r\n"])
        #expect(rig.network.lookedUp == ["proxy.test"], "the proxy looks the origin up")
        let timeline = try #require(journal.outcome?.timelines.last)
        #expect(timeline.usesProxy && timeline.tls != nil)
        let (secure, connected) = (try #require(timeline.secureEnd), try #require(timeline.connectEnd))
        #expect(secure <= connected, "B12.10")
        rig.expectClean()
    }

    @Test("B13.20: what the application's request holds is not in CONNECT")
    func noFields() throws {
        let rig = makeRig()
        let proxy = rig.serveProxy("proxy.test", [tunnel()])
        let journal = rig.submit(
            fields: [("Cookie", "a=b"), ("Authorization", "Basic eA=="), ("X-Own", "1")], scheme: .https,
            route: .proxied(try testProxy()))
        rig.settle()
        #expect(journal.text == "secret" && proxy.texts == [Self.connect + "\r\n"])
        rig.expectClean()
    }

    @Test("B13.16: the answer may come in any pieces, with informational ones before it, and any 2xx will do")
    func pieces() throws {
        let text = "HTTP/1.1 103 x\r\n\r\nHTTP/1.0 299 x\r\nContent-Length: 7\r\n\r\n"
        for size in [1, 2, 7, 1000] {
            let rig = makeRig()
            rig.serveProxy("proxy.test", [tunnel([], .sendInPieces(Array(text.utf8), size: size))])
            let journal = try submit(rig)
            #expect(journal.text == "secret" && journal.informational.isEmpty, "\(size) bytes a piece")
            rig.expectClean()
        }
    }

    @Test("B13.33: a tunnel serves its origin again, and no other")
    func reuse() throws {
        let rig = makeRig { $0.trust = DangerouslyAcceptAnyEvaluator() }
        let proxy = rig.serveProxy("proxy.test", [tunnel()])
        let route = Route.proxied(try testProxy())
        for host in ["host.test", "host.test", "other.test"] {
            let journal = rig.submit(host: host, scheme: .https, route: route)
            rig.settle()
            #expect(journal.text == "secret")
        }
        #expect(
            proxy.texts == [Self.connect + "\r\n", "CONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n"])
        rig.expectClean()
    }

    @Test("B13.15: known credentials are in the first CONNECT already, and are looked up for its target")
    func preemptive() throws {
        let (asked, accepted) = (Guarded<[String]>([]), Guarded<Int?>(nil))
        let proof = try Self.known { head, _ in accepted.value = head?.status }
        let rig = makeRig {
            $0.tunnelProof = { proxy, target in
                asked.withLock { $0.append("\(proxy) \(target)") }
                return proof
            }
        }
        let proxy = rig.serveProxy("proxy.test", [tunnel()])
        let journal = try submit(rig)
        #expect(journal.text == "secret" && accepted.value == 200)
        #expect(proxy.texts == [Self.connect + "Proxy-Authorization: Basic known\r\n\r\n"])
        #expect(asked.withLock { $0 } == ["http://proxy.test:3128 host.test:443"])
        rig.expectClean()
    }

    /// What is known about the proxy beforehand.
    private static func known(accepted: ProxyQuestion.Acceptance? = nil) throws -> TunnelProof {
        let side = AuthenticationSide(try testProxy())
        var spaces = RememberedSpaces()
        spaces.give(PasswordCredential(user: "u", password: "p"), to: side, from: "/")
        let request = AuthenticatedRequest(method: "CONNECT", target: "host.test:443")
        let authorization = spaces.authorization(for: side, request: request)
        return TunnelProof(authorization: try #require(authorization), value: "Basic known", accepted: accepted)
    }

    @Test("B2.78: a question says what CONNECT went out with unasked; later ones are about answers")
    func preemptiveRefused() throws {
        let proof = try Self.known()
        let rig = makeRig { $0.tunnelProof = { _, _ in proof } }
        let proxy = rig.serveProxy("proxy.test", [tunnel([.receiveHead, .askForLogin, .receiveHead, .askForLogin])])
        let journal = try submit(rig, answers: true)
        let first = try #require(journal.proxyQuestion)
        #expect(first.isFirst && first.ahead?.mark == proof.authorization.mark)
        first.answer(.authorize("Basic one"))
        rig.settle()
        let second = try #require(journal.proxyQuestion)
        #expect(!second.isFirst && second.ahead == nil)
        second.answer(.authorize("Basic two"))
        rig.settle()
        believe(journal, rig)
        #expect(journal.text == "secret")
        #expect(
            proxy.texts == [
                ["known", "one", "two"].map { Self.connect + "Proxy-Authorization: Basic \($0)\r\n\r\n" }.joined()
            ])
        rig.expectClean()
    }

    // MARK: 407

    @Test("B2.100: after 407 CONNECT goes out again with the answer, on the same connection, as often as it takes")
    func rounds() throws {
        let rig = makeRig()
        let proxy = rig.serveProxy("proxy.test", [tunnel([.receiveHead, .askForLogin, .receiveHead, .askForLogin])])
        let journal = try submit(rig, answers: true)
        for value in ["NTLM one", "NTLM three"] {
            let question = try #require(journal.proxyQuestion)
            #expect(question.origin.host == "host.test" && question.isFirst == (value == "NTLM one"))
            #expect(question.ahead == nil)
            guard case .http(let head, target: "host.test:443") = question.demand else {
                Issue.record("\(question.demand)")
                return
            }
            #expect(head.status == 407 && head.fields.first(.proxyAuthenticate) == "Basic realm=\"p\"")
            question.answer(.authorize(value))
            rig.settle()
        }
        believe(journal, rig)
        #expect(journal.questions.count == 3 && journal.text == "secret")
        #expect(
            proxy.texts == [
                Self.connect + "\r\n" + Self.connect + "Proxy-Authorization: NTLM one\r\n\r\n" + Self.connect
                    + "Proxy-Authorization: NTLM three\r\n\r\n"
            ])
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test("B2.67: a proxy that opens the tunnel has accepted the last answer, and no other")
    func accepted() throws {
        let rig = makeRig()
        rig.serveProxy("proxy.test", [tunnel([.receiveHead, .askForLogin, .receiveHead, .askForLogin])])
        let journal = try submit(rig, answers: true)
        let accepted = Guarded<[String]>([])
        for value in ["Basic one", "Basic two"] {
            #expect(accepted.value.isEmpty)
            let question = try #require(journal.proxyQuestion)
            question.answer(
                .authorize(
                    value, accepted: { head, _ in accepted.change { $0.append("\(value) \(head?.status ?? 0)") } }))
            rig.settle()
        }
        #expect(accepted.value == ["Basic two 200"])
        believe(journal, rig)
        rig.expectClean()
    }

    @Test("B2.100: the rest of a 407 may come after the answer, which waits for it")
    func lateBody() throws {
        let rig = makeRig()
        let head = "HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\nContent-Length: 5\r\n\r\nlo"
        let proxy = rig.serveProxy(
            "proxy.test", [tunnel([.receiveHead, .send(head), .delay(.seconds(5)), .send("gin")])])
        let journal = try submit(rig, answers: true)
        try #require(journal.proxyQuestion).answer(.authorize("Basic x"))
        rig.settle()
        #expect(proxy.texts == [Self.connect + "\r\n"])
        rig.advance(.seconds(6))
        believe(journal, rig)
        #expect(journal.text == "secret" && rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test(
        "B2.100: where the proxy ends the connection after 407, CONNECT goes out on a new one",
        arguments: [
            "Connection: close\r\nContent-Length: 0\r\n", "", "Content-Length: 100000\r\n",
            "Transfer-Encoding: chunked\r\n",
        ])
    func newConnection(fields: String) throws {
        for closes in [true, false] where closes || fields.hasPrefix("Connection") {
            let rig = makeRig()
            let answer = "HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\n\(fields)\r\n"
            let first: [ScriptedPeer.Step] = [.receiveHead, .send(answer)] + (closes ? [.close] : [.receiveEnd])
            let proxy = rig.serveProxy("proxy.test", [{ _, _ in first }, tunnel()])
            let journal = try submit(rig, answers: true)
            try #require(journal.proxyQuestion).answer(.authorize("Basic x"))
            rig.settle()
            believe(journal, rig)
            #expect(journal.text == "secret" && journal.questions.count == 2)
            #expect(proxy.texts == [Self.connect + "\r\n", Self.connect + "Proxy-Authorization: Basic x\r\n\r\n"])
            rig.expectClean()
        }
    }

    @Test("B2.100: a connection that dies while its challenge is open, or under the next CONNECT, is replaced")
    func diesBetween() throws {
        for rest in [[ScriptedPeer.Step.close], [.receiveHead, .close], [.receiveHead, .reset]] {
            let rig = makeRig()
            rig.serveProxy("proxy.test", [{ _, _ in [.receiveHead, .askForLogin] + rest }, tunnel()])
            let journal = try submit(rig, answers: true)
            try #require(journal.proxyQuestion).answer(.authorize("Basic x"))
            rig.settle()
            believe(journal, rig)
            #expect(journal.text == "secret" && rig.network.dialled.count == 2)
            rig.expectClean()
        }
    }

    @Test("B2.93: an answer that belongs to its connection is not sent on another one: the rounds begin anew there")
    func beginsAnew() throws {
        for rest in [[ScriptedPeer.Step.close], [.receiveHead, .close], [.receiveHead, .reset]] {
            let rig = makeRig()
            let proxy = rig.serveProxy(
                "proxy.test",
                [{ _, _ in [.receiveHead, .askForLogin] + rest }, tunnel([.receiveHead, .askForLogin])])
            let journal = try submit(rig, answers: true)
            let (first, accepted) = (try #require(journal.proxyQuestion), Guarded<[String]>([]))
            first.answer(
                .authorize("NTLM three", beginning: "NTLM one") { _, _ in accepted.withLock { $0.append("first") } })
            rig.settle()
            let second = try #require(journal.proxyQuestion)
            #expect(!first.beganAnew && second.beganAnew && !second.isFirst)
            second.answer(
                .authorize("NTLM drei", beginning: "NTLM one") { _, _ in accepted.withLock { $0.append("second") } })
            rig.settle()
            believe(journal, rig)
            #expect(journal.text == "secret" && accepted.value == ["second"])
            let sent = ["one", "drei"].map { Self.connect + "Proxy-Authorization: NTLM \($0)\r\n\r\n" }.joined()
            #expect(proxy.texts.last == sent)
            rig.expectClean()
        }
    }

    @Test("B2.102: a 407 fails the request where there is no answer to it, and its body is not delivered")
    func unanswered() throws {
        for answers in [false, true] {
            let rig = makeRig()
            rig.serveProxy([.receiveHead, .askForLogin, .receiveEnd])
            let journal = try submit(rig, answers: answers)
            if answers { try #require(journal.proxyQuestion).answer(.giveUp) }
            rig.settle()
            guard case .authentication(let head)? = journal.proxyFailure else {
                Issue.record("\(String(describing: journal.error))")
                return
            }
            #expect(head.status == 407 && journal.head == nil && journal.body.isEmpty)
            rig.expectClean()
        }
    }

    @Test("B2.38: cancelling a proxy's challenge ends the request that was asked")
    func cancelledChallenge() throws {
        let rig = makeRig()
        rig.serveProxy([.receiveHead, .askForLogin, .receiveEnd])
        let journal = try submit(rig, answers: true)
        try #require(journal.proxyQuestion).answer(.cancel)
        rig.settle()
        guard case .cancelled? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(rig.core.counts == PoolCounts())
        rig.expectClean()
    }

    @Test("B6.9: no idle time runs while a proxy's challenge is open, and a second answer does not count")
    func thinking() throws {
        let rig = makeRig()
        rig.serveProxy("proxy.test", [tunnel([.receiveHead, .askForLogin])])
        let journal = try submit(rig, answers: true, idleTimeout: .seconds(10))
        rig.advance(.seconds(3600))
        let question = try #require(journal.proxyQuestion)
        question.answer(.authorize("Basic x"))
        question.answer(.giveUp)
        rig.settle()
        believe(journal, rig)
        #expect(journal.text == "secret")
        rig.expectClean()
    }

    @Test("B1.32: when the request that was asked is cancelled, the next that waits for the tunnel is asked")
    func nextIsAsked() throws {
        let rig = makeRig { $0.maximumConnectionsPerHost = 1 }
        rig.serveProxy("proxy.test", [tunnel([.receiveHead, .askForLogin])])
        let first = try submit(rig, answers: true)
        let second = try submit(rig, answers: true)
        #expect(first.questions.count == 1 && second.questions.isEmpty)
        first.handle?.cancel()
        rig.settle()
        try #require(second.proxyQuestion).answer(.authorize("Basic x"))
        rig.settle()
        believe(second, rig)
        #expect(second.text == "secret" && rig.network.dialled.count == 1)
        rig.expectClean()
    }

    // MARK: Refusals and other ends

    @Test(
        "B13.17: any other status is the proxy's refusal; nothing of it is delivered",
        arguments: [302, 403, 404, 502, 503])
    func refused(status: Int) throws {
        let rig = makeRig()
        rig.serveProxy([.receiveHead, .respond("not for you", status: "\(status) x"), .receiveEnd])
        let journal = try submit(rig, answers: true)
        guard case .refused(let head)? = journal.proxyFailure else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(head.status == status && journal.head == nil && journal.body.isEmpty && journal.questions.isEmpty)
        #expect(journal.error?.description.contains("\(status)") == true)
        #expect(journal.outcome?.timelines.last?.usesProxy == true, "B12.17")
        rig.expectClean()
    }

    @Test("B13.17, B13.19: garbage and an early end are told apart, and name the proxy")
    func badAnswers() throws {
        for (script, isGarbage) in [
            ([.receiveHead, .send("SSH-2.0-what\r\n"), .receiveEnd], true),
            ([.send("HTTP/1.1 abc\r\n\r\n"), .receiveEnd], true),
            ([.receiveHead, .close], false), ([.receiveHead, .reset], false), ([.close], false),
            ([.receiveHead, .send("HTTP/1.1 2"), .close], false),
        ] as [([ScriptedPeer.Step], Bool)] {
            let rig = makeRig()
            rig.serveProxy(script)
            let journal = try submit(rig)
            switch journal.proxyFailure {
            case .garbage?: #expect(isGarbage)
            case .closed?: #expect(!isGarbage)
            default: Issue.record("\(String(describing: journal.error))")
            }
            #expect(journal.error?.description.contains("proxy.test:3128") == true)
            rig.expectClean()
        }
    }

    @Test("B17.38, B13.21: what is wrong behind the tunnel is the origin's, and names it")
    func behindTheTunnel() throws {
        let cut = makeRig()
        cut.serveProxy([.receiveHead, .established, .close])
        let closed = try submit(cut)
        guard case .tls(.closedDuringHandshake, host: "host.test")? = closed.error else {
            Issue.record("\(String(describing: closed.error))")
            return
        }
        cut.expectClean()

        let unbelieved = EngineRig { $0.trust = AnchorsEvaluator(anchors: []) }
        unbelieved.serveProxy("proxy.test", [tunnel()])
        let refused = try submit(unbelieved, answers: true)
        guard case .peer(let question)? = refused.questions.last else {
            Issue.record("there was no question")
            return
        }
        #expect(question.proxy == nil && question.origin.host == "host.test")
        question.answer(.evaluate)
        unbelieved.settle()
        guard case .tls(.untrusted, host: "host.test")? = refused.error else {
            Issue.record("\(String(describing: refused.error))")
            return
        }
        unbelieved.expectClean()
    }

    @Test("B6.1: a proxy that says nothing runs into the idle time; the error names it and says that it was waited for")
    func silent() throws {
        let rig = makeRig()
        rig.serveProxy([.receiveHead, .receiveEnd])
        let journal = try submit(rig, idleTimeout: .seconds(10))
        rig.advance(.seconds(11))
        let host = "host.test through the proxy http://proxy.test:3128"
        guard case .idleTimeout(host, .tunnelling, _)? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("B6.5: the resource time ends a tunnel that is being opened")
    func resourceTime() throws {
        let rig = makeRig()
        rig.serveProxy([.receiveHead, .askForLogin, .receiveEnd])
        let journal = rig.submit(
            resourceTimeout: .seconds(30), scheme: .https, answers: true, route: .proxied(try testProxy()))
        rig.advance(.seconds(31))
        guard case .resourceTimeout? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("B17.10: a request can be cancelled at every step through a proxy, and nothing is left open")
    func cancelledAnywhere() throws {
        let steps: [(EngineRig) -> Void] = [
            { $0.network.setName("proxy.test", .hangs) },
            {
                $0.network.setName("proxy.test", .addresses(["10.0.0.2"]))
                $0.network.setAddress("10.0.0.2:3128", .hang)
            },
            { $0.serveProxy([.receiveHead, .receiveEnd]) },
            { $0.serveProxy([.receiveHead, .askForLogin, .receiveEnd]) },
            { $0.serveProxy([.receiveHead, .send("HTTP/1.1 407 x\r\nContent-Length: 9\r\n\r\n"), .receiveEnd]) },
            { $0.serveProxy([.receiveHead, .established, .receiveEnd]) },
        ]
        for (index, prepare) in steps.enumerated() {
            let rig = makeRig()
            prepare(rig)
            let journal = try submit(rig, answers: true)
            #expect(!journal.hasEnded, "step \(index)")
            journal.handle?.cancel()
            rig.settle()
            guard case .cancelled? = journal.error else {
                Issue.record("step \(index): \(String(describing: journal.error))")
                continue
            }
            rig.expectClean()
        }
    }

    @Test("The trace tells when a tunnel stands, and why one does not")
    func hooks() throws {
        let seen = Guarded<[String]>([])
        let rig = makeRig {
            $0.connectionObserver = { _, step in
                guard case .tunnelFinished(_, let proxy, let failure) = step else { return }
                seen.withLock { $0.append("\(proxy) \(failure == nil ? "open" : "closed")") }
            }
        }
        rig.serveProxy("proxy.test", [{ _, _ in [.receiveHead, .close] }, tunnel()])
        _ = try submit(rig)
        _ = try submit(rig)
        #expect(seen.withLock { $0 } == ["http://proxy.test:3128 closed", "http://proxy.test:3128 open"])
        rig.expectClean()
    }
}
