// What requests carry and answers bring over HTTP/2, as programs see it.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Messages over HTTP/2", .timeLimit(.minutes(5)))
struct HTTP2MessageTests {
    @Test(
        "H4.1: an answer's code and fields; names compare without case, repeated fields are joined, and there is no :status"
    )
    func fields() async throws {
        try await withHTTP2Session(
            .offered,
            router: { _ in .text("x", status: 203).adding("X-Twice", "a").adding("x-twice", "b").adding("X-Once", "c") }
        ) { server, session in
            let response = try #require(try await session.data(from: server.at()).1 as? HTTPURLResponse)
            #expect(response.statusCode == 203)
            #expect(response.value(forHTTPHeaderField: "X-TWICE") == "a, b")
            #expect(response.value(forHTTPHeaderField: "x-once") == "c")
            #expect(response.value(forHTTPHeaderField: ":status") == nil)
            #expect(!response.allHeaderFields.keys.contains { "\($0)".hasPrefix(":") })
        }
    }

    @Test(
        "H3.11: a redirect to another host leaves Authorization and cookies behind, one to the same host takes them along"
    )
    func redirect() async throws {
        let seen = Guarded<[String]>([])
        try await withHTTP2Session(
            .offered, hosts: ["a.test", "b.test"],
            router: { request in
                let authorization = request.fields.first("Authorization") ?? "-"
                seen.change {
                    $0.append(
                        "\(request.path) \(authorization) \(request.fields.first("Cookie") ?? "-") \(request.protocolName)"
                    )
                }
                let next =
                    switch request.path {
                    case "/0": "/1"
                    case "/1":
                        "https://b.test:\(request.fields.first("Host").map { $0.split(separator: ":")[1] } ?? "")/2"
                    default: ""
                    }
                return next.isEmpty
                    ? .text("end") : ServerResponse.status(302).adding("Location", next).adding("Set-Cookie", "k=v")
            }
        ) { server, session in
            var request = URLRequest(url: try server.at("/0", host: "a.test"))
            request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
            #expect(try await session.data(for: request).0 == Data("end".utf8))
        }
        #expect(seen.value == ["/0 Bearer secret - h2", "/1 Bearer secret k=v h2", "/2 - - h2"])
    }

    @Test("H2.11: a task's priority is sent, unless it is the default or the program sets the field itself")
    func priority() async throws {
        let seen = Guarded<[String]>([])
        try await withHTTP2Session(
            .offered,
            router: { request in
                seen.change { $0.append(request.fields.first("Priority") ?? "-") }
                return .text("x")
            }
        ) { server, session in
            var request = URLRequest(url: try server.at())
            for (priority, isIncremental) in [(0.5, true), (0.75, true), (0.25, false), (0, true)] as [(Float, Bool)] {
                await load(request, in: session) {
                    $0.priority = priority
                    $0.prefersIncrementalDelivery = isIncremental
                }
            }
            request.setValue("u=2", forHTTPHeaderField: "Priority")
            await load(request, in: session) { $0.priority = 1 }
        }
        #expect(seen.value == ["-", "u=1, i", "u=5", "u=7, i", "u=2"])
    }

    /// Loads the request with a task that `change` has changed.
    private func load(_ request: URLRequest, in session: URLSession, _ change: (URLSessionTask) -> Void) async {
        await withHandover { handover in
            let task = session.dataTask(with: request) { _, _, error in
                #expect(error == nil)
                handover.resume()
            }
            change(task)
            task.resume()
        }
    }

    @Test("H6.7: the progress of an upload counts bytes that were sent, not those that wait for the window")
    func progress() async throws {
        var options = ServerHTTP2.offered
        let gate = ServerGate()
        let window = 65_535
        options.script = { _ in
            .instead([
                .send(HTTP2Frames.settings() + HTTP2Frames.settingsAcknowledgement),
                .until(.received(Int64(window), on: 1)), .wait(gate),
                .send(HTTP2Frames.windowUpdate(1 << 20) + HTTP2Frames.windowUpdate(1 << 20, on: 1)),
                .until(.requests(1)), .send(HTTP2Frames.headers([":status": "200"], on: 1, ends: true)),
                .until(.end),
            ])
        }
        try await withHTTP2Session(options, router: { _ in .text("never") }) { server, session in
            let (first, told, ended) = (Signal(), Guarded<[Int64]>([]), Signal())
            let handlers = URLSession.EventHandlers()
            handlers.didSendBodyData = { _, _, _, sent, expected in
                #expect(expected == 100_000)
                told.change { $0.append(sent) }
                if sent == window { first.fire() }
            }
            handlers.didComplete = { _, _, error in
                #expect(error == nil)
                ended.fire()
            }
            let own = URLSession(configuration: session.configuration, delegate: handlers, delegateQueue: nil)
            defer { own.invalidateAndCancel() }
            var request = URLRequest(url: try server.at())
            request.httpMethod = "POST"
            own.uploadTask(with: request, from: Data(count: 100_000)).resume()
            await first.wait()
            #expect(told.value.last == Int64(window))
            gate.open()
            await ended.wait()
            #expect(told.value.last == 100_000)
        }
    }

    @Test("B11.12, H7.3: an upload that was refused is counted anew, also where the delegate hears of it late")
    func refusedUpload() async throws {
        let requests = Guarded(0)
        let router: @Sendable (ServerRequest) -> ServerResponse = { _ in
            requests.add(1) == 1 ? .reset(.refusedStream) : .text("taken")
        }
        try await withHTTP2Session(.offered, router: router) { server, session in
            let (told, isAnswered, ended) = (Guarded<[String]>([]), DispatchSemaphore(value: 0), Signal())
            let handlers = URLSession.EventHandlers()
            handlers.didSendBodyData = { _, _, sent, total, expected in
                told.change { $0.append("\(sent) \(total) \(expected)") }
                // The whole second attempt is waiting to be told.
                if told.value.count == 1 { isAnswered.wait() }
            }
            handlers.didComplete = { _, _, error in
                #expect(error == nil)
                ended.fire()
            }
            var hooks = URLSession.TraceHooks()
            hooks.responseReceived = { _, _ in isAnswered.signal() }
            let configuration = session.configuration
            configuration.traceHooks = [hooks]
            let own = URLSession(configuration: configuration, delegate: handlers, delegateQueue: nil)
            defer { own.invalidateAndCancel() }
            var request = URLRequest(url: try server.at())
            request.httpMethod = "POST"
            own.uploadTask(with: request, from: Data(count: 3_000)).resume()
            await ended.wait()
            #expect(told.value == ["3000 3000 3000", "3000 3000 3000"])
        }
    }
}
