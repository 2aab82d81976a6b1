// Public-key pinning: some key of the server's chain has to be one that the program knows, so that a certificate may be
// renewed.

import Foundation
import URLLoading

/// A session's delegate that accepts servers by the keys in their chain.
public final class KeyPinner: NSObject, URLSessionDelegate {
    private let keys: Set<String>

    /// Pins keys: the base64 of what `SecKeyCopyExternalRepresentation` gives.
    public init(base64Keys: [String]) {
        keys = Set(base64Keys)
    }

    /// Looks for a pinned key in the chain that the system has verified.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let trust = challenge.protectionSpace.serverTrust
        else { return (.performDefaultHandling, nil) }
        guard SecTrustEvaluateWithError(trust, nil), Self.keys(of: trust).contains(where: keys.contains) else {
            return (.cancelAuthenticationChallenge, nil)
        }
        return (.useCredential, URLCredential(trust: trust))
    }

    /// The keys of a trust's chain, from the leaf upwards.
    public static func keys(of trust: SecTrust) -> [String] {
        guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] else { return [] }
        return chain.compactMap { certificate in
            var error: Unmanaged<CFError>?
            guard let key = SecCertificateCopyKey(certificate),
                let data = SecKeyCopyExternalRepresentation(key, &error) as Data?
            else { return nil }
            return data.base64EncodedString()
        }
    }
}
