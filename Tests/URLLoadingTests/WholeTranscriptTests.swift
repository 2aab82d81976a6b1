// Whole ordered lists of calls for everything that can happen to a data task, each with the delegate's methods in their
// completion-handler form and in their `async` form (behaviour 1.2, 1.4, 1.6 to 1.8).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Whole transcripts")
struct WholeTranscriptTests {
    /// `/redirect` leads to `/end`; `/informational` answers 103 first; `/slow` never ends; everything else says hello.
    private static func router(_ gate: ServerGate = ServerGate()) -> LoopbackServer.Router {
        { request in
            switch request.path {
            case "/redirect": return ServerResponse.text("moved", status: 302).adding("Location", "/end")
            case "/informational":
                var response = ServerResponse.text("hello")
                response.informational = [ResponseHead(status: 103)]
                return response
            case "/slow": return .slow([.init("x"), .init("y", when: gate)])
            case "/silent": return .script([.wait(gate), .close])
            default: return .text("hello")
            }
        }
    }

    /// Runs one task of a delegate and gives the transcript up to the task's end.
    private func transcript(
        _ path: String, _ form: Scribe.Form, _ scribe: Scribe, body: String? = nil,
        configuration: URLSessionConfiguration = .default,
        _ steer: (URLSessionDataTask) async -> Void = { $0.resume() }
    ) async throws -> [String] {
        try await withServer(router: Self.router()) { server in
            let session = URLSession(
                configuration: configuration, delegate: scribe.delegate(form), delegateQueue: nil)
            var request = URLRequest(url: try server.at(path))
            if let body {
                request.httpMethod = "POST"
                request.httpBody = Data(body.utf8)
            }
            await steer(session.dataTask(with: request))
            await scribe.transcript.completed.wait()
            session.finishTasksAndInvalidate()
            await scribe.transcript.invalidated.wait()
            let calls = scribe.transcript.calls
            #expect(calls.last == "invalid nil", "B1.17")
            return calls.dropLast()
        }
    }

    // MARK: How a task can be made

