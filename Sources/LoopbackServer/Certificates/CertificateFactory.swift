// Makes certificates while a program runs: roots, intermediates and leaves for tests, the demonstration and benchmarks.
// Not for production: keys live in memory only and nothing is revoked. Does not know sockets nor TLS.

import CURLLoadingOpenSSL
import URLLoadingTrust

/// Where made certificates begin.
package enum CertificateFactory {
    /// A self-signed certificate authority.
    package static func root(_ commonName: String = "Loopback Root") throws(CertificateError) -> IssuedCertificate {
        try selfSigned(.authority(commonName))
    }

    /// Any self-signed certificate.
    package static func selfSigned(_ template: CertificateTemplate) throws(CertificateError) -> IssuedCertificate {
        let key = try KeyMaker.make(template.key)
        return try CertificateMaker.make(template, key: key, issuer: nil)
    }

    /// A root, an intermediate, and a server's identity for these hosts, for programs and tests that need no more.
    package static func server(
        _ hosts: String...
    ) throws(CertificateError) -> (root: Certificate, identity: Identity) {
        let root = try root()
        let intermediate = try root.issue(.authority("Loopback Intermediate"))
        return (root.certificate, try intermediate.issue(.server(hosts: hosts)).identity)
    }
}

/// A certificate that was made here, with its key and its issuers: it can issue others.
package struct IssuedCertificate: Sendable {
    /// The certificate.
    package let certificate: Certificate
    /// The certificate, then its issuers without the root.
    package let chain: CertificateChain
    /// The certificate's chain with its key, to show to a peer.
    package let identity: Identity
    let key: OpenSSLObject

    init(certificate: Certificate, key: OpenSSLObject, issuer: IssuedCertificate?) throws(CertificateError) {
        let above = issuer.map { $0.isRoot ? [] : $0.chain.certificates } ?? []
        guard let chain = CertificateChain([certificate] + above) else { throw .notMade("no certificate") }
        self.certificate = certificate
        self.key = key
        self.chain = chain
        isRoot = issuer == nil
        identity = try Identity(chain: chain, key: key)
    }

    private let isRoot: Bool

    /// Signs a new certificate with a new key.
    package func issue(_ template: CertificateTemplate) throws(CertificateError) -> IssuedCertificate {
        try CertificateMaker.make(template, key: KeyMaker.make(template.key), issuer: self)
    }

    /// Signs another certificate for a key that has one already: cross-signed, renewed, or re-issued.
    package func issue(
        _ template: CertificateTemplate, forKeyOf other: IssuedCertificate
    ) throws(CertificateError) -> IssuedCertificate {
        try CertificateMaker.make(template, key: other.key, issuer: self)
    }

    /// Signs a certificate for an encoded public key (SubjectPublicKeyInfo), whose private key need not be there.
    package func certify(
        _ template: CertificateTemplate, publicKeyInfo: [UInt8]
    ) throws(CertificateError) -> Certificate {
        OpenSSLErrors.clear()
        let decoded = publicKeyInfo.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_PUBKEY(nil, &cursor, bytes.count)
        }
        guard let decoded else { throw .notMade(OpenSSLErrors.takeText()) }
        return try CertificateMaker.sign(template, publicKey: .key(owning: decoded), issuer: self, signer: key)
    }

    /// An identity of this key that shows another chain: missing, extra or reordered certificates.
    package func identity(showing certificates: [Certificate]) throws(CertificateError) -> Identity {
        guard let chain = CertificateChain([certificate] + certificates) else { throw .notMade("no certificate") }
        return try Identity(chain: chain, key: key)
    }
}

/// Makes key pairs.
enum KeyMaker {
    static func make(_ kind: CertificateTemplate.Key) throws(CertificateError) -> OpenSSLObject {
        OpenSSLErrors.clear()
        let key: OpaquePointer?
        switch kind {
        case .p256: key = shim_key_generate_ec("P-256")
        case .p384: key = shim_key_generate_ec("P-384")
        case .p224: key = shim_key_generate_ec("P-224")
        case .rsa(let bits): key = shim_key_generate_rsa(bits)
        case .ed25519: key = shim_key_generate_named("ED25519")
        case .curve(let name): key = shim_key_generate_ec(name)
        }
        guard let key else { throw .notMade(OpenSSLErrors.takeText()) }
        return .key(owning: key)
    }
}

extension CertificateTemplate.Name {
    /// An address when the text is one, else a DNS name.
    package static func host(_ text: String) -> CertificateTemplate.Name {
        switch HostName(text) {
        case .ip(let bytes): .ip(bytes)
        // Not the normalised name, so that tests can put capitals and dots into a certificate.
        case .dns: .dns(text)
        }
    }
}
