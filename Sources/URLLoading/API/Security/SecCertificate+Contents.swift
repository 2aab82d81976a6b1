// The functions that read certificates and tell what is in them. What is missing or broken reads as nil.

import Foundation
import URLLoadingTrust

/// The number of the type.
@discardableResult
public func SecCertificateGetTypeID() -> CFTypeID { SecTypeID.certificate }

/// Reads exactly one DER certificate; nil for PEM and for anything else. The allocator takes no part.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    (try? Certificate(der: Array(Data(referencing: data)))).map(SecCertificate.init)
}

/// The certificate's DER bytes.
@discardableResult
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    NSData(data: Data(certificate.certificate.der))
}

/// How a person would call it: its common name, else its first DNS name, else its whole subject; nil without a name.
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    let certificate = certificate.certificate
    let hasName = !certificate.subject.isEmpty || !certificate.dnsNames.isEmpty
    return hasName ? NSString(string: certificate.displayName) : nil
}

/// The subject's last common name; `errSecItemNotFound` when there is none.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    commonName.pointee = certificate.certificate.commonName.map { NSString(string: $0) }
    return commonName.pointee == nil ? errSecItemNotFound : errSecSuccess
}

/// The mailboxes of the alternative names and of the subject; an empty array when there are none.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    emailAddresses.pointee = certificate.certificate.emailAddresses as NSArray
    return errSecSuccess
}

/// The issuer's name as DER that is the same for equal names: strings are UTF-8, in lower case, with single spaces.
@discardableResult
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    certificate.certificate.normalizedIssuer.map { NSData(data: Data($0)) }
}

/// The subject's name as DER that is the same for equal names: strings are UTF-8, in lower case, with single spaces.
@discardableResult
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    certificate.certificate.normalizedSubject.map { NSData(data: Data($0)) }
}

/// The public key; nil where it is neither RSA nor on a usual curve (B3.43).
@discardableResult
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    certificate.certificate.publicKey.map(SecKey.init)
}

/// The public key.
@available(*, deprecated, renamed: "SecCertificateCopyKey")
@discardableResult
public func SecCertificateCopyPublicKey(_ certificate: SecCertificate) -> SecKey? {
    SecCertificateCopyKey(certificate)
}

/// The octets of the serial number as they stand in the certificate; nil with an error when they cannot be read.
@discardableResult
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    let bytes = certificate.certificate.serialBytes
    if bytes.isEmpty {
        SecErrors.hand(SecErrors.make(errSecDecode, "The serial number cannot be read."), to: error)
        return nil
    }
    return NSData(data: Data(bytes))
}

/// The octets of the serial number as they stand in the certificate.
@available(*, deprecated, renamed: "SecCertificateCopySerialNumberData")
@discardableResult
public func SecCertificateCopySerialNumber(_ certificate: SecCertificate) -> CFData? {
    SecCertificateCopySerialNumberData(certificate, nil)
}

/// The first moment at which it is valid.
@discardableResult
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.certificate.notBefore.map { NSDate(timeIntervalSince1970: Double($0)) }
}

/// The last moment at which it is valid.
@discardableResult
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.certificate.notAfter.map { NSDate(timeIntervalSince1970: Double($0)) }
}
