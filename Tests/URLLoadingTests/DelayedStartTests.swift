// earliestBeginDate and willBeginDelayedRequest (behaviour B6.22 to B6.25).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Delayed start")
struct DelayedStartTests {
    private static var delaying: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.honorsEarliestBeginDate = true
        return configuration
    }

    private func load(
        _ scribe: Scribe, _ form: Scribe.Form, configuration: URLSessionConfiguration = delaying,
        // A date that has passed when the task is resumed leads to no question.
        after seconds: TimeInterval? = 1, request change: @Sendable (inout URLRequest) -> Void = { _ in }
    ) async throws -> (calls: [String], task: URLSessionDataTask) {
        try await withServer(router: { .text(String($0.path)) }) { server in
            let session = URLSession(configuration: configuration, delegate: scribe.delegate(form), delegateQueue: nil)
            var request = URLRequest(url: try server.at("/original"))
            change(&request)
            let task = session.dataTask(with: request)
            task.earliestBeginDate = seconds.map { Date(timeIntervalSinceNow: $0) }
            task.resume()
            await scribe.transcript.completed.wait()
            let calls = scribe.transcript.calls
            session.invalidateAndCancel()
            return (calls, task)
        }
    }

    @Test(
        "B6.22: earliestBeginDate changes nothing where the configuration does not allow delayed requests",
        arguments: Scribe.Form.allCases)
    func ignoredOtherwise(form: Scribe.Form) async throws {
        let (calls, task) = try await load(Scribe(), form, configuration: .default, after: 3600)
        #expect(calls == ["created 1", "response 200", "data", "metrics 1", "complete nil"])
        #expect(task.earliestBeginDate != nil)
    }

    @Test(
        "B6.22, B6.23: a load begins no earlier than its date, and the delegate is asked first",
        arguments: Scribe.Form.allCases)
    func continues(form: Scribe.Form) async throws {
        let date = Guarded<Date?>(nil)
        let scribe = Scribe(
            // The request argument has no meaning with .continueLoading.
            delayed: { request in
                date.value = Date()
                var other = request
                other.url = URL(string: "http://other.invalid/")
                return (.continueLoading, other)
            })
        let (calls, task) = try await load(scribe, form)
        #expect(calls == ["created 1", "delayed /original", "response 200", "data", "metrics 1", "complete nil"])
        #expect(scribe.transcript.body == "/original")
        let begin = try #require(task.earliestBeginDate)
        #expect(try #require(date.value) >= begin)
    }

    @Test("B6.22: a later date that is set while the task waits for its own is the one that counts")
    func laterDate() async throws {
        try await withServer(router: { .text(String($0.path)) }) { server async throws in
            let date = Guarded<Date?>(nil)
            let scribe = Scribe(delayed: { request in
                date.value = Date()
                return (.continueLoading, request)
            })
            let session = URLSession(
                configuration: Self.delaying, delegate: scribe.delegate(.handler), delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/original"))
            let first = Date(timeIntervalSinceNow: 1)
            task.earliestBeginDate = first
            task.resume()
            let second = first.addingTimeInterval(0.5)
            task.earliestBeginDate = second
            let wasInTime = Date() < first
            await scribe.transcript.completed.wait()
            #expect(
                scribe.transcript.calls
                    == ["created 1", "delayed /original", "response 200", "data", "metrics 1", "complete nil"])
            let asked = try #require(date.value)
            // Where the machine has stopped this process meanwhile the first date has come.
            #expect(asked >= (wasInTime ? second : first))
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B6.25: the delegate is not asked about a task without a date, or with one that is over", arguments: [nil, -10])
    func noDate(seconds: TimeInterval?) async throws {
        let (calls, _) = try await load(Scribe(), .handler, after: seconds)
        #expect(calls == ["created 1", "response 200", "data", "metrics 1", "complete nil"])
    }

    @Test("B6.22, B6.25: a stream task, and a download from data that cannot be read, begin at their date unasked")
    func noRequest() async throws {
        try await withRawServer { peer in
            try peer.send("hello\r\n")
        } _: { (server) async throws in
            let scribe = Scribe()
            let session = URLSession(
                configuration: Self.delaying, delegate: scribe.delegate(.handler), delegateQueue: nil)
            let stream = session.streamTask(withHostName: "127.0.0.1", port: server.port)
            let download = session.downloadTask(withResumeData: Data("no".utf8))
            let tasks: [URLSessionTask] = [stream, download]
            for task in tasks {
                task.earliestBeginDate = Date(timeIntervalSinceNow: 1)
                task.resume()
            }
            #expect(try await stream.line() == "hello")
            stream.cancel()
            await scribe.transcript.completed.wait(times: 2)
            #expect((download.error as? URLError)?.code == .unsupportedURL)
            #expect(!scribe.transcript.calls.contains { $0.hasPrefix("delayed") })
            session.invalidateAndCancel()
        }
    }

    @Test("B6.23: a new request from the delegate is sent instead", arguments: Scribe.Form.allCases)
    func newRequest(form: Scribe.Form) async throws {
        let scribe = Scribe(delayed: { request in
            var other = request
            other.url = request.url?.deletingLastPathComponent().appendingPathComponent("new")
            return (.useNewRequest, other)
        })
        let (calls, task) = try await load(scribe, form)
        #expect(calls == ["created 1", "delayed /original", "response 200", "data", "metrics 1", "complete nil"])
        #expect(scribe.transcript.body == "/new")
        #expect(task.originalRequest?.url?.path == "/original" && task.currentRequest?.url?.path == "/new")
    }

    @Test("B6.24: a new request from the delegate keeps the old one's limits on networks")
    func networkFlags() async throws {
        let scribe = Scribe(delayed: { request in
            var other = request
            other.allowsCellularAccess = true
            other.allowsExpensiveNetworkAccess = true
            other.allowsConstrainedNetworkAccess = true
            return (.useNewRequest, other)
        })
        let (_, task) = try await load(scribe, .handler) { request in
            request.allowsCellularAccess = false
            request.allowsExpensiveNetworkAccess = false
            request.allowsConstrainedNetworkAccess = false
        }
        #expect(task.error == nil)
        let current = try #require(task.currentRequest)
        #expect(!current.allowsCellularAccess)
        #expect(!current.allowsExpensiveNetworkAccess && !current.allowsConstrainedNetworkAccess)
    }

    @Test(
        "B6.23: .useNewRequest without a request is an error, .cancel ends with −999", arguments: Scribe.Form.allCases)
    func refusals(form: Scribe.Form) async throws {
        let (none, _) = try await load(Scribe(delayed: { _ in (.useNewRequest, nil) }), form)
        #expect(none == ["created 1", "delayed /original", "metrics 0", "complete -1002"])
        let (cancelled, _) = try await load(Scribe(delayed: { (.cancel, $0) }), form)
        #expect(cancelled == ["created 1", "delayed /original", "metrics 0", "complete -999"])
    }

    @Test("B6.23: a task whose delegate lacks the method, or is missing, begins at its date")
    func noMethod() async throws {
        try await withServer(router: { .text(String($0.path)) }) { server in
            let delegate = SilentDelegate()
            let session = URLSession(configuration: Self.delaying, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.earliestBeginDate = Date(timeIntervalSinceNow: 0.02)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls == ["complete nil"])
            let bare = URLSession(configuration: Self.delaying)
            let done = Signal()
            let other = bare.dataTask(with: try server.at("/")) { _, _, error in if error == nil { done.fire() } }
            other.earliestBeginDate = Date(timeIntervalSinceNow: 0.02)
            other.resume()
            await done.wait()
            session.invalidateAndCancel()
        }
    }

    @Test(
        "A task that waits for its date, or for the answer, can be cancelled", arguments: Scribe.Form.allCases,
        [true, false])
    func cancelled(form: Scribe.Form, whileAsked: Bool) async throws {
        let scribe = Scribe { call, _, task in if call == "delayed" { task.cancel() } }
        let session = URLSession(
            configuration: Self.delaying, delegate: scribe.delegate(form), delegateQueue: nil)
        let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1:1/x")))
        task.earliestBeginDate = Date(timeIntervalSinceNow: whileAsked ? 1 : 3600)
        task.resume()
        if !whileAsked {
            #expect(task.state == .running)
            task.cancel()
        }
        await scribe.transcript.completed.wait()
        #expect(
            scribe.transcript.calls
                == ["created 1"] + (whileAsked ? ["delayed /x"] : []) + ["metrics 0", "complete -999"])
        session.finishTasksAndInvalidate()
        await scribe.transcript.invalidated.wait()
    }
}
