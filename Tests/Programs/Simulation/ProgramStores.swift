// Stores that a simulated program has made classes of its own of: they are asked like a delegate, and answer like one.

import Foundation
import URLLoading

/// Cookies that take their time.
//
// `@unchecked Sendable`: one thread plays, and there is no other in the process. A storage is made without arguments,
// so the whims come later.
final class ProgramCookies: HTTPCookieStorage, @unchecked Sendable {
    var whims: Whims?

    override func getCookiesFor(
        _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
    ) {
        super.getCookiesFor(task) { [whims] cookies in
            guard let whims else { return completionHandler(cookies) }
            whims.reply({ completionHandler(cookies) }, again: { completionHandler([]) })
        }
    }
}

/// A cache that takes its time.
//
// `@unchecked Sendable`: as above, one thread plays.
final class ProgramCache: URLCache, @unchecked Sendable {
    var whims: Whims?

    override func getCachedResponse(
        for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        super.getCachedResponse(for: dataTask) { [whims] found in
            guard let whims else { return completionHandler(found) }
            whims.reply({ completionHandler(found) }, again: { completionHandler(nil) })
        }
    }
}
