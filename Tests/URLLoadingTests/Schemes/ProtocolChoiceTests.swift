// Which custom protocol class carries a load, and what it sees of the request (behaviour 14.5, B5.15).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Custom protocols: choice and request", .endsSessions, .timeLimit(.minutes(5)))
struct ProtocolChoiceTests {
    // MARK: Which class

    @Test("B14.31: a session's classes are asked in their order, and the first that takes the request loads it")
    func order() async throws {
        let script = ProtocolScript { $0.answer("\(type(of: $0.instance))") }
        let session = protocolSession(nil, [UnwillingProtocol.self, OtherProtocol.self, ScriptedProtocol.self])
        #expect(await session.handled(try script.url()).0 == Data("OtherProtocol".utf8))
        await script.stopped.wait()
        // Each class is asked at most once for a hop.
        #expect(script.calls.value == ["UnwillingProtocol may", "OtherProtocol may", "start", "stop"])
    }

    @Test("B14.31: a request that no class takes is loaded by the library")
    func unwilling() async throws {
        let script = ProtocolScript { _ in }
        let session = protocolSession(nil, [UnwillingProtocol.self])
        #expect((await session.handled(try script.url("/", scheme: "odd")).2 as? URLError)?.code == .unsupportedURL)
        #expect(script.calls.value == ["UnwillingProtocol may"])
        #expect(await session.handled(try #require(URL(string: "data:,x"))).0 == Data("x".utf8))
        try await withServer(router: { _ in .text("server") }) { server in
            let url = try server.at("/")
            #expect(await session.handled(url).0 == Data("server".utf8))
            var upload = URLRequest(url: url)
            upload.httpMethod = "POST"
            upload.httpBody = Data("body".utf8)
            #expect(await session.handled(upload).0 == Data("server".utf8))
        }
    }

    @Test("B14.31: an instance that blocks holds up no load that no class takes, and may wait for one")
    func blocking() async throws {
        let session = protocolSession()
        let inner = try #require(URL(string: "data:,inner"))
        let script = ProtocolScript { held in
            let (text, isThere) = (Guarded(""), DispatchSemaphore(value: 0))
            session.dataTask(with: inner) { data, _, _ in
                text.value = String(decoding: data ?? Data(), as: UTF8.self)
                isThere.signal()
            }.resume()
            isThere.wait()
            held.answer(text.value)
        }
        #expect(await session.handled(try script.url()).0 == Data("inner".utf8))
        await script.stopped.wait()
    }

