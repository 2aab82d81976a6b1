// The challenge about a server's certificates: what it says, and what each answer does (behaviour 2.2, 2.4, 3.1).

import Dispatch
import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

@Suite("Challenges: server trust")
struct ServerTrustTests {
    /// The code with which a load ends; `nil` for none.
    private func outcome(
        _ judged: JudgedServer, trusts: Bool = false, _ habit: @escaping ChallengeHabit
    ) async -> URLError.Code? {
        let session = judged.session(SessionJudge(habit), trusts: trusts)
        defer { session.invalidateAndCancel() }
        return await codeThrown { _ = try await session.data(from: judged.url) }
    }

    @Test("B2.13, B2.19, B2.23, B2.27: the challenge's protection space, trust, sender and counts")
    func contents() async throws {
        try await withJudgedServer { judged in
            let seen = Guarded<URLAuthenticationChallenge?>(nil)
            let session = judged.session(
                SessionJudge { challenge, reply in
                    seen.value = challenge
                    Habit.accepts(challenge, reply)
                })
            _ = try await session.data(from: judged.url)
            let challenge = try #require(seen.value)
            #expect(challenge.previousFailureCount == 0)
            #expect(challenge.proposedCredential == nil)
            #expect(challenge.failureResponse == nil)
            #expect(challenge.error == nil)
            #expect(challenge.sender != nil)
            let space = challenge.protectionSpace
            #expect(space.host == "localhost")
            #expect(space.port == judged.server.port)
            #expect(space.protocol == NSURLProtectionSpaceHTTPS)
            #expect(space.realm == nil)
            #expect(space.authenticationMethod == NSURLAuthenticationMethodServerTrust)
            #expect(space.receivesCredentialSecurely)
            #expect(!space.isProxy() && space.proxyType == nil)
            #expect(space.serverTrust != nil)
            #expect(space.distinguishedNames == nil)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B2.33, B2.42, B2.43, B3.2, B3.3: a credential with the challenge's trust accepts a server that the system would refuse"
    )
    func accepts() async throws {
        try await withJudgedServer { judged in
            #expect(await outcome(judged, Habit.accepts) == nil)
            // The server is accepted also for another name than the certificate's.
            let session = judged.session(SessionJudge())
            let address = try judged.server.at("/")
            let (data, _) = try await session.data(from: address)
            #expect(data == Data("secret".utf8))
            session.invalidateAndCancel()
        }
    }

    @Test("B2.36, B3.1: default handling is the session's own evaluation, and a credential given with it is ignored")
    func defaultHandling() async throws {
        try await withJudgedServer { judged in
            #expect(await outcome(judged, trusts: true, Habit.says(.performDefaultHandling)) == nil)
            let vouches: ChallengeHabit = { challenge, reply in
                reply(.performDefaultHandling, Habit.vouch(for: challenge).1)
            }
            let before = judged.server.stats
            #expect(await outcome(judged, vouches) == .serverCertificateUntrusted)
            await judged.server.wait { $0.connectionsAccepted == 2 && $0.connectionsOpen == 0 }
            #expect(judged.server.stats.requestsBegun == before.requestsBegun)
            // A connection of HTTP/2 sends GOAWAY before it closes.
            if !ProtocolUnderTest.isHTTP2 { #expect(judged.server.stats.bytesReceived == before.bytesReceived) }
        }
    }

    @Test("B2.34: an answer without a credential is default handling")
    func noCredential() async throws {
        try await withJudgedServer { judged in
            #expect(await outcome(judged, Habit.says(.useCredential)) == .serverCertificateUntrusted)
            #expect(await judged.sawNothing())
            #expect(await outcome(judged, trusts: true, Habit.says(.useCredential)) == nil)
        }
    }

    @Test("B2.35: a credential of another kind, or about another server, is refused with −1202, also for a good server")
    func wrongCredential() async throws {
        let other = Guarded<URLCredential?>(nil)
        try await withJudgedServer { judged in
            let keeps: ChallengeHabit = { challenge, reply in
                other.value = Habit.vouch(for: challenge).1
                reply(.cancelAuthenticationChallenge, nil)
            }
            #expect(await outcome(judged, keeps) == .cancelled)
        }
        let client = try CertificateFactory.root("Clients").issue(.client("somebody"))
        let credentials = [
            URLCredential(user: "u", password: "p", persistence: .none),
            URLCredential(identity: SecIdentity(client.identity), certificates: nil, persistence: .none),
            try #require(other.value),
        ]
        try await withJudgedServer { judged in
            for credential in credentials {
                let code = await outcome(judged, trusts: true, Habit.says(.useCredential, credential))
                #expect(code == .serverCertificateUntrusted)
            }
            #expect(await judged.sawNothing(connections: 3))
        }
    }

    @Test("B2.38, B3.2, B3.5: cancelling ends the task with −999, also where the system would have accepted")
    func cancels() async throws {
        try await withJudgedServer { judged in
            let delegate = FullJudge(Habit.says(.cancelAuthenticationChallenge))
            let session = judged.session(delegate, trusts: true)
            let task = session.dataTask(with: judged.url)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls == ["created", "session trust", "metrics", "complete -999"])
            let error = try #require(task.error as? URLError)
            #expect(error.failingURL == judged.url)
            #expect(task.state == .completed)
            #expect(await judged.sawNothing())
            session.invalidateAndCancel()
        }
    }

    @Test("B2.40: a rejected server ends the task with −1202, and a resumed handshake does too")
    func rejects() async throws {
        for version in [TLSVersion.v12, .v13] {
            try await withJudgedServer({ $0.maximum = version }, router: oneAnswer) { judged in
                let rejects = Guarded(false)
                let session = judged.session(
                    SessionJudge { challenge, reply in
                        if rejects.value { reply(.rejectProtectionSpace, nil) } else { Habit.accepts(challenge, reply) }
                    }, trusts: true)
                _ = try await session.data(from: judged.url)
                let before = judged.server.stats
                rejects.value = true
                let code = await codeThrown { _ = try await session.data(from: judged.url) }
                #expect(code == .serverCertificateUntrusted)
                await judged.server.wait { $0.connectionsAccepted == 2 && $0.connectionsOpen == 0 }
                #expect(judged.server.stats.bytesReceived == before.bytesReceived)
                session.invalidateAndCancel()
            }
        }
    }

    @Test(
        "A pin that no longer fits is noticed in a resumed handshake too, before the request is sent",
        arguments: [TLSVersion.v12, .v13])
    func pinAfterResumption(version: TLSVersion) async throws {
        let stranger = Data(try CertificateFactory.root("Stranger").certificate.der)
        try await withJudgedServer({ $0.maximum = version }, router: oneAnswer) { judged in
            let pins = Guarded<Set<Data>>([Data(judged.root.der)])
            let session = judged.session(
                SessionJudge { challenge, reply in
                    let policy = URLSession.ServerSecurityPolicy(
                        pinningMode: .publicKey, pinnedCertificates: pins.value)
                    let (disposition, credential) = policy.answer(to: challenge)
                    reply(disposition, credential)
                }, trusts: true)
            _ = try await session.data(from: judged.url)
            _ = try await session.data(from: judged.url)
            #expect(judged.server.stats.resumedHandshakes == 1)
            let before = judged.server.stats
            pins.value = [stranger]
            let code = await codeThrown { _ = try await session.data(from: judged.url) }
            #expect(code == .cancelled)
            await judged.server.wait { $0.connectionsAccepted == 3 && $0.connectionsOpen == 0 }
            #expect(judged.server.stats.bytesReceived == before.bytesReceived)
            session.invalidateAndCancel()
        }
    }

    @Test("B2.20: calls of the challenge's sender count as answers to the handler")
    func sender() async throws {
        let cases: [(@Sendable (URLAuthenticationChallenge) -> Void, Bool, URLError.Code?)] = [
            (
                { challenge in
                    if let credential = Habit.vouch(for: challenge).1 {
                        challenge.sender?.use(credential, for: challenge)
                    }
                }, false, nil
            ),
            ({ $0.sender?.continueWithoutCredential(for: $0) }, true, nil),
            ({ $0.sender?.continueWithoutCredential(for: $0) }, false, .serverCertificateUntrusted),
            ({ $0.sender?.cancel($0) }, true, .cancelled),
            ({ $0.sender?.performDefaultHandling(for: $0) }, true, nil),
            ({ $0.sender?.rejectProtectionSpaceAndContinue(with: $0) }, true, .serverCertificateUntrusted),
        ]
        try await withJudgedServer { judged in
            for (says, trusts, code) in cases {
                #expect(await outcome(judged, trusts: trusts) { challenge, _ in says(challenge) } == code)
                let late = await outcome(judged, trusts: trusts) { challenge, reply in
                    says(challenge)
                    // The first answer counts.
                    reply(.cancelAuthenticationChallenge, nil)
                }
                #expect(late == code)
            }
        }
    }

    @Test(
        "B1.31: the answer may come later, on any thread; before it nothing is sent and the delegate hears nothing else"
    )
    func lateAnswer() async throws {
        try await withJudgedServer { judged in
            let kept = Guarded<(@Sendable () -> Void)?>(nil)
            let delegate = FullJudge { challenge, reply in kept.value = { Habit.accepts(challenge, reply) } }
            let session = judged.session(delegate)
            let task = session.dataTask(with: judged.url)
            task.resume()
            await delegate.asked.wait()
            // Other loads go on meanwhile, on the task's loop and delegate queue.
            let other = judged.session(SessionJudge())
            for _ in 0..<5 { _ = try await other.data(from: judged.url) }
            #expect(judged.server.stats.requests == 5)
            #expect(delegate.transcript.calls == ["created", "session trust"])
            #expect(task.state == .running)
            let answer = try #require(kept.value)
            DispatchQueue.global().async {
                answer()
                answer()
            }
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.last == "complete nil")
            #expect(judged.server.stats.requests == 6)
            session.invalidateAndCancel()
            other.invalidateAndCancel()
        }
    }

