// Tunnels inside TLS with the proxy, on buffers of every size and with proxies that break off.

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("TLS inside TLS")
struct TLSInTLSTests {
    private let outer: TunnelEnd
    private let inner: TunnelEnd

    init() throws {
        outer = try TunnelEnd("proxy.test")
        inner = try TunnelEnd()
    }

    private func makeRig(capacity: Int = 64 << 10) -> EngineRig {
        let rig = EngineRig { $0.trust = AnchorsEvaluator(anchors: [outer.root, inner.root]) }
        rig.network.capacity = capacity
        return rig
    }

    /// A proxy that is spoken to by TLS and then plays these steps.
    private func serve(
        _ rig: EngineRig, accepted: @escaping (MemoryStream) -> Void = { _ in },
        _ steps: @escaping (MemoryStream) -> [ScriptedPeer.Step]
    ) {
        let context = outer.context
        rig.network.serve("proxy.test", address: "10.0.0.2", port: 3128) { [unowned rig] stream in
            accepted(stream)
            guard let front = try? TLSFront(stream, context: context, rig: rig) else { return stream.close() }
            rig.keep(front.inside, ScriptedPeer(front.inside, on: rig.reactor, steps(front.inside)))
        }
    }

    private func submit(_ rig: EngineRig) throws -> Journal {
        let journal = rig.submit(scheme: .https, route: .proxied(try testProxy(.https)))
        rig.settle()
        return journal
    }

    @Test(
        "B13.21: the tunnel's bytes come through whole, however little fits at a time", arguments: [64, 1_000, 65_536])
    func sizes(capacity: Int) throws {
        let rig = makeRig(capacity: capacity)
        let body = String(repeating: "0123456789abcdef", count: 10_000)
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        let context = inner.context
        serve(rig) { [unowned rig] stream in
            [
                .receiveHead, .established,
                .run {
                    guard let peer = try? TLSPeer(stream, context: context, answer: answer) else { return }
                    rig.keep(stream, peer)
                    peer.streamBecameReadable(stream)
                },
            ]
        }
        for _ in 0..<2 {
            let journal = try submit(rig)
            #expect(journal.error == nil && journal.text == body)
        }
        #expect(rig.network.dialled.count == 1, "the tunnel serves both")
        rig.expectClean()
    }

