// A ready delegate for programs that want closures and no class, and the notifications that go with it.
//
// A closure that is not set counts as a method that is not implemented: the next delegate is asked, as everywhere.

import Foundation
import Synchronization

extension URLSession {
    /// A delegate with one optional closure for each method. This class is ours.
    ///
    /// ```swift
    /// let handlers = URLSession.EventHandlers()
    /// handlers.didReceiveData = { _, task, data in print(task.taskIdentifier, data.count) }
    /// handlers.didComplete = { _, task, error in print(task.taskIdentifier, error as Any) }
    /// let session = URLSession(configuration: .default, delegate: handlers, delegateQueue: nil)
    /// session.dataTask(with: url).resume()
    /// ```
    ///
    /// Closures are called where a delegate's methods are, and may be set at any time; `nil` stands for a method that
    /// is not implemented. It serves as the delegate of a session or of a task. A session that has it as its delegate
    /// also posts `urlSessionTaskDidResume`, `urlSessionTaskDidSuspend`, `urlSessionTaskDidComplete` and
    /// `urlSessionDidInvalidate`, for tasks of every kind.
    public final class EventHandlers: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
        URLSessionStreamDelegate
    {
        private let closures = Mutex(Closures())

        /// Handlers that do nothing.
        public override init() {
            super.init()
        }

        // MARK: Sessions

        /// The session has ended; its last message.
        public var didBecomeInvalid: (@Sendable (URLSession, (any Error)?) -> Void)? {
            get { closures.withLock { $0.didBecomeInvalid } }
            set { set(\.didBecomeInvalid, newValue) }
        }

        /// Everything has been told that a background session's tasks had to tell when the program met them again.
        public var didFinishBackgroundEvents: (@Sendable (URLSession) -> Void)? {
            get { closures.withLock { $0.didFinishBackgroundEvents } }
            set { set(\.didFinishBackgroundEvents, newValue) }
        }

        /// A server has shown its certificates, or asks for ours: says what is to be done.
        public var didReceiveChallenge:
            (
                @Sendable (URLSession, URLAuthenticationChallenge) async -> (
                    URLSession.AuthChallengeDisposition, URLCredential?
                )
            )?
        {
            get { closures.withLock { $0.didReceiveChallenge } }
            set { set(\.didReceiveChallenge, newValue) }
        }

        // MARK: Tasks

        /// The server of a task asks for credentials: says what is to be done.
        public var didReceiveTaskChallenge:
            (
                @Sendable (URLSession, URLSessionTask, URLAuthenticationChallenge) async -> (
                    URLSession.AuthChallengeDisposition, URLCredential?
                )
            )?
        {
            get { closures.withLock { $0.didReceiveTaskChallenge } }
            set { set(\.didReceiveTaskChallenge, newValue) }
        }

        /// A task was made; called on the thread that made it.
        public var didCreateTask: (@Sendable (URLSession, URLSessionTask) -> Void)? {
            get { closures.withLock { $0.didCreateTask } }
            set { set(\.didCreateTask, newValue) }
        }

        /// The server redirects: gives the request to go on with, or `nil` to take the redirect itself as the response.
        public var willPerformHTTPRedirection:
            (@Sendable (URLSession, URLSessionTask, HTTPURLResponse, URLRequest) async -> URLRequest?)?
        {
            get { closures.withLock { $0.willPerformHTTPRedirection } }
            set { set(\.willPerformHTTPRedirection, newValue) }
        }

        /// A stream for the request's body is needed. Return one that is not open yet.
        public var needNewBodyStream: (@Sendable (URLSession, URLSessionTask) async -> InputStream?)? {
            get { closures.withLock { $0.needNewBodyStream } }
            set { set(\.needNewBodyStream, newValue) }
        }

        /// Part of the request's body has been sent: so many bytes now, in all, and expected.
        public var didSendBodyData: (@Sendable (URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)? {
            get { closures.withLock { $0.didSendBodyData } }
            set { set(\.didSendBodyData, newValue) }
        }

        /// A 1xx response other than 100 and 101 came.
        public var didReceiveInformationalResponse: (@Sendable (URLSession, URLSessionTask, HTTPURLResponse) -> Void)?
        {
            get { closures.withLock { $0.didReceiveInformationalResponse } }
            set { set(\.didReceiveInformationalResponse, newValue) }
        }

        /// Everything that was measured; before the end.
        public var didFinishCollectingMetrics: (@Sendable (URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void)?
        {
            get { closures.withLock { $0.didFinishCollectingMetrics } }
            set { set(\.didFinishCollectingMetrics, newValue) }
        }

        /// The begin date has come: says what is to be done, and with which request.
        public var willBeginDelayedRequest:
            (
                @Sendable (URLSession, URLSessionTask, URLRequest) async -> (
                    URLSession.DelayedRequestDisposition, URLRequest?
                )
            )?
        {
            get { closures.withLock { $0.willBeginDelayedRequest } }
            set { set(\.willBeginDelayedRequest, newValue) }
        }

        /// There is no way to the host, and the task waits for one.
        public var taskIsWaitingForConnectivity: (@Sendable (URLSession, URLSessionTask) -> Void)? {
            get { closures.withLock { $0.taskIsWaitingForConnectivity } }
            set { set(\.taskIsWaitingForConnectivity, newValue) }
        }

        /// The task has ended; its last message.
        public var didComplete: (@Sendable (URLSession, URLSessionTask, (any Error)?) -> Void)? {
            get { closures.withLock { $0.didComplete } }
            set { set(\.didComplete, newValue) }
        }

        // MARK: Data tasks

        /// The response's head is complete: says what is to be done with it.
        public var didReceiveResponse:
            (@Sendable (URLSession, URLSessionDataTask, URLResponse) async -> URLSession.ResponseDisposition)?
        {
            get { closures.withLock { $0.didReceiveResponse } }
            set { set(\.didReceiveResponse, newValue) }
        }

        /// The next bytes of the body, decoded.
        public var didReceiveData: (@Sendable (URLSession, URLSessionDataTask, Data) -> Void)? {
            get { closures.withLock { $0.didReceiveData } }
            set { set(\.didReceiveData, newValue) }
        }

        /// The response is about to be stored in the cache: gives what is to be stored, or `nil` for nothing.
        public var willCacheResponse:
            (@Sendable (URLSession, URLSessionDataTask, CachedURLResponse) async -> CachedURLResponse?)?
        {
            get { closures.withLock { $0.willCacheResponse } }
            set { set(\.willCacheResponse, newValue) }
        }

        // MARK: Download tasks

        /// The whole body is in a file, which is removed when the closure returns.
        public var didFinishDownloading: (@Sendable (URLSession, URLSessionDownloadTask, URL) -> Void)? {
            get { closures.withLock { $0.didFinishDownloading } }
            set { set(\.didFinishDownloading, newValue) }
        }

        /// More of the body has been written: so many bytes now, in all, and expected.
        public var didWriteData: (@Sendable (URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)? {
            get { closures.withLock { $0.didWriteData } }
            set { set(\.didWriteData, newValue) }
        }

        /// A download goes on behind what there was: the offset, and the expected length.
        public var didResumeDownload: (@Sendable (URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)? {
            get { closures.withLock { $0.didResumeDownload } }
            set { set(\.didResumeDownload, newValue) }
        }

        /// A data task goes on as a download task.
        public var didBecomeDownload: (@Sendable (URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void)? {
            get { closures.withLock { $0.didBecomeDownload } }
            set { set(\.didBecomeDownload, newValue) }
        }

        // MARK: Stream tasks

        /// A data task goes on as a stream task.
        public var didBecomeStream: (@Sendable (URLSession, URLSessionDataTask, URLSessionStreamTask) -> Void)? {
            get { closures.withLock { $0.didBecomeStream } }
            set { set(\.didBecomeStream, newValue) }
        }

        /// Nothing more can come.
        public var readClosed: (@Sendable (URLSession, URLSessionStreamTask) -> Void)? {
            get { closures.withLock { $0.readClosed } }
            set { set(\.readClosed, newValue) }
        }

        /// Our side of the connection is finished.
        public var writeClosed: (@Sendable (URLSession, URLSessionStreamTask) -> Void)? {
            get { closures.withLock { $0.writeClosed } }
            set { set(\.writeClosed, newValue) }
        }

        /// The connection goes on as two streams, not open yet; the task tells nothing more.
        public var didBecomeStreams: (@Sendable (URLSession, URLSessionStreamTask, InputStream, OutputStream) -> Void)?
        {
            get { closures.withLock { $0.didBecomeStreams } }
            set { set(\.didBecomeStreams, newValue) }
        }

        // MARK: Web socket tasks

        /// A web socket is open; with the protocol that the server has chosen, if it has.
        public var didOpenWebSocket: (@Sendable (URLSession, URLSessionWebSocketTask, String?) -> Void)? {
            get { closures.withLock { $0.didOpenWebSocket } }
            set { set(\.didOpenWebSocket, newValue) }
        }

        /// A web socket was closed by either side, with a code and perhaps a reason.
        public var didCloseWebSocket:
            (@Sendable (URLSession, URLSessionWebSocketTask, URLSessionWebSocketTask.CloseCode, Data?) -> Void)?
        {
            get { closures.withLock { $0.didCloseWebSocket } }
            set { set(\.didCloseWebSocket, newValue) }
        }

        /// Whether a question would be answered at present.
        func answers(_ method: AskingMethod) -> Bool {
            closures.withLock { closures in
                switch method {
                case .redirect: closures.willPerformHTTPRedirection != nil
                case .response: closures.didReceiveResponse != nil
                case .storing: closures.willCacheResponse != nil
                case .bodyStream: closures.needNewBodyStream != nil
                case .bodyStreamFrom: false
                case .delayed: closures.willBeginDelayedRequest != nil
                case .sessionChallenge: closures.didReceiveChallenge != nil
                case .taskChallenge: closures.didReceiveTaskChallenge != nil
                }
            }
        }

        /// Whether metrics would be taken at present.
        var takesMetrics: Bool { closures.withLock { $0.didFinishCollectingMetrics != nil } }

        /// Order: the closure of before goes when the lock is free, since what it holds may call
        /// the handlers in its deinit.
        private func set<Closure: Sendable>(
            _ path: WritableKeyPath<Closures, Closure?> & Sendable, _ closure: Closure?
        ) {
            closures.letGo { closures in
                defer { closures[keyPath: path] = closure }
                return closures[keyPath: path]
            }
        }

        private struct Closures: Sendable {
            var didBecomeInvalid: (@Sendable (URLSession, (any Error)?) -> Void)?
            var didFinishBackgroundEvents: (@Sendable (URLSession) -> Void)?
            var didReceiveChallenge:
                (
                    @Sendable (URLSession, URLAuthenticationChallenge) async -> (
                        URLSession.AuthChallengeDisposition, URLCredential?
                    )
                )?
            var didReceiveTaskChallenge:
                (
                    @Sendable (URLSession, URLSessionTask, URLAuthenticationChallenge) async -> (
                        URLSession.AuthChallengeDisposition, URLCredential?
                    )
                )?
            var didCreateTask: (@Sendable (URLSession, URLSessionTask) -> Void)?
            var willPerformHTTPRedirection:
                (@Sendable (URLSession, URLSessionTask, HTTPURLResponse, URLRequest) async -> URLRequest?)?
            var needNewBodyStream: (@Sendable (URLSession, URLSessionTask) async -> InputStream?)?
            var willBeginDelayedRequest:
                (
                    @Sendable (URLSession, URLSessionTask, URLRequest) async -> (
                        URLSession.DelayedRequestDisposition, URLRequest?
                    )
                )?
            var taskIsWaitingForConnectivity: (@Sendable (URLSession, URLSessionTask) -> Void)?
            var didSendBodyData: (@Sendable (URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?
            var didReceiveInformationalResponse: (@Sendable (URLSession, URLSessionTask, HTTPURLResponse) -> Void)?
            var didFinishCollectingMetrics: (@Sendable (URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void)?
            var didComplete: (@Sendable (URLSession, URLSessionTask, (any Error)?) -> Void)?
            var didReceiveResponse:
                (@Sendable (URLSession, URLSessionDataTask, URLResponse) async -> URLSession.ResponseDisposition)?
            var didReceiveData: (@Sendable (URLSession, URLSessionDataTask, Data) -> Void)?
            var willCacheResponse:
                (@Sendable (URLSession, URLSessionDataTask, CachedURLResponse) async -> CachedURLResponse?)?
            var didFinishDownloading: (@Sendable (URLSession, URLSessionDownloadTask, URL) -> Void)?
            var didWriteData: (@Sendable (URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
            var didResumeDownload: (@Sendable (URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?
            var didBecomeDownload: (@Sendable (URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void)?
            var didBecomeStream: (@Sendable (URLSession, URLSessionDataTask, URLSessionStreamTask) -> Void)?
            var readClosed: (@Sendable (URLSession, URLSessionStreamTask) -> Void)?
            var writeClosed: (@Sendable (URLSession, URLSessionStreamTask) -> Void)?
            var didBecomeStreams: (@Sendable (URLSession, URLSessionStreamTask, InputStream, OutputStream) -> Void)?
            var didOpenWebSocket: (@Sendable (URLSession, URLSessionWebSocketTask, String?) -> Void)?
            var didCloseWebSocket:
                (@Sendable (URLSession, URLSessionWebSocketTask, URLSessionWebSocketTask.CloseCode, Data?) -> Void)?
        }
    }
}

// MARK: - The delegate's methods

extension URLSession.EventHandlers {
    /// Calls `didBecomeInvalid`.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        didBecomeInvalid?(session, error)
    }

    /// Calls `didFinishBackgroundEvents`.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        didFinishBackgroundEvents?(session)
    }

    /// Asks `didReceiveChallenge`; where it is not set, `didReceiveTaskChallenge`.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard let closure = didReceiveChallenge else { return await challenge.askTasksMethod(of: self, in: session) }
        return await closure(session, challenge)
    }

    /// Asks `didReceiveTaskChallenge`.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard let closure = didReceiveTaskChallenge else { return (.performDefaultHandling, nil) }
        return await closure(session, task, challenge)
    }

    /// Calls `didCreateTask`.
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        guard let closure = didCreateTask else { return miss(.createTask, task) }
        closure(session, task)
    }

    /// Asks `willBeginDelayedRequest`.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        guard let closure = willBeginDelayedRequest else { return (.continueLoading, nil) }
        return await closure(session, task, request)
    }

    /// Calls `taskIsWaitingForConnectivity`.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        guard let closure = taskIsWaitingForConnectivity else { return miss(.waiting, task) }
        closure(session, task)
    }

    /// Asks `willPerformHTTPRedirection`.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        guard let closure = willPerformHTTPRedirection else { return request }
        return await closure(session, task, response, request)
    }

    /// Asks `needNewBodyStream`.
    public func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        await needNewBodyStream?(session, task)
    }

    /// Calls `didSendBodyData`.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard let closure = didSendBodyData else { return miss(.sendBodyData, task) }
        closure(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend)
    }

    /// Calls `didReceiveInformationalResponse`.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        guard let closure = didReceiveInformationalResponse else { return miss(.informationalResponse, task) }
        closure(session, task, response)
    }

    /// Calls `didFinishCollectingMetrics`.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        guard let closure = didFinishCollectingMetrics else { return miss(.metrics, task) }
        closure(session, task, metrics)
    }

    /// Calls `didComplete`.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let closure = didComplete else { return miss(.complete, task) }
        closure(session, task, error)
    }

