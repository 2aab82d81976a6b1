// The API of URLSession, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of URLSession")
struct UrlsessionSurface {
    @Test("URLSession.AuthChallengeDisposition: raw values")
    func urlSessionAuthChallengeDispositionRawValues() {
        let cases: [(URLSession.AuthChallengeDisposition, Int)] = [
            (URLSession.AuthChallengeDisposition.useCredential, 0),
            (URLSession.AuthChallengeDisposition.performDefaultHandling, 1),
            (URLSession.AuthChallengeDisposition.cancelAuthenticationChallenge, 2),
            (URLSession.AuthChallengeDisposition.rejectProtectionSpace, 3),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(URLSession.AuthChallengeDisposition(rawValue: rawValue) == one)
        }
    }

    @Test("URLSession.ResponseDisposition: raw values")
    func urlSessionResponseDispositionRawValues() {
        let cases: [(URLSession.ResponseDisposition, Int)] = [
            (URLSession.ResponseDisposition.cancel, 0), (URLSession.ResponseDisposition.allow, 1),
            (URLSession.ResponseDisposition.becomeDownload, 2), (URLSession.ResponseDisposition.becomeStream, 3),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(URLSession.ResponseDisposition(rawValue: rawValue) == one)
        }
    }

    @Test("URLSession.DelayedRequestDisposition: raw values")
    func urlSessionDelayedRequestDispositionRawValues() {
        let cases: [(URLSession.DelayedRequestDisposition, Int)] = [
            (URLSession.DelayedRequestDisposition.continueLoading, 0),
            (URLSession.DelayedRequestDisposition.useNewRequest, 1), (URLSession.DelayedRequestDisposition.cancel, 2),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(URLSession.DelayedRequestDisposition(rawValue: rawValue) == one)
        }
    }
}

/// Overrides everything that is open in `URLSession` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLSession: URLSession, @unchecked Sendable {
    override class var shared: URLSession { super.shared }

    override var delegateQueue: OperationQueue { super.delegateQueue }

    override var delegate: (any URLSessionDelegate)? { super.delegate }

    override var configuration: URLSessionConfiguration { super.configuration }

    override var sessionDescription: String? {
        get { super.sessionDescription }
        set { super.sessionDescription = newValue }
    }

    override func finishTasksAndInvalidate() { super.finishTasksAndInvalidate() }

    override func invalidateAndCancel() { super.invalidateAndCancel() }

    override func reset(completionHandler: @escaping @Sendable () -> Void) {
        super.reset(completionHandler: completionHandler)
    }

    override func reset() async { await super.reset() }

    override func flush(completionHandler: @escaping @Sendable () -> Void) {
        super.flush(completionHandler: completionHandler)
    }

    override func flush() async { await super.flush() }

    override func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) -> Void
    ) { super.getTasksWithCompletionHandler(completionHandler) }

    override var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        get async { await super.tasks }
    }

    override func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        super.getAllTasks(completionHandler: completionHandler)
    }

    override var allTasks: [URLSessionTask] { get async { await super.allTasks } }

    override func dataTask(with request: URLRequest) -> URLSessionDataTask { super.dataTask(with: request) }

    override func dataTask(with url: URL) -> URLSessionDataTask { super.dataTask(with: url) }

    override func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask { super.dataTask(with: request, completionHandler: completionHandler) }

    override func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask { super.dataTask(with: url, completionHandler: completionHandler) }

    override func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        super.uploadTask(with: request, fromFile: fileURL)
    }

    override func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        super.uploadTask(with: request, from: bodyData)
    }

    override func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask {
        super.uploadTask(withResumeData: resumeData)
    }

    override func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        super.uploadTask(withStreamedRequest: request)
    }

    override func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        super.uploadTask(with: request, fromFile: fileURL, completionHandler: completionHandler)
    }

    override func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask { super.uploadTask(with: request, from: bodyData, completionHandler: completionHandler) }

    override func uploadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask { super.uploadTask(withResumeData: resumeData, completionHandler: completionHandler) }

    override func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { super.downloadTask(with: request) }

    override func downloadTask(with url: URL) -> URLSessionDownloadTask { super.downloadTask(with: url) }

    override func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        super.downloadTask(withResumeData: resumeData)
    }

    override func downloadTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask { super.downloadTask(with: request, completionHandler: completionHandler) }

    override func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask { super.downloadTask(with: url, completionHandler: completionHandler) }

    override func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask { super.downloadTask(withResumeData: resumeData, completionHandler: completionHandler) }

    override func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        super.streamTask(withHostName: hostname, port: port)
    }

    override func webSocketTask(with url: URL) -> URLSessionWebSocketTask { super.webSocketTask(with: url) }

    override func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        super.webSocketTask(with: url, protocols: protocols)
    }

    override func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
        super.webSocketTask(with: request)
    }
}

