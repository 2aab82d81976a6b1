// Behaviour 16.1 and 16.5, seen by a program and by its server.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Connections of sessions")
struct PoolTests {
    @Test("B16.2: two sessions never share a connection, and neither do two ports")
    func sharing() async throws {
        try await withServer(router: { .text("\($0.connection)") }) { server in
            let (one, two) = (URLSession.made(), URLSession.made())
            for session in [one, two, one, two] {
                let load = try await Load(server.at(), in: session)
                #expect(load.text == (session === one ? "1" : "2"))
            }
            try await withServer(router: { .text("other \($0.connection)") }) { other in
                let load = try await Load(other.at(), in: one)
                #expect(load.text == "other 1")
            }
            #expect(server.stats.connectionsAccepted == 2)
        }
    }

    @Test(
        "B16.4: HTTP/1.1 persists unless a side says close, HTTP/1.0 only where it is asked to",
        .http1Only("The text of HTTP/1.1"))
    func persistence() async throws {
        let end = "Content-Length: 2\n\nok"
        #expect(try await see("\(ok)\(end)").isReused)
        #expect(try await !see("\(ok)Connection: close\n\(end)").isReused)
        #expect(try await !see("\(ok)Connection: x, CLOSE , y\n\(end)").isReused)
        #expect(try await !see("HTTP/1.0 200 OK\n\(end)").isReused)
        #expect(try await see("HTTP/1.0 200 OK\nConnection: Keep-Alive\n\(end)").isReused)
        #expect(try await !see("HTTP/1.0 200 OK\nConnection: keep-alive, close\n\(end)").isReused)
    }

    @Test(
        "B16.5: a connection is not used again when its task was cancelled in the body",
        .http1Only("A stream is reset, and its connection used again"))
    func cancelledInBody() async throws {
        try await withServer(
            router: { $0.path == "/slow" ? .generated(length: 1 << 40) : .text("\($0.connection)") }
        ) { server in
            let notebook = Notebook(act: { call, _, task in if call == .data { task?.cancel() } })
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            try session.dataTask(with: server.at("/slow")).resume()
            await notebook.ended.wait()
            let next = try await Load(server.at(), in: session)
            #expect(next.text == "2")
            #expect((notebook.error as? URLError)?.code == .cancelled)
            session.invalidateAndCancel()
        }
    }

    @Test("B16.6, B16.9: an idle connection that the server closed, or on which it spoke, is not used again")
    func idle() async throws {
        try await withServer(router: { .text("\($0.connection)") }) { server in
            let session = URLSession.made()
            let first = try await Load(server.at(), in: session)
            await server.closeConnections()
            // A POST is never sent twice, so the session must notice the closed connection before it sends.
            let second = try await Load(URLRequest("POST", server.at(), body: "x"), in: session)
            #expect(first.text == "1")
            #expect(second.error == nil)
            #expect(second.text == "2")
        }
        let unasked = "\(ok)Content-Length: 2\n\nok\(ok)Content-Length: 4\n\nevil"
        #expect(try await see(unasked) == .answer(200, "ok", reused: false))
    }

    @Test("B16.7: invalidating a session closes its idle connections")
    func invalidation() async throws {
        try await withServer(router: { _ in .text("x") }) { server in
            let session = URLSession.made()
            _ = try await Load(server.at(), in: session)
            #expect(server.stats.connectionsOpen == 1)
            session.finishTasksAndInvalidate()
            await server.wait { $0.connectionsOpen == 0 }
        }
    }

    @Test("B16.8: httpShouldUsePipelining is kept and never used", .http1Only("Streams need no pipeline"))
    func pipelining() async throws {
        let gate = ServerGate()
        let answered = Guarded<[Int]>([])
        let box = Guarded<LoopbackServer?>(nil)
        try await withServer(
            router: { request in
                // How many answers had gone out when this request came.
                answered.withLock { $0.append(box.withLock { $0?.stats.responses } ?? -1) }
                return request.path == "/0" ? .slow([.init("first", when: gate)]) : .text("next")
            }
        ) { server in
            box.withLock { $0 = server }
            defer { box.withLock { $0 = nil } }
            let notebook = Notebook()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpShouldUsePipelining = true
            configuration.httpMaximumConnectionsPerHost = 1
            let session = URLSession(configuration: configuration, delegate: notebook, delegateQueue: nil)
            for number in 0..<3 {
                var request = try URLRequest(url: server.at("/\(number)"))
                request.httpShouldUsePipelining = true
                #expect(request.httpShouldUsePipelining)
                session.dataTask(with: request).resume()
            }
            #expect(session.configuration.httpShouldUsePipelining)
            await server.wait { $0.requests == 1 }
            gate.open()
            await notebook.ended.wait(times: 3)
            #expect(answered.withLock { $0 } == [0, 1, 2])
            #expect(server.stats.connectionsAccepted == 1)
            session.invalidateAndCancel()
        }
    }

