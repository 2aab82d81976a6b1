// The API of HTTPCookieStringPolicy, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of HTTPCookieStringPolicy")
struct HttpcookiestringpolicySurface {
    @Test("HTTPCookieStringPolicy: constants")
    func httpCookieStringPolicyConstants() {
        #expect(HTTPCookieStringPolicy.sameSiteLax.rawValue == "lax")
        #expect(HTTPCookieStringPolicy.sameSiteStrict.rawValue == "strict")
    }
}

/// Names the API of `HTTPCookieStringPolicy`.
private func httpCookieStringPolicyMembers() {
    let _: any (Hashable & RawRepresentable & Sendable).Type = HTTPCookieStringPolicy.self
    let _: (String) -> HTTPCookieStringPolicy = HTTPCookieStringPolicy.init(rawValue:)
    let _: HTTPCookieStringPolicy = HTTPCookieStringPolicy.sameSiteLax
    let _: HTTPCookieStringPolicy = HTTPCookieStringPolicy.sameSiteStrict
}
