// Interceptors: which is called when, what a call of the chain is, and what becomes of loads that an interceptor begins
// (behaviour 1.10). What they do with bodies is tested in InterceptedBodyTests.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Interceptors", .timeLimit(.minutes(2)))
struct InterceptorTests {
    /// How a session is asked.
    enum Call: CaseIterable {
        case dataFor, dataFrom, uploadData, uploadFile, downloadFor, downloadFrom, bytesFor, bytesFrom

        /// The answer's body as text, and its status.
        func load(_ url: URL, in session: URLSession) async throws -> (text: String, status: Int?) {
            let request = URLRequest(url: url)
            var upload = request
            upload.httpMethod = "PUT"
            let (body, response): (Data, URLResponse)
            switch self {
            case .dataFor: (body, response) = try await session.data(for: request)
            case .dataFrom: (body, response) = try await session.data(from: url)
            case .uploadData: (body, response) = try await session.upload(for: upload, from: Data("sent".utf8))
            case .uploadFile:
                let file = FileManager.default.temporaryDirectory.appendingPathComponent("up-\(UUID().uuidString)")
                try Data("sent".utf8).write(to: file)
                defer { try? FileManager.default.removeItem(at: file) }
                (body, response) = try await session.upload(for: upload, fromFile: file)
            case .downloadFor: (body, response) = try Self.read(await session.download(for: request))
            case .downloadFrom: (body, response) = try Self.read(await session.download(from: url))
            case .bytesFor: (body, response) = try await Self.read(await session.bytes(for: request))
            case .bytesFrom: (body, response) = try await Self.read(await session.bytes(from: url))
            }
            return (String(decoding: body, as: UTF8.self), (response as? HTTPURLResponse)?.statusCode)
        }

        private static func read(_ file: (URL, URLResponse)) throws -> (Data, URLResponse) {
            defer { try? FileManager.default.removeItem(at: file.0) }
            return (try Data(contentsOf: file.0), file.1)
        }

        private static func read(_ bytes: (URLSession.AsyncBytes, URLResponse)) async throws -> (Data, URLResponse) {
            var body = Data()
            for try await byte in bytes.0 { body.append(byte) }
            return (body, bytes.1)
        }
    }

    // MARK: Order

    @Test(
        "B1.111: the first interceptor has a request before the others, and the answer after them",
        arguments: Call.allCases)
    func order(call: Call) async throws {
        try await withServer(router: { .text($0.fields.first("X-Way") ?? "none", status: 404) }) { server in
            let book = Guarded<[String]>([])
            let signing = ["a", "b"].map { name in
                Intercepting { request, next in
                    var request = request
                    request.addValue(name, forHTTPHeaderField: "X-Way")
                    return try await next(request)
                }
            }
            let session = URLSession.intercepted([
                Intercepting.noting("outer", in: book), signing[0], Intercepting.noting("inner", in: book), signing[1],
            ])
            let (text, status) = try await call.load(server.at("/page"), in: session)
            #expect(text == "a,b" && status == 404)
            #expect(book.value == ["outer >", "inner >", "inner < 404", "outer < 404"])
            #expect(server.stats.requests == 1)
        }
    }

    @Test("B1.111: a copied configuration has its interceptors, and a session keeps those that it was made with")
    func copied() async throws {
        try await withServer(router: { _ in .text("real") }) { server in
            let configuration = URLSessionConfiguration.ephemeral
            #expect(configuration.interceptors.isEmpty)
            configuration.interceptors = [Intercepting.answering(.init(data: Data("instead".utf8)))]
            let copy = try #require(configuration.copy() as? URLSessionConfiguration)
            let session = URLSession(configuration: configuration)
            configuration.interceptors = []
            #expect(session.configuration.interceptors.count == 1)
            #expect(try await Load(server.at(), in: session).text == "instead")
            #expect(try await Load(server.at(), in: URLSession(configuration: copy)).text == "instead")
            #expect(try await Load(server.at(), in: URLSession(configuration: configuration)).text == "real")
        }
    }