    @Test(
        "B1.32, B1.41: a task whose delegate never answers can be cancelled at once; a late answer does no harm"
    )
    func cancelledWhileAsked() async throws {
        try await withJudgedServer { judged in
            let kept = Guarded<(@Sendable () -> Void)?>(nil)
            let delegate = FullJudge { challenge, reply in kept.value = { Habit.accepts(challenge, reply) } }
            let session = judged.session(delegate)
            let task = session.dataTask(with: judged.url)
            task.resume()
            await delegate.asked.wait()
            task.cancel()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls == ["created", "session trust", "metrics", "complete -999"])
            #expect(await judged.sawNothing())
            kept.value?()
            // The session goes on with the next.
            let next = session.dataTask(with: judged.url)
            next.resume()
            await delegate.asked.wait(times: 2)
            kept.value?()
            await delegate.transcript.completed.wait(times: 2)
            #expect(delegate.transcript.calls.last == "complete nil")
            session.invalidateAndCancel()
        }
    }

    @Test("B1.16: a session that is invalidated while its delegate is asked ends its tasks and itself")
    func invalidatedWhileAsked() async throws {
        try await withJudgedServer { judged in
            let delegate = FullJudge { _, _ in }
            let session = judged.session(delegate)
            for _ in 0..<10 { session.dataTask(with: judged.url).resume() }
            await delegate.asked.wait()
            session.invalidateAndCancel()
            await delegate.transcript.invalidated.wait()
            #expect(delegate.transcript.completed.count == 10)
            #expect(await judged.sawNothing())
        }
    }

    @Test("B6.8: the resource time-out ends a task whose delegate does not answer")
    func resourceTimeout() async throws {
        try await withJudgedServer { judged in
            let configuration = judged.configuration()
            configuration.timeoutIntervalForResource = 1
            let session = URLSession(
                configuration: configuration, delegate: SessionJudge { _, _ in }, delegateQueue: nil)
            #expect(await codeThrown { _ = try await session.data(from: judged.url) } == .timedOut)
            #expect(await judged.sawNothing())
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B2.38, B2.9: cancelling a challenge ends the task that was asked; the next task for the host is asked anew")
    func cancelsOnlyOne() async throws {
        try await withJudgedServer { judged in
            let configuration = judged.configuration()
            configuration.httpMaximumConnectionsPerHost = 1
            let isFirst = Guarded(true)
            let delegate = FullJudge { challenge, reply in
                if isFirst.value {
                    isFirst.value = false
                    reply(.cancelAuthenticationChallenge, nil)
                } else {
                    Habit.accepts(challenge, reply)
                }
            }
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            let tasks = (0..<4).map { _ in session.dataTask(with: judged.url) }
            for task in tasks { task.resume() }
            await delegate.transcript.completed.wait(times: 4)
            #expect((tasks[0].error as? URLError)?.code == .cancelled)
            #expect(tasks.dropFirst().allSatisfy { $0.error == nil })
            #expect(delegate.transcript.calls.filter { $0 == "session trust" }.count == 2)
            #expect(judged.server.stats.connectionsAccepted == 2)
            session.invalidateAndCancel()
        }
    }

    @Test("B3.4: a delegate that looks at method and host and leaves everything else to default handling")
    func carefulDelegate() async throws {
        try await withJudgedServer { judged in
            let habit: ChallengeHabit = { challenge, reply in
                guard challenge.isAboutServer, challenge.protectionSpace.host == "localhost" else {
                    return reply(.performDefaultHandling, nil)
                }
                Habit.accepts(challenge, reply)
            }
            #expect(await outcome(judged, habit) == nil)
            let session = judged.session(SessionJudge(habit))
            let address = try judged.server.at("/")
            #expect(await codeThrown { _ = try await session.data(from: address) } == .serverCertificateUntrusted)
            session.invalidateAndCancel()
        }
    }
}
