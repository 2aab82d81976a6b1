// The older halves of docs/migrating.md, which SampleTests looks for here block by block.

import Foundation
import URLLoading
import URLLoadingLegacy

/// A delegate that gives a password once, in the older way.
@available(*, deprecated, message: "Shows the older classes")
class OlderAnswers: NSObject, NSURLConnectionDelegate {
    private let credential: URLCredential

    /// Gives this password.
    init(credential: URLCredential) { self.credential = credential }

    // Older
    func connection(_ connection: NSURLConnection, willSendRequestFor challenge: URLAuthenticationChallenge) {
        if challenge.previousFailureCount == 0 {
            challenge.sender?.use(credential, for: challenge)
        } else {
            challenge.sender?.cancel(challenge)
        }
    }
}

/// A load that blocks its thread.
@available(*, deprecated, message: "Shows the older classes")
public func olderLoad(_ request: URLRequest) throws -> (Data, URLResponse?) {
    // Older
    var response: URLResponse?
    let data = try NSURLConnection.sendSynchronousRequest(request, returning: &response)
    return (data, response)
}
