// Subclasses that override everything open behave as the classes they come from. The subclasses are generated; that
// they compile is the larger part of the proof.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Subclasses of the open classes")
struct SubclassTests {
    @Test("A session whose every member is overridden loads with tasks, with handlers and by await")
    func session() async throws {
        let server = try LoopbackServer.start { _ in .text("here") }
        let url = try #require(URL(string: server.url("/")))
        let session = OverridingURLSession(configuration: .ephemeral)
        session.sessionDescription = "mine"
        #expect(session.sessionDescription == "mine")
        let byHandler = await withHandover { continuation in
            session.dataTask(with: url) { data, _, _ in continuation.resume(returning: data) }.resume()
        }
        #expect(byHandler == Data("here".utf8))
        let (byAwait, _) = try await session.data(from: url)
        #expect(byAwait == byHandler)
        let waiting = session.dataTask(with: url)
        #expect(await session.allTasks == [waiting])
        await session.flush()
        await session.reset()
        session.invalidateAndCancel()
        #expect(OverridingURLSession.shared === URLSession.shared)
        await server.stop()
    }

    @Test("A configuration whose every member is overridden keeps what it is given")
    @available(*, deprecated)
    func configuration() {
        let configuration = OverridingURLSessionConfiguration()
        configuration.timeoutIntervalForRequest = 7
        configuration.tlsMinimumSupportedProtocol = .tlsProtocol13
        #expect(configuration.timeoutIntervalForRequest == 7)
        #expect(configuration.tlsMinimumSupportedProtocolVersion == .TLSv13)
        #expect(URLSession(configuration: configuration).configuration.timeoutIntervalForRequest == 7)
    }

    @Test("A task whose every member is overridden, without a session")
    @available(*, deprecated)
    func task() {
        let task = OverridingURLSessionTask()
        task.taskDescription = "mock"
        task.priority = URLSessionTask.highPriority
        #expect(task.taskDescription == "mock")
        #expect(task.priority == 0.75)
        task.resume()
        task.cancel()
        #expect(task.state == .completed)
        #expect(OverridingURLSessionDataTask().copy() is URLSessionDataTask)
    }

    @Test("Metrics made by hand are empty")
    @available(*, deprecated)
    func metrics() {
        let metrics = OverridingURLSessionTaskMetrics()
        #expect(metrics.transactionMetrics.isEmpty && metrics.redirectCount == 0)
        let transaction = OverridingURLSessionTaskTransactionMetrics()
        #expect(transaction.fetchStartDate == nil && transaction.resourceFetchType == .unknown)
        #expect(transaction.countOfResponseBodyBytesReceived == 0 && transaction.remotePort == nil)
    }

    @Test("Requests whose every member is overridden keep and copy what they are given")
    func requests() throws {
        let url = try #require(URL(string: "https://example.com/a"))
        let request = OverridingNSMutableURLRequest(url: url, cachePolicy: .returnCacheDataElseLoad, timeoutInterval: 5)
        request.httpMethod = "put"
        request.setValue("1", forHTTPHeaderField: "X-One")
        request.addValue("2", forHTTPHeaderField: "x-one")
        request.attribution = .user
        let copy = try #require(request.copy() as? NSURLRequest)
        request.httpMethod = "DELETE"
        #expect(!(copy is NSMutableURLRequest))
        #expect(copy.httpMethod == "PUT")
        #expect(copy.value(forHTTPHeaderField: "X-ONE") == "1,2")
        #expect((copy.cachePolicy, copy.timeoutInterval) == (.returnCacheDataElseLoad, 5))
        #expect((request as URLRequest).attribution == .user)
        #expect(OverridingNSURLRequest(url: url).url == url)
        let (coded, decoded) = try (copy, roundTrip(copy))
        #expect(decoded == coded)
    }

    @Test("Responses whose every member is overridden keep and code what they are given")
    func responses() throws {
        let url = try #require(URL(string: "https://example.com/a.txt"))
        let plain = OverridingURLResponse(
            url: url, mimeType: "text/plain", expectedContentLength: 3, textEncodingName: "utf-8")
        #expect(plain.suggestedFilename == "a.txt")
        #expect((plain.mimeType, plain.expectedContentLength, plain.textEncodingName) == ("text/plain", 3, "utf-8"))
        let response = try #require(
            OverridingHTTPURLResponse(
                url: url, statusCode: 201, httpVersion: "HTTP/1.1", headerFields: ["etag": "x"]))
        #expect(response.statusCode == 201)
        #expect(response.value(forHTTPHeaderField: "ETag") == "x")
        #expect(response.allHeaderFields["Etag"] as? String == "x")
        #expect(OverridingHTTPURLResponse.localizedString(forStatusCode: 404) == "not found")
        #expect(OverridingHTTPURLResponse.supportsSecureCoding)
        let same = try #require(
            HTTPURLResponse(url: url, statusCode: 201, httpVersion: "HTTP/1.1", headerFields: ["etag": "x"]))
        #expect(try roundTrip(same) == same)
    }

    /// The object as it comes back from an archive.
    private func roundTrip<T: NSObject & NSSecureCoding>(_ object: T) throws -> T? {
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data)
    }
}
