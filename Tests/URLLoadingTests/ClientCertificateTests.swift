// The challenge about our own certificate: what it says, and what each answer does, in TLS 1.2 and
// 1.3 (behaviour 2.4, 3.6).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

@Suite("Challenges: client certificates")
struct ClientCertificateTests {
    /// A server that asks for certificates of one authority, and the certificates it was shown.
    private struct Asking {
        let judged: JudgedServer
        let authority: IssuedCertificate
        let seen: Guarded<[[String]]>

        /// A credential that the server accepts.
        func credential(_ name: String = "somebody") throws -> URLCredential {
            URLCredential(
                identity: SecIdentity(try authority.issue(.client(name)).identity), certificates: nil,
                persistence: .none)
        }

        /// The code with which a load ends that answers so; `nil` for none.
        func outcome(_ habit: @escaping ChallengeHabit) async -> URLError.Code? {
            let session = judged.session(SessionJudge(habit))
            defer { session.invalidateAndCancel() }
            return await codeThrown { _ = try await session.data(from: judged.url) }
        }
    }

    /// Notes which certificates each client has shown, and judges as an authority's own server would.
    private struct Doorkeeper: TrustEvaluator {
        let seen: Guarded<[[String]]>
        let inner: any TrustEvaluator

        func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
            seen.change { $0.append(chain.certificates.compactMap(\.commonName)) }
            return inner.evaluate(chain, policy: policy)
        }
    }

    private func withAskingServer(
        _ wanted: TLSServerOptions.ClientAuthentication = .required, _ version: TLSVersion = .v13,
        _ body: (Asking) async throws -> Void
    ) async throws {
        let authority = try CertificateFactory.root("Clients")
        let seen = Guarded<[[String]]>([])
        try await withJudgedServer { tls in
            tls.maximum = version
            tls.clientAuthentication = wanted
            tls.clientAuthorities = [authority.certificate]
            tls.clientEvaluator = Doorkeeper(seen: seen, inner: AnchorsEvaluator(anchors: [authority.certificate]))
        } _: { judged in
            try await body(Asking(judged: judged, authority: authority, seen: seen))
        }
    }

    @Test("B2.33, B2.51: the identity is shown to the server", arguments: [TLSVersion.v12, .v13])
    func shown(version: TLSVersion) async throws {
        try await withAskingServer(.required, version) { asking in
            #expect(await asking.outcome(Habit.forIdentity(.useCredential, try? asking.credential())) == nil)
            #expect(asking.seen.value == [["somebody"]])
        }
    }

    @Test("B2.51: the credential's certificates are shown beside the identity's own")
    func intermediates() async throws {
        try await withAskingServer { asking in
            let intermediate = try asking.authority.issue(.authority("Department"))
            let leaf = try intermediate.issue(.client("somebody"))
            let bare = SecIdentity(try leaf.identity(showing: []))
            let alone = URLCredential(identity: bare, certificates: nil, persistence: .none)
            #expect(await asking.outcome(Habit.forIdentity(.useCredential, alone)) == .clientCertificateRejected)
            let whole = URLCredential(
                identity: bare, certificates: [SecCertificate(intermediate.certificate)], persistence: .none)
            #expect(await asking.outcome(Habit.forIdentity(.useCredential, whole)) == nil)
            #expect(asking.seen.value == [["somebody"], ["somebody", "Department"]])
        }
    }

    @Test("B2.51: a chain that begins with the identity's own certificate is shown as it is")
    func wholeChain() async throws {
        try await withAskingServer { asking in
            let intermediate = try asking.authority.issue(.authority("Department"))
            let leaf = try intermediate.issue(.client("somebody"))
            let credential = URLCredential(
                identity: SecIdentity(try leaf.identity(showing: [])),
                certificates: [leaf, intermediate].map { SecCertificate($0.certificate) }, persistence: .none)
            #expect(await asking.outcome(Habit.forIdentity(.useCredential, credential)) == nil)
            #expect(asking.seen.value == [["somebody", "Department"]])
        }
    }

    @Test("B2.1, B2.6, B2.19, B2.27, B2.37: after the server's trust the delegate is asked for the certificate")
    func contents() async throws {
        try await withAskingServer { asking in
            let seen = Guarded<URLAuthenticationChallenge?>(nil)
            let credential = try asking.credential()
            let delegate = FullJudge { challenge, reply in
                if challenge.isAboutServer { return Habit.accepts(challenge, reply) }
                seen.value = challenge
                reply(.useCredential, credential)
            }
            let session = asking.judged.session(delegate)
            _ = try await session.data(from: asking.judged.url)
            #expect(delegate.transcript.calls == ["created", "session trust", "session identity", "metrics"])
            let challenge = try #require(seen.value)
            #expect(challenge.previousFailureCount == 0)
            #expect(challenge.failureResponse == nil && challenge.error == nil)
            let space = challenge.protectionSpace
            #expect(space.authenticationMethod == NSURLAuthenticationMethodClientCertificate)
            #expect(space.host == "localhost")
            #expect(space.port == asking.judged.server.port)
            #expect(space.protocol == NSURLProtectionSpaceHTTPS)
            #expect(space.realm == nil && space.serverTrust == nil)
            #expect(space.distinguishedNames == [Data(asking.authority.certificate.subjectDER)])
            session.invalidateAndCancel()
        }
    }

    @Test("B2.14, B2.69: what is shown by default, from the storage or the configuration, is proposed to the delegate")
    func proposed() async throws {
        try await withAskingServer { asking in
            let identity = SecIdentity(try asking.authority.issue(.client("somebody")).identity)
            for isStored in [true, false, nil] as [Bool?] {
                let seen = Guarded<[URLCredential?]>([])
                let delegate = SessionJudge { challenge, reply in
                    if challenge.isAboutServer { return Habit.accepts(challenge, reply) }
                    seen.change { $0.append(challenge.proposedCredential) }
                    reply(.useCredential, challenge.proposedCredential)
                }
                let configuration = asking.judged.configuration()
                if isStored == true {
                    let space = URLProtectionSpace(
                        host: "localhost", port: asking.judged.server.port, protocol: NSURLProtectionSpaceHTTPS,
                        realm: nil, authenticationMethod: NSURLAuthenticationMethodClientCertificate)
                    configuration.urlCredentialStorage?.setDefaultCredential(
                        URLCredential(identity: identity, certificates: nil, persistence: .forSession), for: space)
                } else if isStored == false {
                    configuration.clientIdentities = .allHosts(.identity(identity))
                }
                let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
                let code = await codeThrown { _ = try await session.data(from: asking.judged.url) }
                #expect(code == (isStored == nil ? .clientCertificateRequired : nil))
                #expect(seen.value.map { $0?.identity } == [isStored == nil ? nil : identity])
                session.invalidateAndCancel()
            }
            #expect(asking.seen.value == [["somebody"], ["somebody"]])
        }
    }

    @Test(
        "B2.33, B2.100: a server behind a tunnel asks after the proxy's password and its own trust, and sees the identity"
    )
    func behindTunnel() async throws {
        let proxy = try LoopbackProxy.start { $0.authorization = basic("u", "p") }
        try await withAskingServer { asking in
            let credential = try asking.credential()
            let delegate = FullJudge { challenge, reply in
                if challenge.isAboutServer { return Habit.accepts(challenge, reply) }
                reply(.useCredential, challenge.protectionSpace.isProxy() ? URLCredential("u", "p") : credential)
            }
            let configuration = asking.judged.configuration()
            configuration.hostOverrides = [:]
            configuration.connectionProxyDictionary = [
                "HTTPSEnable": 1, "HTTPSProxy": proxy.address.host, "HTTPSPort": proxy.port,
            ]
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            _ = try await session.data(from: asking.judged.url)
            #expect(asking.seen.value == [["somebody"]])
            #expect(proxy.asks.compactMap { $0.head?.fields.first(.proxyAuthorization) } == [basic("u", "p")])
            let asked = delegate.transcript.calls.filter { $0.hasPrefix("session ") || $0.hasPrefix("task ") }
            #expect(asked.count == 3 && asked.suffix(2) == ["session trust", "session identity"], "\(asked)")
            session.invalidateAndCancel()
        }
        await proxy.stop()
    }

    @Test("B2.36, B2.66: a proxy that speaks TLS is shown what is stored for its own space, and nothing of a server's")
    func storedForProxy() async throws {
        let clients = try CertificateFactory.root("Clients")
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        let stored = URLCredential(
            identity: SecIdentity(try clients.issue(.client("me")).identity), certificates: nil,
            persistence: .forSession)
        let method = NSURLAuthenticationMethodClientCertificate
        try await ProxiedSite.run {
            $0.tls = .init(
                identity: identity, clientAuthentication: .required, clientAuthorities: [clients.certificate])
        } _: { site in
            let proxy = try #require(ProxyConfiguration(url: "https://127.0.0.1:\(site.proxy.port)"))
            let url = try site.server.at("/")
            /// The space that asks, what is proposed, and how the load ends.
            func load(
                _ space: URLProtectionSpace?
            ) async throws -> (asking: URLProtectionSpace, proposed: URLCredential?, code: URLError.Code?) {
                let seen = Guarded<URLAuthenticationChallenge?>(nil)
                let judge = SessionJudge { challenge, reply in
                    if !challenge.isAboutServer { seen.value = challenge }
                    reply(.performDefaultHandling, nil)
                }
                let session = site.session(delegate: judge) {
                    $0.proxyConfigurations = [proxy]
                    $0.serverTrustEvaluation = .anchors(pem: root.pem)
                    if let space { $0.urlCredentialStorage?.setDefaultCredential(stored, for: space) }
                }
                let error = await session.failure(url)
                guard let challenge = seen.value else { throw URLError(.unknown) }
                return (challenge.protectionSpace, challenge.proposedCredential, error?.code)
            }
            let without = try await load(nil)
            #expect(without.asking.isProxy() && without.code == .clientCertificateRequired)
            let ofServer = URLProtectionSpace(
                host: "127.0.0.1", port: site.proxy.port, protocol: NSURLProtectionSpaceHTTPS, realm: nil,
                authenticationMethod: method)
            let wrong = try await load(ofServer)
            #expect(wrong.proposed == nil && wrong.code == .clientCertificateRequired)
            let ofProxy = URLProtectionSpace(
                proxyHost: "127.0.0.1", port: site.proxy.port, type: NSURLProtectionSpaceHTTPSProxy, realm: nil,
                authenticationMethod: method)
            for space in [without.asking, ofProxy] {
                let right = try await load(space)
                #expect(right.proposed?.identity == stored.identity && right.code == nil)
            }
        }
    }

    @Test("B2.37: default handling of the server's trust is followed by the challenge for the certificate")
    func afterDefaultHandling() async throws {
        try await withAskingServer { asking in
            let credential = try asking.credential()
            let delegate = TaskJudge { challenge, reply in
                challenge.isAboutServer ? reply(.performDefaultHandling, nil) : reply(.useCredential, credential)
            }
            let session = asking.judged.session(delegate, trusts: true)
            _ = try await session.data(from: asking.judged.url)
            #expect(delegate.transcript.calls == ["task trust", "task identity"])
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B2.34, B2.35, B2.36, B2.41: without an identity the list is empty, and a server that may do without is content",
        arguments: [TLSVersion.v12, .v13])
    func emptyList(version: TLSVersion) async throws {
        let password = URLCredential(user: "u", password: "p", persistence: .none)
        let answers: [(URLSession.AuthChallengeDisposition, URLCredential?)] = [
            (.rejectProtectionSpace, nil), (.performDefaultHandling, nil), (.useCredential, nil),
            (.useCredential, password),
        ]
        try await withAskingServer(.optional, version) { asking in
            for (disposition, credential) in answers {
                #expect(await asking.outcome(Habit.forIdentity(disposition, credential)) == nil)
            }
            #expect(asking.seen.value == [])
        }
        try await withAskingServer(.required, version) { asking in
            for (disposition, credential) in answers {
                let code = await asking.outcome(Habit.forIdentity(disposition, credential))
                #expect(code == .clientCertificateRequired, "B2.105: \(disposition)")
            }
            await asking.judged.server.wait { $0.connectionsAccepted == 4 && $0.connectionsOpen == 0 }
            #expect(asking.judged.server.stats.requestsBegun == 0)
        }
    }

    @Test(
        "B2.105, B3.70: a certificate that the server refuses is −1205, a missing one that it demands −1206",
        arguments: [TLSVersion.v12, .v13])
    func refused(version: TLSVersion) async throws {
        let stranger = try CertificateFactory.root("Others").issue(.client("stranger"))
        let credential = URLCredential(
            identity: SecIdentity(stranger.identity), certificates: nil, persistence: .none)
        try await withAskingServer(.required, version) { asking in
            let wrong = await asking.outcome(Habit.forIdentity(.useCredential, credential))
            #expect(wrong == .clientCertificateRejected)
            #expect(asking.seen.value == [["stranger"]])
            let none = await asking.outcome(Habit.forIdentity(.rejectProtectionSpace))
            #expect(none == .clientCertificateRequired)
            await asking.judged.server.wait { $0.connectionsAccepted == 2 && $0.connectionsOpen == 0 }
            #expect(asking.judged.server.stats.requestsBegun == 0)
        }
    }

    @Test(
        "B2.38: cancelling the challenge ends the task with −999, and no byte of the request is sent",
        arguments: [TLSVersion.v12, .v13])
    func cancelled(version: TLSVersion) async throws {
        try await withAskingServer(.required, version) { asking in
            #expect(await asking.outcome(Habit.forIdentity(.cancelAuthenticationChallenge)) == .cancelled)
            #expect(await asking.judged.sawNothing())
        }
    }

    @Test(
        "B7.106: what a server says to the certificate of a task's delegate serves no other task, to the session's that session",
        arguments: [TLSVersion.v12, .v13])
    func storedAnswers(version: TLSVersion) async throws {
        try await withAskingServer(.optional, version) { asking in
            let credential = try asking.credential()
            let only = URLRequest(url: asking.judged.url, cachePolicy: .returnCacheDataDontLoad)
            let configuration = asking.judged.configuration(trusts: true)
            configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let session = URLSession(configuration: configuration)
            let delegate = TaskJudge(Habit.forIdentity(.useCredential, credential))
            _ = try await session.data(from: asking.judged.url, delegate: delegate)
            #expect(asking.seen.value == [["somebody"]])
            #expect(await codeThrown { _ = try await session.data(for: only) } == .resourceUnavailable)
            configuration.clientIdentities = .allHosts(
                .identity(SecIdentity(try asking.authority.issue(.client("another")).identity)))
            let other = URLSession(configuration: configuration)
            _ = try await other.data(from: asking.judged.url)
            #expect(asking.seen.value == [["somebody"], ["another"]])
            #expect(await codeThrown { _ = try await other.data(for: only) } == nil)
            #expect(await codeThrown { _ = try await session.data(for: only) } == .resourceUnavailable)
            session.invalidateAndCancel()
            other.invalidateAndCancel()
        }
    }

    @Test("B1.31: the identity may come late, from another thread")
    func lateIdentity() async throws {
        try await withAskingServer { asking in
            let credential = try asking.credential()
            let code = await asking.outcome { challenge, reply in
                DispatchQueue.global().async {
                    Habit.forIdentity(.useCredential, credential)(challenge, reply)
                }
            }
            #expect(code == nil)
            #expect(asking.seen.value == [["somebody"]])
        }
    }
}
