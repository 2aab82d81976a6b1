// Whether a server that names the authorities it accepts would accept a chain of ours (RFC 8446 section 4.2.4, RFC 5246
// section 7.4.4). Does not judge the chain.

/// What it is that asks for our certificate, for which a host and a port may stand.
package enum CertificateSeeker: Sendable, Hashable {
    /// The server of that name.
    case server
    /// A proxy of that name.
    case proxy
    /// Whatever listens on a UNIX-domain socket, about which host and port say nothing.
    case socket
}

/// Chooses the certificate for a server that asks for one.
package protocol IdentityChooser: Sendable {
    /// Whether a choice may take its time, for which a loop is no place.
    var mayWait: Bool { get }

    /// What is shown to a server that accepts certificates of these issuers, each an encoded name; of none means any.
    func identity(
        for host: HostName, port: Int, of seeker: CertificateSeeker, acceptableIssuers: [[UInt8]]
    ) -> Identity?
}

extension CertificateChain {
    /// Whether one of the certificates was issued by one of these authorities, or none is named.
    package func isAcceptable(to issuers: [[UInt8]]) -> Bool {
        if issuers.isEmpty { return true }
        let names = issuers.compactMap { name in name.withUnsafeBytes { DistinguishedName.canonical(whole: $0) } }
        return certificates.contains { certificate in
            let fields = certificate.fields
            guard let issuer = fields.with(fields.issuer, { DistinguishedName.canonical(whole: $0) }) else {
                return false
            }
            return names.contains(issuer)
        }
    }
}

extension Identity: IdentityChooser {
    /// It is there.
    package var mayWait: Bool { false }

    /// Itself, for every server.
    package func identity(
        for host: HostName, port: Int, of seeker: CertificateSeeker, acceptableIssuers: [[UInt8]]
    ) -> Identity? { self }
}
