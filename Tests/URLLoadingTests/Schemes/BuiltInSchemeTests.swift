// Loads of `data:` and `about:` URLs, and of unknown schemes, by every kind of task (behaviour 14.1, 14.3).

import Foundation
import Testing
import URLLoading
import URLLoadingTestSupport

@Suite("Built-in schemes", .endsSessions, .timeLimit(.minutes(5)))
struct BuiltInSchemeTests {
    @Test("B14.1, B14.13: a delegate hears a data URL's response, its data and the end")
    func dataOrder() async throws {
        let delegate = RecordingDelegate()
        let url = try #require(URL(string: "data:text/css;charset=utf-8,a%20%7B%7D"))
        let task = visitor(delegate).dataTask(with: url)
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(
            delegate.transcript.calls == ["created 1", "response 0", "data", "metrics 1", "complete nil"])
        #expect(delegate.transcript.body == "a {}")
        let response = try #require(task.response)
        #expect(!(response is HTTPURLResponse))
        #expect(response.url == url)
        #expect(response.mimeType == "text/css")
        #expect(response.textEncodingName == "utf-8")
        #expect(response.expectedContentLength == 4)
        #expect(task.countOfBytesReceived == 4)
    }

    @Test("B14.18: an empty data URL is a response without data")
    func emptyData() async throws {
        let delegate = RecordingDelegate()
        visitor(delegate).dataTask(with: try #require(URL(string: "data:,"))).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "response 0", "metrics 1", "complete nil"])
    }

    @Test(
        "B14.17: a data URL that cannot be read ends the task once, with -1000 and no response",
        arguments: [
            "data:", "data:%2C", "data:text,x", "data:;charset=%41,x", "data:;base64,*",
        ])
    func badData(text: String) async throws {
        let delegate = RecordingDelegate()
        let task = visitor(delegate).dataTask(with: try #require(URL(string: text)))
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "metrics 1", "complete -1000"])
        #expect(task.response == nil)
        #expect((task.error as? URLError)?.failingURL?.absoluteString == text)
    }

    @Test("B14.3, B14.13: handlers, async calls, bytes, events and downloads get the data too")
    func everyForm() async throws {
        let session = visitor()
        let url = try #require(URL(string: "DATA:;base64,aGVsbG8="))
        let (data, response) = try await session.data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == "hello")
        #expect(response.mimeType == "text/plain")
        let handled: (Data?, URLResponse?, (any Error)?) = await withHandover { continuation in
            session.dataTask(with: url) { continuation.resume(returning: ($0, $1, $2)) }.resume()
        }
        #expect(handled.0 == Data("hello".utf8) && handled.1 != nil && handled.2 == nil)
        let (bytes, head) = try await session.bytes(from: url)
        var collected: [UInt8] = []
        for try await byte in bytes { collected.append(byte) }
        #expect(collected == Array("hello".utf8) && head.expectedContentLength == 5)
        var kinds: [String] = []
        for await event in session.events(for: URLRequest(url: url)) {
            switch event {
            case .response: kinds.append("response")
            case .body(let data): kinds.append(String(decoding: data, as: UTF8.self))
            case .end(let error): kinds.append("end \(Transcript.text(error))")
            case .informational, .redirect, .retry, .progress, .metrics: break
            }
        }
        #expect(kinds == ["response", "hello", "end nil"])
        let (file, _) = try await session.download(from: url)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
    }

    @Test(
        "B14.2, B14.5: unknown schemes end with -1002, without a response",
        arguments: [
            "foo://example.com/", "ws://example.com/", "wss://example.com/", "javascript:1", "mailto:a@example.com",
        ])
    func unknown(text: String) async throws {
        let delegate = RecordingDelegate()
        let task = visitor(delegate).dataTask(with: try #require(URL(string: text)))
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "metrics 0", "complete -1002"])
        #expect(task.response == nil)
    }

    @Test("B14.2: an unknown scheme ends with -1002 also with a body")
    func unknownWithBody() async throws {
        var request = URLRequest(url: try #require(URL(string: "foo://example.com/")))
        request.httpBody = Data("x".utf8)
        let session = visitor()
        let asked = request
        #expect(await codeThrown { _ = try await session.data(for: asked) } == .unsupportedURL)
    }

    @Test("B14.6: about:blank is an empty page, other about: URLs are unknown")
    func about() async throws {
        let session = visitor()
        let (data, response) = try await session.data(from: try #require(URL(string: "About:BLANK#x")))
        #expect(data.isEmpty && response.mimeType == "text/html" && response.expectedContentLength == 0)
        let other = try #require(URL(string: "about:config"))
        #expect(await codeThrown { _ = try await session.data(from: other) } == .unsupportedURL)
    }

    @Test(
        "B14.12: an upload to a file, data or about URL fails with -1002",
        arguments: ["file:///tmp/x", "data:,x", "about:blank"])
    func uploads(text: String) async throws {
        let session = visitor()
        let request = URLRequest(url: try #require(URL(string: text)))
        #expect(
            await codeThrown { _ = try await session.upload(for: request, from: Data("x".utf8)) } == .unsupportedURL)
    }

    @Test("A delegate may refuse the response of a data URL, or cancel its task while it is asked")
    func refused() async throws {
        let url = try #require(URL(string: "data:,x"))
        let delegate = RecordingDelegate(onResponse: { $1(.cancel) })
        visitor(delegate).dataTask(with: url).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "response 0", "metrics 1", "complete -999"])
        let silent = RecordingDelegate(onResponse: { task, _ in task.cancel() })
        visitor(silent).dataTask(with: url).resume()
        await silent.transcript.completed.wait()
        #expect(silent.transcript.calls == ["created 1", "response 0", "metrics 1", "complete -999"])
    }

    @Test("B14.55: the metrics of a data URL have no network data")
    func metrics() async throws {
        let found = Guarded<URLSessionTaskMetrics?>(nil)
        let delegate = RecordingDelegate(onMetrics: { found.value = $1 })
        visitor(delegate).dataTask(with: try #require(URL(string: "data:,hello"))).resume()
        await delegate.transcript.completed.wait()
        let transaction = try #require(found.value?.transactionMetrics.first)
        #expect(transaction.request.url?.absoluteString == "data:,hello")
        #expect(transaction.response?.mimeType == "text/plain")
        #expect(transaction.resourceFetchType == .unknown)
        #expect(transaction.networkProtocolName == nil)
        #expect(transaction.fetchStartDate != nil && transaction.responseEndDate != nil)
        #expect(transaction.connectStartDate == nil && transaction.domainLookupStartDate == nil)
        #expect(transaction.requestStartDate == nil && transaction.remoteAddress == nil)
        #expect(transaction.countOfResponseBodyBytesReceived == 0)
        #expect(transaction.countOfResponseBodyBytesAfterDecoding == 5)
    }
}
