// The user that a URL names, with or without a password: what the first challenge of its origin is answered with (B2.71
// to B2.75). RFC 3986 §3.2.1.

import Foundation
import URLLoadingPolicy

/// The user information of a URL, and the server that it is for.
struct URLUserInformation: Sendable, Concealed {
    let origin: Origin
    let user: String
    let password: String?

    /// Nil for a URL without a user, and for one that is neither http nor a web socket's.
    init?(_ url: URL) {
        let url = url.overHTTP
        guard let text = try? URLText(url), text.hasUserInformation, let origin = try? text.origin(of: url),
            let user = url.user(percentEncoded: false) ?? url.user(percentEncoded: true)
        else { return nil }
        let password = url.password(percentEncoded: false) ?? url.password(percentEncoded: true)
        guard !user.isEmpty || password != nil else { return nil }
        self.origin = origin
        self.user = user
        self.password = password
    }

    /// The user as whom alone requests of the URL go out unasked.
    var named: NamedUser { NamedUser(user: user, password: password) }

    /// For one answer only: the loader does not store it. One without a password is to be proposed, not tried (B2.75).
    var credential: URLCredential {
        guard let password else { return URLCredential(proposedUser: user) }
        return URLCredential(user: user, password: password, persistence: .none)
    }
}
