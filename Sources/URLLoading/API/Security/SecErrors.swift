// Security's status codes, a sentence for each, and the errors that are made of them.

import Foundation
import URLLoadingTrust

/// No error.
public let noErr: OSStatus = 0
/// No error.
public let errSecSuccess: OSStatus = 0
/// The function does not do this.
public let errSecUnimplemented: OSStatus = -4
/// Reading or writing failed.
public let errSecIO: OSStatus = -36
/// A parameter cannot be used.
public let errSecParam: OSStatus = -50
/// There was not enough memory.
public let errSecAllocate: OSStatus = -108
/// The user cancelled.
public let errSecUserCanceled: OSStatus = -128
/// The request cannot be used.
public let errSecBadReq: OSStatus = -909
/// A part of the system failed.
public let errSecInternalComponent: OSStatus = -2070
/// No key chain is there.
public let errSecNotAvailable: OSStatus = -25291
/// The passphrase is wrong.
public let errSecAuthFailed: OSStatus = -25293
/// The item is there already.
public let errSecDuplicateItem: OSStatus = -25299
/// The item is not there.
public let errSecItemNotFound: OSStatus = -25300
/// The user would have to be asked.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// A certificate of the chain is missing.
public let errSecCreateChainFailed: OSStatus = -25318
/// The format is known and not supported.
public let errSecUnsupportedFormat: OSStatus = -25256
/// The format is unknown.
public let errSecUnknownFormat: OSStatus = -25257
/// A passphrase is needed.
public let errSecPassphraseRequired: OSStatus = -25260
/// There are no settings about what to trust.
public let errSecNoTrustSettings: OSStatus = -25263
/// A PKCS #12 file was changed.
public let errSecPkcs12VerifyFailure: OSStatus = -25264
/// A certificate is not signed by the one above it.
public let errSecNotSigner: OSStatus = -26267
/// Bytes cannot be decoded.
public let errSecDecode: OSStatus = -26275
/// A certificate is for other hosts.
public let errSecHostNameMismatch: OSStatus = -67602
/// A critical extension is unknown.
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603
/// An issuer has no basic constraints.
public let errSecNoBasicConstraints: OSStatus = -67604
/// An issuer is no certificate authority.
public let errSecNoBasicConstraintsCA: OSStatus = -67605
/// The key usage does not allow this.
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608
/// The extended key usage does not allow this.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// The chain is longer than an issuer allows.
public let errSecPathLengthConstraintExceeded: OSStatus = -67611
/// The root is not valid.
public let errSecInvalidRoot: OSStatus = -67612
/// The extended key usage is not for TLS.
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629
/// Whether a certificate was revoked could not be found out.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635
/// The network failed.
public let errSecNetworkFailure: OSStatus = -67636
/// A certificate's time is over.
public let errSecCertificateExpired: OSStatus = -67818
/// A certificate's time has not begun.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// A certificate was revoked.
public let errSecCertificateRevoked: OSStatus = -67820
/// An issuer may not certify this.
public let errSecInvalidCertAuthority: OSStatus = -67826
/// A certificate is not trusted.
public let errSecNotTrusted: OSStatus = -67843

/// A sentence about a status code; the code's number in words for one that is not among those above.
///
/// `reserved` takes no part. The words are ours.
@discardableResult
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    NSString(string: SecErrors.sentences[status] ?? "OSStatus \(status)")
}

/// Makes errors of status codes.
enum SecErrors {
    /// An error as Security's functions hand them out.
    static func make(_ status: OSStatus, _ description: String, underlying: (any Error)? = nil) -> NSError {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let underlying { userInfo[NSUnderlyingErrorKey] = underlying }
        return NSError(domain: NSOSStatusErrorDomain, code: Int(status), userInfo: userInfo)
    }

    /// The error for a chain that is not believed (B3.36): the code of the most serious reason, the certificate's name
    /// in the description, the rest below.
    static func make(_ failure: TrustFailure) -> NSError {
        make(status(of: failure.reason), failure.description, underlying: UnderlyingError.trust(failure))
    }