    @Test("B1.60, B1.61, B1.64, B1.71, B1.75: a plain data task", arguments: Scribe.Form.allCases)
    func plain(form: Scribe.Form) async throws {
        let scribe = Scribe()
        #expect(
            try await transcript("/", form, scribe)
                == ["created 1", "response 200", "data", "metrics 1", "complete nil"])
        #expect(scribe.transcript.body == "hello")
    }

    @Test("B1.60: a body and informational responses", arguments: Scribe.Form.allCases)
    func bodyAndInformational(form: Scribe.Form) async throws {
        let calls = try await transcript("/informational", form, Scribe(), body: "12345")
        #expect(
            calls == [
                "created 1", "sent 5 of 5", "informational 103", "response 200", "data", "metrics 1", "complete nil",
            ])
    }

    @Test(
        "B1.76, B1.77, B1.78, B1.81, B12.24: a task with a completion handler tells its delegate of all but the result",
        arguments: Scribe.Form.allCases)
    func handler(form: Scribe.Form) async throws {
        try await withServer(router: Self.router()) { server in
            let scribe = Scribe()
            let transcript = scribe.transcript
            let session = URLSession(configuration: .default, delegate: scribe.delegate(form), delegateQueue: nil)
            var request = URLRequest(url: try server.at("/redirect"))
            request.httpMethod = "POST"
            request.httpBody = Data("12345".utf8)
            session.dataTask(with: request) { data, response, error in
                transcript.note(
                    "handler \((response as? HTTPURLResponse)?.statusCode ?? 0) \(data?.count ?? -1) \(Transcript.text(error))"
                )
            }.resume()
            session.finishTasksAndInvalidate()
            await transcript.invalidated.wait()
            #expect(
                transcript.calls == [
                    "created 1", "sent 5 of 5", "redirect 302 GET /end", "metrics 2", "handler 200 5 nil",
                    "invalid nil",
                ])
        }
    }

    @Test("B1.85: without a handler the same call makes an ordinary delegate task", arguments: Scribe.Form.allCases)
    func withoutHandler(form: Scribe.Form) async throws {
        try await withServer(router: Self.router()) { server in
            let scribe = Scribe()
            let session = URLSession(configuration: .default, delegate: scribe.delegate(form), delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await scribe.transcript.completed.wait()
            #expect(
                scribe.transcript.calls == ["created 1", "response 200", "data", "metrics 1", "complete nil"])
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B1.77, B1.93, B12.24: async calls with the session's delegate and with their own",
        arguments: Scribe.Form.allCases)
    func asyncCalls(form: Scribe.Form) async throws {
        try await withServer(router: Self.router()) { server in
            let scribe = Scribe()
            let session = URLSession(configuration: .default, delegate: scribe.delegate(form), delegateQueue: nil)
            let url = try server.at("/redirect")
            let (data, _) = try await session.data(from: url)
            #expect(data == Data("hello".utf8))
            #expect(scribe.transcript.calls == ["created 1", "redirect 302 GET /end", "metrics 2"])

            let own = Scribe(name: "own ")
            _ = try await session.data(from: url, delegate: own.delegate(form))
            #expect(
                own.transcript.calls == [
                    "own created 2", "own redirect 302 GET /end", "own response 200", "own data", "own metrics 2",
                ])
            #expect(scribe.transcript.calls.count == 3, "B1.96: only the task's own was asked")
            session.finishTasksAndInvalidate()
            await scribe.transcript.invalidated.wait()
            #expect(own.transcript.invalidated.count == 0, "B1.99: not a task's message")
        }
    }

    @Test(
        "B1.95, B1.96, B1.99: a task's own delegate is told everything, the session's only of its end",
        arguments: Scribe.Form.allCases)
    func ownDelegate(form: Scribe.Form) async throws {
        try await withServer(router: Self.router()) { server in
            let scribe = Scribe(name: "session's ")
            let own = Scribe(name: "own ")
            let session = URLSession(configuration: .default, delegate: scribe.delegate(form), delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/redirect"))
            task.delegate = own.delegate(form)
            task.resume()
            await own.transcript.completed.wait()
            session.finishTasksAndInvalidate()
            await scribe.transcript.invalidated.wait()
            #expect(
                own.transcript.calls == [
                    "own redirect 302 GET /end", "own response 200", "own data", "own metrics 2", "own complete nil",
                ])
            #expect(scribe.transcript.calls == ["session's created 1", "session's invalid nil"])
        }
    }

    // MARK: Redirects

    @Test("B1.107, B4.2: a redirect that is followed", arguments: Scribe.Form.allCases)
    func redirectFollowed(form: Scribe.Form) async throws {
        let scribe = Scribe()
        #expect(
            try await transcript("/redirect", form, scribe) == [
                "created 1", "redirect 302 GET /end", "response 200", "data", "metrics 2", "complete nil",
            ])
        #expect(scribe.transcript.body == "hello")
    }

    @Test("B4.3: a redirect that the delegate answers with nil", arguments: Scribe.Form.allCases)
    func redirectToNil(form: Scribe.Form) async throws {
        let scribe = Scribe(redirect: { _ in nil })
        #expect(
            try await transcript("/redirect", form, scribe) == [
                "created 1", "redirect 302 GET /end", "response 302", "data", "metrics 1", "complete nil",
            ])
        #expect(scribe.transcript.body == "moved")
    }

    @Test("B1.66: a response that the delegate refuses", arguments: Scribe.Form.allCases)
    func refusedResponse(form: Scribe.Form) async throws {
        #expect(
            try await transcript("/", form, Scribe(disposition: .cancel))
                == ["created 1", "response 200", "metrics 1", "complete -999"])
    }

    // MARK: Cancelling

    @Test("B1.41, B12.2: a task that is cancelled before it was resumed", arguments: Scribe.Form.allCases)
    func cancelledBeforeResume(form: Scribe.Form) async throws {
        let calls = try await transcript("/", form, Scribe()) { task in
            #expect(task.state == .suspended)
            task.cancel()
            task.resume()
        }
        #expect(calls == ["created 1", "complete -999"])
    }

    @Test(
        "B1.34, B1.41, B1.43: a task that is cancelled while it waits for the response", arguments: Scribe.Form.allCases
    )
    func cancelledWhileWaiting(form: Scribe.Form) async throws {
        let sent = Signal()
        let scribe = Scribe { call, _, _ in if call == "sent" { sent.fire() } }
        let calls = try await transcript("/silent", form, scribe, body: "1") { task in
            task.resume()
            await sent.wait()
            #expect(task.state == .running)
            task.cancel()
            #expect(task.state == .canceling || task.state == .completed)
            task.cancel()
        }
        #expect(calls == ["created 1", "sent 1 of 1", "metrics 1", "complete -999"])
    }

    @Test(
        "B1.34, B1.41: a task that is cancelled while it receives, running or suspended",
        arguments: Scribe.Form.allCases,
        [true, false])
    func cancelledWhileReceiving(form: Scribe.Form, isSuspended: Bool) async throws {
        let came = Signal()
        let scribe = Scribe { call, _, _ in if call == "data" { came.fire() } }
        let calls = try await transcript("/slow", form, scribe) { task in
            task.resume()
            await came.wait()
            if isSuspended { task.suspend() }
            #expect(task.state == (isSuspended ? .suspended : .running))
            task.cancel()
        }
        #expect(calls == ["created 1", "response 200", "data", "metrics 1", "complete -999"])
    }

    @Test(
        "B1.34, B1.43: a task that is cancelled, suspended and resumed after it has completed",
        arguments: Scribe.Form.allCases)
    func cancelledAfterwards(form: Scribe.Form) async throws {
        let scribe = Scribe()
        let calls = try await transcript("/", form, scribe) { task in
            task.resume()
            await scribe.transcript.completed.wait()
            #expect(task.state == .completed && task.error == nil)
            task.cancel()
            task.suspend()
            task.resume()
            #expect(task.state == .completed && task.error == nil)
        }
        #expect(calls == ["created 1", "response 200", "data", "metrics 1", "complete nil"])
    }

    @Test(
        "B17.54: a task that is cancelled inside each callback", arguments: Scribe.Form.allCases,
        [
            ("created", ["created 1", "complete -999"]),
            ("sent", ["created 1", "sent 1 of 1", "metrics 1", "complete -999"]),
            ("informational", ["created 1", "sent 1 of 1", "informational 103", "metrics 1", "complete -999"]),
            (
                "response",
                ["created 1", "sent 1 of 1", "informational 103", "response 200", "metrics 1", "complete -999"]
            ),
            (
                "data",
                ["created 1", "sent 1 of 1", "informational 103", "response 200", "data", "metrics 1", "complete -999"]
            ),
            (
                "metrics",
                ["created 1", "sent 1 of 1", "informational 103", "response 200", "data", "metrics 1", "complete -999"]
            ),
            (
                "complete",
                ["created 1", "sent 1 of 1", "informational 103", "response 200", "data", "metrics 1", "complete nil"]
            ),
        ])
    func cancelledInside(form: Scribe.Form, place: (call: String, calls: [String])) async throws {
        let scribe = Scribe { call, _, task in if call == place.call { task.cancel() } }
        #expect(try await transcript("/informational", form, scribe, body: "1") == place.calls)
    }

    @Test("B4.4, B17.54: a task that is cancelled inside the redirect's callback", arguments: Scribe.Form.allCases)
    func cancelledInsideRedirect(form: Scribe.Form) async throws {
        let scribe = Scribe { call, _, task in if call == "redirect" { task.cancel() } }
        #expect(
            try await transcript("/redirect", form, scribe)
                == ["created 1", "redirect 302 GET /end", "metrics 1", "complete -999"])
    }

    // MARK: Time-outs

    @Test("B6.1, B17.12: a task for which no byte comes for too long", arguments: Scribe.Form.allCases)
    func idleTimeout(form: Scribe.Form) async throws {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 0.1
        #expect(
            try await transcript("/silent", form, Scribe(), configuration: configuration)
                == ["created 1", "metrics 1", "complete -1001"])
    }

    @Test("B6.5, B6.14, B17.12: a task that takes too long as a whole", arguments: Scribe.Form.allCases)
    func resourceTimeout(form: Scribe.Form) async throws {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForResource = 3
        let calls = try await transcript("/slow", form, Scribe(), configuration: configuration)
        #expect(calls.first == "created 1" && calls.suffix(2) == ["metrics 1", "complete -1001"])
        // A slow machine may not have come to the response in time.
        #expect(["response 200", "data"].starts(with: calls.dropFirst().dropLast(2)))
    }

    // MARK: The session's end

    @Test("B1.15, B1.17, B1.18: finishTasksAndInvalidate lets tasks end", arguments: Scribe.Form.allCases)
    func finishTasks(form: Scribe.Form) async throws {
        let gate = ServerGate()
        try await withServer(router: Self.router(gate)) { server in
            let came = Signal()
            let scribe = Scribe { call, _, _ in if call == "data" { came.fire() } }
            let session = URLSession(configuration: .default, delegate: scribe.delegate(form), delegateQueue: nil)
            session.dataTask(with: try server.at("/slow")).resume()
            await came.wait()
            session.finishTasksAndInvalidate()
            session.finishTasksAndInvalidate()
            #expect(scribe.transcript.invalidated.count == 0)
            gate.open()
            await scribe.transcript.invalidated.wait()
            #expect(
                scribe.transcript.calls
                    == ["created 1", "response 200", "data", "metrics 1", "complete nil", "invalid nil"])
        }
    }

    @Test(
        "B1.16, B1.17, B1.19: invalidateAndCancel cancels tasks, before or after finishTasksAndInvalidate",
        arguments: Scribe.Form.allCases, [0, 1, 2])
    func invalidateAndCancel(form: Scribe.Form, order: Int) async throws {
        try await withServer(router: Self.router()) { server in
            let came = Signal()
            let scribe = Scribe { call, _, _ in if call == "data" { came.fire() } }
            let session = URLSession(configuration: .default, delegate: scribe.delegate(form), delegateQueue: nil)
            session.dataTask(with: try server.at("/slow")).resume()
            await came.wait()
            let never = session.dataTask(with: try server.at("/"))
            if order == 1 { session.finishTasksAndInvalidate() }
            session.invalidateAndCancel()
            if order == 2 { session.finishTasksAndInvalidate() }
            await scribe.transcript.invalidated.wait()
            let calls = scribe.transcript.calls
            #expect(calls.prefix(4) == ["created 1", "response 200", "data", "created 2"])
            #expect(calls.dropFirst(4).dropLast().sorted() == ["complete -999", "complete -999", "metrics 1"])
            #expect(calls.last == "invalid nil")
            #expect(never.state == .completed)
            // The delegate is let go after the callback has returned; the queue is serial.
            await withHandover { returned in session.delegateQueue.addOperation { returned.resume() } }
            #expect(session.delegate == nil, "B1.14")
        }
    }

    @Test(
        "B1.15, B1.16: a session that is ended inside each callback", arguments: Scribe.Form.allCases,
        ["created", "sent", "informational", "response", "data", "metrics", "complete"])
    func endedInside(form: Scribe.Form, place: String) async throws {
        for cancels in [true, false] {
            try await withServer(router: Self.router()) { server in
                let scribe = Scribe { call, session, _ in
                    guard call == place else { return }
                    if cancels { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
                }
                let session = URLSession(configuration: .default, delegate: scribe.delegate(form), delegateQueue: nil)
                var request = URLRequest(url: try server.at("/informational"))
                request.httpMethod = "POST"
                request.httpBody = Data("1".utf8)
                session.dataTask(with: request).resume()
                await scribe.transcript.invalidated.wait()
                let calls = scribe.transcript.calls
                let ends = cancels && place != "complete" ? "complete -999" : "complete nil"
                #expect(Array(calls.suffix(2)) == [ends, "invalid nil"], "\(place): \(calls)")
                #expect(calls.count { $0.hasPrefix("complete") } == 1)
            }
        }
    }
}
