// The API of URLAuthenticationChallenge, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `URLAuthenticationChallenge` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLAuthenticationChallenge: URLAuthenticationChallenge, @unchecked Sendable {
    override var protectionSpace: URLProtectionSpace { super.protectionSpace }

    override var proposedCredential: URLCredential? { super.proposedCredential }

    override var previousFailureCount: Int { super.previousFailureCount }

    override var failureResponse: URLResponse? { super.failureResponse }

    override var error: (any Error)? { super.error }

    override var sender: (any URLAuthenticationChallengeSender)? { super.sender }

    override class var supportsSecureCoding: Bool { super.supportsSecureCoding }

    override func encode(with coder: NSCoder) { super.encode(with: coder) }
}

/// Names the API of `URLAuthenticationChallenge`.
private func urlAuthenticationChallengeMembers(of one: URLAuthenticationChallenge) {
    let _: any (NSObject & NSSecureCoding & Sendable).Type = URLAuthenticationChallenge.self
    let _:
        (URLProtectionSpace, URLCredential?, Int, URLResponse?, (any Error)?, any URLAuthenticationChallengeSender) ->
            URLAuthenticationChallenge = URLAuthenticationChallenge.init(
                protectionSpace:proposedCredential:previousFailureCount:failureResponse:error:sender:)
    let _: (URLAuthenticationChallenge, any URLAuthenticationChallengeSender) -> URLAuthenticationChallenge =
        URLAuthenticationChallenge.init(authenticationChallenge:sender:)
    let _: KeyPath<URLAuthenticationChallenge, URLProtectionSpace> = \.protectionSpace
    let _: KeyPath<URLAuthenticationChallenge, URLCredential?> = \.proposedCredential
    let _: KeyPath<URLAuthenticationChallenge, Int> = \.previousFailureCount
    let _: KeyPath<URLAuthenticationChallenge, URLResponse?> = \.failureResponse
    let _: KeyPath<URLAuthenticationChallenge, (any Error)?> = \.error
    let _: KeyPath<URLAuthenticationChallenge, (any URLAuthenticationChallengeSender)?> = \.sender
    let _: Bool = URLAuthenticationChallenge.supportsSecureCoding
    let _: (NSCoder) -> URLAuthenticationChallenge? = URLAuthenticationChallenge.init(coder:)
    let _: (NSCoder) -> Void = one.encode(with:)
}
