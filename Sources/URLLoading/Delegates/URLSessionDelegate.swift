// What a session tells its delegate about itself.
//
// Optional methods without Objective-C: each method has a default in an extension. A default that the loader called
// notes on the task that the delegate has no such method, so that the next candidate is asked; see `DelegateProbe`.

import Foundation

/// Is told about the life of a session.
@preconcurrency
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// The session has ended and this is its last message (B1.17); `error` is `nil` when the program ended it.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
}

extension URLSessionDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
}
