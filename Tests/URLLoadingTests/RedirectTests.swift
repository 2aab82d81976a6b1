// Redirects (behaviour chapter 4).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Redirects")
struct RedirectTests {
    private func redirect(_ status: Int, to location: String) -> ServerResponse {
        ServerResponse.text("moved", status: status).adding("Location", location)
    }

    /// Answers `/status/NNN` with a redirect to `/end`, which tells what arrived there.
    private func router(_ request: ServerRequest) -> ServerResponse {
        let parts = request.path.split(separator: "/")
        if parts.first == "status", parts.count == 2, let status = Int(parts[1]) {
            return redirect(status, to: "/end")
        }
        if parts.first == "loop" { return redirect(302, to: "/loop") }
        let auth = request.fields.first(.authorization) ?? "-"
        let type = request.fields.first(.contentType) ?? "-"
        return .text("\(request.method) \(request.body.count) \(auth) \(type)")
    }

    @Test(
        "B4.1, B4.6 to B4.11: which request follows each status",
        arguments: [
            (301, "POST", "GET 0 - -"), (302, "POST", "GET 0 - -"), (303, "POST", "GET 0 - -"),
            (303, "PUT", "GET 0 - -"),
            (301, "PUT", "PUT 4 - text/x"), (302, "PUT", "PUT 4 - text/x"), (305, "POST", "POST 4 - text/x"),
            (306, "POST", "POST 4 - text/x"),
            (307, "POST", "POST 4 - text/x"), (308, "POST", "POST 4 - text/x"),
        ])
    func follows(status: Int, method: String, seen: String) async throws {
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .default)
            var request = URLRequest(url: try server.at("/status/\(status)"))
            request.httpMethod = method
            request.httpBody = Data("body".utf8)
            request.setValue("text/x", forHTTPHeaderField: "Content-Type")
            let (data, response) = try await session.data(for: request)
            #expect(String(decoding: data, as: UTF8.self) == seen)
            #expect(response.url?.path == "/end", "B4.24")
        }
    }

    @Test("B4.2, B11.11: a body that a delegate gives the next request is counted by its own length")
    func otherBody() async throws {
        try await withServer(router: router) { server in
            let delegate = RecordingDelegate(onRedirect: { request, decide in
                var request = request
                request.httpMethod = "POST"
                request.httpBody = Data(repeating: 0x61, count: 1000)
                decide(request)
            })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/status/302"))
            #expect(task.countOfBytesExpectedToSend == 0)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(task.countOfBytesExpectedToSend == 1000 && task.countOfBytesSent == 1000)
            #expect(delegate.transcript.calls.contains("sent 1000 of 1000"))
            session.invalidateAndCancel()
        }
    }

    @Test("B4.6, B4.17, B17.22: 300, 304 and a redirect without Location are delivered", arguments: [300, 304, 302])
    func delivers(status: Int) async throws {
        try await withServer(router: { _ in status == 302 ? .status(302) : redirect(status, to: "/end") }) { server in
            let session = URLSession(configuration: .default)
            let (_, response) = try await session.data(from: try server.at("/"))
            #expect((response as? HTTPURLResponse)?.statusCode == status)
        }
    }

    @Test("B4.2, B4.5, B1.107, B4.24, B4.35, B12.4, B12.5: a followed redirect, in order")
    func transcript() async throws {
        try await withServer(router: router) { server in
            let count = Guarded(0)
            let delegate = RecordingDelegate(onMetrics: { count.value = $1.redirectCount })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/status/302"))
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == [
                    "created 1", "redirect 302 GET /end", "response 200", "data", "metrics 2", "complete nil",
                ])
            #expect(delegate.transcript.body == "GET 0 - -")
            #expect(count.value == 1)
            #expect(task.originalRequest?.url?.path == "/status/302")
            #expect(task.currentRequest?.url?.path == "/end")
            #expect(server.stats.connectionsAccepted == 1, "B4.33: the connection is kept")
            session.invalidateAndCancel()
        }
    }

    @Test("B4.3: where the delegate answers nil the redirect itself is delivered, with its body")
    func redirectToNil() async throws {
        try await withServer(router: router) { server in
            let delegate = RecordingDelegate(onRedirect: { $1(nil) })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/status/302")).resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == [
                    "created 1", "redirect 302 GET /end", "response 302", "data", "metrics 1", "complete nil",
                ])
            #expect(delegate.transcript.body == "moved")
            let url = try server.at("/status/307")
            let (data, response) = await withHandover { continuation in
                session.dataTask(with: url) { data, response, _ in continuation.resume(returning: (data, response)) }
                    .resume()
            }
            #expect((response as? HTTPURLResponse)?.statusCode == 307)
            #expect(data == Data("moved".utf8))
            let (body, _) = try await session.data(from: try server.at("/status/308"))
            #expect(body == Data("moved".utf8))
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B4.3, B1.40: a redirect that is refused while its task is suspended is the response at once; its body comes later"
    )
    func refusedWhileSuspended() async throws {
        try await withServer(router: router) { server in
            let shown = Signal()
            let kept = Guarded<URLSessionTask?>(nil)
            let delegate = RecordingDelegate(
                onResponse: { _, handler in
                    handler(.allow)
                    shown.fire()
                },
                onRedirect: { _, handler in
                    kept.value?.suspend()
                    handler(nil)
                })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/status/302"))
            kept.value = task
            task.resume()
            await shown.wait()
            #expect(task.state == .suspended)
            #expect((task.response as? HTTPURLResponse)?.statusCode == 302)
            #expect(delegate.transcript.calls == ["created 1", "redirect 302 GET /end", "response 302"])
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == [
                    "created 1", "redirect 302 GET /end", "response 302", "data", "metrics 1", "complete nil",
                ])
            #expect(delegate.transcript.body == "moved")
            session.invalidateAndCancel()
        }
    }

    @Test("B4.2, B4.28: a delegate's own request is sent as it is, also to another path")
    func redirectElsewhere() async throws {
        try await withServer(router: router) { server in
            let other = try server.at("/other")
            let delegate = RecordingDelegate(onRedirect: { request, handler in
                var changed = request
                changed.url = other
                changed.setValue("Basic given", forHTTPHeaderField: "Authorization")
                handler(changed)
            })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let (data, response) = try await session.data(from: try server.at("/status/301"))
            #expect(response.url == other)
            #expect(String(decoding: data, as: UTF8.self) == "GET 0 Basic given -")
        }
    }

    @Test("B4.4: cancelling while asked ends with −999")
    func cancelWhileAsked() async throws {
        try await withServer(router: router) { server in
            let asked = Signal()
            let delegate = RecordingDelegate(onRedirect: { _, _ in asked.fire() })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/status/302"))
            task.resume()
            await asked.wait()
            task.cancel()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == ["created 1", "redirect 302 GET /end", "metrics 1", "complete -999"])
            session.invalidateAndCancel()
        }
    }

    @Test("B4.2: a delegate with the async form of the method is asked by it")
    func asyncForm() async throws {
        try await withServer(router: router) { server in
            for _ in 0..<2 {
                let delegate = AsyncDelegate()
                let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
                session.dataTask(with: try server.at("/status/302")).resume()
                await delegate.transcript.completed.wait()
                #expect(delegate.transcript.calls == ["async redirect 302", "async response", "data", "complete nil"])
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B4.13, B4.14, B4.15, B4.16, B17.18: the 21st redirect fails with −1007, without response")
    func tooMany() async throws {
        try await withServer(router: router) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/loop"))
            task.resume()
            await delegate.transcript.completed.wait()
            let calls = delegate.transcript.calls
            #expect(calls.filter { $0.hasPrefix("redirect") }.count == 20)
            #expect(calls.last == "complete -1007")
            #expect(!calls.contains("data"))
            #expect(task.response == nil)
            let error = try #require(task.error as? URLError)
            #expect(
                error.localizedDescription == "too many HTTP redirects: more than 20; the last led to 127.0.0.1")
            #expect(error.failingURL?.path == "/loop")
            let code = await codeThrown {
                _ = try await URLSession(configuration: .default).data(from: server.at("/loop"))
            }
            #expect(code == .httpTooManyRedirects)
            session.invalidateAndCancel()
        }
    }

    @Test("B4.14: −1007 names the last URL that was loaded", arguments: [false, true])
    func nameOfTheLast(throughProtocol: Bool) async throws {
        let router: @Sendable (ServerRequest) -> ServerResponse = { request in
            let number = Int(request.target.drop { !$0.isNumber }) ?? 0
            return .status(302).adding("Location", "/redirect/\(number - 1)")
        }
        try await withServer(router: router) { server in
            let first = try server.at("/redirect/99")
            var error: URLError?
            if throughProtocol {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.protocolClasses = [CountingDown.self]
                error = await #expect(throws: URLError.self) {
                    _ = try await URLSession(configuration: configuration).data(from: first)
                }
            } else {
                error = await #expect(throws: URLError.self) {
                    _ = try await URLSession(configuration: .default).data(from: first)
                }
            }
            #expect(error?.code == .httpTooManyRedirects)
            #expect(error?.failingURL == (try server.at("/redirect/79")))
            #expect(error?.userInfo["NSErrorFailingURLStringKey"] as? String == server.url("/redirect/79"))
        }
    }

    @Test("B4.27: Authorization is sent on to the same origin, and dropped for another one")
    func authorization() async throws {
        try await withServer(router: router) { other in
            let port = other.port
            try await withServer(router: { request in
                request.path == "/away" ? redirect(302, to: "http://127.0.0.1:\(port)/end") : router(request)
            }) { server in
                let session = URLSession(configuration: .default)
                var request = URLRequest(url: try server.at("/status/302"))
                request.setValue("Basic secret", forHTTPHeaderField: "Authorization")
                let (same, _) = try await session.data(for: request)
                #expect(String(decoding: same, as: UTF8.self) == "GET 0 Basic secret -")
                request.url = try server.at("/away")
                let (away, _) = try await session.data(for: request)
                #expect(String(decoding: away, as: UTF8.self) == "GET 0 - -")
            }
        }
    }

    @Test(
        "B4.31: a redirect out of HTTP is refused with −1002",
        arguments: ["file:///etc/passwd", "data:,x", "ftp://a/b"])
    func otherSchemes(location: String) async throws {
        try await withServer(router: { _ in redirect(302, to: location) }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.contains { $0.hasPrefix("redirect 302") }, "the delegate is asked")
            #expect(delegate.transcript.calls.last == "complete -1002")
            let code = await codeThrown {
                _ = try await URLSession(configuration: .default).data(from: server.at("/"))
            }
            #expect(code == .unsupportedURL)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B4.18, B4.20, B4.22, B4.23: the URLs that relative and absolute Locations lead to",
        arguments: [
            ("relative?x", "/dir/relative?x#kept"), ("../up", "/up#kept"), ("?only", "/dir/start?only#kept"),
            ("/abs path", "/abs%20path#kept"), ("/enc%20oded?a=%26", "/enc%20oded?a=%26#kept"),
            ("/own#frag", "/own#frag"),
            ("/ü", "/%C3%BC#kept"),
        ])
    func targets(location: String, wanted: String) async throws {
        try await withServer(router: { request in
            request.path == "/dir/start" && request.query == nil ? redirect(302, to: location) : .text("end")
        }) { server in
            let session = URLSession(configuration: .default)
            let (_, response) = try await session.data(from: try server.at("/dir/start#kept"))
            #expect(response.url?.absoluteString == server.url(wanted))
        }
    }

    @Test("B4.22, B16.69: a Location's host may be percent-encoded UTF-8")
    func unicodeHost() async throws {
        let router: LoopbackServer.Router = { request in
            let host = request.fields.first(.host) ?? ""
            if host.hasPrefix("xn--bcher-kva.test:") { return .text("end") }
            return redirect(302, to: "http://b%C3%BCcher.test:\(host.split(separator: ":").last ?? "")/")
        }
        try await withServer(router: router) { server in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.hostOverrides = ["xn--bcher-kva.test": "127.0.0.1"]
            let (data, response) = try await URLSession(configuration: configuration).data(from: try server.at("/"))
            #expect(data == Data("end".utf8) && (response as? HTTPURLResponse)?.statusCode == 200)
        }
    }

    @Test("B4.19: the name Location may be written in any case", arguments: ["location", "LOCATION", "lOcAtIoN"])
    func caseOfLocation(name: String) async throws {
        try await withServer(router: { request in
            request.path == "/" ? ServerResponse.status(302).adding(name, "/end") : .text("end")
        }) { server in
            let (_, response) = try await URLSession(configuration: .default).data(from: try server.at("/"))
            #expect(response.url?.path == "/end")
        }
    }

    @Test("B4.30: https leads to http, and credentials stay behind")
    func downgrade() async throws {
        let root = try CertificateFactory.root()
        let leaf = try root.issue(.server("localhost"))
        let options = LoopbackServer.Options(tls: ServerTLS(identity: leaf.identity))
        try await withServer(router: { .text($0.fields.first(.authorization) ?? "-") }) { plain in
            let target = plain.url("/plain")
            try await withServer(options, router: { _ in redirect(302, to: target) }) { server in
                let configuration = URLSessionConfiguration.default
                configuration.serverTrustEvaluation = .anchors(pem: root.certificate.pem)
                let session = URLSession(configuration: configuration)
                var request = URLRequest(url: try server.at("/", host: "localhost"))
                request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
                let (data, response) = try await session.data(for: request)
                #expect(response.url?.scheme == "http" && data == Data("-".utf8))
            }
        }
    }

    @Test("B4.36: bringing a URL into its canonical form is no redirect")
    func canonicalisation() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try #require(URL(string: "HTTP://127.0.0.1:\(server.port)"))).resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == ["created 1", "response 200", "data", "metrics 1", "complete nil"])
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B4.18: a redirect whose Location is not a URL is delivered itself",
        arguments: ["::::", ":", "http://", "//", "http://%FF/", "http://%EF%BC%8F.test/"])
    func unparsableLocation(location: String) async throws {
        try await withServer(router: { _ in redirect(302, to: location) }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == ["created 1", "response 302", "data", "metrics 1", "complete nil"])
            session.invalidateAndCancel()
        }
    }

    @Test("B4.33: a redirect whose body stalls is followed at once, asked about or not", arguments: [true, false])
    func stalledRedirectBody(isAsked: Bool) async throws {
        let never = ServerGate()
        try await withServer(router: { request in
            request.path == "/end"
                ? .text("end")
                : ServerResponse.slow([.init("moved"), .init("rest", when: never)]).with(status: 302)
                    .adding("Location", "/end")
        }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(
                configuration: .default, delegate: isAsked ? delegate : nil, delegateQueue: nil)
            let (data, response) = try await session.data(from: try server.at("/"))
            #expect(data == Data("end".utf8) && response.url?.path == "/end")
            if isAsked {
                #expect(delegate.transcript.calls == ["created 1", "redirect 302 GET /end", "metrics 2"])
            }
            session.invalidateAndCancel()
        }
    }

    @Test("B4.33: a followed redirect's large body does not delay the next request")
    func largeRedirectBody() async throws {
        try await withServer(router: { request in
            request.path == "/end"
                ? .text("end")
                : ServerResponse.generated(length: 100_000_000).with(status: 302).adding("Location", "/end")
        }) { server in
            let session = URLSession(configuration: .default)
            let (data, _) = try await session.data(from: try server.at("/"))
            #expect(data == Data("end".utf8))
        }
    }

    @Test("B4.38: a redirect to an unreachable target fails with the target's error and URL")
    func unreachableTarget() async throws {
        try await withServer(router: { _ in redirect(302, to: "http://127.0.0.1:1/gone") }) { server in
            do {
                _ = try await URLSession(configuration: .default).data(from: try server.at("/"))
                Issue.record("no error")
            } catch let error as URLError {
                #expect(error.code == .cannotConnectToHost)
                #expect(error.failingURL?.absoluteString == "http://127.0.0.1:1/gone")
            }
        }
    }
}

extension ServerResponse {
    func with(status: Int) -> ServerResponse {
        var response = self
        response.status = status
        return response
    }
}

/// Redirects from each number to the one below it, without a server.
private final class CountingDown: URLProtocol, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url, let number = Int(url.lastPathComponent),
            let next = URL(string: "/redirect/\(number - 1)", relativeTo: url)?.absoluteURL,
            let response = HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil)
        else { return }
        client?.urlProtocol(self, wasRedirectedTo: URLRequest(url: next), redirectResponse: response)
    }

    override func stopLoading() {}
}
