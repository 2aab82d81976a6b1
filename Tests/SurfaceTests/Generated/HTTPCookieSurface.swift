// The API of HTTPCookie, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of HTTPCookie")
struct HttpcookieSurface {
    @Test("HTTPCookie.AcceptPolicy: raw values")
    func httpCookieAcceptPolicyRawValues() {
        let cases: [(HTTPCookie.AcceptPolicy, UInt)] = [
            (HTTPCookie.AcceptPolicy.always, 0), (HTTPCookie.AcceptPolicy.never, 1),
            (HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain, 2),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(HTTPCookie.AcceptPolicy(rawValue: rawValue) == one)
        }
    }
}

/// Names the API of `HTTPCookie.AcceptPolicy`.
private func httpCookieAcceptPolicyMembers() {
    let _: any Sendable.Type = HTTPCookie.AcceptPolicy.self
}

/// Overrides everything that is open in `HTTPCookie` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingHTTPCookie: HTTPCookie, @unchecked Sendable {
    override var properties: [HTTPCookiePropertyKey: Any]? { super.properties }

    override class func cookies(withResponseHeaderFields headerFields: [String: String], for URL: URL) -> [HTTPCookie] {
        super.cookies(withResponseHeaderFields: headerFields, for: URL)
    }

    override class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        super.requestHeaderFields(with: cookies)
    }

    override var version: Int { super.version }

    override var name: String { super.name }

    override var value: String { super.value }

    override var domain: String { super.domain }

    override var path: String { super.path }

    override var expiresDate: Date? { super.expiresDate }

    override var isSessionOnly: Bool { super.isSessionOnly }

    override var isSecure: Bool { super.isSecure }

    override var isHTTPOnly: Bool { super.isHTTPOnly }

    override var comment: String? { super.comment }

    override var commentURL: URL? { super.commentURL }

    override var portList: [NSNumber]? { super.portList }

    override var sameSitePolicy: HTTPCookieStringPolicy? { super.sameSitePolicy }
}

/// Names the API of `HTTPCookie`.
private func httpCookieMembers() {
    let _: any (NSObject & Sendable).Type = HTTPCookie.self
    let _: ([HTTPCookiePropertyKey: Any]) -> HTTPCookie? = HTTPCookie.init(properties:)
    let _: KeyPath<HTTPCookie, [HTTPCookiePropertyKey: Any]?> = \.properties
    let _: ([String: String], URL) -> [HTTPCookie] = HTTPCookie.cookies(withResponseHeaderFields:for:)
    let _: ([HTTPCookie]) -> [String: String] = HTTPCookie.requestHeaderFields(with:)
    let _: KeyPath<HTTPCookie, Int> = \.version
    let _: KeyPath<HTTPCookie, String> = \.name
    let _: KeyPath<HTTPCookie, String> = \.value
    let _: KeyPath<HTTPCookie, String> = \.domain
    let _: KeyPath<HTTPCookie, String> = \.path
    let _: KeyPath<HTTPCookie, Date?> = \.expiresDate
    let _: KeyPath<HTTPCookie, Bool> = \.isSessionOnly
    let _: KeyPath<HTTPCookie, Bool> = \.isSecure
    let _: KeyPath<HTTPCookie, Bool> = \.isHTTPOnly
    let _: KeyPath<HTTPCookie, String?> = \.comment
    let _: KeyPath<HTTPCookie, URL?> = \.commentURL
    let _: KeyPath<HTTPCookie, [NSNumber]?> = \.portList
    let _: KeyPath<HTTPCookie, HTTPCookieStringPolicy?> = \.sameSitePolicy
}
