// A storage of credentials as a task asks it for a password: by the methods for tasks, which a program's own class may
// answer late, on any thread (B2.68). Of several answers the first counts.
//
// Must not know: what the password is for.

import Foundation
import Synchronization

extension URLCredentialStorage {
    /// Whether no subclass can have a say.
    var isPlain: Bool { type(of: self) == URLCredentialStorage.self }

    /// Finds a credential with a password in the first of these spaces that has one: the user's, if one is named, else
    /// the default. A plain storage answers at once.
    func findPassword(
        in spaces: ArraySlice<URLProtectionSpace>, of user: String?, for task: URLSessionTask,
        _ completion: @escaping @Sendable (URLCredential?) -> Void
    ) {
        guard let space = spaces.first else { return completion(nil) }
        let answer = FirstAnswer { [self] found in
            if let found, found.hasPassword { return completion(found) }
            findPassword(in: spaces.dropFirst(), of: user, for: task, completion)
        }
        if let user {
            getCredentials(for: space, task: task) { answer.take($0?[user]) }
        } else {
            getDefaultCredential(for: space, task: task) { answer.take($0) }
        }
    }
}

/// Hands on the first of several answers.
private final class FirstAnswer: Sendable {
    private let handler: Mutex<(@Sendable (URLCredential?) -> Void)?>

    init(_ handler: @escaping @Sendable (URLCredential?) -> Void) { self.handler = Mutex(handler) }

    func take(_ answer: URLCredential?) {
        let handler = handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
        handler?(answer)
    }
}
