// A client certificate from a PKCS #12 file.

import Foundation
import URLLoading

/// A session's delegate that shows a certificate to servers that ask for one.
public final class ClientIdentity: NSObject, URLSessionDelegate {
    /// What went wrong with the file.
    public enum ImportFailure: Error, Equatable {
        /// The file has another passphrase.
        case wrongPassphrase
        /// Something else, by its status and in words.
        case unreadable(OSStatus, String)
    }

    private let identity: SecIdentity
    private let certificates: [SecCertificate]

    /// Reads the identity and the certificates above it.
    public init(file: Data, passphrase: String) throws {
        let options = [kSecImportExportPassphrase as String: passphrase]
        var items: CFArray?
        let status = SecPKCS12Import(file as CFData, options as CFDictionary, &items)
        if status == errSecAuthFailed { throw ImportFailure.wrongPassphrase }
        guard status == errSecSuccess, let entry = (items as? [[String: Any]])?.first else {
            let message = SecCopyErrorMessageString(status, nil) as String?
            throw ImportFailure.unreadable(status, message ?? "")
        }
        // swift-format-ignore: NeverForceUnwrap
        identity = entry[kSecImportItemIdentity as String] as! SecIdentity
        let chain = entry[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
        certificates = Array(chain.dropFirst())
    }

    /// Answers what asks for a certificate.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        switch challenge.protectionSpace.authenticationMethod {
        case NSURLAuthenticationMethodClientCertificate:
            let credential = URLCredential(
                identity: identity, certificates: certificates, persistence: .forSession)
            completionHandler(.useCredential, credential)
        default:
            completionHandler(.performDefaultHandling, nil)
        }
    }
}
