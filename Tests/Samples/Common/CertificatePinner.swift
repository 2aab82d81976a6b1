// Certificate pinning: the server's certificate has to be one of those that came with the program.

import Foundation
import URLLoading

/// A session's delegate that accepts servers by their certificate.
public final class CertificatePinner: NSObject, URLSessionDelegate {
    private let pinned: Set<Data>

    /// Pins certificates in DER, as files of a bundle have them.
    public init(pinned: [Data]) {
        self.pinned = Set(pinned)
    }

    /// Looks at the server's certificate after the system has.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let serverTrust = challenge.protectionSpace.serverTrust
        else {
            completionHandler(.performDefaultHandling, nil)
            return
        }
        let policy = SecPolicyCreateSSL(true, challenge.protectionSpace.host as CFString)
        SecTrustSetPolicies(serverTrust, policy)
        var error: CFError?
        guard SecTrustEvaluateWithError(serverTrust, &error),
            let chain = SecTrustCopyCertificateChain(serverTrust) as? [SecCertificate],
            let certificate = chain.first
        else {
            completionHandler(.cancelAuthenticationChallenge, nil)
            return
        }
        if pinned.contains(SecCertificateCopyData(certificate) as Data) {
            completionHandler(.useCredential, URLCredential(trust: serverTrust))
        } else {
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
}
