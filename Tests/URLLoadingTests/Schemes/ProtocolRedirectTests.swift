// Redirects, challenges and the cache of loads by custom protocols (behaviour 14.5).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Custom protocols: redirects, challenges, cache", .endsSessions, .timeLimit(.minutes(5)))
struct ProtocolRedirectTests {
    // MARK: Redirects

    @Test(
        "B14.49: for a redirect the delegate is asked, the instance is stopped, and another one loads the next request")
    func redirect() async throws {
        let target = ProtocolScript { $0.answer("there") }
        let next = try target.url("/b")
        let script = ProtocolScript { held in
            held.redirect(to: next)
            // Older protocol classes fail with this error after a redirect.
            held.fail(URLError(.cancelled))
        }
        let delegate = RecordingDelegate()
        let task = protocolSession(delegate).dataTask(with: try script.url("/a"))
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(
            delegate.transcript.calls == [
                "created 1", "redirect 302 GET /b", "response 200", "data", "metrics 2", "complete nil",
            ])
        #expect(delegate.transcript.body == "there")
        let first = try script.url("/a")
        #expect(task.currentRequest?.url == next && task.originalRequest?.url == first)
        #expect(script.calls.value == ["ScriptedProtocol may", "start", "stop"])
        await target.stopped.wait()
        #expect(target.calls.value == ["ScriptedProtocol may", "start", "stop"])
    }