/// Names the API of `URLSession`.
private func urlSessionMembers(of one: URLSession) {
    let _: any (NSObject & Sendable).Type = URLSession.self
    let _: URLSession = URLSession.shared
    let _: (URLSessionConfiguration) -> URLSession = URLSession.init(configuration:)
    let _: (URLSessionConfiguration, (any URLSessionDelegate)?, OperationQueue?) -> URLSession = URLSession.init(
        configuration:delegate:delegateQueue:)
    let _: KeyPath<URLSession, OperationQueue> = \.delegateQueue
    let _: KeyPath<URLSession, (any URLSessionDelegate)?> = \.delegate
    let _: KeyPath<URLSession, URLSessionConfiguration> = \.configuration
    let _: ReferenceWritableKeyPath<URLSession, String?> = \.sessionDescription
    let _: () -> Void = one.finishTasksAndInvalidate
    let _: () -> Void = one.invalidateAndCancel
    let _: (@escaping @Sendable () -> Void) -> Void = one.reset(completionHandler:)
    let _: () async -> Void = one.reset
    let _: (@escaping @Sendable () -> Void) -> Void = one.flush(completionHandler:)
    let _: () async -> Void = one.flush
    let _:
        (@escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) -> Void) -> Void =
            one.getTasksWithCompletionHandler(_:)
    let _: (URLSession) async -> ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) = {
        await $0.tasks
    }
    let _: (@escaping @Sendable ([URLSessionTask]) -> Void) -> Void = one.getAllTasks(completionHandler:)
    let _: (URLSession) async -> [URLSessionTask] = { await $0.allTasks }
    let _: (URLRequest) -> URLSessionDataTask = one.dataTask(with:)
    let _: (URL) -> URLSessionDataTask = one.dataTask(with:)
    let _: (URLRequest, @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionDataTask = one
        .dataTask(with:completionHandler:)
    let _: (URL, @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionDataTask = one.dataTask(
        with:completionHandler:)
    let _: (URLRequest, URL) -> URLSessionUploadTask = one.uploadTask(with:fromFile:)
    let _: (URLRequest, Data) -> URLSessionUploadTask = one.uploadTask(with:from:)
    let _: (Data) -> URLSessionUploadTask = one.uploadTask(withResumeData:)
    let _: (URLRequest) -> URLSessionUploadTask = one.uploadTask(withStreamedRequest:)
    let _: (URLRequest, URL, @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionUploadTask =
        one.uploadTask(with:fromFile:completionHandler:)
    let _:
        (URLRequest, Data?, @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionUploadTask =
            one.uploadTask(with:from:completionHandler:)
    let _: (Data, @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionUploadTask = one
        .uploadTask(withResumeData:completionHandler:)
    let _: (URLRequest) -> URLSessionDownloadTask = one.downloadTask(with:)
    let _: (URL) -> URLSessionDownloadTask = one.downloadTask(with:)
    let _: (Data) -> URLSessionDownloadTask = one.downloadTask(withResumeData:)
    let _: (URLRequest, @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void) -> URLSessionDownloadTask = one
        .downloadTask(with:completionHandler:)
    let _: (URL, @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void) -> URLSessionDownloadTask = one
        .downloadTask(with:completionHandler:)
    let _: (Data, @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void) -> URLSessionDownloadTask = one
        .downloadTask(withResumeData:completionHandler:)
    let _: (String, Int) -> URLSessionStreamTask = one.streamTask(withHostName:port:)
    let _: (URL) -> URLSessionWebSocketTask = one.webSocketTask(with:)
    let _: (URL, [String]) -> URLSessionWebSocketTask = one.webSocketTask(with:protocols:)
    let _: (URLRequest) -> URLSessionWebSocketTask = one.webSocketTask(with:)
    let _: (URLRequest, (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) = one.data(for:delegate:)
    let _: (URL, (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) = one.data(from:delegate:)
    let _: (URLRequest, URL, (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) = one.upload(
        for:fromFile:delegate:)
    let _: (URLRequest, Data, (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) = one.upload(
        for:from:delegate:)
    let _: (URLRequest) async throws -> (Data, URLResponse) = one.data(for:)
    let _: (URL) async throws -> (Data, URLResponse) = one.data(from:)
    let _: (URLRequest, URL) async throws -> (Data, URLResponse) = one.upload(for:fromFile:)
    let _: (URLRequest, Data) async throws -> (Data, URLResponse) = one.upload(for:from:)
    let _: (Data, (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) = one.upload(resumeFrom:delegate:)
    let _: (URLRequest, (any URLSessionTaskDelegate)?) async throws -> (URL, URLResponse) = one.download(for:delegate:)
    let _: (URL, (any URLSessionTaskDelegate)?) async throws -> (URL, URLResponse) = one.download(from:delegate:)
    let _: (Data, (any URLSessionTaskDelegate)?) async throws -> (URL, URLResponse) = one.download(resumeFrom:delegate:)
    let _: (URLRequest, (any URLSessionTaskDelegate)?) async throws -> (URLSession.AsyncBytes, URLResponse) = one.bytes(
        for:delegate:)
    let _: (URL, (any URLSessionTaskDelegate)?) async throws -> (URLSession.AsyncBytes, URLResponse) = one.bytes(
        from:delegate:)
}

/// Names, as far as it is deprecated, the API of `URLSession`.
@available(*, deprecated)
private func urlSessionDeprecatedmembers() {
    let _: () -> URLSession = URLSession.init
}

/// Names the API of `URLSession.AuthChallengeDisposition`.
private func urlSessionAuthChallengeDispositionMembers() {
    let _: any Sendable.Type = URLSession.AuthChallengeDisposition.self
}

/// Names the API of `URLSession.ResponseDisposition`.
private func urlSessionResponseDispositionMembers() {
    let _: any Sendable.Type = URLSession.ResponseDisposition.self
}

/// Names the API of `URLSession.DelayedRequestDisposition`.
private func urlSessionDelayedRequestDispositionMembers() {
    let _: any Sendable.Type = URLSession.DelayedRequestDisposition.self
}

/// Names the API of `URLSession.AsyncBytes`.
private func urlSessionAsyncBytesMembers(of one: URLSession.AsyncBytes) {
    let _: any (AsyncSequence & Sendable).Type = URLSession.AsyncBytes.self
    let _: UInt8.Type = URLSession.AsyncBytes.Element.self
    let _: URLSession.AsyncBytes.Iterator.Type = URLSession.AsyncBytes.AsyncIterator.self
    let _: KeyPath<URLSession.AsyncBytes, URLSessionDataTask> = \.task
    let _: () -> URLSession.AsyncBytes.Iterator = one.makeAsyncIterator
}

/// Names the API of `URLSession.AsyncBytes.Iterator`.
private func urlSessionAsyncBytesIteratorMembers(of one: URLSession.AsyncBytes.Iterator) {
    let _: any (AsyncIteratorProtocol & Sendable).Type = URLSession.AsyncBytes.Iterator.self
    let _: () async throws -> UInt8? = {
        var one = one; return try await one.next()
    }
}
