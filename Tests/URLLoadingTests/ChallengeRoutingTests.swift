// Which delegate, and which of its methods, is asked about a server (behaviour 2.1), and when.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTLS

/// Hands the question about a server on to another delegate, in the form with a handler.
private final class Forwarder: NSObject, URLSessionDelegate {
    private let inner: any URLSessionDelegate

    init(_ inner: any URLSessionDelegate) { self.inner = inner }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        inner.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
    }
}

/// Hands the question about a server on to another delegate, in the `async` form.
private final class AsyncForwarder: NSObject, URLSessionDelegate {
    private let inner: any URLSessionDelegate

    init(_ inner: any URLSessionDelegate) { self.inner = inner }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        await inner.urlSession(session, didReceive: challenge)
    }
}

/// Hands all challenges on to another delegate, in the form with a handler.
private final class FullForwarder: NSObject, URLSessionTaskDelegate {
    private let inner: any URLSessionTaskDelegate

    init(_ inner: any URLSessionTaskDelegate) { self.inner = inner }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping ChallengeReply
    ) {
        inner.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping ChallengeReply
    ) {
        inner.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }
}

/// Has the tasks' method, which asks for the session's, at once or from another thread.
private final class SessionAsker: NSObject, URLSessionTaskDelegate {
    let transcript = Transcript()
    private let hops: Bool

    init(hops: Bool = false) { self.hops = hops }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping ChallengeReply
    ) {
        transcript.note("task \(challenge.kind)")
        guard hops else { return urlSession(session, didReceive: challenge, completionHandler: completionHandler) }
        DispatchQueue.global().async { [self] in
            urlSession(session, didReceive: challenge, completionHandler: completionHandler)
        }
    }
}

/// Has the tasks' method, which asks for the session's, in the `async` forms.
private final class AsyncSessionAsker: NSObject, URLSessionTaskDelegate {
    let transcript = Transcript()

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        transcript.note("task \(challenge.kind)")
        return await urlSession(session, didReceive: challenge)
    }
}

@Suite("Challenges: which delegate is asked")
struct ChallengeRoutingTests {
    @Test("B2.1, B2.2, B2.10: the session's method, in either form, or else the tasks' method, in either form")
    func eitherMethod() async throws {
        try await withJudgedServer { judged in
            let (session, task, asyncSession, asyncTask) = (
                SessionJudge(), TaskJudge(), AsyncSessionJudge(), AsyncTaskJudge()
            )
            let cases: [(any URLSessionDelegate, Transcript, String)] = [
                (session, session.transcript, "session trust"), (task, task.transcript, "task trust"),
                (asyncSession, asyncSession.transcript, "async session trust"),
                (asyncTask, asyncTask.transcript, "async task trust"),
            ]
            // Twice: the first time it is not known which methods a delegate has.
            for round in 1...2 {
                for (delegate, transcript, call) in cases {
                    let (data, _) = try await judged.session(delegate).data(from: judged.url)
                    #expect(String(decoding: data, as: UTF8.self) == "secret")
                    #expect(transcript.calls == Array(repeating: call, count: round))
                }
            }
        }
    }

    @Test(
        "B1.95: a delegate that hands its question on has the method, in whichever form the other has it, or in none"
    )
    func handedOn() async throws {
        try await withJudgedServer { judged in
            let (judge, asyncJudge) = (SessionJudge(), AsyncSessionJudge())
            let (awaitedJudge, calledJudge) = (SessionJudge(), AsyncSessionJudge())
            let forwarders: [(any URLSessionDelegate, any URLSessionDelegate, Transcript, String)] = [
                (Forwarder(SilentDelegate()), Forwarder(judge), judge.transcript, "session trust"),
                (
                    AsyncForwarder(SilentDelegate()), AsyncForwarder(asyncJudge), asyncJudge.transcript,
                    "async session trust"
                ),
                (
                    AsyncForwarder(SilentDelegate()), AsyncForwarder(awaitedJudge), awaitedJudge.transcript,
                    "session trust"
                ),
                (
                    Forwarder(SilentDelegate()), Forwarder(calledJudge), calledJudge.transcript, "async session trust"
                ),
            ]
            for (withoutJudge, withJudge, transcript, call) in forwarders {
                // The other's default answers, as a method that leaves it to the session.
                let code = await codeThrown { _ = try await judged.session(withoutJudge).data(from: judged.url) }
                #expect(code == .serverCertificateUntrusted)
                let (data, _) = try await judged.session(withJudge).data(from: judged.url)
                #expect(String(decoding: data, as: UTF8.self) == "secret")
                #expect(transcript.calls == [call])
            }
        }
    }

