// Cookies of sessions: taken from every answer, sent with every hop (behaviour 8.3, 8.4; 1.1; 4; 5.2).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Cookies of sessions")
struct CookieSessionTests {
    /// `/set?FIELD` sets a cookie, with `&`-joined ones in several fields; any path answers
    /// with what Cookie field came.
    private static func router(_ request: ServerRequest) -> ServerResponse {
        let cookie = request.fields.first(.cookie) ?? "-"
        let words = request.path.split(separator: "/").map(String.init)
        var response = ServerResponse.text(cookie, status: words.first.flatMap { Int($0) } ?? 200)
        for field in (request.query ?? "").split(separator: "&") {
            let text = field.removingPercentEncoding ?? ""
            if text.hasPrefix("to:") {
                response.fields.append("Location", String(text.dropFirst(3)))
            } else {
                response.fields.append("Set-Cookie", text)
            }
        }
        return response
    }

    /// A session with a storage of its own, for which every host used here is this machine.
    private func configuration(_ storage: HTTPCookieStorage? = HTTPCookieStorage()) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = storage
        var hosts: [String: String] = [:]
        for name in ["a.test", "www.a.test", "b.test"] { hosts[name] = "127.0.0.1" }
        configuration.hostOverrides = hosts
        return configuration
    }

    private func text(_ session: URLSession, _ request: URLRequest) async throws -> String {
        String(decoding: try await session.data(for: request).0, as: UTF8.self)
    }

    private func text(_ session: URLSession, _ url: URL) async throws -> String {
        try await text(session, URLRequest(url: url))
    }

    private func names(_ storage: HTTPCookieStorage?) -> [String] { (storage?.cookies ?? []).map(\.name) }

    @Test("B5.24, B8.40, B8.56: cookies of one answer are sent with the next request, in one field")
    func roundTrip() async throws {
        try await withServer(router: Self.router) { server in
            let configuration = configuration()
            let session = URLSession(configuration: configuration)
            let first = try await text(session, server.at("/set?a=1&b=2;Path=/x&c=3", host: "a.test"))
            #expect(first == "-")
            #expect(try await text(session, server.at("/x/y", host: "a.test")) == "b=2; a=1; c=3")
            #expect(try await text(session, server.at("/", host: "a.test")) == "a=1; c=3")
            #expect(try await text(session, server.at("/", host: "b.test")) == "-")
            session.invalidateAndCancel()
        }
    }

    @Test("B8.16: each Set-Cookie field of an answer is one cookie, even with commas in it")
    func liveFields() async throws {
        try await withServer(router: Self.router) { server in
            let session = URLSession(configuration: configuration())
            _ = try await text(session, server.at("/?a=1,%20b=2&c=3"))
            #expect(try await text(session, server.at("/")) == "a=1, b=2; c=3")
            session.invalidateAndCancel()
        }
    }

    @Test("B8.46, B5.44: the response shows the Set-Cookie field, whether or not the cookie is kept")
    func visible() async throws {
        try await withServer(router: Self.router) { server in
            let never = configuration()
            never.httpCookieAcceptPolicy = .never
            for configuration in [configuration(), configuration(nil), never] {
                let session = URLSession(configuration: configuration)
                let (_, response) = try await session.data(from: server.at("/?a=1&b=2"))
                #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Set-Cookie") == "a=1, b=2")
                session.invalidateAndCancel()
            }
        }
    }

    @Test(
        "B8.47: an answer of any status sets its cookies, before the delegate sees it",
        arguments: [200, 201, 302, 401, 404, 407, 500])
    func everyStatus(status: Int) async throws {
        try await withServer(router: Self.router) { server in
            let configuration = configuration()
            let storage = try #require(configuration.httpCookieStorage)
            let seen = Guarded<[String]>([])
            let delegate = RecordingDelegate(onResponse: { _, handler in
                seen.value = (storage.cookies ?? []).map(\.name)
                handler(.allow)
            })
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/\(status)?a=1")).resume()
            await delegate.transcript.completed.wait()
            #expect(seen.value == ["a"])
            session.invalidateAndCancel()
        }
    }

    @Test("B8.49: an informational answer sets none")
    func informational() async throws {
        try await withServer(router: { _ in
            var response = ServerResponse.text("x").adding("Set-Cookie", "b=2")
            var fields = Fields()
            fields.append("Set-Cookie", "a=1")
            response.informational = [ResponseHead(status: 103, fields: fields)]
            return response
        }) { server in
            let configuration = configuration()
            let session = URLSession(configuration: configuration)
            _ = try await session.data(from: server.at("/"))
            #expect(names(configuration.httpCookieStorage) == ["b"])
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B4.32, B8.47, B8.58, B4.26: a redirect's cookies are sent with the next hop, and each hop gets those of its own host"
    )
    func redirects() async throws {
        try await withServer(router: Self.router) { server in
            let proposed = Guarded<[[String: String]?]>([])
            let delegate = RecordingDelegate(onRedirect: { request, handler in
                proposed.change { $0.append(request.allHTTPHeaderFields) }
                handler(request)
            })
            let configuration = configuration()
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            let b = try server.at("/302?b=2&to:/end", host: "b.test").absoluteString
                .addingPercentEncoding(withAllowedCharacters: .alphanumerics)
            let url = try server.at("/302?a=1&to:\(b ?? "")", host: "a.test")
            #expect(try await text(session, url) == "b=2")
            #expect(names(configuration.httpCookieStorage) == ["a", "b"])
            #expect(try await text(session, server.at("/302?to:/end", host: "a.test")) == "a=1")
            #expect(proposed.value.allSatisfy { $0?["Cookie"] == nil })
            session.invalidateAndCancel()
        }
    }

    @Test("B8.57, B4.27: the program's own Cookie field replaces stored cookies, and is not sent to another origin")
    func ownField() async throws {
        try await withServer(router: Self.router) { server in
            let configuration = configuration()
            let session = URLSession(configuration: configuration)
            _ = try await text(session, server.at("/?a=1", host: "a.test"))
            var request = URLRequest(url: try server.at("/", host: "a.test"))
            request.setValue("own=1", forHTTPHeaderField: "cookie")
            #expect(try await text(session, request) == "own=1")
            request.url = try server.at("/302?to:/x", host: "a.test")
            #expect(try await text(session, request) == "own=1")
            let other = try server.at("/", host: "b.test").absoluteString
            request.url = try server.at("/302?to:\(other)", host: "a.test")
            #expect(try await text(session, request) == "-")
            session.invalidateAndCancel()

            configuration.httpAdditionalHeaders = ["Cookie": "all=1"]
            let additional = URLSession(configuration: configuration)
            #expect(try await text(additional, server.at("/", host: "a.test")) == "all=1")
            additional.invalidateAndCancel()
        }
    }

    @Test("B8.43: with httpShouldSetCookies off no cookie is sent or kept")
    func shouldSet() async throws {
        try await withServer(router: Self.router) { server in
            let storage = HTTPCookieStorage()
            let on = URLSession(configuration: configuration(storage))
            _ = try await text(on, server.at("/?a=1"))
            let configuration = configuration(storage)
            configuration.httpShouldSetCookies = false
            let off = URLSession(configuration: configuration)
            #expect(try await text(off, server.at("/?b=2")) == "-")
            #expect(names(storage) == ["a"])
            on.invalidateAndCancel()
            off.invalidateAndCancel()
        }
    }

    @Test("B8.44: with httpShouldHandleCookies off a request and its redirects send and keep no cookies")
    func shouldHandle() async throws {
        try await withServer(router: Self.router) { server in
            let configuration = configuration()
            let session = URLSession(configuration: configuration)
            _ = try await text(session, server.at("/?a=1"))
            var request = URLRequest(url: try server.at("/302?b=2&to:/?c=3"))
            request.httpShouldHandleCookies = false
            #expect(try await text(session, request) == "-")
            #expect(names(configuration.httpCookieStorage) == ["a"])
            session.invalidateAndCancel()
        }
    }

    @Test("B8.45: without a storage there are no cookies")
    func noStorage() async throws {
        try await withServer(router: Self.router) { server in
            let session = URLSession(configuration: configuration(nil))
            _ = try await text(session, server.at("/?a=1"))
            #expect(try await text(session, server.at("/")) == "-")
            #expect(session.configuration.httpCookieStorage == nil)
            session.invalidateAndCancel()
        }
    }

    @Test("B8.42, B8.39: the configuration's policy wins over the storage's")
    func policies() async throws {
        try await withServer(router: Self.router) { server in
            let storage = HTTPCookieStorage()
            storage.cookieAcceptPolicy = .never
            let open = configuration(storage)
            open.httpCookieAcceptPolicy = .always
            let session = URLSession(configuration: open)
            var request = URLRequest(url: try server.at("/?a=1", host: "a.test"))
            request.mainDocumentURL = URL(string: "http://b.test/")
            _ = try await text(session, request)
            #expect(names(storage) == ["a"])
            session.invalidateAndCancel()

            storage.cookieAcceptPolicy = .always
            let closed = configuration(storage)
            closed.httpCookieAcceptPolicy = .never
            let refusing = URLSession(configuration: closed)
            #expect(try await text(refusing, server.at("/?b=1", host: "a.test")) == "a=1", "what is there is sent")
            #expect(names(storage) == ["a"])
            refusing.invalidateAndCancel()
        }
    }

    @Test("B8.40, B8.41: under the default policy cookies of another site than the main document's are not kept")
    func thirdParties() async throws {
        try await withServer(router: Self.router) { server in
            let configuration = configuration()
            let session = URLSession(configuration: configuration)
            let cases: [(String, [String])] = [
                ("http://b.test/", []), ("http://www.a.test/", ["a"]), ("http://a.test/x", ["a"]),
            ]
            for (main, kept) in cases {
                configuration.httpCookieStorage?.removeCookies(since: .distantPast)
                var request = URLRequest(url: try server.at("/?a=1", host: "a.test"))
                request.mainDocumentURL = URL(string: main)
                _ = try await text(session, request)
                #expect(names(configuration.httpCookieStorage) == kept, "\(main)")
            }
            session.invalidateAndCancel()
        }
    }

    @Test("B8.59: SameSite cookies are not sent with requests from other sites, but Lax ones are with a navigation")
    func sameSite() async throws {
        try await withServer(router: Self.router) { server in
            let session = URLSession(configuration: configuration())
            let all = "/?s=1;SameSite=Strict&l=2;SameSite=Lax&n=3"
            _ = try await text(session, server.at(all, host: "a.test"))
            var request = URLRequest(url: try server.at("/", host: "a.test"))
            #expect(try await text(session, request) == "s=1; l=2; n=3")
            request.mainDocumentURL = URL(string: "http://b.test/")
            #expect(try await text(session, request) == "n=3")
            // A main document at another site that leads here.
            let target = try server.at("/", host: "a.test").absoluteString
            var navigation = URLRequest(url: try server.at("/302?to:\(target)", host: "b.test"))
            navigation.mainDocumentURL = navigation.url
            #expect(try await text(session, navigation) == "l=2; n=3")
            session.invalidateAndCancel()
        }
    }

    @Test("B8.12: a Cookie field that is sent is neither in currentRequest nor in the metrics")
    func hidden() async throws {
        try await withServer(router: Self.router) { server in
            let shown = Guarded<[[String: String]?]>([])
            let delegate = RecordingDelegate(onMetrics: { _, metrics in
                shown.value = metrics.transactionMetrics.map(\.request.allHTTPHeaderFields)
            })
            let session = URLSession(configuration: configuration(), delegate: delegate, delegateQueue: nil)
            _ = try await text(session, server.at("/?a=1"))
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == "a=1")
            let fields = try #require(task.currentRequest?.allHTTPHeaderFields)
            #expect(fields["Cookie"] == nil && fields["Host"] != nil)
            #expect(task.originalRequest?.allHTTPHeaderFields == nil)
            #expect(!shown.value.isEmpty && shown.value.allSatisfy { $0?["Cookie"] == nil })
            session.invalidateAndCancel()
        }
    }

    @Test("B1.2: sessions share cookies only through their storages")
    func sharing() async throws {
        try await withServer(router: Self.router) { server in
            let storage = HTTPCookieStorage()
            let one = URLSession(configuration: configuration(storage))
            let other = URLSession(configuration: configuration(storage))
            let apart = URLSession(configuration: configuration())
            _ = try await text(one, server.at("/?a=1"))
            #expect(try await text(other, server.at("/")) == "a=1")
            #expect(try await text(apart, server.at("/")) == "-")
            for session in [one, other, apart] { session.invalidateAndCancel() }
        }
    }

    @Test("B1.26: reset empties the storage")
    func reset() async throws {
        try await withServer(router: Self.router) { server in
            let session = URLSession(configuration: configuration())
            _ = try await text(session, server.at("/?a=1"))
            await session.reset()
            #expect(try await text(session, server.at("/")) == "-")
            session.invalidateAndCancel()
        }
    }

    @Test("A program's own cookie storage is asked before each hop and given each answer's cookies")
    func ownStorage() async throws {
        try await withServer(router: Self.router) { server in
            let storage = WitnessStorage()
            let session = URLSession(configuration: configuration(storage))
            #expect(try await text(session, server.at("/302?a=1&to:/end?b=2")) == "a=1; asked=2")
            #expect(
                storage.calls.value == ["get /302", "store a=1 for /302", "get /end", "store b=2 for /end"])
            #expect(storage.cookies?.map(\.name) == ["a", "b"])
            let url = try server.at("/")
            let body = await withHandover { handover in
                session.dataTask(with: url) { data, _, _ in handover.resume(returning: data ?? Data()) }.resume()
            }
            #expect(String(decoding: body, as: UTF8.self) == "a=1; b=2; asked=3")
            session.invalidateAndCancel()
        }
    }

    @Test(
        "A task whose cookie storage never answers can be cancelled; of several answers of a storage the first counts")
    func silentStorage() async throws {
        try await withServer(router: Self.router) { server in
            let storage = SilentCookieStorage()
            let delegate = RecordingDelegate()
            let session = URLSession(
                configuration: configuration(storage), delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await storage.asked.wait()
            task.cancel()
            await delegate.transcript.completed.wait()
            #expect((task.error as? URLError)?.code == .cancelled)
            storage.answerAll([])
            let second = session.dataTask(with: try server.at("/"))
            second.resume()
            await storage.asked.wait(times: 2)
            storage.answerAll(
                HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "x=1"], for: try server.at("/")))
            storage.answerAll(nil)
            await delegate.transcript.completed.wait(times: 2)
            #expect(second.error == nil && delegate.transcript.body == "x=1")
            #expect(server.stats.requests == 1)
            storage.letGo()
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B1.39: a task that is suspended while a program's cookie storage is asked sends nothing before it is resumed")
    func suspendedWhileAsked() async throws {
        try await withServer(router: Self.router) { server in
            let storage = SilentCookieStorage()
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: configuration(storage), delegate: delegate, delegateQueue: nil)
            // A connection is there, so that nothing but the suspension keeps the request.
            session.dataTask(with: try server.at("/")).resume()
            await storage.asked.wait()
            storage.answerAll(nil)
            await delegate.transcript.completed.wait()
            storage.letGo()
            let task = session.dataTask(with: try server.at("/?suspended=1"))
            task.resume()
            await storage.asked.wait(times: 2)
            task.suspend()
            storage.answerAll(nil)
            storage.letGo()
            // This load runs after the suspended one, on the session's only loop.
            session.dataTask(with: try server.at("/")).resume()
            await storage.asked.wait(times: 3)
            storage.answerAll(nil)
            await delegate.transcript.completed.wait(times: 2)
            #expect(server.stats.requestsBegun == 2)
            #expect(task.state == .suspended)
            task.resume()
            await delegate.transcript.completed.wait(times: 3)
            #expect(task.error == nil && server.stats.requests == 3)
            storage.letGo()
            session.invalidateAndCancel()
        }
    }

    @Test("A cookie storage's second answer to one question, given while the next hop waits, sends no request again")
    func repeatedAnswer() async throws {
        try await withServer(router: Self.router) { server in
            let storage = SilentCookieStorage()
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: configuration(storage), delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/302?to:/next")).resume()
            await storage.asked.wait()
            storage.answerAll(nil)
            await storage.asked.wait(times: 2)
            // The first question is answered for the second time, then the second one.
            storage.answerAll(nil)
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == "-")
            #expect(server.stats.requests == 2)
            storage.letGo()
            session.invalidateAndCancel()
        }
    }
}

