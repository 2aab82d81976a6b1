// Why bytes given as a certificate, key or identity could not be used. Does not know trust: a certificate that parses
// and is not believed is a TrustFailure.

/// Why certificate or key material was not understood.
package enum CertificateError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The bytes are not one DER certificate.
    case notACertificate(String)
    /// The bytes are not a certificate revocation list.
    case notARevocationList(String)
    /// The bytes are not a PKCS #12 file with a key and its certificate.
    case notPKCS12(String)
    /// A pin is not the hash of a key.
    case notAPin(String)
    /// A text is no host and no pattern of hosts.
    case notAHost(String)
    /// A date is no moment in time.
    case notADate
    /// A file of known hosts could not be read or written.
    case knownHosts(String)
    /// The text holds no PEM block of a certificate.
    case noCertificateFound
    /// The text holds no private key that could be read.
    case unreadableKey(String)
    /// The private key is encrypted, and the passphrase is missing or wrong.
    case wrongPassphrase
    /// The private key does not belong to the certificate.
    case keyDoesNotMatch(subject: String)
    /// A certificate could not be made or signed.
    case notMade(String)

    /// One sentence for a person.
    package var description: String {
        switch self {
        case .notACertificate(let reason): "The bytes are not a certificate (\(reason))."
        case .notARevocationList(let reason): "The bytes are not a revocation list (\(reason))."
        case .notPKCS12(let reason): "The bytes are not a usable PKCS #12 file (\(reason))."
        case .notAPin(let reason): "The pins cannot be used (\(reason))."
        case .notAHost(let text): "\"\(text)\" is no host and no pattern of hosts such as *.example.com."
        case .notADate: "The date of the evaluation is no moment in time."
        case .knownHosts(let reason): "The file of known hosts cannot be used (\(reason))."
        case .noCertificateFound: "No certificate was found in the PEM text."
        case .unreadableKey(let reason): "No private key could be read (\(reason))."
        case .wrongPassphrase: "The private key is encrypted and the passphrase is missing or wrong."
        case .keyDoesNotMatch(let subject): "The private key does not belong to the certificate of \(subject)."
        case .notMade(let reason): "The certificate could not be made (\(reason))."
        }
    }
}