    @Test("B2.38: a pin that a delegate has in one form holds behind one that hands its question on in the other")
    func pinHandedOn() async throws {
        try await withJudgedServer { judged in
            let pin = SessionJudge(Habit.says(.cancelAuthenticationChallenge))
            // The session itself would believe the server.
            let session = judged.session(AsyncForwarder(pin), trusts: true)
            #expect(await codeThrown { _ = try await session.data(from: judged.url) } == .cancelled)
            #expect(pin.transcript.calls == ["session trust"])
            #expect(await judged.sawNothing())
            session.invalidateAndCancel()
        }
    }

    @Test("B2.2: a pin in the tasks' method holds behind a delegate that has both methods and hands its questions on")
    func tasksPinHandedOn() async throws {
        try await withJudgedServer { judged in
            let refuses = Habit.says(.cancelAuthenticationChallenge)
            let (pin, awaitedPin, handlers) = (TaskJudge(refuses), TaskJudge(refuses), URLSession.EventHandlers())
            handlers.didReceiveTaskChallenge = { _, _, _ in (.cancelAuthenticationChallenge, nil) }
            let wrappers: [any URLSessionDelegate] = [
                FullForwarder(pin), AsyncForwarder(awaitedPin), FullForwarder(handlers), AsyncForwarder(handlers),
            ]
            for wrapper in wrappers {
                // The session itself would believe the server.
                let session = judged.session(wrapper, trusts: true)
                #expect(await codeThrown { _ = try await session.data(from: judged.url) } == .cancelled)
                session.invalidateAndCancel()
            }
            #expect(pin.transcript.calls == ["task trust"] && awaitedPin.transcript.calls == ["task trust"])
            #expect(await judged.sawNothing(connections: wrappers.count))
        }
    }

    @Test(
        "B2.3: where a delegate hands its questions on to one with both methods, the session's alone is asked"
    )
    func sessionMethodAloneHandedOn() async throws {
        try await withJudgedServer { judged in
            let both = FullJudge()
            _ = try await judged.session(FullForwarder(both)).data(from: judged.url)
            #expect(both.transcript.calls == ["session trust"])
        }
    }

