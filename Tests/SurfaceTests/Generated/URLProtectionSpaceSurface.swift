// The API of URLProtectionSpace, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `URLProtectionSpace` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLProtectionSpace: URLProtectionSpace, @unchecked Sendable {
    override var realm: String? { super.realm }

    override var host: String { super.host }

    override var port: Int { super.port }

    override var proxyType: String? { super.proxyType }

    override var `protocol`: String? { super.`protocol` }

    override var authenticationMethod: String { super.authenticationMethod }

    override var receivesCredentialSecurely: Bool { super.receivesCredentialSecurely }

    override func isProxy() -> Bool { super.isProxy() }

    override var distinguishedNames: [Data]? { super.distinguishedNames }

    override var serverTrust: SecTrust? { super.serverTrust }

    override class var supportsSecureCoding: Bool { super.supportsSecureCoding }

    override func encode(with coder: NSCoder) { super.encode(with: coder) }

    override func copy(with zone: NSZone?) -> Any { super.copy(with: zone) }
}

/// Names the API of `URLProtectionSpace`.
private func urlProtectionSpaceMembers(of one: URLProtectionSpace) {
    let _: any (NSCopying & NSObject & NSSecureCoding & Sendable).Type = URLProtectionSpace.self
    let _: () -> URLProtectionSpace = URLProtectionSpace.init
    let _: (String, Int, String?, String?, String?) -> URLProtectionSpace = URLProtectionSpace.init(
        host:port:protocol:realm:authenticationMethod:)
    let _: (String, Int, String?, String?, String?) -> URLProtectionSpace = URLProtectionSpace.init(
        proxyHost:port:type:realm:authenticationMethod:)
    let _: KeyPath<URLProtectionSpace, String?> = \.realm
    let _: KeyPath<URLProtectionSpace, String> = \.host
    let _: KeyPath<URLProtectionSpace, Int> = \.port
    let _: KeyPath<URLProtectionSpace, String?> = \.proxyType
    let _: KeyPath<URLProtectionSpace, String?> = \.`protocol`
    let _: KeyPath<URLProtectionSpace, String> = \.authenticationMethod
    let _: KeyPath<URLProtectionSpace, Bool> = \.receivesCredentialSecurely
    let _: () -> Bool = one.isProxy
    let _: KeyPath<URLProtectionSpace, [Data]?> = \.distinguishedNames
    let _: KeyPath<URLProtectionSpace, SecTrust?> = \.serverTrust
    let _: Bool = URLProtectionSpace.supportsSecureCoding
    let _: (NSCoder) -> URLProtectionSpace? = URLProtectionSpace.init(coder:)
    let _: (NSCoder) -> Void = one.encode(with:)
    let _: (NSZone?) -> Any = one.copy(with:)
}
