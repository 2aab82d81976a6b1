// The code of docs/authentication.md, which SampleTests compares with that document block by block.

import Foundation
import URLLoading

/// A delegate that answers the first question for a password, and takes what a refusal says for an answer.
public func passwordDelegate(secret: String) -> any URLSessionTaskDelegate { PasswordDelegate(secret: secret) }

private final class PasswordDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    private let secret: String

    init(secret: String) {
        self.secret = secret
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard challenge.previousFailureCount == 0 else { return (.performDefaultHandling, nil) }
        return (.useCredential, URLCredential(user: "me", password: secret, persistence: .forSession))
    }
}

/// A configuration whose permanent credentials survive the program, in a file of the user's own.
public func configurationKeepingCredentials(in file: URL) throws -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.default
    configuration.urlCredentialStorage = try URLCredentialStorage(permanentCredentialsIn: file)
    return configuration
}
