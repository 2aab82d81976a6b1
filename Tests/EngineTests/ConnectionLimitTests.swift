import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingTrust

/// How long a connection may be on its way: behaviour 6.39.
struct ConnectionLimitTests {
    /// An engine whose connections have five seconds.
    private func makeRig(_ configure: (inout EngineConfiguration) -> Void = { _ in }) -> EngineRig {
        EngineRig {
            $0.connectionTimeout = .seconds(5)
            configure(&$0)
        }
    }

    @Test("B6.39: the limit ends a look-up, a connect, a proxy's silence and a handshake, and names step and proxy")
    func everyStep() throws {
        let proxied = Route.proxied(try testProxy())
        let proxiedByTLS = Route.proxied(try testProxy(.https))
        let muteProxy: (EngineRig) -> Void = { rig in
            rig.network.serve("proxy.test", port: 3128) { [unowned rig] in rig.keep($0, Mute()) }
        }
        let steps: [(EngineError.Phase, Scheme, Route, (EngineRig) -> Void)] = [
            (.lookingUpName, .http, .direct(), { $0.network.setName("host.test", .hangs) }),
            (
                .connecting, .http, .direct(),
                {
                    $0.network.setName("host.test", .addresses(["10.0.0.1"]))
                    $0.network.setAddress("10.0.0.1:80", .hang)
                }
            ),
            (
                .connecting, .http, .direct(),
                {
                    $0.network.setName("host.test", .addresses(["10.0.0.1", "10.0.0.2"]))
                    $0.network.setAddress("10.0.0.1:80", .hang)
                    $0.network.setAddress("10.0.0.2:80", .hang)
                }
            ),
            (.lookingUpProxy, .http, proxied, { $0.network.setName("proxy.test", .hangs) }),
            (.tunnelling, .https, proxied, muteProxy),
            (.shakingHandsWithProxy, .https, proxiedByTLS, muteProxy),
            (.shakingHandsWithProxy, .http, proxiedByTLS, muteProxy),
            (
                .shakingHands, .https, .direct(),
                { rig in rig.network.serve("host.test", port: 443) { [unowned rig] in rig.keep($0, Mute()) } }
            ),
        ]
        for (phase, scheme, route, prepare) in steps {
            let rig = makeRig()
            prepare(rig)
            let journal = rig.submit(scheme: scheme, route: route)
            rig.advance(.milliseconds(4_999))
            #expect(!journal.hasEnded, "\(phase)")
            rig.advance(.milliseconds(1))
            let host =
                route.proxy.map { proxy in
                    proxy.forwards(scheme) ? "the proxy \(proxy)" : "host.test through the proxy \(proxy)"
                } ?? "host.test"
            guard case .connectionTimeout(host, phase, .seconds(5))? = journal.error else {
                Issue.record("\(phase): \(String(describing: journal.error))")
                continue
            }
            rig.expectClean()
        }
    }

    @Test("B6.1, B6.39: where the request's time ends with the connection's, the request times out")
    func bothAtOnce() {
        let rig = makeRig()
        rig.network.setName("host.test", .hangs)
        let journal = rig.submit(idleTimeout: .seconds(5))
        rig.advance(.seconds(5))
        #expect(journal.hasEnded)
        rig.expectClean()
    }

    @Test("B6.39: a connection that stands has no limit any more, and the next one has its own")
    func onceOpen() throws {
        let rig = makeRig()
        rig.serve("host.test", [.receiveHead, .delay(.seconds(30)), .respond("late"), .receiveEnd])
        let journal = rig.submit()
        rig.advance(.seconds(31))
        #expect(journal.error == nil && journal.text == "late")
        let again = rig.submit()
        rig.advance(.seconds(31))
        #expect(again.error == nil && rig.network.dialled.count <= 2)
        rig.expectClean()
    }

    @Test("B6.39, B6.9: while a question about the connection is open, its time stands still")
    func question() throws {
        let (_, identity) = try CertificateFactory.server("host.test")
        let rig = makeRig { $0.trust = AnchorsEvaluator(anchors: []) }
        try rig.serveTLS(identity)
        let journal = rig.submit(scheme: .https, answers: true)
        rig.settle()
        rig.advance(.seconds(100))
        guard case .peer(let question)? = journal.questions.last, !journal.hasEnded else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        question.answer(.accept)
        rig.settle()
        #expect(journal.error == nil && journal.text == "secret")
        rig.expectClean()
    }

    @Test("B6.1, B6.9: a request that was suspended while it was asked has its own time again when it is resumed")
    func suspendedAndAnswered() throws {
        let rig = makeRig()
        rig.serveProxy([.receiveHead, .askForLogin, .receiveHead, .receiveEnd])
        let journal = rig.submit(
            idleTimeout: .seconds(3), scheme: .https, answers: true, route: .proxied(try testProxy()))
        rig.settle()
        journal.handle?.suspend()
        rig.settle()
        try #require(journal.proxyQuestion).answer(.authorize("Basic x"))
        rig.settle()
        journal.handle?.resume()
        rig.settle()
        rig.advance(.seconds(4))
        guard case .idleTimeout? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("B6.39, B6.9: behind the answer the time goes on where it stood")
    func goesOn() throws {
        let rig = makeRig()
        rig.serveProxy([.receiveHead, .delay(.seconds(3)), .askForLogin, .receiveHead, .receiveEnd])
        let journal = rig.submit(scheme: .https, answers: true, route: .proxied(try testProxy()))
        rig.advance(.seconds(30))
        try #require(journal.proxyQuestion).answer(.authorize("Basic x"))
        rig.settle()
        rig.advance(.milliseconds(1_999))
        #expect(!journal.hasEnded)
        rig.advance(.milliseconds(1))
        let host = "host.test through the proxy http://proxy.test:3128"
        guard case .connectionTimeout(host, .tunnelling, .seconds(5))? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("B6.39: the time is one for all addresses of a host, and what is on its way then is given up")
    func oneForAllAddresses() throws {
        let rig = makeRig()
        rig.network.setName("host.test", .addresses(["10.0.0.1", "10.0.0.2"]))
        rig.network.setAddress("10.0.0.1:80", .hang)
        rig.network.setAddress("10.0.0.2:80", .fail(errno: 111))
        let journal = rig.submit()
        rig.advance(.seconds(5))
        guard case .connectionTimeout? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(rig.network.cancelledDials == ["10.0.0.1:80"])
        rig.expectClean()
    }

    @Test("Without a setting there is no limit but the request's own")
    func unset() {
        let rig = EngineRig()
        rig.network.setName("host.test", .hangs)
        let journal = rig.submit(idleTimeout: .seconds(40))
        rig.advance(.seconds(39))
        #expect(!journal.hasEnded)
        rig.advance(.seconds(1))
        guard case .idleTimeout? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("B16.83: dials are told how often the system asks a silent peer")
    func probes() {
        for interval in [nil, Duration.seconds(20)] {
            let rig = EngineRig { $0.connectionProbeInterval = interval }
            rig.serve("host.test", [.receiveHead, .respond("ok"), .receiveEnd])
            #expect(rig.submit().handle != nil)
            rig.settle()
            #expect(rig.network.lastOptions?.keepAlive == true && rig.network.lastOptions?.probeInterval == interval)
            rig.expectClean()
        }
    }
}

/// Reads nothing and says nothing.
private final class Mute: ByteStreamObserver {
    func streamBecameReadable(_ stream: any ByteStream) {}
    func streamBecameWritable(_ stream: any ByteStream) {}
}