    /// Asks `didReceiveResponse`.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        guard let closure = didReceiveResponse else { return .allow }
        return await closure(session, dataTask, response)
    }

    /// Calls `didReceiveData`.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let closure = didReceiveData else { return miss(.data, dataTask) }
        closure(session, dataTask, data)
    }

    /// Asks `willCacheResponse`.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        guard let closure = willCacheResponse else { return proposedResponse }
        return await closure(session, dataTask, proposedResponse)
    }

    /// Calls `didFinishDownloading`.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        didFinishDownloading?(session, downloadTask, location)
    }

    /// Calls `didWriteData`.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        guard let closure = didWriteData else { return miss(.writeData, downloadTask) }
        closure(session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)
    }

    /// Calls `didResumeDownload`.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        guard let closure = didResumeDownload else { return miss(.resumeAtOffset, downloadTask) }
        closure(session, downloadTask, fileOffset, expectedTotalBytes)
    }

    /// Calls `didBecomeDownload`.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        guard let closure = didBecomeDownload else { return miss(.becomeDownload, dataTask) }
        closure(session, dataTask, downloadTask)
    }

    func miss(_ method: DelegateMethod, _ task: URLSessionTask) {
        task.core.probe.noteMissing(method, of: self)
    }
}

// MARK: - Notifications

extension Notification.Name {
    /// A task of a session with `URLSession.EventHandlers` was resumed; the object is the task. Posted on the thread
    /// that resumed it.
    public static let urlSessionTaskDidResume = Notification.Name("URLLoading.urlSessionTaskDidResume")
    /// A task of a session with `URLSession.EventHandlers` was suspended; the object is the task. Posted on the thread
    /// that suspended it.
    public static let urlSessionTaskDidSuspend = Notification.Name("URLLoading.urlSessionTaskDidSuspend")
    /// A task of a session with `URLSession.EventHandlers` has ended; the object is the task, which knows its error.
    /// Posted on the delegate queue, after the task's last message.
    public static let urlSessionTaskDidComplete = Notification.Name("URLLoading.urlSessionTaskDidComplete")
    /// A session with `URLSession.EventHandlers` has ended; the object is the session. Posted on the delegate queue,
    /// after the session's last message (B1.25).
    public static let urlSessionDidInvalidate = Notification.Name("URLLoading.urlSessionDidInvalidate")
}
