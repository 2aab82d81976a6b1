// Whether anything can be made of a request at all, for those who want to know before they make a task of it.

import Foundation

extension URLRequest {
    /// Whether the request's URL is of a kind that can be loaded.
    package var isLoadable: Bool {
        guard let url else { return false }
        return (try? URLText(url).origin(of: url)) != nil
    }
}