    /// Puts an error where a function's caller wants it.
    static func hand(_ error: NSError, to place: UnsafeMutablePointer<Unmanaged<CFError>?>?) {
        place?.pointee = Unmanaged.passRetained(error)
    }

    /// The code that comes closest to a reason.
    static func status(of reason: TrustFailure.Reason) -> OSStatus {
        switch reason {
        case .noRootsFound, .unknownRoot, .selfSigned, .weakKey, .weakSignature, .knownHostChanged, .pinMismatch,
            .other:
            errSecNotTrusted
        case .expired: errSecCertificateExpired
        case .notYetValid: errSecCertificateNotValidYet
        case .hostMismatch: errSecHostNameMismatch
        case .wrongPurpose: errSecInvalidExtendedKeyUsage
        case .notACertificateAuthority: errSecNoBasicConstraintsCA
        case .pathLength: errSecPathLengthConstraintExceeded
        case .unknownCriticalExtension: errSecUnknownCriticalExtensionFlag
        case .nameConstraint: errSecInvalidCertAuthority
        case .signatureInvalid: errSecNotSigner
        case .malformed: errSecUnknownFormat
        case .revoked: errSecCertificateRevoked
        case .revocationUnknown: errSecIncompleteCertRevocationCheck
        }
    }

    fileprivate static let sentences: [OSStatus: String] = [
        errSecSuccess: "Nothing went wrong.",
        errSecUnimplemented: "This is not supported here.",
        errSecIO: "Reading or writing failed.",
        errSecParam: "A parameter cannot be used.",
        errSecAllocate: "There was not enough memory.",
        errSecUserCanceled: "The user cancelled.",
        errSecBadReq: "The request cannot be used.",
        errSecInternalComponent: "A part of the system failed.",
        errSecNotAvailable: "There is no key chain.",
        errSecAuthFailed: "The passphrase is wrong.",
        errSecDuplicateItem: "The item is there already.",
        errSecItemNotFound: "The item is not there.",
        errSecInteractionNotAllowed: "The user would have to be asked, and must not be.",
        errSecCreateChainFailed: "A certificate of the chain is missing.",
        errSecUnsupportedFormat: "The data are in a format that is not supported.",
        errSecUnknownFormat: "The data are in a format that is not known.",
        errSecPassphraseRequired: "A passphrase is needed.",
        errSecNoTrustSettings: "There are no settings about whom to trust.",
        errSecPkcs12VerifyFailure: "The PKCS #12 file was changed after it was made.",
        errSecNotSigner: "A certificate is not signed by the one above it.",
        errSecDecode: "The data cannot be decoded.",
        errSecHostNameMismatch: "The certificate is for other hosts.",
        errSecUnknownCriticalExtensionFlag: "A certificate has a critical extension that is not understood.",
        errSecNoBasicConstraints: "An issuer's certificate has no basic constraints.",
        errSecNoBasicConstraintsCA: "An issuer's certificate is not a certificate authority's.",
        errSecInvalidKeyUsageForPolicy: "The key of a certificate must not be used for this.",
        errSecInvalidExtendedKeyUsage: "A certificate must not be used for this.",
        errSecPathLengthConstraintExceeded: "The chain is longer than one of its issuers allows.",
        errSecInvalidRoot: "The root certificate is not valid.",
        errSecSSLBadExtendedKeyUsage: "A certificate must not be used for TLS.",
        errSecIncompleteCertRevocationCheck: "Whether a certificate was revoked could not be found out.",
        errSecNetworkFailure: "The network failed.",
        errSecCertificateExpired: "A certificate has expired.",
        errSecCertificateNotValidYet: "A certificate is not valid yet.",
        errSecCertificateRevoked: "A certificate was revoked.",
        errSecInvalidCertAuthority: "An issuer may not certify this.",
        errSecNotTrusted: "The certificate is not trusted.",
    ]
}
