// The credentials of a configuration for servers that need not ask, as far as they can be used.
//
// Must not know: tasks, and what becomes of the credentials.

import Foundation
import URLLoadingPolicy

/// The credentials that a session's requests bear unasked from the beginning. Nothing of it is printed.
struct CredentialsGivenAhead: Sendable, Concealed {
    /// One of them.
    struct Entry: Sendable, Concealed {
        let side: AuthenticationSide
        /// From the directory of this on.
        let target: String
        let credential: PasswordCredential
    }

    let entries: [Entry]

    init(_ values: ConfigurationValues) {
        // Sorted, so that what two URLs say of the same directory does not depend on a dictionary's order.
        let given = values.basicCredentialsSentAhead.sorted { $0.key.absoluteString < $1.key.absoluteString }
        entries = given.compactMap { url, credential in
            guard let text = try? URLText(url), let origin = try? text.origin(of: url),
                origin.scheme == .https || values.dangerouslySendsBasicAheadInClear,
                let password = PasswordCredential(credential), !password.user.utf8.contains(UInt8(ascii: ":"))
            else { return nil }
            let side = AuthenticationSide.server(origin, socket: values.unixSocketPath)
            return Entry(side: side, target: text.target, credential: password)
        }
    }
}
