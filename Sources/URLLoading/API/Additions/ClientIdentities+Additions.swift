// The client certificates for servers that ask for one, said in one line.

import Foundation
import URLLoadingTrust

extension URLSessionConfiguration {
    /// Ours: a certificate with its private key and the certificates above it.
    ///
    /// What cannot be read throws a `ClientIdentityError`, which names the mistake and no secret.
    public struct ClientIdentity: Sendable, Equatable {
        let identity: Identity

        /// From PEM text: our certificate first, then those above it; and the key, encrypted or not.
        public static func pem(
            certificates: String, key: String, passphrase: String? = nil
        ) throws -> ClientIdentity {
            ClientIdentity(
                identity: try reading { () throws(CertificateError) in
                    try Identity(certificatePEM: certificates, keyPEM: key, passphrase: passphrase)
                })
        }

        /// From the bytes of a PKCS #12 file.
        public static func pkcs12(_ file: Data, passphrase: String) throws -> ClientIdentity {
            ClientIdentity(
                identity: try reading { () throws(CertificateError) in
                    try Identity(pkcs12: Array(file), passphrase: passphrase)
                })
        }

        /// From an identity that was read before, and certificates above it that servers may lack.
        public static func identity(_ identity: SecIdentity, certificates: [SecCertificate] = []) -> ClientIdentity {
            ClientIdentity(
                identity: certificates.isEmpty
                    ? identity.identity : identity.identity.showing(certificates.map(\.certificate)))
        }

        /// The identity as a `URLCredential` takes it, for delegates.
        public var secIdentity: SecIdentity { SecIdentity(identity) }

        /// Whether both have the same certificates.
        public static func == (one: ClientIdentity, other: ClientIdentity) -> Bool {
            one.identity.chain == other.identity.chain
        }

        fileprivate static func reading<Value>(
            _ body: () throws(CertificateError) -> Value
        ) throws(ClientIdentityError) -> Value {
            do throws(CertificateError) {
                return try body()
            } catch {
                throw ClientIdentityError(description: error.description)
            }
        }
    }

    /// Ours: which identity is shown to which server.
    public struct ClientIdentities: Sendable, Equatable {
        private let everywhere: ClientIdentity?
        private let entries: [HostPattern: ClientIdentity]

        /// None, but for what a delegate or `urlCredentialStorage` has.
        public static let none = ClientIdentities(everywhere: nil, entries: [:])

        /// One for every server that asks, but for those that name other issuers than its own.
        public static func allHosts(_ identity: ClientIdentity) -> ClientIdentities {
            ClientIdentities(everywhere: identity, entries: [:])
        }

        /// Each host its own, whatever issuers its server names: the patterns are those of
        /// `ServerTrustEvaluation.perHost`. Other hosts get `others`, as with `allHosts`.
        public static func perHost(
            _ identities: [String: ClientIdentity], otherwise others: ClientIdentity? = nil
        ) throws -> ClientIdentities {
            var entries: [HostPattern: ClientIdentity] = [:]
            for (host, identity) in identities {
                let pattern = try ClientIdentity.reading { () throws(CertificateError) in
                    try HostPattern(checking: host.withHostsInASCII)
                }
                entries[pattern] = identity
            }
            return ClientIdentities(everywhere: others, entries: entries)
        }

        /// What is chosen for a server.
        func identity(for host: HostName, acceptableIssuers: [[UInt8]]) -> Identity? {
            if let own = entries.map({ (pattern: $0.key, value: $0.value) }).mostSpecific(for: host) {
                return own.identity
            }
            guard let everywhere, everywhere.identity.chain.isAcceptable(to: acceptableIssuers) else { return nil }
            return everywhere.identity
        }

        /// Which certificate is shown to whom, in words that no other choice has.
        var signature: String {
            func word(_ identity: ClientIdentity?) -> String { identity?.identity.chain.leaf.fingerprintHex ?? "" }
            let hosts = entries.map { pattern, identity in
                switch pattern {
                case .host(let host): TrustRule.list([host.description, word(identity)])
                case .below(let domain): TrustRule.list(["*.", domain, word(identity)])
                }
            }
            return TrustRule.list([word(everywhere)] + hosts.sorted())
        }
    }

    /// Ours: why an identity cannot be used.
    public struct ClientIdentityError: LocalizedError, Equatable, CustomStringConvertible {
        /// One sentence that names the mistake, and no secret.
        public let description: String

        /// The sentence of `description`.
        public var errorDescription: String? { description }
    }
}

/// The identities of a session: its configuration's, then its credential storage's.
struct SessionIdentities: IdentityChooser {
    let chosen: URLSessionConfiguration.ClientIdentities
    let storage: URLCredentialStorage?

    /// Whether the storage is of a class of the program's.
    var mayWait: Bool { storage.map { !$0.isPlain } ?? false }

    func identity(
        for host: HostName, port: Int, of seeker: CertificateSeeker, acceptableIssuers: [[UInt8]]
    ) -> Identity? {
        if let identity = chosen.identity(for: host, acceptableIssuers: acceptableIssuers) { return identity }
        return storage?.identityCredential(
            host: host.description, port: port, of: seeker, acceptableIssuers: acceptableIssuers)?.shownIdentity
    }
}
