// Challenges in answers of servers (behaviour 2.1 to 2.5): which delegate is asked, what it is shown,
// and what each answer means.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@testable import URLLoading

@Suite("Passwords: which delegate is asked, and what it answers", .endsSessions, .timeLimit(.minutes(5)))
struct PasswordChallengeTests {
    private let digest = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""
    private let basicChallenge = "Basic realm=\"r\""

    @Test("B2.14, B2.18, B2.21: the first question has no credential and shows the refusal; the answer is let in")
    func first() async throws {
        try await withServer(router: door()) { server async throws in
            let delegate = GuestDelegate(Guest.once("u", "p"))
            #expect(try await visitor(delegate).visit(server.at("/")) == "200 secret")
            #expect(delegate.transcript.calls == ["task HTTPBasic r 0 nobody 401"])
            let challenge = try #require(delegate.challenges.value.first)
            let space = challenge.protectionSpace
            #expect(space.host == "127.0.0.1" && space.port == server.port && space.protocol == "http")
            #expect(!space.isProxy() && space.proxyType == nil && !space.receivesCredentialSecurely)
            #expect(challenge.error == nil && challenge.sender != nil)
        }
    }

    @Test(
        "B2.15, B2.16, B2.17: the next question shows the refused credential and counts failures, until another realm asks"
    )
    func refused() async throws {
        let router: LoopbackServer.Router = { request in
            switch request.fields.first(.authorization) {
            case basic("three", "x"): .denied("Basic realm=\"other\"")
            case basic("u", "p"): .text("secret")
            default: .denied("Basic realm=\"r\"")
            }
        }
        try await withServer(router: router) { server async throws in
            let delegate = GuestDelegate(
                Guest.inTurn(
                    (.useCredential, URLCredential("one", "x")), (.useCredential, URLCredential("two", "x")),
                    (.useCredential, URLCredential("three", "x")), (.useCredential, URLCredential("u", "p"))))
            #expect(try await visitor(delegate).visit(server.at("/")) == "200 secret")
            #expect(
                delegate.transcript.calls == [
                    "task HTTPBasic r 0 nobody 401", "task HTTPBasic r 1 one/x 401", "task HTTPBasic r 2 two/x 401",
                    "task HTTPBasic other 0 nobody 401",
                ])
        }
    }

    @Test(
        "B2.16, B2.48, B6.33: what went with a lost attempt was not refused, and answers the challenge to the next one",
        .http1Only("A lost connection that has served before is replaced below the retry policy"),
        arguments: [false, true])
    func lostAttempt(asks: Bool) async throws {
        let (proofs, count) = (Visits(), Guarded(0))
        let router: LoopbackServer.Router = { [digest, basicChallenge] request in
            guard let proof = request.fields.first(.authorization) else {
                proofs.note("none")
                var denied = ServerResponse.denied(digest, basicChallenge)
                // The proof goes out on a new connection, whose loss is the attempt's.
                denied.closesConnection = true
                return denied
            }
            proofs.note(String(proof.prefix(6)))
            return count.add(1) == 1 ? .script([.reset]) : .text("secret")
        }
        try await withServer(router: router) { server async throws in
            var policy = URLSession.RetryPolicy(maximumRetries: 1)
            policy.firstPause = 0
            let delegate = asks ? GuestDelegate(Guest.once("u", "p")) : nil
            let session = visitor(delegate) { $0.retryPolicy = policy }
            #expect(try await session.visit(asks ? server.at("/") : server.at("/").naming("u:p")) == "200 secret")
            #expect(proofs.lines == ["none", "Digest", "none", "Digest"])
            let question = "task HTTPDigest r 0 nobody 401"
            #expect(delegate?.transcript.calls ?? [question, question] == [question, question])
        }
    }

    @Test("B2.17: counting begins anew behind a redirect to another origin")
    func countBehindRedirect() async throws {
        try await withServer(router: door("b")) { second async throws in
            let target = second.url("/b")
            let router = door("a", ["u": "p"]) { _ in ServerResponse.status(302).adding("Location", target) }
            try await withServer(router: router) { first async throws in
                let delegate = GuestDelegate(
                    Guest.inTurn(
                        (.useCredential, URLCredential("x", "x")), (.useCredential, URLCredential("u", "p"))))
                #expect(try await visitor(delegate).visit(first.at("/a")) == "200 secret")
                #expect(
                    delegate.transcript.calls == [
                        "task HTTPBasic a 0 nobody 401", "task HTTPBasic a 1 x/x 401", "task HTTPBasic b 0 nobody 401",
                    ])
            }
        }
    }

    @Test("B2.4: the session's method is not asked for a password, not even where the tasks' method is missing")
    func sessionMethodIsNotAsked() async throws {
        try await withServer(router: door()) { server async throws in
            let delegate = SessionOnlyGuest()
            for _ in 1...2 { #expect(try await visitor(delegate).visit(server.at("/")) == "401 denied") }
            #expect(delegate.transcript.calls == [])
            let own = AsyncGuest()
            #expect(try await visitor(delegate).visit(server.at("/"), delegate: own) == "200 secret")
            #expect(own.transcript.calls == ["async task HTTPBasic r 0 nobody 401"])
        }
    }

    @Test("B2.2, B2.101: for NTLM the session's method is asked first, then the tasks'")
    func ntlm() async throws {
        let router: LoopbackServer.Router = { _ in .denied("NTLM") }
        try await withServer(router: router) { server async throws in
            let delegate = GuestDelegate(Guest.always(.rejectProtectionSpace))
            #expect(try await visitor(delegate).visit(server.at("/")) == "401 denied")
            #expect(delegate.transcript.calls == ["session NTLM - 0 nobody 401"])
            let own = AsyncGuest()
            _ = try await visitor().visit(server.at("/"), delegate: own)
            #expect(own.transcript.calls.first == "async task NTLM - 0 nobody 401")
        }
    }

    @Test("B1.95: a task's own delegate is asked before the session's")
    func ownFirst() async throws {
        try await withServer(router: door()) { server async throws in
            let (own, sessions) = (GuestDelegate(Guest.once("u", "p")), GuestDelegate(Guest.once("x", "x")))
            #expect(try await visitor(sessions).visit(server.at("/"), delegate: own) == "200 secret")
            #expect(own.transcript.calls.first == "task HTTPBasic r 0 nobody 401")
            #expect(sessions.transcript.calls == [])
        }
    }

    @Test("B2.12, B2.30: a 401 whose challenge cannot be understood is an ordinary response without a question")
    func notUnderstood() async throws {
        let challenges: [String?] = [
            nil, "Bearer realm=\"r\"", "Basic realm=\"open", "Digest realm=\"r\"",
            "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-1",
        ]
        for challenge in challenges {
            let router: LoopbackServer.Router = { _ in
                challenge.map { .denied($0) } ?? .text("denied", status: 401)
            }
            try await withServer(router: router) { server async throws in
                let delegate = GuestDelegate(Guest.once("u", "p"))
                let task = visitor(delegate).dataTask(with: try server.at("/"))
                task.resume()
                await delegate.transcript.completed.wait()
                #expect(
                    delegate.transcript.calls == ["response 401", "data", "complete nil"], "\(challenge ?? "none")")
                #expect((task.response as? HTTPURLResponse)?.statusCode == 401)
            }
        }
    }

    @Test("B2.32, B2.39: the delegate is asked about each space in turn; when it rejects all, the 401 is the response")
    func rejected() async throws {
        let router: LoopbackServer.Router = { [digest, basicChallenge] _ in
            .denied(basicChallenge, digest, "Basic realm=\"second\"")
        }
        try await withServer(router: router) { server async throws in
            let delegate = GuestDelegate(Guest.always(.rejectProtectionSpace))
            let task = visitor(delegate).dataTask(with: try server.at("/"))
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == [
                    "task HTTPDigest r 0 nobody 401", "task HTTPBasic r 0 nobody 401",
                    "task HTTPBasic second 0 nobody 401", "response 401", "data", "complete nil",
                ])
            #expect(delegate.transcript.body == "denied")
        }
    }

    @Test("B2.36, B2.37: default handling passes on to the next space, and to the 401")
    func defaultHandling() async throws {
        let router: LoopbackServer.Router = { [digest, basicChallenge] request in
            request.fields.first(.authorization) == basic("u", "p")
                ? .text("secret") : .denied(digest, basicChallenge)
        }
        try await withServer(router: router) { server async throws in
            let delegate = GuestDelegate(Guest.always(.performDefaultHandling, URLCredential("ignored", "x")))
            #expect(try await visitor(delegate).visit(server.at("/")) == "401 denied")
            let second = GuestDelegate(
                Guest.inTurn((.performDefaultHandling, nil), (.useCredential, URLCredential("u", "p"))))
            #expect(try await visitor(second).visit(server.at("/")) == "200 secret")
            let lines = ["task HTTPDigest r 0 nobody 401", "task HTTPBasic r 0 nobody 401"]
            #expect(delegate.transcript.calls == lines && second.transcript.calls == lines)
        }
    }

    @Test("B2.34, B2.35: an answer without a credential, or with one of another kind, leads to the 401 as response")
    func noCredential() async throws {
        let trust = SecTrust(
            presented: try CertificateFactory.root().issue(.server("a.test")).chain, policy: TrustPolicy(host: nil),
            evaluator: SystemRootsEvaluator())
        try await withServer(router: door()) { server async throws in
            for credential in [nil, URLCredential(trust: trust), URLCredential(proposedUser: "u")] {
                let delegate = GuestDelegate(Guest.always(.useCredential, credential))
                #expect(try await visitor(delegate).visit(server.at("/")) == "401 denied")
                #expect(delegate.transcript.calls.count == 1)
            }
        }
    }

    @Test("B2.38: cancelling ends the task with −999, and nothing of the refusal is delivered")
    func cancelled() async throws {
        let visits = Visits()
        try await withServer(router: door("r", [:], visits)) { server async throws in
            let delegate = GuestDelegate(Guest.always(.cancelAuthenticationChallenge, URLCredential("u", "p")))
            let task = visitor(delegate).dataTask(with: try server.at("/"))
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls == ["task HTTPBasic r 0 nobody 401", "complete -999"])
            #expect(task.response == nil && visits.count == 1)
        }
    }

    @Test("B2.20: the sender's methods answer as the completion handler does")
    func sender() async throws {
        typealias Answer = @Sendable (any URLAuthenticationChallengeSender, URLAuthenticationChallenge) -> Void
        let cases: [(String, Answer)] = [
            ("200 secret", { $0.use(URLCredential("u", "p"), for: $1) }),
            ("401 denied", { $0.continueWithoutCredential(for: $1) }),
            ("401 denied", { $0.performDefaultHandling(for: $1) }),
            ("401 denied", { $0.rejectProtectionSpaceAndContinue(with: $1) }),
            ("-999", { $0.cancel($1) }),
        ]
        try await withServer(router: door()) { server async throws in
            for (outcome, answer) in cases {
                let delegate = GuestDelegate(nil)
                let session = visitor(delegate)
                let url = try server.at("/")
                async let visit = session.visit(url)
                await delegate.asked.wait()
                let challenge = try #require(delegate.challenges.value.first)
                answer(try #require(challenge.sender), challenge)
                do {
                    #expect(try await visit == outcome)
                } catch {
                    #expect(Transcript.text(error) == outcome)
                }
            }
        }
    }

    @Test("B2.103: a delegate that always answers the same is asked ten times")
    func limit() async throws {
        let visits = Visits()
        try await withServer(router: door("r", [:], visits)) { server async throws in
            let delegate = GuestDelegate(Guest.always(.useCredential, URLCredential("u", "wrong")))
            #expect(try await visitor(delegate).visit(server.at("/")) == "401 denied")
            #expect(delegate.transcript.calls.count == 10 && visits.count == 11)
        }
    }

    @Test(
        "B2.16, B2.37, B2.46: a password that is wrong five times: five questions, and the sixth lets the 401 through")
    func fiveTimes() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "p"], visits)) { server async throws in
            let delegate = GuestDelegate { challenge in
                challenge.previousFailureCount < 5
                    ? (.useCredential, URLCredential("u", "wrong \(challenge.previousFailureCount)"))
                    : (.performDefaultHandling, nil)
            }
            #expect(try await visitor(delegate).visit(server.at("/")) == "401 denied")
            let questions = (1...5).map { "task HTTPBasic r \($0) u/wrong \($0 - 1) 401" }
            #expect(delegate.transcript.calls == ["task HTTPBasic r 0 nobody 401"] + questions)
            #expect(visits.count == 6)
            // The right password is let in after five wrong ones.
            let patient = GuestDelegate { challenge in
                (.useCredential, URLCredential("u", challenge.previousFailureCount < 5 ? "wrong" : "p"))
            }
            #expect(try await visitor(patient).visit(server.at("/")) == "200 secret")
        }
    }

    @Test("A task whose delegate never answers waits until the task or its session is cancelled")
    func neverAnswered() async throws {
        try await withServer(router: door()) { server async throws in
            let delegate = GuestDelegate(nil)
            let session = visitor(delegate)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await delegate.asked.wait()
            task.cancel()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls == ["task HTTPBasic r 0 nobody 401", "complete -999"])
            let challenge = try #require(delegate.challenges.value.first)
            challenge.sender?.use(URLCredential("u", "p"), for: challenge)
            let url = try server.at("/")
            let load = Task { try await session.visit(url) }
            await delegate.asked.wait(times: 2)
            load.cancel()
            #expect(await codeThrown { _ = try await load.value } == .cancelled)
            let last = Task { try await session.visit(url) }
            await delegate.asked.wait(times: 3)
            session.invalidateAndCancel()
            #expect(await codeThrown { _ = try await last.value } == .cancelled)
        }
    }
}
