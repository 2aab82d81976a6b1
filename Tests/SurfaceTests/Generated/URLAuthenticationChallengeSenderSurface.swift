// The API of URLAuthenticationChallengeSender, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `URLAuthenticationChallengeSender`.
private func urlAuthenticationChallengeSenderMembers<One: URLAuthenticationChallengeSender>(of one: One) {
    let _: any (NSObjectProtocol & Sendable).Type = One.self
    let _: (URLCredential, URLAuthenticationChallenge) -> Void = one.use(_:for:)
    let _: (URLAuthenticationChallenge) -> Void = one.continueWithoutCredential(for:)
    let _: (URLAuthenticationChallenge) -> Void = one.cancel(_:)
    let _: (URLAuthenticationChallenge) -> Void = one.performDefaultHandling(for:)
    let _: (URLAuthenticationChallenge) -> Void = one.rejectProtectionSpaceAndContinue(with:)
}
