// The API of HTTPCookiePropertyKey, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of HTTPCookiePropertyKey")
struct HttpcookiepropertykeySurface {
    @Test("HTTPCookiePropertyKey: constants")
    func httpCookiePropertyKeyConstants() {
        #expect(HTTPCookiePropertyKey.name.rawValue == "Name")
        #expect(HTTPCookiePropertyKey.value.rawValue == "Value")
        #expect(HTTPCookiePropertyKey.originURL.rawValue == "OriginURL")
        #expect(HTTPCookiePropertyKey.version.rawValue == "Version")
        #expect(HTTPCookiePropertyKey.domain.rawValue == "Domain")
        #expect(HTTPCookiePropertyKey.path.rawValue == "Path")
        #expect(HTTPCookiePropertyKey.secure.rawValue == "Secure")
        #expect(HTTPCookiePropertyKey.expires.rawValue == "Expires")
        #expect(HTTPCookiePropertyKey.comment.rawValue == "Comment")
        #expect(HTTPCookiePropertyKey.commentURL.rawValue == "CommentURL")
        #expect(HTTPCookiePropertyKey.discard.rawValue == "Discard")
        #expect(HTTPCookiePropertyKey.maximumAge.rawValue == "Max-Age")
        #expect(HTTPCookiePropertyKey.port.rawValue == "Port")
        #expect(HTTPCookiePropertyKey.sameSitePolicy.rawValue == "SameSite")
        #expect(HTTPCookiePropertyKey.setByJavaScript.rawValue == "SetInJavaScript")
    }
}

/// Names the API of `HTTPCookiePropertyKey`.
private func httpCookiePropertyKeyMembers() {
    let _: any (Hashable & RawRepresentable & Sendable).Type = HTTPCookiePropertyKey.self
    let _: (String) -> HTTPCookiePropertyKey = HTTPCookiePropertyKey.init(_:)
    let _: (String) -> HTTPCookiePropertyKey = HTTPCookiePropertyKey.init(rawValue:)
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.name
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.value
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.originURL
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.version
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.domain
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.path
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.secure
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.expires
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.comment
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.commentURL
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.discard
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.maximumAge
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.port
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.sameSitePolicy
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.setByJavaScript
}
