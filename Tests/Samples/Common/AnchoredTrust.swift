// An authority of one's own: a development server's root comes with the program.

import Foundation
import URLLoading

/// A session's delegate that trusts the authorities it was given, and no others.
public final class AnchoredTrust: NSObject, URLSessionDelegate {
    private let anchors: [SecCertificate]

    /// Trusts these certificates in DER.
    public init(anchors: [Data]) {
        self.anchors = anchors.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
    }

    /// Judges the server by the own anchors.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        guard SecTrustSetAnchorCertificates(trust, anchors as CFArray) == errSecSuccess,
            SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
        else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        if SecTrustEvaluateWithError(trust, nil) {
            completionHandler(.useCredential, URLCredential(trust: trust))
        } else {
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
}
