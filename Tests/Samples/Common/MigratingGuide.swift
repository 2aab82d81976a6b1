// The younger halves of docs/migrating.md, which SampleTests looks for here block by block.

import Foundation
import URLLoading

/// A delegate that gives a password once.
final class TodaysAnswers: NSObject, URLSessionTaskDelegate {
    private let credential: URLCredential

    /// Gives this password.
    init(credential: URLCredential) { self.credential = credential }

    // Today
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        challenge.previousFailureCount == 0 ? (.useCredential, credential) : (.cancelAuthenticationChallenge, nil)
    }
}

/// A load that blocks nothing.
public func todaysLoad(_ request: URLRequest) async throws -> (Data, URLResponse) {
    // Today
    let (data, response) = try await URLSession.shared.data(for: request)
    return (data, response)
}
