// URLs as they are kept: without the user information, which may hold a password.

import Foundation

extension URL {
    /// The URL without its user information; nil where that cannot be taken out.
    package var withoutUser: URL? {
        guard user != nil || password != nil else { return self }
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        parts.user = nil
        parts.password = nil
        return parts.url
    }
}
