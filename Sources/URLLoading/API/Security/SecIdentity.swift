// Apple's name for a certificate with its private key: a thin face of Trust's.

import URLLoadingTrust

/// A certificate chain and the private key that belongs to it, which prove the client to a server.
public final class SecIdentity: Hashable, Sendable {
    let identity: Identity

    package init(_ identity: Identity) {
        self.identity = identity
    }

    /// Whether both are for the same certificate.
    public static func == (one: SecIdentity, other: SecIdentity) -> Bool {
        one.identity.chain.leaf == other.identity.chain.leaf
    }

    /// Hashes the certificate's bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity.chain.leaf) }
}

/// The number of the type.
@discardableResult
public func SecIdentityGetTypeID() -> CFTypeID { SecTypeID.identity }

/// The identity's own certificate.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    certificateRef.pointee = SecCertificate(identityRef.identity.chain.leaf)
    return errSecSuccess
}

/// The identity's private key; `errSecUnsupportedFormat` where it is neither RSA nor on a usual curve (B3.43).
@discardableResult
public func SecIdentityCopyPrivateKey(
    _ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    privateKeyRef.pointee = identityRef.identity.privateKey.map(SecKey.init)
    return privateKeyRef.pointee == nil ? errSecUnsupportedFormat : errSecSuccess
}
