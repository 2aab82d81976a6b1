// What a made certificate shall say: every part can be chosen, also wrongly. Values only. RFC 5280 section 4.

/// The content of a certificate to be made.
package struct CertificateTemplate: Sendable {
    /// Kinds of key pair.
    package enum Key: Sendable, Hashable {
        /// NIST P-256, the default because it is quick to make.
        case p256
        /// NIST P-384.
        case p384
        /// NIST P-224, weaker than what is accepted.
        case p224
        /// RSA of so many bits.
        case rsa(Int)
        /// Ed25519.
        case ed25519
        /// Another elliptic curve, by its name.
        case curve(String)
    }

    /// Hashes to sign with; Ed25519 keys take none of them.
    package enum Hash: Sendable, Hashable {
        /// SHA-256.
        case sha256
        /// SHA-384.
        case sha384
        /// SHA-1, which is broken.
        case sha1
        /// MD5, which is broken.
        case md5
    }

    /// The bits of the keyUsage extension that certificates for TLS use.
    package struct KeyUsage: OptionSet, Sendable, Hashable {
        /// Bit 0 of the extension is the lowest bit here.
        package let rawValue: UInt16
        /// A set from its bits.
        package init(rawValue: UInt16) { self.rawValue = rawValue }
        /// Signatures other than on certificates.
        package static let digitalSignature = KeyUsage(rawValue: 1 << 0)
        /// Encryption of keys.
        package static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
        /// Signatures on certificates.
        package static let keyCertSign = KeyUsage(rawValue: 1 << 5)
        /// Signatures on revocation lists.
        package static let crlSign = KeyUsage(rawValue: 1 << 6)
    }

    /// Purposes of the extended key usage extension.
    package enum Purpose: String, Sendable, Hashable {
        /// TLS servers.
        case serverAuthentication = "1.3.6.1.5.5.7.3.1"
        /// TLS clients.
        case clientAuthentication = "1.3.6.1.5.5.7.3.2"
        /// Signing of programs.
        case codeSigning = "1.3.6.1.5.5.7.3.3"
        /// E-mail.
        case emailProtection = "1.3.6.1.5.5.7.3.4"
        /// All of them.
        case any = "2.5.29.37.0"
    }

    /// Entries of subjectAltName and of name constraints.
    package enum Name: Sendable, Hashable {
        /// A DNS name; in constraints the domain with everything below.
        case dns(String)
        /// An address of 4 or 16 bytes; in constraints address and mask, 8 or 32 bytes.
        case ip([UInt8])
        /// A URI.
        case uri(String)
        /// An e-mail address.
        case email(String)
        /// An encoded directory name.
        case directory([UInt8])
        /// Any kind: the tag octet and the content.
        case raw(UInt8, [UInt8])
    }

    /// Which names a certificate authority may certify.
    package struct NameConstraints: Sendable, Hashable {
        /// Names must be within one of these, if any of their kind is there.
        package var permitted: [Name]
        /// Names must be in none of these.
        package var excluded: [Name]

        /// Constraints of both sorts.
        package init(permitted: [Name] = [], excluded: [Name] = []) {
            self.permitted = permitted
            self.excluded = excluded
        }
    }

    /// An extension with any content.
    package struct Extension: Sendable, Hashable {
        /// The dotted object identifier.
        package var identifier: String
        /// Whether it is marked critical.
        package var isCritical: Bool
        /// The encoded value.
        package var value: [UInt8]

        /// An extension with these parts.
        package init(_ identifier: String, critical: Bool, value: [UInt8]) {
            self.identifier = identifier
            self.isCritical = critical
            self.value = value
        }
    }

    /// The subject's common name; empty for an empty subject.
    package var commonName: String
    /// The encoded subject in place of the common name; nil for the common name.
    package var subject: [UInt8]?
    /// The encoded issuer in place of the issuer's subject; nil for the latter.
    package var issuer: [UInt8]?
    /// Whether the alternative names are marked critical; nil does so beside an empty subject.
    package var hasCriticalNames: Bool?
    /// The subject alternative names.
    package var names: [Name]
    /// The key pair to make.
    package var key: Key
    /// The hash of the signature on this certificate.
    package var hash: Hash
    /// First second of validity, counted from 1970; nil is an hour ago.
    package var notBefore: Int64?
    /// Last second of validity, counted from 1970; nil is a day ahead.
    package var notAfter: Int64?
    /// Basic constraints; nil leaves the extension away.
    package var isAuthority: Bool?
    /// The most intermediates that may follow.
    package var pathLength: UInt?
    /// Key usage; nil leaves the extension away.
    package var keyUsage: KeyUsage?
    /// Extended key usage; nil leaves the extension away.
    package var purposes: [Purpose]?
    /// Name constraints; nil leaves the extension away.
    package var nameConstraints: NameConstraints?
    /// Whether subject and authority key identifiers are added.
    package var hasKeyIdentifiers: Bool
    /// Further extensions.
    package var extensions: [Extension]
    /// The version's number in words: 3, or 1 for a certificate without any extension.
    package var version: Int
    /// Whether the serial number is negative.
    package var isSerialNegative: Bool
    /// The serial number's bytes, the most significant first; nil makes a random one.
    package var serial: [UInt8]?

    private init(commonName: String, names: [Name], isAuthority: Bool?, keyUsage: KeyUsage?, purposes: [Purpose]?) {
        self.commonName = commonName
        self.names = names
        self.isAuthority = isAuthority
        self.keyUsage = keyUsage
        self.purposes = purposes
        key = .p256
        hash = .sha256
        hasKeyIdentifiers = true
        extensions = []
        version = 3
        isSerialNegative = false
    }

    /// A certificate authority, root or intermediate.
    package static func authority(_ commonName: String) -> CertificateTemplate {
        CertificateTemplate(
            commonName: commonName, names: [], isAuthority: true, keyUsage: [.keyCertSign, .crlSign], purposes: nil)
    }

    /// A server with these DNS names or numeric addresses, the first of which is also its common name.
    package static func server(_ hosts: String...) -> CertificateTemplate {
        server(hosts: hosts)
    }

    /// A server with a list of DNS names or numeric addresses.
    package static func server(hosts: [String]) -> CertificateTemplate {
        CertificateTemplate(
            commonName: hosts.first ?? "", names: hosts.map(Name.host), isAuthority: false,
            keyUsage: .digitalSignature, purposes: [.serverAuthentication])
    }

    /// A client with this common name.
    package static func client(_ commonName: String) -> CertificateTemplate {
        CertificateTemplate(
            commonName: commonName, names: [], isAuthority: false, keyUsage: .digitalSignature,
            purposes: [.clientAuthentication])
    }

    /// A copy of the template after a change.
    package func with(_ change: (inout CertificateTemplate) -> Void) -> CertificateTemplate {
        var copy = self
        change(&copy)
        return copy
    }
}
