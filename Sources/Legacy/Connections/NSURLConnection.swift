// Apple's older class for loading a URL. Everything it does is a `LegacyLoad`'s.

import Foundation
import Synchronization
import URLLoading

/// Loads one request and tells a delegate, in run loops or on an operation queue.
///
/// The connection holds its delegate, and the load the connection, until the last message or `cancel()`. A delegate is
/// any object of one of the three protocols; with any other, or none, the request is sent and the response thrown away.
open class NSURLConnection: NSObject {
    private let load: LegacyLoad
    private let request: URLRequest
    /// Whose the messages will be, until the load has begun.
    private let delegates: Mutex<ConnectionDelegates?>

    /// Starts a load at once; the delegate is called in the default mode of this thread's run loop.
    @available(*, deprecated, message: "Use dataTask(with:) of URLSession")
    public init?(request: URLRequest, delegate: Any?) {
        self.request = request
        let delegates = ConnectionDelegates(delegate)
        load = LegacyLoad(request, savesFile: delegates?.wantsFile ?? false)
        self.delegates = Mutex(delegates)
        super.init()
        begin()
    }

    /// Makes a connection that `start()` starts, or starts it at once, with its delegate in the default mode of this
    /// thread's run loop.
    @available(*, deprecated, message: "Use dataTask(with:) of URLSession")
    public init?(request: URLRequest, delegate: Any?, startImmediately: Bool) {
        self.request = request
        let delegates = ConnectionDelegates(delegate)
        load = LegacyLoad(request, savesFile: delegates?.wantsFile ?? false)
        self.delegates = Mutex(delegates)
        super.init()
        if startImmediately { begin() }
    }

    /// The request as it was given.
    @available(*, deprecated, message: "Use originalRequest of URLSessionTask")
    open var originalRequest: URLRequest { request }

    /// The request that is being sent: after redirects another one, with the fields that the loader added.
    @available(*, deprecated, message: "Use currentRequest of URLSessionTask")
    open var currentRequest: URLRequest { load.currentRequest }

    /// Starts the load, once. Where neither a run loop nor a queue is set, the delegate is called in the default mode
    /// of this thread's run loop.
    @available(*, deprecated, message: "Use resume() of URLSessionTask")
    open func start() { begin() }

    /// Ends the load. The delegate hears nothing more.
    @available(*, deprecated, message: "Use cancel() of URLSessionTask")
    open func cancel() {
        load.cancel()
        let delegates = self.delegates.withLock { delegates in
            defer { delegates = nil }
            return delegates
        }
        withExtendedLifetime(delegates) {}
    }

    /// Has the delegate called in that mode of that run loop too; a queue that was set counts no more.
    @available(*, deprecated, message: "Use the delegateQueue of URLSession")
    open func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        load.deliveries.add(aRunLoop, mode)
    }

    /// Has the delegate called no more in that mode of that run loop. Where no place is left, messages wait for one.
    @available(*, deprecated, message: "Use the delegateQueue of URLSession")
    open func unschedule(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        load.deliveries.remove(aRunLoop, mode)
    }

    /// Has the delegate called on that queue, and in no run loop any more; no two calls overlap,
    /// also on a concurrent queue.
    @available(*, deprecated, message: "Use the delegateQueue of URLSession")
    open func setDelegateQueue(_ queue: OperationQueue?) {
        load.deliveries.move(to: queue)
    }

    @available(*, deprecated)
    private func begin() {
        let delegates = delegates.withLock { delegates in
            defer { delegates = nil }
            return delegates
        }
        guard let delegates else { return load.begin(nil) }
        if !load.deliveries.hasPlace { load.deliveries.add(.current, .default) }
        load.begin(ConnectionListener(self, delegates))
    }

    // MARK: Without a delegate

    /// Whether there is a way to load such a request.
    @discardableResult
    open class func canHandle(_ request: URLRequest) -> Bool { request.isLoadable }

    /// Loads a request while the thread waits; its run loop does not run. Passwords are looked for in the URL and in
    /// the shared credential storage.
    @available(*, deprecated, message: "Use data(for:) of URLSession")
    @discardableResult
    open class func sendSynchronousRequest(
        _ request: URLRequest, returning response: UnsafeMutablePointer<URLResponse?>?
    ) throws -> Data {
        let outcome = Mutex<Outcome?>(nil)
        let hasEnded = DispatchSemaphore(value: 0)
        load(request) { ended in
            outcome.withLock { $0 = ended }
            hasEnded.signal()
        }
        hasEnded.wait()
        guard let outcome = outcome.withLock({ $0 }) else { return Data() }
        response?.pointee = outcome.response
        if let error = outcome.error { throw error }
        return outcome.data ?? Data()
    }

    /// Loads a request and calls the handler on the queue.
    @available(*, deprecated, message: "Use dataTask(with:completionHandler:) of URLSession")
    @preconcurrency
    open class func sendAsynchronousRequest(
        _ request: URLRequest, queue: OperationQueue,
        completionHandler handler: @escaping @Sendable (URLResponse?, Data?, (any Error)?) -> Void
    ) {
        load(request) { outcome in
            queue.addOperation { handler(outcome.response, outcome.data, outcome.error) }
        }
    }

    private struct Outcome: Sendable {
        let data: Data?
        let response: URLResponse?
        let error: (any Error)?
    }

    private class func load(_ request: URLRequest, then: @escaping @Sendable (Outcome) -> Void) {
        LegacySessions.session(usesCredentialStorage: true)
            .dataTask(with: request) { then(Outcome(data: $0, response: $1, error: $2)) }
            .resume()
    }
}
