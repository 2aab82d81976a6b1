// The API of HTTPCookieStorage, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `HTTPCookieStorage` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingHTTPCookieStorage: HTTPCookieStorage, @unchecked Sendable {
    override class var shared: HTTPCookieStorage { super.shared }

    override class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage {
        super.sharedCookieStorage(forGroupContainerIdentifier: identifier)
    }

    override var cookies: [HTTPCookie]? { super.cookies }

    override func setCookie(_ cookie: HTTPCookie) { super.setCookie(cookie) }

    override func deleteCookie(_ cookie: HTTPCookie) { super.deleteCookie(cookie) }

    override func removeCookies(since date: Date) { super.removeCookies(since: date) }

    override func cookies(for URL: URL) -> [HTTPCookie]? { super.cookies(for: URL) }

    override func setCookies(_ cookies: [HTTPCookie], for URL: URL?, mainDocumentURL: URL?) {
        super.setCookies(cookies, for: URL, mainDocumentURL: mainDocumentURL)
    }

    override var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { super.cookieAcceptPolicy }
        set { super.cookieAcceptPolicy = newValue }
    }

    override func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
        super.sortedCookies(using: sortOrder)
    }

    override func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
        super.storeCookies(cookies, for: task)
    }

    override func getCookiesFor(_ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void)
    { super.getCookiesFor(task, completionHandler: completionHandler) }

    override func cookies(for task: URLSessionTask) async -> [HTTPCookie]? { await super.cookies(for: task) }
}

/// Names the API of `HTTPCookieStorage`.
private func httpCookieStorageMembers(of one: HTTPCookieStorage) {
    let _: any (NSObject & Sendable).Type = HTTPCookieStorage.self
    let _: () -> HTTPCookieStorage = HTTPCookieStorage.init
    let _: HTTPCookieStorage = HTTPCookieStorage.shared
    let _: (String) -> HTTPCookieStorage = HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier:)
    let _: KeyPath<HTTPCookieStorage, [HTTPCookie]?> = \.cookies
    let _: (HTTPCookie) -> Void = one.setCookie(_:)
    let _: (HTTPCookie) -> Void = one.deleteCookie(_:)
    let _: (Date) -> Void = one.removeCookies(since:)
    let _: (URL) -> [HTTPCookie]? = one.cookies(for:)
    let _: ([HTTPCookie], URL?, URL?) -> Void = one.setCookies(_:for:mainDocumentURL:)
    let _: ReferenceWritableKeyPath<HTTPCookieStorage, HTTPCookie.AcceptPolicy> = \.cookieAcceptPolicy
    let _: ([NSSortDescriptor]) -> [HTTPCookie] = one.sortedCookies(using:)
    let _: ([HTTPCookie], URLSessionTask) -> Void = one.storeCookies(_:for:)
    let _: (URLSessionTask, @escaping @Sendable ([HTTPCookie]?) -> Void) -> Void = one.getCookiesFor(
        _:completionHandler:)
    let _: (URLSessionTask) async -> [HTTPCookie]? = one.cookies(for:)
}