    @Test(
        "B2.2: a tasks' method that asks for the session's one, which is not there, gets the default answer, and is asked once"
    )
    func askingForMissing() async throws {
        try await withJudgedServer { judged in
            let (asker, hopping, awaiting) = (SessionAsker(), SessionAsker(hops: true), AsyncSessionAsker())
            let (handedOn, hoppingBehind) = (SessionAsker(), SessionAsker(hops: true))
            let cases: [(any URLSessionDelegate, Transcript)] = [
                (asker, asker.transcript), (hopping, hopping.transcript), (awaiting, awaiting.transcript),
                (FullForwarder(handedOn), handedOn.transcript),
                (AsyncForwarder(hoppingBehind), hoppingBehind.transcript),
            ]
            for (delegate, transcript) in cases {
                let session = judged.session(delegate, trusts: true)
                let (data, _) = try await session.data(from: judged.url)
                #expect(String(decoding: data, as: UTF8.self) == "secret")
                #expect(transcript.calls == ["task trust"])
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B2.3, B2.5: where both are implemented the session's method alone is asked")
    func sessionMethodAlone() async throws {
        try await withJudgedServer { judged in
            let delegate = FullJudge()
            _ = try await judged.session(delegate).data(from: judged.url)
            #expect(delegate.transcript.calls == ["created", "session trust", "metrics"])
        }
    }

    @Test("B1.99: the session's method of a task's delegate is asked before that of the session's delegate")
    func methodOfTaskDelegate() async throws {
        try await withJudgedServer { judged in
            let (own, sessions) = (FullJudge(), SessionJudge(Habit.says(.cancelAuthenticationChallenge)))
            _ = try await judged.session(sessions).data(from: judged.url, delegate: own)
            #expect(own.transcript.calls == ["created", "session trust", "response", "data", "metrics"])
            #expect(sessions.transcript.calls == [])
        }
    }

    @Test("B1.99: the session delegate's method is asked before a task delegate's method for tasks")
    func sessionDelegateFirst() async throws {
        try await withJudgedServer { judged in
            let (own, sessions) = (TaskJudge(Habit.says(.cancelAuthenticationChallenge)), SessionJudge())
            _ = try await judged.session(sessions).data(from: judged.url, delegate: own)
            #expect(own.transcript.calls == [])
            #expect(sessions.transcript.calls == ["session trust"])
        }
    }

    @Test(
        "B1.95, B2.2: a task's delegate without the methods leaves the question to the session's delegate, if there is one"
    )
    func fallsThrough() async throws {
        try await withJudgedServer { judged in
            let sessions = SessionJudge()
            _ = try await judged.session(sessions).data(from: judged.url, delegate: SilentDelegate())
            #expect(sessions.transcript.calls == ["session trust"])
            let own = AsyncTaskJudge()
            _ = try await judged.session(nil).data(from: judged.url, delegate: own)
            #expect(own.transcript.calls == ["async task trust"])
            let tasks = TaskJudge()
            _ = try await judged.session(tasks).data(from: judged.url, delegate: SilentDelegate())
            #expect(tasks.transcript.calls == ["task trust"])
        }
    }

    @Test("Closures are asked where they are set; without any the default holds")
    func closures() async throws {
        try await withJudgedServer(router: oneAnswer) { judged in
            let handlers = URLSession.EventHandlers()
            let session = judged.session(handlers)
            #expect(await codeThrown { _ = try await session.data(from: judged.url) } == .serverCertificateUntrusted)
            handlers.didReceiveTaskChallenge = { _, _, challenge in Habit.vouch(for: challenge) }
            _ = try await session.data(from: judged.url)
            handlers.didReceiveChallenge = { _, _ in (.cancelAuthenticationChallenge, nil) }
            #expect(await codeThrown { _ = try await session.data(from: judged.url) } == .cancelled)
            handlers.didReceiveChallenge = { _, challenge in Habit.vouch(for: challenge) }
            _ = try await session.data(from: judged.url)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "Delegates are asked for tasks of every kind, also where a handler or an async call gets the result",
        .http1Only("Streams share a connection, whose server is judged once"))
    func everyKind() async throws {
        try await withJudgedServer(router: oneAnswer) { judged in
            let delegate = SessionJudge()
            let session = judged.session(delegate)
            let done = Signal()
            session.dataTask(with: judged.url) { data, _, _ in
                #expect(data == Data("secret".utf8))
                done.fire()
            }.resume()
            session.downloadTask(with: judged.url) { file, _, _ in
                #expect(file != nil)
                done.fire()
            }.resume()
            var upload = URLRequest(url: judged.url)
            upload.httpMethod = "POST"
            session.uploadTask(with: upload, from: Data("x".utf8)) { data, _, _ in
                #expect(data == Data("secret".utf8))
                done.fire()
            }.resume()
            await done.wait(times: 3)
            _ = try await session.bytes(from: judged.url)
            let (file, _) = try await session.download(from: judged.url)
            try FileManager.default.removeItem(at: file)
            #expect(delegate.transcript.calls == Array(repeating: "session trust", count: 5))
            session.invalidateAndCancel()
        }
    }

    @Test("B2.8: a connection that was accepted serves later requests without another question")
    func holdsForConnection() async throws {
        try await withJudgedServer { judged in
            let delegate = SessionJudge()
            let session = judged.session(delegate)
            for _ in 0..<3 { _ = try await session.data(from: judged.url) }
            #expect(delegate.transcript.calls == ["session trust"])
            #expect(judged.server.stats.connectionsAccepted == 1)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B2.9: the delegate is asked at every new connection, also with a resumed handshake, and may answer otherwise")
    func everyConnectionAsks() async throws {
        for version in [TLSVersion.v12, .v13] {
            try await withJudgedServer({ $0.maximum = version }, router: oneAnswer) { judged in
                let pinHolds = Guarded(true)
                let delegate = SessionJudge { challenge, reply in
                    // As pinning code does: the wrong certificate cancels.
                    if pinHolds.value {
                        Habit.accepts(challenge, reply)
                    } else {
                        reply(.cancelAuthenticationChallenge, nil)
                    }
                }
                let session = judged.session(delegate)
                for _ in 0..<3 { _ = try await session.data(from: judged.url) }
                #expect(judged.server.stats.resumedHandshakes == 2)
                let before = judged.server.stats.bytesReceived
                pinHolds.value = false
                #expect(await codeThrown { _ = try await session.data(from: judged.url) } == .cancelled)
                #expect(delegate.transcript.calls.count == 4)
                await judged.server.wait { $0.connectionsAccepted == 4 && $0.connectionsOpen == 0 }
                #expect(judged.server.stats.bytesReceived == before, "not a byte left, though the session was resumed")
                #expect(judged.server.stats.requests == 3)
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B1.60, B2.10: the challenge comes before everything else that a task has to tell")
    func order() async throws {
        try await withJudgedServer { judged in
            let delegate = FullJudge()
            let session = judged.session(delegate)
            session.dataTask(with: judged.url).resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == [
                    "created", "session trust", "response", "data", "metrics", "complete nil",
                ])
            session.invalidateAndCancel()
        }
    }
}
