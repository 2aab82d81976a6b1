// The face of a session. Everything it does is `SessionCore`'s and, for tasks, `TaskCore`'s.

import Foundation
import URLLoadingSystem

/// Loads URLs, with one configuration and one delegate.
///
/// A session without unfinished tasks to which no reference is left closes its connections and releases its delegate,
/// also when it was never invalidated; on Apple's platforms it would stay.
open class URLSession: NSObject, @unchecked Sendable {
    // Safe to share: the core guards its own state, the rest is immutable.
    let core: SessionCore
    private let configurationCopy: URLSessionConfiguration

    /// The session of the process: default settings, no delegate; invalidating it has no effect (B1.6).
    open class var shared: URLSession { sharedSession }

    private static let sharedSession = URLSession(sharedWith: .default)

    /// Makes a session with default settings, for mocks.
    @available(*, deprecated, message: "Use URLSession.shared or init(configuration:)")
    public override init() {
        (core, configurationCopy) = Self.parts(.default, delegate: nil, queue: nil, isShared: false)
        super.init()
    }

    /// Makes a session without delegate.
    public init(configuration: URLSessionConfiguration) {
        (core, configurationCopy) = Self.parts(configuration, delegate: nil, queue: nil, isShared: false)
        super.init()
        core.background?.meetTasks(of: self)
    }