    @Test("B2.100: a 407 is answered on its own connection, inside the proxy's TLS")
    func rounds() throws {
        let rig = makeRig()
        let context = inner.context
        serve(rig) { [unowned rig] stream in
            [.receiveHead, .askForLogin, .receiveHead, .established, .tunnelTLS(rig, stream, context)]
        }
        let journal = rig.submit(scheme: .https, answers: true, route: .proxied(try testProxy(.https)))
        rig.settle()
        // Two questions about certificates stand around the proxy's own.
        for _ in 0..<3 {
            switch journal.questions.last {
            case .peer(let peer): peer.answer(.evaluate)
            case .proxy(let proxy): proxy.answer(.authorize("Basic x"))
            case .identity, nil: Issue.record("there was no question")
            }
            rig.settle()
        }
        #expect(journal.questions.count == 3 && journal.text == "secret" && rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test("B13.19: a proxy that ends its TLS in place of an answer has closed")
    func ends() throws {
        let rig = makeRig()
        serve(rig) { _ in [.receiveHead, .close] }
        let journal = try submit(rig)
        guard case .closed? = journal.proxyFailure else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("B13.21: where TLS with the proxy breaks inside a tunnel the error says so", arguments: [false, true])
    func breaks(isBehindHandshake: Bool) throws {
        let rig = makeRig()
        var outside: MemoryStream?
        let context = inner.context
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"
        serve(rig, accepted: { outside = $0 }) { [unowned rig] stream in
            [
                .receiveHead, .established,
                .run {
                    guard isBehindHandshake, let peer = try? TLSPeer(stream, context: context, answer: answer) else {
                        return
                    }
                    rig.keep(stream, peer)
                    peer.streamBecameReadable(stream)
                },
            ]
        }
        let journal = try submit(rig)
        #expect(!journal.hasEnded && journal.text == (isBehindHandshake ? "abc" : ""))
        outside?.breakTLS()
        rig.settle()
        if isBehindHandshake {
            guard case .connectionLost? = journal.error else {
                Issue.record("\(String(describing: journal.error))")
                return
            }
        } else {
            guard case .tls? = journal.proxyFailure else {
                Issue.record("\(String(describing: journal.error))")
                return
            }
        }
        #expect(
            journal.error?.description.contains("TLS with the proxy") == true, "\(String(describing: journal.error))")
        rig.expectClean()
    }

    /// A rig whose proxy demands a client certificate.
    private func makeDemandingRig() throws -> EngineRig {
        let end = try TunnelEnd("proxy.test", clients: .required)
        let rig = EngineRig { $0.trust = AnchorsEvaluator(anchors: [end.root]) }
        rig.network.serve("proxy.test", address: "10.0.0.2", port: 3128) { [unowned rig] stream in
            guard let peer = try? TLSPeer(stream, context: end.context, answer: "") else { return stream.close() }
            rig.keep(stream, peer)
        }
        return rig
    }

    /// A proxy's end of a connection.
    private final class FarEnd {
        var stream: MemoryStream?
    }

    /// Serves a proxy that forwards, and answers so; its end of the connection, once there is one.
    private func serveForwarding(_ rig: EngineRig, answer: String) -> FarEnd {
        let (context, end) = (outer.context, FarEnd())
        rig.network.serve("proxy.test", address: "10.0.0.2", port: 3128) { [unowned rig] stream in
            guard let peer = try? TLSPeer(stream, context: context, answer: answer) else { return stream.close() }
            rig.keep(stream, peer)
            end.stream = stream
        }
        return end
    }

    @Test("B2.105: a proxy that refuses behind its handshake, for want of a certificate, says so")
    func refusedBehindHandshake() throws {
        let rig = try makeDemandingRig()
        let journal = try submit(rig)
        guard case .tls(.clientCertificateRequired)? = journal.proxyFailure else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("B2.105, B13.21: a proxy that forwards and refuses behind its handshake says so, too, and is passed over")
    func refusedForwarding() throws {
        let rig = try makeDemandingRig()
        let journal = rig.submit(route: .proxied(try testProxy(.https)))
        rig.settle()
        guard case .tls(.clientCertificateRequired)? = journal.proxyFailure else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(journal.error?.isOfTheWay == true)
        rig.expectClean()
    }

    @Test(
        "B13.21: TLS with a proxy that breaks within a forwarded answer is the proxy's failure, and no other way is tried"
    )
    func brokenForwarding() throws {
        let rig = makeRig()
        let proxy = serveForwarding(rig, answer: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
        let journal = rig.submit(route: .proxied(try testProxy(.https)))
        rig.settle()
        #expect(journal.text == "begun")
        let record: [UInt8] = [23, 3, 3, 0, 32] + [UInt8](repeating: 0, count: 32)
        _ = record.withUnsafeBytes { proxy.stream?.write($0) }
        rig.settle()
        guard case .tlsBroken? = journal.proxyFailure else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(journal.error?.isOfTheWay == false)
        rig.expectClean()
    }

    @Test(
        "B3.11, B13.21: a forwarded body that ends with the connection is cut by the proxy where its TLS does not end")
    func cutForwarding() throws {
        let rig = makeRig()
        let proxy = serveForwarding(rig, answer: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbegun")
        let journal = rig.submit(route: .proxied(try testProxy(.https)))
        rig.settle()
        #expect(journal.text == "begun" && !journal.hasEnded)
        proxy.stream?.close()
        rig.settle()
        guard case .tlsBroken(.truncated)? = journal.proxyFailure else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(journal.error?.isOfTheWay == false && journal.error?.leavesPart == true)
        rig.expectClean()
    }

    @Test("B13.18: bytes that are not TLS, where the proxy should begin TLS, are the proxy's failure")
    func noTLS() throws {
        let rig = makeRig()
        rig.serveProxy([.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .receiveEnd])
        let journal = try submit(rig)
        guard case .tls(.notTLS)? = journal.proxyFailure else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(journal.error?.description.contains("https://proxy.test:3128") == true)
        rig.expectClean()
    }

    @Test("B17.10: cancelling inside both handshakes leaves nothing open")
    func cancelled() throws {
        let rig = makeRig()
        serve(rig) { _ in [.receiveHead, .established, .receiveEnd] }
        let journal = try submit(rig)
        #expect(!journal.hasEnded)
        journal.handle?.cancel()
        rig.settle()
        guard case .cancelled? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }
}
