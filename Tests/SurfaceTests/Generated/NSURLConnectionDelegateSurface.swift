// The API of NSURLConnectionDelegate, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading
import URLLoadingLegacy

/// Names the API of `NSURLConnectionDelegate`.
private func nsurlConnectionDelegateMembers<One: NSURLConnectionDelegate>(of one: One) {
    let _: any NSObjectProtocol.Type = One.self
}

/// Names, as far as it is deprecated, the API of `NSURLConnectionDelegate`.
@available(*, deprecated)
private func nsurlConnectionDelegateDeprecatedmembers<One: NSURLConnectionDelegate>(of one: One) {
    let _: (NSURLConnection, any Error) -> Void = one.connection(_:didFailWithError:)
    let _: (NSURLConnection) -> Bool = one.connectionShouldUseCredentialStorage(_:)
    let _: (NSURLConnection, URLAuthenticationChallenge) -> Void = one.connection(_:willSendRequestFor:)
    let _: (NSURLConnection, URLProtectionSpace) -> Bool = one.connection(_:canAuthenticateAgainstProtectionSpace:)
    let _: (NSURLConnection, URLAuthenticationChallenge) -> Void = one.connection(_:didReceive:)
    let _: (NSURLConnection, URLAuthenticationChallenge) -> Void = one.connection(_:didCancel:)
}
