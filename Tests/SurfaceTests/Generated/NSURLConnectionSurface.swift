// The API of NSURLConnection, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading
import URLLoadingLegacy

/// Overrides everything that is open in `NSURLConnection` by what does the same.
class OverridingNSURLConnection: NSURLConnection {
    @available(*, deprecated)
    override var originalRequest: URLRequest { super.originalRequest }

    @available(*, deprecated)
    override var currentRequest: URLRequest { super.currentRequest }

    @available(*, deprecated)
    override func start() { super.start() }

    @available(*, deprecated)
    override func cancel() { super.cancel() }

    @available(*, deprecated)
    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        super.schedule(in: aRunLoop, forMode: mode)
    }

    @available(*, deprecated)
    override func unschedule(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        super.unschedule(from: aRunLoop, forMode: mode)
    }

    @available(*, deprecated)
    override func setDelegateQueue(_ queue: OperationQueue?) { super.setDelegateQueue(queue) }

    override class func canHandle(_ request: URLRequest) -> Bool { super.canHandle(request) }

    @available(*, deprecated)
    override class func sendSynchronousRequest(
        _ request: URLRequest, returning response: UnsafeMutablePointer<URLResponse?>?
    ) throws -> Data { try super.sendSynchronousRequest(request, returning: response) }

    @available(*, deprecated)
    override class func sendAsynchronousRequest(
        _ request: URLRequest, queue: OperationQueue,
        completionHandler handler: @escaping @Sendable (URLResponse?, Data?, (any Error)?) -> Void
    ) { super.sendAsynchronousRequest(request, queue: queue, completionHandler: handler) }
}

/// Names the API of `NSURLConnection`.
private func nsurlConnectionMembers() {
    let _: NSObject.Type = NSURLConnection.self
    let _: (URLRequest) -> Bool = NSURLConnection.canHandle(_:)
}

/// Names, as far as it is deprecated, the API of `NSURLConnection`.
@available(*, deprecated)
private func nsurlConnectionDeprecatedmembers(of one: NSURLConnection) {
    let _: (URLRequest, Any?) -> NSURLConnection? = NSURLConnection.init(request:delegate:)
    let _: (URLRequest, Any?, Bool) -> NSURLConnection? = NSURLConnection.init(request:delegate:startImmediately:)
    let _: KeyPath<NSURLConnection, URLRequest> = \.originalRequest
    let _: KeyPath<NSURLConnection, URLRequest> = \.currentRequest
    let _: () -> Void = one.start
    let _: () -> Void = one.cancel
    let _: (RunLoop, RunLoop.Mode) -> Void = one.schedule(in:forMode:)
    let _: (RunLoop, RunLoop.Mode) -> Void = one.unschedule(from:forMode:)
    let _: (OperationQueue?) -> Void = one.setDelegateQueue(_:)
    let _: (URLRequest, UnsafeMutablePointer<URLResponse?>?) throws -> Data = NSURLConnection.sendSynchronousRequest(
        _:returning:)
    let _: (URLRequest, OperationQueue, @escaping @Sendable (URLResponse?, Data?, (any Error)?) -> Void) -> Void =
        NSURLConnection.sendAsynchronousRequest(_:queue:completionHandler:)
}