    @Test("B16.12: IPv6 literals, also with a zone, which does not reach the server")
    func zones() async throws {
        try await withServer(
            LoopbackServer.Options(host: "::1"), router: { .text($0.fields.first(.host) ?? "") }
        ) { server in
            for literal in ["[::1]", "[0:0:0:0:0:0:0:1]"] {
                let url = try #require(URL(string: "http://\(literal):\(server.port)/"))
                let load = await Load(url)
                #expect(load.text == "\(literal):\(server.port)", "\(String(describing: load.error))")
            }
            let zoned = try #require(URL(string: "http://[::1%25lo]:\(server.port)/"))
            let load = await Load(zoned)
            #expect(load.text == "[::1]:\(server.port)", "\(String(describing: load.error))")
        }
    }

    @Test("B16.14: a task that waits for a name can be cancelled at once")
    func cancelledLookup() async throws {
        let url = try #require(URL(string: "http://no-such-host.invalid/"))
        let notebook = Notebook()
        // Where the look-up has failed before this thread comes to cancel, nothing has been told of it yet: a
        // cancellation before the last message wins.
        let queue = OperationQueue.held()
        let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: queue)
        let task = session.dataTask(with: url)
        task.resume()
        task.cancel()
        queue.isSuspended = false
        await notebook.ended.wait()
        #expect((notebook.error as? URLError)?.code == .cancelled)
        session.invalidateAndCancel()
    }

    @Test(
        "B16.15, B16.67: networkServiceType and assumesHTTP3Capable are kept and change no byte of a request",
        .http1Only("It reads the request as text"))
    func ignoredFlags() async throws {
        try await withServer(
            router: { request in
                .text(
                    (0..<request.fields.count).map { "\(request.fields.name(at: $0)): \(request.fields.value(at: $0))" }
                        .joined(separator: "\n"))
            }
        ) { server in
            let session = URLSession.made()
            let plain = try await Load(server.at(), in: session)
            for type in [URLRequest.NetworkServiceType.video, .voice, .background, .responsiveData, .callSignaling] {
                var request = try URLRequest(url: server.at())
                request.networkServiceType = type
                request.assumesHTTP3Capable = true
                #expect(request.networkServiceType == type && request.assumesHTTP3Capable)
                let load = await Load(request, in: session)
                #expect(load.text == plain.text && !plain.text.isEmpty)
            }
        }
        // Alt-Svc promises what this library does not speak.
        let text = "\(ok)Alt-Svc: h3=\":443\"; ma=3600\nContent-Length: 2\n\nok"
        #expect(try await see(text) == .answer(200, "ok"))
    }

    @Test("B16.66: Strict-Transport-Security does not turn later http loads into https")
    func strictTransport() async throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        try await withServer(
            LoopbackServer.Options(tls: .init(identity: identity)),
            router: { _ in ServerResponse.text("safe").adding("Strict-Transport-Security", "max-age=9999") }
        ) { server in
            let session = URLSession.made { $0.serverTrustEvaluation = .anchors(pem: root.pem) }
            let safe = try await Load(server.at(), in: session)
            #expect(safe.text == "safe", "\(String(describing: safe.error))")
            try await withServer(router: { _ in .text("plain") }) { plain in
                let load = try await Load(plain.at(), in: session)
                #expect(load.text == "plain")
            }
        }
    }

    @Test("B16.68: a response without Date gets none")
    func noDate() async throws {
        try await withAnswer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", then: []) { server in
            let load = try await Load(server.at())
            #expect(load.fields == ["Content-Length": "0"])
        }
    }
}
