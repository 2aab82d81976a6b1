// What a custom protocol tells its client, and what the task makes of it (behaviour 14.5).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Custom protocols: the client", .endsSessions, .timeLimit(.minutes(5)))
struct ProtocolClientTests {
    @Test(
        "B14.29, B14.42, B14.43, B14.44, B14.45, B14.53: response, data, the end, and one stop",
        arguments: [
            "http", "https", "odd",
        ])
    func order(scheme: String) async throws {
        let script = ProtocolScript { held in
            held.respond(201, ["Content-Type": "text/plain", "Content-Length": "6"])
            held.load("abc")
            held.load("def")
            held.finish()
        }
        let delegate = RecordingDelegate()
        let task = protocolSession(delegate).dataTask(with: try script.url("/a", scheme: scheme))
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "response 201", "data", "metrics 1", "complete nil"])
        #expect(delegate.transcript.body == "abcdef")
        #expect(task.countOfBytesReceived == 6 && task.countOfBytesExpectedToReceive == 6)
        #expect(task.response?.mimeType == "text/plain")
        await script.stopped.wait()
        #expect(script.calls.value == ["ScriptedProtocol may", "start", "stop"])
    }

    @Test("B14.45: a response without data ends with empty data and no error")
    func noData() async throws {
        let script = ProtocolScript { held in
            held.respond(204)
            held.finish()
        }
        let (data, response, error) = await protocolSession().handled(try script.url())
        #expect(data == Data() && (response as? HTTPURLResponse)?.statusCode == 204 && error == nil)
    }

    @Test("B1.50: no body is expected of a custom protocol's answer to HEAD")
    func headWithoutBody() async throws {
        let script = ProtocolScript { held in
            held.respond(200, ["Content-Length": "10"])
            held.finish()
        }
        var request = URLRequest(url: try script.url())
        request.httpMethod = "HEAD"
        let delegate = RecordingDelegate()
        let task = protocolSession(delegate).dataTask(with: request)
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(task.response?.expectedContentLength == 10)
        #expect(task.countOfBytesExpectedToReceive == 0)
    }

    @Test("B14.46: a failure before the response is the task's error; calls of the client after it are ignored")
    func failure() async throws {
        let script = ProtocolScript { held in
            held.fail(URLError(.cannotFindHost))
            held.finish()
            held.respond()
            held.fail(URLError(.timedOut))
        }
        let (data, response, error) = await protocolSession().handled(try script.url())
        #expect(data == nil && response == nil && (error as? URLError)?.code == .cannotFindHost)
        let delegate = RecordingDelegate()
        protocolSession(delegate).dataTask(with: try script.url()).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "metrics 1", "complete -1003"])
        await script.stopped.wait(times: 2)
        #expect(script.stopped.count == 2)
    }

    @Test("B14.47: an error of any domain reaches tasks of every kind unchanged")
    func foreignErrors() async throws {
        let script = ProtocolScript { held in
            held.respond()
            held.load("half")
            held.fail(OddError(number: 7))
        }
        let url = try script.url()
        let session = protocolSession()
        #expect(await session.handled(url).2 as? OddError == OddError(number: 7))
        await #expect(throws: OddError(number: 7)) { try await session.data(from: url) }
        await #expect(throws: OddError(number: 7)) { try await session.download(from: url) }
        let (bytes, _) = try await session.bytes(from: url)
        await #expect(throws: OddError(number: 7)) { for try await _ in bytes {} }
        let delegate = RecordingDelegate()
        let task = protocolSession(delegate).dataTask(with: url)
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(task.error as? OddError == OddError(number: 7))
        #expect(delegate.transcript.calls.last == "complete OddError(number: 7)")
        let coded = ProtocolScript { $0.fail(NSError(domain: "Some", code: 4, userInfo: ["key": "value"])) }
        let error = await session.handled(try coded.url()).2 as NSError?
        #expect(error?.domain == "Some" && error?.code == 4 && error?.userInfo["key"] as? String == "value")
        #expect(error?.userInfo.count == 1)
    }

    @Test("B14.47, B17.1: an NSError of NSURLErrorDomain reaches tasks of every kind as the URLError of its code")
    func plainErrors() async throws {
        let script = ProtocolScript { held in
            held.fail(
                NSError(
                    domain: NSURLErrorDomain, code: NSURLErrorNotConnectedToInternet, userInfo: ["key": "value"]))
        }
        let url = try script.url()
        let session = protocolSession()
        let error = await session.handled(url).2 as? URLError
        #expect(error?.code == .notConnectedToInternet && error?.userInfo["key"] as? String == "value")
        #expect(await codeThrown { _ = try await session.data(from: url) } == .notConnectedToInternet)
        #expect(await codeThrown { _ = try await session.download(from: url) } == .notConnectedToInternet)
        let delegate = RecordingDelegate()
        let task = protocolSession(delegate).dataTask(with: url)
        task.resume()
        await delegate.transcript.completed.wait()
        #expect((task.error as? URLError)?.code == .notConnectedToInternet)
        // There is no URLError of a code without a name.
        let nameless = ProtocolScript { $0.fail(NSError(domain: NSURLErrorDomain, code: 77)) }
        let other = await session.handled(try nameless.url()).2 as? NSError
        #expect(other?.domain == NSURLErrorDomain && other?.code == 77)
    }

    @Test("B14.48: a load that ends without a response gives a handler data, and neither response nor error")
    func noResponse() async throws {
        let script = ProtocolScript { $0.finish() }
        let session = protocolSession()
        let (data, response, error) = await session.handled(try script.url())
        #expect(data == Data() && response == nil && error == nil)
        let url = try script.url()
        // The async form has no response to return, and throws.
        #expect(await codeThrown { _ = try await session.data(from: url) } == .unknown)
        let some = ProtocolScript { held in
            held.load("data")
            held.finish()
        }
        #expect(await session.handled(try some.url()).0 == Data("data".utf8))
    }

    @Test("B14.43: a client may be told several responses, each with its data")
    func severalResponses() async throws {
        let script = ProtocolScript { held in
            for part in ["one", "two"] {
                held.respond(200, ["X-Part": part])
                held.load(part)
            }
            held.finish()
        }
        let delegate = RecordingDelegate()
        protocolSession(delegate).dataTask(with: try script.url()).resume()
        await delegate.transcript.completed.wait()
        #expect(
            delegate.transcript.calls == [
                "created 1", "response 200", "data", "response 200", "data", "metrics 1", "complete nil",
            ])
        let (data, response, _) = await protocolSession().handled(try script.url())
        #expect(data == Data("onetwo".utf8))
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Part") == "two")
    }

    @Test("B14.41: the client may be called later, and from many threads at once")
    func anyThread() async throws {
        let script = ProtocolScript { held in
            DispatchQueue.global().async {
                held.respond()
                DispatchQueue.concurrentPerform(iterations: 400) { _ in held.load("0123456789") }
                held.finish()
                DispatchQueue.concurrentPerform(iterations: 20) { _ in
                    held.load("late")
                    held.finish()
                    held.fail(OddError(number: 1))
                }
            }
        }
        let url = try script.url()
        let session = protocolSession()
        async let first = session.data(from: url).0
        async let second = session.handled(url).0
        async let third = session.download(from: url).0
        #expect(try await first.count == 4000)
        #expect(await second?.count == 4000)
        let file = try await third
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file).count == 4000)
    }

    @Test(
        "B14.42: a cancelled task stops its protocol once, and hears nothing more",
        arguments: [
            "start", "response", "data",
        ])
    func cancelled(stage: String) async throws {
        let script = ProtocolScript { held in
            guard stage != "start" else { return }
            held.respond()
            if stage == "data" { held.load("x") }
        }
        let delegate = RecordingDelegate()
        let task = protocolSession(delegate).dataTask(with: try script.url())
        task.resume()
        await script.started.wait()
        let wanted = ["start": "created 1", "response": "response 200", "data": "data"]
        try await until { delegate.transcript.calls.last == wanted[stage] }
        task.cancel()
        await delegate.transcript.completed.wait()
        await script.stopped.wait()
        for held in script.instances.value {
            held.load("late")
            held.finish()
        }
        #expect(delegate.transcript.calls.last == "complete -999")
        #expect(delegate.transcript.calls.filter { $0.hasPrefix("complete") }.count == 1)
        #expect(script.calls.value == ["ScriptedProtocol may", "start", "stop"])
    }

    @Test("A task that is cancelled before its custom protocol is asked starts no instance")
    func cancelledEarly() async throws {
        let script = ProtocolScript { $0.answer("x") }
        let session = protocolSession()
        let task = session.dataTask(with: try script.url())
        task.cancel()
        task.resume()
        try await until { task.state == .completed }
        let busy = ProtocolScript { _ in }
        let url = try busy.url()
        let waiting = Task { try await session.data(from: url) }
        await busy.started.wait()
        waiting.cancel()
        #expect(await codeThrown { _ = try await waiting.value } == .cancelled)
        await busy.stopped.wait()
        #expect(!script.calls.value.contains("start"))
    }

    @Test("B14.54: each call of the client starts the idle time-out anew")
    func timeOut() async throws {
        let script = ProtocolScript { held in
            held.respond()
            held.load("x")
        }
        let request = URLRequest(url: try script.url(), timeoutInterval: 5)
        let (data, response, error) = await protocolSession().handled(request)
        #expect(data == nil && response != nil && (error as? URLError)?.code == .timedOut)
        await script.stopped.wait()
        let resource = protocolSession { $0.timeoutIntervalForResource = 0.2 }
        #expect((await resource.handled(try script.url()).2 as? URLError)?.code == .timedOut)
    }

    @Test("B14.55: the metrics of a custom protocol's load have no network data")
    func metrics() async throws {
        let found = Guarded<URLSessionTaskMetrics?>(nil)
        let script = ProtocolScript { $0.answer("hello") }
        let delegate = RecordingDelegate(onMetrics: { found.value = $1 })
        protocolSession(delegate).dataTask(with: try script.url()).resume()
        await delegate.transcript.completed.wait()
        let transaction = try #require(found.value?.transactionMetrics.first)
        #expect(transaction.resourceFetchType == .unknown && transaction.remoteAddress == nil)
        #expect(transaction.connectStartDate == nil && transaction.requestStartDate == nil)
        #expect(transaction.countOfResponseBodyBytesAfterDecoding == 5)
    }

    @Test("Bytes, events and downloads come from custom protocols too")
    func otherForms() async throws {
        let script = ProtocolScript { $0.answer("a\nb\n", ["Content-Type": "text/plain"]) }
        let url = try script.url()
        let session = protocolSession()
        let (bytes, response) = try await session.bytes(from: url)
        #expect(response.mimeType == "text/plain")
        var lines: [String] = []
        for try await line in bytes.lines { lines.append(line) }
        #expect(lines == ["a", "b"])
        var kinds: [String] = []
        for await event in session.events(for: URLRequest(url: url)) {
            switch event {
            case .response: kinds.append("response")
            case .body: kinds.append("body")
            case .metrics(let metrics): kinds.append("metrics \(metrics.transactionMetrics.count)")
            case .end(let error): kinds.append("end \(Transcript.text(error))")
            case .informational, .redirect, .retry, .progress: break
            }
        }
        #expect(kinds == ["response", "body", "metrics 1", "end nil"])
        let (file, _) = try await session.download(from: url)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("a\nb\n".utf8))
    }

    @Test("A delegate may refuse a custom protocol's response; a suspended task delivers nothing")
    func steering() async throws {
        let script = ProtocolScript { $0.answer("hello") }
        let refusing = RecordingDelegate(onResponse: { $1(.cancel) })
        protocolSession(refusing).dataTask(with: try script.url()).resume()
        await refusing.transcript.completed.wait()
        #expect(refusing.transcript.calls == ["created 1", "response 200", "metrics 1", "complete -999"])
        let slow = ProtocolScript { _ in }
        let delegate = RecordingDelegate()
        let task = protocolSession(delegate).dataTask(with: try slow.url())
        task.resume()
        await slow.started.wait()
        task.suspend()
        for held in slow.instances.value { held.answer("hello") }
        #expect(delegate.transcript.calls == ["created 1"])
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.body == "hello" && delegate.transcript.calls.last == "complete nil")
    }

    @Test("A protocol's instance and its task are released when the load has ended")
    func leaks() async throws {
        final class Watch: @unchecked Sendable {
            // Weak references may be read from any thread.
            weak var instance: URLProtocol?
            weak var task: URLSessionTask?
        }
        let watch = Watch()
        let script = ProtocolScript { $0.answer("x") }
        func load() async throws {
            let session = protocolSession()
            _ = await session.handled(try script.url())
            await script.stopped.wait()
            watch.instance = script.instances.value.first?.instance
            watch.task = watch.instance?.task
            #expect(watch.instance != nil && watch.task != nil)
            script.instances.value = []
        }
        try await load()
        try await until { watch.instance == nil && watch.task == nil }
    }
}
