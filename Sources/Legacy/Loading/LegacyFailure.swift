// The errors that the older classes find themselves; all others are their task's.

import Foundation
import URLLoading

/// Makes the errors of this layer.
enum LegacyFailure {
    /// An error with what every error carries: the failing URL under both keys, and a text.
    static func make(
        _ code: URLError.Code, _ url: URL?, _ description: String, underlying: (any Error)? = nil
    ) -> URLError {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let url {
            userInfo[NSURLErrorFailingURLErrorKey] = url
            userInfo[NSErrorFailingURLStringKey] = url.absoluteString
        }
        if let underlying { userInfo[NSUnderlyingErrorKey] = underlying }
        return URLError(code, userInfo: userInfo)
    }
}