    /// Makes a session that calls its delegate and all handlers on `queue`, or on a serial queue of its own (B1.27). It
    /// holds the delegate until it has been invalidated, or has neither unfinished tasks nor a reference to it (B1.13).
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        (core, configurationCopy) = Self.parts(
            configuration, delegate: delegate, queue: queue, isShared: false)
        super.init()
        core.background?.meetTasks(of: self)
    }

    private init(sharedWith configuration: URLSessionConfiguration) {
        (core, configurationCopy) = Self.parts(configuration, delegate: nil, queue: nil, isShared: true)
        super.init()
    }

    private static func parts(
        _ configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, queue: OperationQueue?,
        isShared: Bool
    ) -> (SessionCore, URLSessionConfiguration) {
        let values = configuration.values
        let background = BackgroundSession(values)
        let core = SessionCore(
            settings: SessionSettings(values),
            protocols: background == nil ? SessionProtocols(values, isShared: isShared) : nil, background: background,
            delegate: delegate,
            queue: queue, makeQueue: values.makeDelegateQueue, isShared: isShared)
        return (core, URLSessionConfiguration(values))
    }

    /// Where delegate methods and handlers are called.
    open var delegateQueue: OperationQueue { core.relay.queue }

    /// The delegate; `nil` once the session's last message has been delivered (B1.14).
    open var delegate: (any URLSessionDelegate)? { core.delegate }

    /// A copy of the session's settings; changing it has no effect on the session (B1.3).
    open var configuration: URLSessionConfiguration {
        URLSessionConfiguration(configurationCopy.values)
    }

    /// Free text.
    open var sessionDescription: String? {
        get { core.description }
        set { core.description = newValue }
    }

    open override func copy() -> Any { self }

    /// Lets existing tasks end, allows no new ones, and then tells the delegate (B1.15).
    open func finishTasksAndInvalidate() { core.invalidate(self, cancelling: false) }

    /// Cancels all tasks, allows no new ones, and then tells the delegate (B1.16).
    open func invalidateAndCancel() { core.invalidate(self, cancelling: true) }

    /// Empties the session's cache and its storages of credentials and cookies, on the disk too, forgets
    /// which proofs were accepted, and lets later requests open new connections; the handler is called on
    /// the delegate queue (B1.26).
    @preconcurrency
    open func reset(completionHandler: @escaping @Sendable () -> Void) {
        configurationCopy.urlCredentialStorage?.removeAll()
        core.authentication.forgetAll()
        configurationCopy.httpCookieStorage?.removeCookies(since: .distantPast)
        core.settings.cookies?.forgetSockets()
        configurationCopy.urlCache?.removeAllCachedResponses()
        flush(completionHandler: completionHandler)
    }

    /// Empties the session's cache and its storages of credentials and cookies, and lets later
    /// requests open new connections.
    open func reset() async {
        await withUnsafeContinuation { continuation in reset { continuation.resume() } }
    }

    /// Writes cookies and what the cache holds to the disk and lets later requests open new connections; the handler is
    /// called on the delegate queue (B1.26).
    @preconcurrency
    open func flush(completionHandler: @escaping @Sendable () -> Void) {
        core.renewConnections()
        let storage = configurationCopy.httpCookieStorage.flatMap { $0.store.needsWriting ? $0 : nil }
        let cache = configurationCopy.urlCache.flatMap { $0.store.mayNeedWriting ? $0.store : nil }
        if storage == nil, cache == nil { return core.relay.run(completionHandler) }
        let writeCache = { @Sendable [core] in
            cache?.flush()
            core.relay.run(completionHandler)
        }
        guard let storage else { return BlockingLane.cache.run(writeCache) }
        // Each where its kind waits: a cache that another process holds up must not hold up files and cookies.
        BlockingLane.files.run {
            storage.write()
            if cache == nil { writeCache() } else { BlockingLane.cache.run(writeCache) }
        }
    }

    /// Writes cookies and what the cache holds to the disk and lets later requests open new connections.
    open func flush() async {
        await withUnsafeContinuation { continuation in flush { continuation.resume() } }
    }

    /// Gives the tasks that have not ended, on the delegate queue (B1.57).
    @preconcurrency
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        core.relay.run { [core] in completionHandler(core.listedTasks.map(\.face)) }
    }

    /// The tasks that have not ended (B1.57).
    open var allTasks: [URLSessionTask] {
        get async {
            await withUnsafeContinuation { continuation in
                getAllTasks { continuation.resume(returning: $0) }
            }
        }
    }

    /// Gives the tasks that have not ended, by kind, on the delegate queue (B1.57); an upload task is not repeated
    /// among the data tasks (B1.58).
    @preconcurrency
    open func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) -> Void
    ) {
        getAllTasks { tasks in
            let data = tasks.compactMap { $0 as? URLSessionDataTask }
            completionHandler(
                data.filter { !($0 is URLSessionUploadTask) }, data.compactMap { $0 as? URLSessionUploadTask },
                tasks.compactMap { $0 as? URLSessionDownloadTask })
        }
    }

    /// The tasks that have not ended, by kind (B1.57, B1.58).
    open var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        get async {
            await withUnsafeContinuation { continuation in
                getTasksWithCompletionHandler { continuation.resume(returning: ($0, $1, $2)) }
            }
        }
    }

    // MARK: Data tasks

    /// Makes a suspended task that delivers to the delegate.
    @discardableResult
    open func dataTask(with request: URLRequest) -> URLSessionDataTask {
        makeDataTask(request)
    }

    /// Makes a suspended task that delivers to the delegate.
    @discardableResult
    open func dataTask(with url: URL) -> URLSessionDataTask {
        makeDataTask(URLRequest(url: url))
    }

    /// Makes a suspended task that gives its result to a handler, once, on the delegate queue.
    @preconcurrency @discardableResult
    open func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        makeDataTask(request, outlet: .whole(.handler(CompletionHandler(completionHandler))))
    }

    /// Makes a suspended task that gives its result to a handler, once, on the delegate queue.
    @preconcurrency @discardableResult
    open func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        makeDataTask(URLRequest(url: url), outlet: .whole(.handler(CompletionHandler(completionHandler))))
    }

    // MARK: Download tasks

    /// Makes a suspended task that saves the body in a file and gives that to the delegate.
    @discardableResult
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        makeDownloadTask(request)
    }

    /// Makes a suspended task that saves the body in a file and gives that to the delegate.
    @discardableResult
    open func downloadTask(with url: URL) -> URLSessionDownloadTask {
        makeDownloadTask(URLRequest(url: url))
    }

    /// Makes a suspended task that saves the body in a file and gives that to a handler, once, on the delegate queue;
    /// the file is removed when the handler returns (B1.87).
    @preconcurrency @discardableResult
    open func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(request, outlet: .handler(CompletionHandler(completionHandler)))
    }

    /// Makes a suspended task that saves the body in a file and gives that to a handler, once, on the delegate queue;
    /// the file is removed when the handler returns (B1.87).
    @preconcurrency @discardableResult
    open func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(URLRequest(url: url), outlet: .handler(CompletionHandler(completionHandler)))
    }

    /// Makes a suspended task that goes on with a download and gives the file to the delegate. Data that cannot be read
    /// make a task that ends with `URLError.unsupportedURL` (B9.32).
    @discardableResult
    open func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        makeDownloadTask(resuming: resumeData)
    }

    /// Makes a suspended task that goes on with a download and gives the file to a handler, once, on the delegate
    /// queue; the file is removed when the handler returns (B1.87).
    @preconcurrency @discardableResult
    open func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(resuming: resumeData, outlet: .handler(CompletionHandler(completionHandler)))
    }

    // MARK: Stream tasks

    /// Makes a suspended task that connects to a host when it is resumed, and carries whatever is
    /// read and written (B15.39).
    ///
    /// An empty host and a port outside 1…65535 end the task with `URLError.badURL`.
    @discardableResult
    open func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        make(NewTask(StreamCalls(host: hostname, port: port))) { URLSessionStreamTask(core: $0) }
    }

    // MARK: Web socket tasks

    /// Makes a suspended task that opens a web socket at a URL of the scheme ws or wss when it is resumed (B15.1).
    @discardableResult
    open func webSocketTask(with url: URL) -> URLSessionWebSocketTask {
        makeWebSocketTask(URLRequest(url: url))
    }

    /// Makes a suspended task that opens a web socket and offers protocols, of which the server may choose one (B15.3,
    /// B15.8). A name that cannot be that of a protocol ends the task with `URLError.unsupportedURL`.
    @discardableResult
    open func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        makeWebSocketTask(URLRequest(url: url), protocols: protocols)
    }

    /// Makes a suspended task that opens a web socket by a request of the program's, which may offer protocols in a
    /// field `Sec-WebSocket-Protocol` of its own (B15.3). Its method must be GET, and it must have no body.
    @discardableResult
    open func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
        makeWebSocketTask(request)
    }

    // MARK: Upload tasks

    /// Makes a suspended task that sends a file as the request's body; the request's own body is ignored (B11.4). The
    /// file is opened when the task starts and read while it is sent (B11.5).
    @discardableResult
    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        makeUploadTask(request, body: .file(fileURL))
    }

    /// Makes a suspended task that sends data as the request's body; the request's own body is ignored (B11.4).
    @discardableResult
    open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        makeUploadTask(request, body: .data(bodyData))
    }

    /// Makes a suspended task whose body the delegate supplies, in `urlSession(_:task:needNewBodyStream:)` (B11.8); the
    /// request's own body is ignored (B5.36).
    @discardableResult
    open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        makeUploadTask(request, body: .delegate)
    }

    /// Makes a suspended task that sends a file as the request's body and gives its result to a handler, once, on the
    /// delegate queue.
    @preconcurrency @discardableResult
    open func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(request, body: .file(fileURL), outlet: .whole(.handler(CompletionHandler(completionHandler))))
    }

    /// Makes a suspended task that sends data, or nothing, as the request's body and gives its result to a handler,
    /// once, on the delegate queue.
    @preconcurrency @discardableResult
    open func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(
            request, body: .data(bodyData ?? Data()), outlet: .whole(.handler(CompletionHandler(completionHandler))))
    }

    /// Makes a suspended task that goes on with an upload; data that are not usable give a task that fails (B11.29).
    @discardableResult
    open func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask {
        makeUploadTask(resuming: resumeData)
    }

    /// Makes a suspended task that goes on with an upload and gives its result to a handler,
    /// once, on the delegate queue.
    @preconcurrency @discardableResult
    open func uploadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(resuming: resumeData, outlet: .whole(.handler(CompletionHandler(completionHandler))))
    }
}