    @Test("B1.111: tasks, handlers, events(for:) and calls with resume data do not go through interceptors")
    func others() async throws {
        try await withServer(router: { _ in .text("real") }) { server in
            let asked = Guarded(0)
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    asked.change { $0 += 1 }
                    return try await next(request)
                }
            ])
            let request = URLRequest(url: try server.at())
            let text = await withHandover { handover in
                session.dataTask(with: request) { data, _, _ in handover.resume(returning: data) }.resume()
            }
            #expect(text == Data("real".utf8))
            for await _ in session.events(for: request) {}
            #expect(await codeThrown { _ = try await session.download(resumeFrom: Data()) } == .unsupportedURL)
            #expect(await codeThrown { _ = try await session.upload(resumeFrom: Data()) } != nil)
            #expect(server.stats.requests == 2 && asked.value == 0)
        }
    }

    @Test("B1.111: each connection of a stream of server-sent events goes through the interceptors")
    func serverSentEvents() async throws {
        let count = Guarded(0)
        try await withServer(router: { request in
            count.change { $0 += 1 }
            guard count.value < 3 else { return .status(204) }
            return ServerResponse.text("data: \(request.fields.first("X-Way") ?? "none")\n\n")
                .adding("Content-Type", "text/event-stream")
        }) { server in
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    var request = request
                    request.setValue("signed", forHTTPHeaderField: "X-Way")
                    return try await next(request)
                }
            ])
            var events = session.serverSentEvents(for: URLRequest(url: try server.at()))
            events.reconnectionTime = .zero
            var heard: [String] = []
            for try await event in events { heard.append(event.data) }
            #expect(heard == ["signed", "signed"])
        }
    }

    // MARK: Calls of the chain

    @Test("B1.112: an interceptor that answers itself needs no task and no server", arguments: Call.allCases)
    func replaced(call: Call) async throws {
        try await withServer(router: { _ in .text("real") }) { server in
            let session = URLSession.intercepted([
                Intercepting.answering(.init(data: Data("instead".utf8)), status: 203)
            ])
            let (text, status) = try await call.load(server.at(), in: session)
            #expect(text == "instead" && status == 203)
            #expect(server.stats.requests == 0)
            #expect(await session.allTasks.isEmpty)
        }
    }

    @Test("B1.112, B1.118: a second call is a second load, and sends the body again", arguments: Call.allCases)
    func again(call: Call) async throws {
        let bodies = Guarded<[String]>([])
        try await withServer(router: { request in
            bodies.change { $0.append(String(decoding: request.body, as: UTF8.self)) }
            return request.fields.first(.authorization) == "new" ? .text("inside") : .text("who?", status: 401)
        }) { server in
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    let answer = try await next(request)
                    guard answer.statusCode == 401 else { return answer }
                    var request = request
                    request.setValue("new", forHTTPHeaderField: "Authorization")
                    return try await next(request)
                }
            ])
            let (text, status) = try await call.load(server.at(), in: session)
            #expect(text == "inside" && status == 200)
            let sent = call == .uploadData || call == .uploadFile ? "sent" : ""
            #expect(bodies.value == [sent, sent])
        }
    }

    @Test(
        "B1.112: an interceptor may call the chain twice at once, and after it has answered", arguments: Call.allCases)
    func atOnce(call: Call) async throws {
        try await withServer(router: { .text($0.fields.first("X-Number") ?? "") }) { server in
            let late = Signal()
            let lateStatus = Guarded<Int?>(nil)
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    @Sendable func numbered(_ number: Int) -> URLRequest {
                        var request = request
                        request.setValue("\(number)", forHTTPHeaderField: "X-Number")
                        return request
                    }
                    async let first = next(numbered(1))
                    async let second = next(numbered(2))
                    let answers = try await [first, second]
                    Task {
                        lateStatus.value = try? await next(numbered(3)).statusCode
                        late.fire()
                    }
                    return answers[1]
                }
            ])
            let (text, _) = try await call.load(server.at(), in: session)
            #expect(text == "2")
            await late.wait()
            // The caller's file may have gone by then.
            if call != .uploadFile { #expect(lateStatus.value == 200 && server.stats.requests == 3) }
        }
    }

    @Test("B1.112: an interceptor's error reaches the caller as it is", arguments: Call.allCases)
    func thrown(call: Call) async throws {
        struct Own: Error, Equatable { let number: Int }
        try await withServer(router: { _ in .text("real") }) { server in
            let book = Guarded<[String]>([])
            let outer = Intercepting { request, next in
                do {
                    return try await next(request)
                } catch {
                    book.change { $0.append("\(error)") }
                    throw Own(number: 2)
                }
            }
            let session = URLSession.intercepted([outer, Intercepting { _, _ in throw Own(number: 1) }])
            await #expect(throws: Own(number: 2)) { try await call.load(server.at(), in: session) }
            #expect(book.value == ["Own(number: 1)"] && server.stats.requests == 0)
            let refused = await codeThrown {
                _ = try await call.load(
                    try #require(URL(string: "gopher://example.com")),
                    in: .intercepted([Intercepting { request, next in try await next(request) }]))
            }
            #expect(refused == .unsupportedURL)
        }
    }

    @Test("B1.112: after the session's end the chain throws what a call of the session throws")
    func ended() async throws {
        try await withServer(router: { _ in .text("real") }) { server in
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    next.session.invalidateAndCancel()
                    return try await next(request)
                }
            ])
            let load = try await Load(server.at(), in: session)
            #expect(load.code == .cancelled)
            #expect(server.stats.requests == 0)
        }
    }

    @Test("B1.113: redirects, challenges, cookies and repetitions are part of one load")
    func below() async throws {
        let times = Guarded(0)
        try await withServer(router: { request in
            switch request.path {
            case "/start": return .status(302).adding("Location", "/busy").adding("Set-Cookie", "crumb=1; Path=/")
            case "/busy":
                times.change { $0 += 1 }
                return times.value == 1 ? .text("busy", status: 503) : .status(307).adding("Location", "/guarded")
            default:
                guard request.fields.contains(.authorization) else {
                    return .text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
                }
                return .text(request.fields.first(.cookie) ?? "none")
            }
        }) { server in
            let book = Guarded<[String]>([])
            let session = URLSession.intercepted([Intercepting.noting("one", in: book)]) {
                var policy = URLSession.RetryPolicy()
                policy.firstPause = 0
                $0.retryPolicy = policy
                $0.urlCredentialStorage?.setDefaultCredential(
                    URLCredential(user: "mole", password: "burrow", persistence: .forSession),
                    for: URLProtectionSpace(
                        host: "127.0.0.1", port: server.port, protocol: "http", realm: "r",
                        authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
            }
            let load = await Load(try server.at("/start"), in: session)
            #expect(load.status == 200 && load.text == "crumb=1")
            #expect(book.value == ["one >", "one < 200"])
            #expect(server.stats.requests == 5)
        }
    }

    @Test("B1.113: a secret that an interceptor adds is not sent to another origin")
    func secretOfRedirect() async throws {
        try await withServer(router: { .text($0.fields.first(.authorization) ?? "none") }) { other in
            let target = try other.at()
            try await withServer(router: { _ in .status(302).adding("Location", target.absoluteString) }) { server in
                let session = URLSession.intercepted([
                    Intercepting { request, next in
                        var request = request
                        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
                        return try await next(request)
                    }
                ])
                let load = try await Load(server.at(), in: session)
                #expect(load.text == "none")
            }
        }
    }

    // MARK: Loads that an interceptor begins

    @Test(
        "B1.116: a load that an interceptor begins in its session goes through the interceptors after it",
        arguments: [false, true])
    func withinItself(inTask: Bool) async throws {
        try await withServer(router: { .text("\($0.path) \($0.fields.first("X-Way") ?? "")") }) { server in
            let token = try server.at("/token")
            let book = Guarded<[String]>([])
            let loading = Intercepting { request, next in
                let session = next.session
                let load = { @Sendable in String(decoding: try await session.data(from: token).0, as: UTF8.self) }
                let text = try await inTask ? Task { try await load() }.value : load()
                var request = request
                request.setValue(text, forHTTPHeaderField: "X-Way")
                return try await next(request)
            }
            let session = URLSession.intercepted([
                Intercepting.noting("outer", in: book), loading, Intercepting.noting("inner", in: book),
            ])
            #expect(try await Load(server.at("/page"), in: session).text == "/page /token")
            #expect(
                book.value == ["outer >", "inner >", "inner < 200", "inner >", "inner < 200", "outer < 200"])
            // A later load of the caller begins at the first interceptor again.
            book.value = []
            _ = await Load(try server.at("/page"), in: session)
            #expect(book.value.first == "outer >")
        }
    }

    @Test(
        "B1.116: each session has its own interceptors, and a load that comes back from another session passes none twice"
    )
    func twoSessions() async throws {
        try await withServer(router: { _ in .text("real") }) { server in
            let url = try server.at()
            let book = Guarded<[String]>([])
            let first = Guarded<URLSession?>(nil)
            let second = URLSession.intercepted([
                Intercepting { request, next in
                    book.change { $0.append("second") }
                    if let session = first.value { _ = try await session.data(from: url) }
                    return try await next(request)
                }
            ])
            first.value = URLSession.intercepted([
                Intercepting { request, next in
                    book.change { $0.append("first") }
                    _ = try await second.data(from: url)
                    return try await next(request)
                }
            ])
            let session = try #require(first.value)
            #expect(await Load(url, in: session).text == "real")
            #expect(book.value == ["first", "second"] && server.stats.requests == 3)
            first.value = nil
        }
    }

    @Test("B1.116: a load in a detached task goes through all interceptors, its own maker too")
    func detached() async throws {
        try await withServer(router: { .text(String($0.path)) }) { server in
            let token = try server.at("/token")
            let asked = Guarded<[String]>([])
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    asked.change { $0.append(request.url?.path() ?? "") }
                    guard request.url != token else { return try await next(request) }
                    let session = next.session
                    _ = try await Task.detached { try await session.data(from: token) }.value
                    return try await next(request)
                }
            ])
            #expect(try await Load(server.at("/page"), in: session).text == "/page")
            #expect(asked.value == ["/page", "/token"])
        }
    }

    // MARK: Cancellations

    @Test("B1.117: a cancellation reaches the loads of the chain", arguments: Call.allCases)
    func cancelled(call: Call) async throws {
        let arrived = Signal()
        let gate = ServerGate()
        try await withServer(router: { _ in
            arrived.fire()
            return .slow([.init("late", when: gate)])
        }) { server in
            let seen = Guarded<URLError.Code?>(nil)
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    do {
                        return try await next(request)
                    } catch let error as URLError {
                        seen.value = error.code
                        throw error
                    }
                }
            ])
            let url = try server.at()
            let task = Task { try await call.load(url, in: session) }
            await arrived.wait()
            task.cancel()
            let code = await codeThrown { _ = try await task.value }
            #expect(code == .cancelled)
            // The answer's head may have come before.
            #expect(seen.value == .cancelled || call == .bytesFor || call == .bytesFrom)
            await server.wait { $0.givenUp == 1 }
            gate.open()
        }
    }

    @Test("B1.117, B1.90: a load in a task that is cancelled already asks no interceptor", arguments: Call.allCases)
    func cancelledBefore(call: Call) async throws {
        try await withServer(router: { _ in .text("real") }) { server in
            let book = Guarded<[String]>([])
            let session = URLSession.intercepted([Intercepting.noting("one", in: book)])
            let url = try server.at()
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await call.load(url, in: session)
            }
            task.cancel()
            let code = await codeThrown { _ = try await task.value }
            #expect(code == .cancelled && book.value.isEmpty && server.stats.requests == 0)
        }
    }
}