    @Test("B14.49: a custom protocol's redirect that the delegate refuses is the response")
    func refused() async throws {
        let next = try ProtocolScript { _ in }.url()
        let script = ProtocolScript { $0.redirect(to: next) }
        let delegate = RecordingDelegate(onRedirect: { $1(nil) })
        protocolSession(delegate).dataTask(with: try script.url()).resume()
        await delegate.transcript.completed.wait()
        #expect(
            delegate.transcript.calls == [
                "created 1", "redirect 302 GET /", "response 302", "metrics 1", "complete nil",
            ])
        await script.stopped.wait()
    }

    @Test("B4.27, B14.49: what a class makes of its request has none of the session's secrets at another origin")
    func secretsStayBehind() async throws {
        let seen = Guarded<[String: [String: String]]>([:])
        let router: LoopbackServer.Router = { request in
            let names = ["authorization", "x-api-key", "x-plain", "x-own-token"]
            seen.change {
                $0[request.target] = names.reduce(into: [:]) { $0[$1] = request.fields.first(.init($1)) }
            }
            return .text("there")
        }
        try await withServer(router: router) { server in
            let script = ProtocolScript { held in
                var next = held.request
                switch next.url?.path {
                case "/home": next.url = URL(string: "/other", relativeTo: next.url)?.absoluteURL
                case "/other": return held.answer(next.value(forHTTPHeaderField: "Authorization") ?? "nothing")
                default: next.url = try? server.at(next.url?.path == "/changed" ? "/changed" : "/away")
                }
                if held.request.url?.path == "/changed" { next.setValue("mine", forHTTPHeaderField: "Authorization") }
                held.redirect(to: next)
            }
            let session = protocolSession {
                $0.httpAdditionalHeaders = ["Authorization": "secret", "X-API-Key": "key", "X-Plain": "plain"]
            }
            var request = URLRequest(url: try script.url("/page"))
            request.setValue("own", forHTTPHeaderField: "X-Own-Token")
            #expect(await session.handled(request).0 == Data("there".utf8))
            #expect(seen.value["/away"] == ["x-plain": "plain", "x-own-token": "own"])
            // What the class says itself goes as it is.
            #expect(await session.handled(try script.url("/changed")).0 == Data("there".utf8))
            #expect(seen.value["/changed"] == ["authorization": "mine", "x-plain": "plain"])
            #expect(await session.handled(try script.url("/home")).0 == Data("secret".utf8))
        }
    }

    @Test("B14.49: redirects lead from a custom protocol to a server, and from a server to a custom protocol")
    func mixed() async throws {
        let script = ProtocolScript { $0.answer("from the protocol") }
        let odd = try script.url("/", scheme: "odd")
        let router: LoopbackServer.Router = { request in
            request.target == "/away"
                ? ServerResponse(status: 302).adding("Location", odd.absoluteString) : .text("from the server")
        }
        try await withServer(router: router) { server in
            let away = try server.at("/away")
            let session = protocolSession()
            #expect(await session.handled(away).0 == Data("from the protocol".utf8))
            let home = try server.at("/home")
            let back = ProtocolScript { $0.redirect(to: home) }
            #expect(await session.handled(try back.url()).0 == Data("from the server".utf8))
            // Without the class the scheme is unknown.
            #expect((await visitor().handled(away).2 as? URLError)?.code == .unsupportedURL)
        }
    }

    @Test("B14.49: a custom protocol's redirects end after 20, and do not lead to file URLs")
    func limits() async throws {
        let circle = ProtocolScript { held in
            if let url = held.request.url { held.redirect(to: url) }
        }
        let session = protocolSession()
        #expect((await session.handled(try circle.url()).2 as? URLError)?.code == .httpTooManyRedirects)
        #expect(circle.started.count == 21)
        let inward = ProtocolScript { $0.redirect(to: URL(fileURLWithPath: "/etc/hostname")) }
        #expect((await session.handled(try inward.url()).2 as? URLError)?.code == .unsupportedURL)
    }

    // MARK: Challenges

    /// Notes what it is told, and lets the protocol go on.
    private final class Sender: NSObject, URLAuthenticationChallengeSender {
        let answers = Guarded<[String]>([])
        private let goOn: @Sendable () -> Void

        init(_ goOn: @escaping @Sendable () -> Void) { self.goOn = goOn }

        private func note(_ answer: String) {
            answers.change { $0.append(answer) }
            goOn()
        }

        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
            note("use \(credential.user ?? "")")
        }
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { note("continue") }
        func cancel(_ challenge: URLAuthenticationChallenge) { note("cancel") }
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) { note("default") }
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { note("reject") }
    }

    /// A protocol that wants a password before it answers.
    private func guarded(_ sent: Guarded<[String]>) -> ProtocolScript {
        ProtocolScript { held in
            let sender = Sender { held.answer("inside") }
            let challenge = URLAuthenticationChallenge(
                protectionSpace: URLProtectionSpace(
                    host: "h", port: 1, protocol: "odd", realm: "r",
                    authenticationMethod: NSURLAuthenticationMethodDefault),
                proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil, sender: sender)
            held.client?.urlProtocol(held.instance, didReceive: challenge)
            Task {
                try await until { !sender.answers.value.isEmpty }
                sent.change { $0 += sender.answers.value }
            }
        }
    }

    @Test(
        "B14.50: each answer of a delegate reaches the challenge's sender",
        arguments: [
            (URLSession.AuthChallengeDisposition.useCredential, "use u", "complete nil"),
            (.performDefaultHandling, "default", "complete nil"),
            (.rejectProtectionSpace, "reject", "complete nil"),
            (.cancelAuthenticationChallenge, "cancel", "complete -999"),
        ])
    func challenges(disposition: URLSession.AuthChallengeDisposition, answer: String, end: String) async throws {
        let sent = Guarded<[String]>([])
        let script = guarded(sent)
        let delegate = FullJudge { _, reply in
            reply(disposition, URLCredential(user: "u", password: "p", persistence: .none))
        }
        protocolSession(delegate).dataTask(with: try script.url()).resume()
        await delegate.transcript.completed.wait()
        try await until { !sent.value.isEmpty }
        #expect(sent.value == [answer])
        #expect(delegate.transcript.calls.last == end)
        #expect(delegate.transcript.calls.contains("task identity"))
    }

    @Test(
        "B14.50: an answer without a credential continues without one; without a delegate's method it is default handling"
    )
    func withoutCredential() async throws {
        let sent = Guarded<[String]>([])
        let script = guarded(sent)
        let delegate = FullJudge { _, reply in reply(.useCredential, nil) }
        protocolSession(delegate).dataTask(with: try script.url()).resume()
        await delegate.transcript.completed.wait()
        try await until { sent.value.count == 1 }
        let url = try script.url()
        #expect(try await protocolSession().data(from: url).0 == Data("inside".utf8))
        try await until { sent.value.count == 2 }
        protocolSession(RecordingDelegate()).dataTask(with: url).resume()
        try await until { sent.value.count == 3 }
        #expect(sent.value == ["continue", "default", "default"])
    }

    @Test("B14.50, B2.20: a delegate may answer through the challenge's sender")
    func throughSender() async throws {
        let sent = Guarded<[String]>([])
        let script = guarded(sent)
        let delegate = FullJudge { challenge, _ in
            challenge.sender?.use(URLCredential(user: "s", password: "p", persistence: .none), for: challenge)
        }
        protocolSession(delegate).dataTask(with: try script.url()).resume()
        await delegate.transcript.completed.wait()
        try await until { !sent.value.isEmpty }
        #expect(sent.value == ["use s"])
    }

    @Test("B14.50: a challenge that the custom protocol cancels does not hold the load up")
    func takenBack() async throws {
        let script = ProtocolScript { held in
            let challenge = URLAuthenticationChallenge(
                protectionSpace: URLProtectionSpace(
                    host: "h", port: 1, protocol: "odd", realm: "r",
                    authenticationMethod: NSURLAuthenticationMethodDefault),
                proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil, sender: Sender {})
            held.client?.urlProtocol(held.instance, didReceive: challenge)
            held.client?.urlProtocol(held.instance, didCancel: challenge)
            held.answer("inside")
        }
        let delegate = FullJudge { _, _ in }
        protocolSession(delegate).dataTask(with: try script.url()).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls.last == "complete nil")
    }

    // MARK: The cache

    private func cached(_ url: URL, _ text: String) throws -> CachedURLResponse {
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["X-From": "cache"]))
        return CachedURLResponse(response: response, data: Data(text.utf8))
    }

    @Test("B14.37, B14.51: an instance gets the stored response, and may answer with it")
    func cachedResponse() async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let script = ProtocolScript { held in
            guard let cached = held.instance.cachedResponse else { return held.answer("fresh") }
            held.client?.urlProtocol(held.instance, cachedResponseIsValid: cached)
        }
        let url = try script.url()
        let session = protocolSession { $0.urlCache = cache }
        #expect(await session.handled(url).0 == Data("fresh".utf8))
        cache.storeCachedResponse(try cached(url, "stored"), for: URLRequest(url: url))
        let (data, response, _) = await session.handled(url)
        #expect(data == Data("stored".utf8))
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-From") == "cache")
        let delegate = RecordingDelegate()
        protocolSession(delegate) { $0.urlCache = cache }.dataTask(with: url).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "response 200", "data", "metrics 1", "complete nil"])
    }

    @Test(
        "B14.52: a response that may be stored is stored in the cache, for http and https only",
        arguments: [
            ("http", URLCache.StoragePolicy.allowed, true), ("https", .allowedInMemoryOnly, true),
            ("http", .notAllowed, false), ("odd", .allowed, false),
        ])
    func storing(scheme: String, policy: URLCache.StoragePolicy, isStored: Bool) async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let script = ProtocolScript { held in
            held.respond(policy: policy)
            held.load("page")
            held.finish()
        }
        let url = try script.url("/", scheme: scheme)
        let delegate = RecordingDelegate()
        let session = protocolSession(delegate) { $0.urlCache = cache }
        session.dataTask(with: url).resume()
        await delegate.transcript.completed.wait()
        let stored = cache.cachedResponse(for: URLRequest(url: url))
        #expect((stored != nil) == isStored)
        if isStored { #expect(stored?.data == Data("page".utf8) && stored?.storagePolicy == policy) }
    }

    @Test("B14.52: of several responses, and behind data without one, none is stored with the data of all")
    func storingSeveral() async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let several = ProtocolScript { $0.answer("first", then: 201, "second", policy: .allowed) }
        let early = ProtocolScript { held in
            held.load("early")
            held.respond(policy: .allowed)
            held.load("late")
            held.finish()
        }
        for (script, body) in [(several, "firstsecond"), (early, "earlylate")] {
            let delegate = RecordingDelegate()
            protocolSession(delegate) { $0.urlCache = cache }.dataTask(with: try script.url()).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == body)
            #expect(cache.cachedResponse(for: URLRequest(url: try script.url())) == nil)
        }
    }

    @Test("B7.103: what a custom protocol brings for a request with a UNIX-domain socket is not stored")
    func socket() async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let script = ProtocolScript { held in
            held.respond(policy: .allowed)
            held.load("page")
            held.finish()
        }
        var request = URLRequest(url: try script.url())
        request.unixSocketPath = "/run/none"
        let delegate = RecordingDelegate()
        protocolSession(delegate) { $0.urlCache = cache }.dataTask(with: request).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.body == "page")
        #expect(cache.cachedResponse(for: URLRequest(url: try script.url())) == nil)
    }

    /// Says what is stored.
    private final class Keeper: NSObject, URLSessionDataDelegate {
        let transcript = Transcript()

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            transcript.note("will cache \(proposedResponse.data.count)")
            completionHandler(nil)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            transcript.note("complete \(Transcript.text(error))")
            transcript.completed.fire()
        }
    }

    @Test("B14.52: the delegate is asked before a custom protocol's response is stored")
    func willCache() async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let script = ProtocolScript { held in
            held.respond(policy: .allowed)
            held.load("page")
            held.finish()
        }
        let delegate = Keeper()
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = cache
        configuration.protocolClasses = [ScriptedProtocol.self]
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        session.dataTask(with: try script.url()).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["will cache 4", "complete nil"])
        #expect(cache.cachedResponse(for: URLRequest(url: try script.url())) == nil)
    }
}