    @Test("B14.32: protocolClasses lists the built-in classes; a list without them switches nothing off")
    func builtIn() async throws {
        let configuration = URLSessionConfiguration.default
        let listed = try #require(configuration.protocolClasses)
        #expect(listed.count >= 4)
        for text in ["http://h/", "https://h/", "file:///", "data:,"] {
            let request = URLRequest(url: try #require(URL(string: text)))
            #expect(listed.contains { ($0 as? URLProtocol.Type)?.canInit(with: request) ?? false })
        }
        configuration.protocolClasses = [ScriptedProtocol.self, NSObject.self]
        #expect(configuration.protocolClasses?.count == 1)
        #expect((configuration.copy() as? URLSessionConfiguration)?.protocolClasses?.count == 1)
        configuration.protocolClasses = nil
        #expect(configuration.protocolClasses == nil)
        let session = protocolSession(nil, [])
        #expect(await session.handled(try #require(URL(string: "data:,x"))).0 == Data("x".utf8))
        // Behind the built-in ones a class is still asked first.
        let script = ProtocolScript { $0.answer("class") }
        let last = protocolSession(nil, listed + [ScriptedProtocol.self])
        #expect(await last.handled(try script.url()).0 == Data("class".utf8))
    }

    /// A class for the process's registry. Its scheme is its own, so that other tests do not meet it.
    private class Registered: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "registered" }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func startLoading() {
            client?.urlProtocol(self, didLoad: Data("\(type(of: self))".utf8))
            client?.urlProtocolDidFinishLoading(self)
        }
        override func stopLoading() {}
    }
    private final class Newer: Registered {}

    @Test("B14.30, B14.31: registered classes serve the shared session and later configurations, the newest first")
    @available(*, deprecated)
    func registry() async throws {
        let url = try #require(URL(string: "registered:x"))
        let before = visitor()
        #expect(!URLProtocol.registerClass(NSObject.self))
        #expect((await URLSession.shared.handled(url).2 as? URLError)?.code == .unsupportedURL)
        #expect(URLProtocol.registerClass(Registered.self))
        #expect(await URLSession.shared.handled(url).0 == Data("Registered".utf8))
        #expect(URLProtocol.registerClass(Newer.self))
        #expect(await URLSession.shared.handled(url).0 == Data("Newer".utf8))
        #expect(await visitor().handled(url).0 == Data("Newer".utf8))
        #expect(URLSessionConfiguration().protocolClasses?.first == Newer.self)
        #expect((await before.handled(url).2 as? URLError)?.code == .unsupportedURL)
        URLProtocol.unregisterClass(Newer.self)
        #expect(await URLSession.shared.handled(url).0 == Data("Registered".utf8))
        URLProtocol.unregisterClass(Registered.self)
        #expect((await URLSession.shared.handled(url).2 as? URLError)?.code == .unsupportedURL)
        #expect(URLSessionConfiguration.default.protocolClasses?.contains { $0 == Registered.self } == false)
    }

    /// Is asked with the task, and takes what its description says.
    private final class ByTask: ScriptedProtocol {
        override class func canInit(with task: URLSessionTask) -> Bool { task.taskDescription == "mine" }
        override class func canInit(with request: URLRequest) -> Bool { false }
    }

    @Test("B14.34: a class is asked with the task; by default it is asked with the task's request")
    func byTask() async throws {
        let script = ProtocolScript { $0.answer("mine") }
        let delegate = RecordingDelegate()
        let session = protocolSession(delegate, [ByTask.self])
        let task = session.dataTask(with: try script.url())
        task.taskDescription = "mine"
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.body == "mine")
        let made = try #require(script.instances.value.first?.instance)
        #expect(made.task === task)
        let request = URLRequest(url: try script.url())
        #expect(ScriptedProtocol.canInit(with: visitor().dataTask(with: request)))
    }

    @Test("A class without canInit gets no load, and a class without startLoading fails its loads")
    func bare() async throws {
        final class Bare: URLProtocol {}
        final class Lazy: URLProtocol {
            override class func canInit(with request: URLRequest) -> Bool { true }
        }
        let url = try #require(URL(string: "odd:x"))
        #expect((await protocolSession(nil, [Bare.self]).handled(url).2 as? URLError)?.code == .unsupportedURL)
        let error = await protocolSession(nil, [Lazy.self]).handled(url).2 as? URLError
        #expect(error?.code == .unsupportedURL && error?.localizedDescription.contains("startLoading") == true)
        let request = URLRequest(url: url)
        let instance = Lazy(request: request, cachedResponse: nil, client: nil)
        #expect(instance.request == request && instance.client == nil && instance.task == nil)
        #expect(instance.cachedResponse == nil)
    }

    // MARK: What it sees

    /// Turns every URL into lower case.
    private final class Canonical: ScriptedProtocol {
        override class func canonicalRequest(for request: URLRequest) -> URLRequest {
            var request = request
            request.url = request.url.flatMap { URL(string: $0.absoluteString.lowercased()) }
            request.setValue("yes", forHTTPHeaderField: "X-Canonical")
            return request
        }
    }

    @Test("B14.35, B14.36: an instance loads the class's canonical request, and requests are compared by it")
    func canonical() async throws {
        let script = ProtocolScript { held in
            held.answer(
                "\(held.request.url?.path ?? "") \(held.request.value(forHTTPHeaderField: "X-Canonical") ?? "")")
        }
        let delegate = RecordingDelegate()
        let task = protocolSession(delegate, [Canonical.self]).dataTask(with: try script.url("/A"))
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.body == "/a yes")
        #expect(task.currentRequest?.url?.path == "/a")
        let (upper, lower) = (URLRequest(url: try script.url("/A")), URLRequest(url: try script.url("/a")))
        #expect(Canonical.requestIsCacheEquivalent(upper, to: lower))
        #expect(!ScriptedProtocol.requestIsCacheEquivalent(upper, to: lower))
        #expect(!UnwillingProtocol.requestIsCacheEquivalent(lower, to: lower))
    }

    @Test("B5.15, B14.39: an instance's request has the session's additional fields, where it has none of its own")
    func fields() async throws {
        let seen = Guarded<[String: String]>([:])
        let script = ProtocolScript { held in
            seen.value = held.request.allHTTPHeaderFields ?? [:]
            held.answer("")
        }
        let session = protocolSession { $0.httpAdditionalHeaders = ["X-Session": "s", "X-Both": "session"] }
        var request = URLRequest(url: try script.url())
        request.setValue("request", forHTTPHeaderField: "X-Both")
        request.setValue("r", forHTTPHeaderField: "X-Request")
        _ = await session.handled(request)
        #expect(seen.value == ["X-Session": "s", "X-Both": "request", "X-Request": "r"])
    }

    private static func read(_ stream: InputStream?) -> String {
        guard let stream else { return "none" }
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = stream.read(&buffer, maxLength: buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }

    @Test("B14.38: an instance can read the body as it was given, in tasks of every kind")
    func bodies() async throws {
        let seen = Guarded<[String]>([])
        let script = ProtocolScript { held in
            let data = held.request.httpBody.map { String(decoding: $0, as: UTF8.self) }
            seen.change { $0.append(data ?? "stream \(Self.read(held.request.httpBodyStream))") }
            held.answer("ok")
        }
        var request = URLRequest(url: try script.url())
        request.httpMethod = "POST"
        let session = protocolSession(UploadDelegate(.stream { InputStream(data: Data("supplied".utf8)) }))
        let bare = request
        _ = try await session.upload(for: bare, from: Data("data".utf8))
        let file = try UploadFile(count: 4)
        _ = try await session.upload(for: bare, fromFile: file.url)
        request.httpBody = Data("own".utf8)
        _ = await session.handled(request)
        request.httpBodyStream = InputStream(data: Data("stream".utf8))
        _ = await session.handled(request)
        let delegate = UploadDelegate(.stream { InputStream(data: Data("supplied".utf8)) })
        protocolSession(delegate).uploadTask(withStreamedRequest: bare).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["stream", "response 200", "data", "complete nil"])
        let content = String(decoding: file.bytes, as: UTF8.self)
        #expect(seen.value == ["data", "stream \(content)", "own", "stream stream", "stream supplied"])
        let missing = URL(fileURLWithPath: "/nowhere/at/all")
        #expect(
            await codeThrown { _ = try await session.upload(for: bare, fromFile: missing) } == .fileDoesNotExist)
    }

    // MARK: Properties

    @Test(
        "B14.40: a request's properties are copied and bridged with it, do not count for equality, and can be removed")
    func properties() throws {
        let url = try #require(URL(string: "http://h/"))
        let mutable = NSMutableURLRequest(url: url)
        #expect(URLProtocol.property(forKey: "mark", in: mutable as URLRequest) == nil)
        URLProtocol.setProperty(true, forKey: "mark", in: mutable)
        URLProtocol.setProperty([1, 2], forKey: "list", in: mutable)
        var value = mutable as URLRequest
        #expect(URLProtocol.property(forKey: "mark", in: value) as? Bool == true)
        value.setValue("x", forHTTPHeaderField: "X")
        #expect(URLProtocol.property(forKey: "list", in: value) as? [Int] == [1, 2])
        let again = try #require((value as NSURLRequest).mutableCopy() as? NSMutableURLRequest)
        #expect(URLProtocol.property(forKey: "mark", in: again as URLRequest) as? Bool == true)
        URLProtocol.removeProperty(forKey: "mark", in: again)
        #expect(URLProtocol.property(forKey: "mark", in: again as URLRequest) == nil)
        #expect(URLProtocol.property(forKey: "mark", in: value) as? Bool == true)
        #expect(mutable as URLRequest == URLRequest(url: url))
    }

    /// Marks each request and sends it on, as programs do that watch their own traffic.
    private final class Watcher: URLProtocol {
        static let seen = Guarded<[String]>([])
        private static let inner = URLSession(configuration: .ephemeral)
        private var forwarded: URLSessionDataTask?

        override class func canInit(with request: URLRequest) -> Bool {
            property(forKey: "watched", in: request) == nil
        }

        override func startLoading() {
            guard let marked = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return }
            Self.seen.change { $0.append(request.url?.path ?? "") }
            URLProtocol.setProperty(true, forKey: "watched", in: marked)
            let held = ProtocolScript.Held(instance: self)
            forwarded = Self.inner.dataTask(with: marked as URLRequest) { data, response, error in
                if let response {
                    held.client?.urlProtocol(held.instance, didReceive: response, cacheStoragePolicy: .notAllowed)
                }
                if let data { held.client?.urlProtocol(held.instance, didLoad: data) }
                if let error { held.fail(error) } else { held.finish() }
            }
            forwarded?.resume()
        }

        override func stopLoading() { forwarded?.cancel() }
    }

    /// Takes requests without its mark. A request that it has redirected bears the mark, so a server answers it.
    private final class Redirector: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool {
            property(forKey: "redirected", in: request) == nil
        }

        override func startLoading() {
            guard let marked = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest, let url = request.url,
                let response = HTTPURLResponse(url: url, statusCode: 307, httpVersion: nil, headerFields: nil)
            else { return }
            URLProtocol.setProperty(true, forKey: "redirected", in: marked)
            client?.urlProtocol(self, wasRedirectedTo: marked as URLRequest, redirectResponse: response)
        }
    }

    @Test("B14.40: a property that marks a request as intercepted survives redirects and is never sent")
    func marks() async throws {
        let fields = Guarded<[String]>([])
        let router: LoopbackServer.Router = { request in
            fields.value = (0..<request.fields.count).map { request.fields.name(at: $0) }
            return request.target == "/moved" ? .text("", status: 302).adding("Location", "/end") : .text("end")
        }
        try await withServer(router: router) { server in
            let url = try server.at("/moved")
            let watching = protocolSession(nil, [Watcher.self])
            #expect(await watching.handled(url).0 == Data("end".utf8))
            let redirecting = protocolSession(nil, [Redirector.self])
            #expect(await redirecting.handled(url).0 == Data("end".utf8))
            #expect(!fields.value.contains { $0.lowercased().contains("redirected") })
        }
    }
}
