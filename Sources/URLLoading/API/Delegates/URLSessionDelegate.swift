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

    /// A server has shown its certificates, or asks for ours (B2.1); comes for every new connection (B2.9). Call the
    /// handler, at any time from any thread; nothing of the request is sent before. A handler that is never called
    /// leaves the task waiting until it is cancelled or its `timeoutIntervalForResource` is over (B1.32).
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// A server has shown its certificates, or asks for ours. Return what is to be done; nothing of the request is sent
    /// before.
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// Everything has been told that a background session's tasks had to tell when the program met them again (B10.17).
    /// It does not come after what happens while the program is there (B10.19).
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

extension URLSessionDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

    /// Does nothing.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}

    /// Asks the `async` form.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if challenge.noteMissing(.sessionChallenge, of: self) { return }
        Task {
            let (disposition, credential) = await urlSession(session, didReceive: challenge)
            completionHandler(disposition, credential)
        }
    }

    /// Asks the form with a handler; without one, the tasks' method (B2.2), or leaves it to default handling.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        if challenge.noteMissing(.sessionChallengeAsync, of: self) { return (.performDefaultHandling, nil) }
        let answer = await HandlerFormCall.ask(
            .sessionChallenge, of: self, about: challenge.askingTask, unanswered: (.cancelAuthenticationChallenge, nil)
        ) { reply in
            urlSession(session, didReceive: challenge, completionHandler: { reply(($0, $1)) })
        }
        if let answer { return answer }
        return await challenge.askTasksMethod(of: self, in: session)
    }
}