/// Notes what a session wants of it, and adds a cookie to each answer.
private final class WitnessStorage: HTTPCookieStorage, @unchecked Sendable {
    // Safe to share: each Guarded guards what is in it.
    let calls = Guarded<[String]>([])
    private let count = Guarded(0)

    override func getCookiesFor(
        _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
    ) {
        calls.change { $0.append("get \(task.currentRequest?.url?.path ?? "-")") }
        count.change { $0 += 1 }
        let own = HTTPCookie(properties: [.name: "asked", .value: "\(count.value)", .domain: "x"])
        super.getCookiesFor(task) { completionHandler(($0 ?? []) + [own].compactMap(\.self)) }
    }

    override func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
        let texts = cookies.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
        calls.change { $0.append("store \(texts) for \(task.currentRequest?.url?.path ?? "-")") }
        super.storeCookies(cookies, for: task)
    }
}

/// Answers only when it is told to.
final class SilentCookieStorage: HTTPCookieStorage, @unchecked Sendable {
    // Safe to share: signals and Boxes guard what is in them.
    let asked = Signal()
    private let waiting = Guarded<[@Sendable ([HTTPCookie]?) -> Void]>([])

    override func getCookiesFor(
        _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
    ) {
        waiting.change { $0.append(completionHandler) }
        asked.fire()
    }

    func answerAll(_ cookies: [HTTPCookie]?) {
        for handler in waiting.value { handler(cookies) }
    }

    /// Lets go of the handlers, which hold their tasks.
    func letGo() { waiting.value = [] }
}
