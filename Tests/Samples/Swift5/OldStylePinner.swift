// Pinning as it was written before the older functions were deprecated, still found in many projects.

import Foundation
import URLLoading

/// A session's delegate that compares the server's certificate with a file.
@available(*, deprecated, message: "Shows the older functions")
public class OldStylePinner: NSObject, URLSessionDelegate {
    private let certificate: Data

    /// Pins one certificate in DER.
    public init(certificate: NSData) {
        self.certificate = certificate as Data
    }

    /// Compares.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let serverTrust = challenge.protectionSpace.serverTrust
        {
            var result = SecTrustResultType.invalid
            let status = SecTrustEvaluate(serverTrust, &result)
            let isTrusted = status == errSecSuccess && (result == .unspecified || result == .proceed)
            if isTrusted, SecTrustGetCertificateCount(serverTrust) > 0,
                let leaf = SecTrustGetCertificateAtIndex(serverTrust, 0)
            {
                let data = SecCertificateCopyData(leaf) as NSData
                if data.isEqual(to: certificate) {
                    completionHandler(.useCredential, URLCredential(trust: serverTrust))
                    return
                }
            }
        }
        completionHandler(.cancelAuthenticationChallenge, nil)
    }
}
