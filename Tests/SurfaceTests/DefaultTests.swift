// What new objects say before anything is set.

import Foundation
import Testing
import URLLoading

@Suite("Defaults of new objects")
struct DefaultTests {
    @Test("B5.1: a new request")
    func request() throws {
        let url = try #require(URL(string: "https://example.com"))
        for request in [URLRequest(url: url), NSURLRequest(url: url) as URLRequest] {
            #expect(request.url == url)
            #expect(request.httpMethod == "GET")
            #expect(request.allHTTPHeaderFields == nil)
            #expect(request.cachePolicy == .useProtocolCachePolicy)
            #expect(request.timeoutInterval == 60)
            #expect(request.httpBody == nil && request.httpBodyStream == nil)
            #expect(request.httpShouldHandleCookies && !request.httpShouldUsePipelining)
            #expect(request.mainDocumentURL == nil)
            #expect(request.networkServiceType == .default)
            #expect(request.allowsCellularAccess && request.allowsExpensiveNetworkAccess)
            #expect(request.allowsConstrainedNetworkAccess && !request.allowsUltraConstrainedNetworkAccess)
            #expect(!request.assumesHTTP3Capable && !request.requiresDNSSECValidation && !request.allowsPersistentDNS)
            #expect(request.attribution == .developer)
            #expect(request.cookiePartitionIdentifier == nil)
        }
        #expect(NSMutableURLRequest().url == nil)
    }

    @Test("A new task")
    func task() throws {
        let url = try #require(URL(string: "https://example.com"))
        let session = URLSession(configuration: .ephemeral)
        let task = session.dataTask(with: url)
        #expect(task.state == .suspended)
        #expect(task.taskIdentifier == 1)
        #expect(task.originalRequest?.url == url && task.currentRequest?.url == url)
        #expect(task.response == nil && task.error == nil && task.delegate == nil)
        #expect(task.earliestBeginDate == nil && task.taskDescription == nil)
        #expect((task.countOfBytesClientExpectsToSend, task.countOfBytesClientExpectsToReceive) == (-1, -1))
        #expect((task.countOfBytesSent, task.countOfBytesReceived) == (0, 0))
        #expect((task.countOfBytesExpectedToSend, task.countOfBytesExpectedToReceive) == (0, 0))
        #expect(task.priority == URLSessionTask.defaultPriority)
        #expect(task.prefersIncrementalDelivery)
        #expect(!session.dataTask(with: url) { _, _, _ in }.prefersIncrementalDelivery)
        session.invalidateAndCancel()
    }

    @Test("A new session")
    func session() {
        let session = URLSession(configuration: .default)
        #expect(session.delegate == nil && session.sessionDescription == nil)
        #expect(session.delegateQueue.maxConcurrentOperationCount == 1)
        session.invalidateAndCancel()
    }

    @Test("A new response")
    func response() {
        let response = URLResponse()
        #expect(response.url == nil && response.mimeType == nil && response.textEncodingName == nil)
        #expect(response.expectedContentLength == NSURLSessionTransferSizeUnknown)
        #expect(HTTPURLResponse().statusCode == 0)
        #expect(HTTPURLResponse().allHeaderFields.isEmpty)
    }
}
