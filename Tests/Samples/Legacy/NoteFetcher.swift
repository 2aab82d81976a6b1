// A connection's delegate as it was written before sessions, with a password that is tried once.

import Foundation
import URLLoading
import URLLoadingLegacy

/// Fetches a text behind a password, and calls back on the run loop of the caller.
@available(*, deprecated, message: "Shows the older classes")
public class NoteFetcher: NSObject, NSURLConnectionDataDelegate {
    private let user: String
    private let password: String
    private let completion: (String?, Error?) -> Void
    private var connection: NSURLConnection?
    private var received = Data()
    private var status = 0

    /// Keeps what is needed to answer.
    public init(user: String, password: String, completion: @escaping (String?, Error?) -> Void) {
        self.user = user
        self.password = password
        self.completion = completion
    }

    /// Begins.
    public func fetch(_ url: URL) {
        connection = NSURLConnection(request: URLRequest(url: url), delegate: self)
    }

    /// Answers once.
    public func connection(_ connection: NSURLConnection, willSendRequestFor challenge: URLAuthenticationChallenge) {
        if challenge.previousFailureCount == 0 {
            let credential = URLCredential(user: user, password: password, persistence: .none)
            challenge.sender?.use(credential, for: challenge)
        } else {
            challenge.sender?.cancel(challenge)
        }
    }

    /// Begins to collect.
    public func connection(_ connection: NSURLConnection, didReceive response: URLResponse) {
        status = (response as? HTTPURLResponse)?.statusCode ?? 0
        received.count = 0
    }

    /// Collects.
    public func connection(_ connection: NSURLConnection, didReceive data: Data) {
        received.append(data)
    }

    /// Hands the text on.
    public func connectionDidFinishLoading(_ connection: NSURLConnection) {
        self.connection = nil
        completion(status == 200 ? String(data: received, encoding: .utf8) : nil, nil)
    }

    /// Hands the error on.
    public func connection(_ connection: NSURLConnection, didFailWithError error: Error) {
        self.connection = nil
        completion(nil, error)
    }
}
