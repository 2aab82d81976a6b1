import Dispatch
import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

/// HTTPS through the engine: verdicts, identities, resumption, ends.
@Suite struct TLSConnectionTests {
    /// A server for host.test, and the root that vouches for it.
    private func server(
        _ change: (inout TLSServerOptions) -> Void = { _ in }, router: LoopbackServer.Router? = nil
    ) throws -> (LoopbackServer, Certificate) {
        let (root, identity) = try CertificateFactory.server("host.test")
        var options = TLSServerOptions(identity: identity)
        change(&options)
        let server = try LoopbackServer.start(.init(tls: options), router: router ?? { _ in .text("secret") })
        return (server, root)
    }

    private func trusting(_ root: Certificate) -> LiveEngine {
        LiveEngine { $0.trust = AnchorsEvaluator(anchors: [root]) }
    }

    @Test("B3.1: a chain that leads to a trusted anchor is accepted; version and cipher are kept")
    func trusted() async throws {
        for version in [TLSVersion.v12, .v13] {
            let (server, root) = try server { $0.maximum = version }
            let answer = try await trusting(root).get(server)
            #expect(answer.text == "secret")
            let negotiated = try #require(answer.outcome.timelines.last?.tls)
            #expect(negotiated.version == version.rawValue)
            #expect(negotiated.cipher != 0)
            await server.stop()
        }
    }

    @Test("B3.1: without the anchor the handshake ends and not one byte of the request has left")
    func refused() async throws {
        let (server, _) = try server()
        let (otherRoot, _) = try CertificateFactory.server("other.test")
        let answer = try await trusting(otherRoot).get(server)
        guard case .tls(.untrusted(let failure), "host.test") = answer.error else {
            Issue.record("\(String(describing: answer.error))")
            return
        }
        #expect(failure.reason == .unknownRoot)
        #expect(server.stats.bytesReceived == 0)
        #expect(server.stats.requestsBegun == 0)
        await server.stop()
    }

    @Test("A client certificate is supplied when the server asks, at once or later")
    func clientCertificate() async throws {
        let authority = try CertificateFactory.root("Clients")
        let client = try authority.issue(.client("somebody"))
        for version in [TLSVersion.v12, .v13] {
            let (server, root) = try server {
                $0.maximum = version
                $0.clientAuthentication = .required
                $0.clientAuthorities = [authority.certificate]
            }
            let live = LiveEngine {
                $0.trust = AnchorsEvaluator(anchors: [root])
                $0.identity = client.identity
            }
            #expect(try await live.get(server).text == "secret")
            let later = try await trusting(root).get(
                server,
                asked: { question in
                    DispatchQueue.global().async {
                        switch question {
                        case .peer(let peer): peer.answer(.evaluate)
                        case .identity(let identity):
                            #expect(identity.acceptableIssuers == [authority.certificate.subjectDER])
                            identity.answer(.show(client.identity))
                        case .proxy(let proxy): proxy.answer(.giveUp)
                        }
                    }
                })
            #expect(later.text == "secret")
            let without = try await trusting(root).get(server)
            guard case .tls(.clientCertificateRequired, _) = without.error else {
                Issue.record("\(version): \(String(describing: without.error))")
                continue
            }
            await server.stop()
        }
    }

    @Test("B16.2: a second connection to an origin resumes the TLS session; the verdict is asked for again")
    func resumption() async throws {
        for version in [TLSVersion.v12, .v13] {
            let (server, root) = try server({ $0.maximum = version }) { _ in
                var response = ServerResponse.text("x")
                response.closesConnection = true
                return response
            }
            let verdicts = Guarded(0)
            let live = LiveEngine {
                $0.trust = CountingEvaluator(AnchorsEvaluator(anchors: [root])) { verdicts.withLock { $0 += 1 } }
            }
            for round in 1...3 {
                let answer = try await live.get(server)
                #expect(answer.text == "x")
                #expect(answer.outcome.timelines.last?.tls?.resumed == (round > 1), "\(version), round \(round)")
            }
            #expect(verdicts.withLock { $0 } == 3)
            #expect(server.stats.resumedHandshakes == 2)
            await server.stop()
        }
    }

    @Test("B3.11: the end of a close-delimited body counts only with close_notify; a framed body needs none")
    func closeNotify() async throws {
        let cases: [(String, ScriptStep, Bool)] = [
            ("HTTP/1.1 200 OK\n\nabc", .close, true),
            ("HTTP/1.1 200 OK\n\nabc", .drop, false),
            ("HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", .drop, true),
        ]
        for (response, end, isWhole) in cases {
            let (server, root) = try server(router: { _ in
                ServerResponse(body: .script([.lines(response), end]))
            })
            let answer = try await trusting(root).get(server)
            #expect((answer.error == nil) == isWhole, "\(response) \(end): \(String(describing: answer.error))")
            #expect(answer.text == "abc")
            await server.stop()
        }
    }

    @Test("B3.7: a minimum above the maximum fails before anything is sent")
    func contradictingVersions() async throws {
        let (server, _) = try server()
        let live = LiveEngine {
            $0.minimumTLSVersion = .v13
            $0.maximumTLSVersion = .v12
        }
        let answer = try await live.get(server)
        guard case .tls(.versionsContradict, _) = answer.error else {
            Issue.record("\(String(describing: answer.error))")
            return
        }
        await server.stop()
    }

    @Test("B17.50: https to a plain-http port is told as what it is")
    func plainPort() async throws {
        let server = try LoopbackServer.start { _ in .text("x") }
        let answer = try await LiveEngine().get(server)
        guard case .tls(let error, _) = answer.error, error == .notTLS || error == .closedDuringHandshake else {
            Issue.record("\(String(describing: answer.error))")
            return
        }
        await server.stop()
    }

    @Test("B16.5: responses that lie ready in further TLS records are never taken for answers to later requests")
    func smuggledRecords() async throws {
        let (server, root) = try server(router: { request in
            // One write, because a response that comes after the next request cannot be told from its answer. The first
            // response fills a record, so that the second lies in one of its own.
            let head = "HTTP/1.1 200 OK\nContent-Length: "
            let length = Self.recordLength - head.utf8.count - "16000\r\n\r\n\r".utf8.count
            let number = "\(request.connection) "
            let body = number + String(repeating: "-", count: length - number.utf8.count)
            return ServerResponse(
                body: .script([.lines("\(head)\(length)\n\n\(body)HTTP/1.1 200 OK\nContent-Length: 6\n\nforged")]))
        })
        let live = trusting(root)
        for number in 1...5 {
            let answer = try await live.get(server)
            #expect(String(decoding: answer.body, as: UTF8.self).hasPrefix("\(number) "))
        }
        #expect(server.stats.connectionsAccepted == 5)
        await server.stop()
    }

    /// What a TLS record holds at most, RFC 8446 §5.1.
    private static let recordLength = 1 << 14
}

/// Counts verdicts.
private struct CountingEvaluator: TrustEvaluator {
    private let inner: any TrustEvaluator
    private let count: @Sendable () -> Void

    init(_ inner: any TrustEvaluator, count: @escaping @Sendable () -> Void) {
        self.inner = inner
        self.count = count
    }

    func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        count()
        return inner.evaluate(chain, policy: policy)
    }
}
