// The API of URLCredential, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of URLCredential")
struct UrlcredentialSurface {
    @Test("URLCredential.Persistence: raw values")
    func urlCredentialPersistenceRawValues() {
        let cases: [(URLCredential.Persistence, UInt)] = [
            (URLCredential.Persistence.none, 0), (URLCredential.Persistence.forSession, 1),
            (URLCredential.Persistence.permanent, 2), (URLCredential.Persistence.synchronizable, 3),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(URLCredential.Persistence(rawValue: rawValue) == one)
        }
    }
}

/// Names the API of `URLCredential.Persistence`.
private func urlCredentialPersistenceMembers() {
    let _: any Sendable.Type = URLCredential.Persistence.self
}

/// Overrides everything that is open in `URLCredential` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLCredential: URLCredential, @unchecked Sendable {
    override var persistence: URLCredential.Persistence { super.persistence }

    override var user: String? { super.user }

    override var password: String? { super.password }

    override var hasPassword: Bool { super.hasPassword }

    override var identity: SecIdentity? { super.identity }

    override var certificates: [Any] { super.certificates }

    override class var supportsSecureCoding: Bool { super.supportsSecureCoding }

    override func encode(with coder: NSCoder) { super.encode(with: coder) }

    override func copy(with zone: NSZone?) -> Any { super.copy(with: zone) }
}

/// Names the API of `URLCredential`.
private func urlCredentialMembers(of one: URLCredential) {
    let _: any (NSCopying & NSObject & NSSecureCoding & Sendable).Type = URLCredential.self
    let _: (String, String, URLCredential.Persistence) -> URLCredential = URLCredential.init(user:password:persistence:)
    let _: (SecIdentity, [Any]?, URLCredential.Persistence) -> URLCredential = URLCredential.init(
        identity:certificates:persistence:)
    let _: (SecTrust) -> URLCredential = URLCredential.init(trust:)
    let _: (SecTrust) -> URLCredential = URLCredential.init(forTrust:)
    let _: KeyPath<URLCredential, URLCredential.Persistence> = \.persistence
    let _: KeyPath<URLCredential, String?> = \.user
    let _: KeyPath<URLCredential, String?> = \.password
    let _: KeyPath<URLCredential, Bool> = \.hasPassword
    let _: KeyPath<URLCredential, SecIdentity?> = \.identity
    let _: KeyPath<URLCredential, [Any]> = \.certificates
    let _: Bool = URLCredential.supportsSecureCoding
    let _: (NSCoder) -> URLCredential? = URLCredential.init(coder:)
    let _: (NSCoder) -> Void = one.encode(with:)
    let _: (NSZone?) -> Any = one.copy(with:)
}
