// What answers a challenge: a user and password, an identity, the user's Kerberos ticket, or the
// decision to trust a server.
//
// Must not know: where it is kept, to which space it is sent. A password never stands in a description.

import Foundation
import URLLoadingPolicy
import URLLoadingTrust

/// A user and password, a client's identity, the user's Kerberos ticket, or the acceptance of a
/// server's certificates (B2.50).
open class URLCredential: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Safe to share: every stored property is immutable, and `SecTrust` guards itself.
    private let proof: Proof
    private let givenPersistence: Persistence

    /// For how long a credential is kept.
    public enum Persistence: UInt, Sendable {
        /// For one answer, and what its task sends after that; a storage refuses it (B2.53).
        case none = 0
        /// In the memory of the storage (B2.54).
        case forSession = 1
        /// For later runs too; see `URLCredentialStorage` for what that means here (B2.55).
        case permanent = 2
        /// On all devices of a user; a storage refuses it here (B2.56).
        case synchronizable = 3
    }

    /// Makes a credential of a user's name and password.
    public init(user: String, password: String, persistence: Persistence) {
        proof = .password(user: user, password: password)
        givenPersistence = persistence
        super.init()
    }

    /// Makes a credential of a certificate with its key and the certificates between it and its root. Other things
    /// than a `SecCertificate` in `certArray` are left out.
    public init(identity: SecIdentity, certificates certArray: [Any]?, persistence: Persistence) {
        proof = .identity(identity, (certArray ?? []).compactMap { $0 as? SecCertificate })
        givenPersistence = persistence
        super.init()
    }

    /// Makes the credential that accepts a server, whatever `trust` says of itself (B2.43).
    public init(trust: SecTrust) {
        proof = .trust(trust)
        givenPersistence = .none
        super.init()
    }

    /// Makes the credential that accepts a server, whatever `trust` says of itself (B2.43).
    public convenience init(forTrust trust: SecTrust) {
        self.init(trust: trust)
    }

    /// Makes a credential that has only a user's name, to be proposed (B2.52, B2.75).
    init(proposedUser user: String) {
        proof = .password(user: user, password: nil)
        givenPersistence = .none
        super.init()
    }

    /// The credential that says that the user's Kerberos ticket may be shown; what is shown of it
    /// the system's library knows.
    static let ticket = URLCredential(.ticket)

    private init(_ proof: Proof) {
        self.proof = proof
        givenPersistence = .none
        super.init()
    }

    /// Reads a credential from a keyed archive. That of an identity, a trust or a ticket comes back without it,
    /// and such a credential answers nothing (B2.35).
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        let password = coder.decodeObject(of: NSString.self, forKey: Key.password).map { $0 as String }
        if let user = coder.decodeObject(of: NSString.self, forKey: Key.user) {
            proof = .password(user: user as String, password: password)
        } else {
            proof = .nothing
        }
        givenPersistence = Persistence(rawValue: UInt(clamping: coder.decodeInteger(forKey: Key.persistence))) ?? .none
        super.init()
    }

    /// Writes the credential to a keyed archive, the password in the clear. An identity, a trust or a ticket is not
    /// written.
    open func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(user.map { $0 as NSString }, forKey: Key.user)
        coder.encode(password.map { $0 as NSString }, forKey: Key.password)
        coder.encode(Int(clamping: persistence.rawValue), forKey: Key.persistence)
    }

    /// Credentials can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Gives the credential itself: it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }

    /// For how long the credential is to be kept; means nothing for a trust.
    open var persistence: Persistence { givenPersistence }

    /// The user's name; nil for identities and trusts.
    open var user: String? {
        if case .password(let user, _) = proof { user } else { nil }
    }

    /// The password; nil for identities and trusts, and where only a name is proposed.
    open var password: String? {
        if case .password(_, let password) = proof { password } else { nil }
    }

    /// Whether there is a password (B2.52).
    open var hasPassword: Bool { password != nil }

    /// The certificate and key that prove the client; nil for passwords and trusts.
    open var identity: SecIdentity? {
        if case .identity(let identity, _) = proof { identity } else { nil }
    }

    /// The certificates between the identity's own and its root, each a `SecCertificate`.
    open var certificates: [Any] { intermediates }

    /// The server that is accepted; nil for passwords and identities.
    var trust: SecTrust? {
        if case .trust(let trust) = proof { trust } else { nil }
    }

    /// Whether this stands for the user's Kerberos ticket.
    var isTicket: Bool { proof == .ticket }

    /// `certificates`, with their type.
    var intermediates: [SecCertificate] {
        if case .identity(_, let certificates) = proof { certificates } else { [] }
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? URLCredential else { return false }
        return proof == other.proof && persistence == other.persistence
    }

    /// Hashes all but the password.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(user)
        hasher.combine(identity)
        hasher.combine(trust)
        hasher.combine(persistence)
        return hasher.finalize()
    }

    /// Names the kind and the user, never the password or the key.
    open override var description: String {
        let what =
            switch proof {
            case .password(let user, nil): "user \(user), no password"
            case .password(let user, _): "user \(user), password not shown"
            case .identity(let identity, _): "identity \(identity.identity.chain.leaf.displayName)"
            case .trust: "trust in a server"
            case .ticket: "the user's Kerberos ticket"
            case .nothing: "nothing"
            }
        return "<\(type(of: self)): \(what), persistence \(persistence)>"
    }

    private enum Proof: Hashable, Concealed {
        case password(user: String, password: String?)
        case identity(SecIdentity, [SecCertificate])
        case trust(SecTrust)
        case ticket
        /// What an archived identity, trust or ticket comes back as.
        case nothing
    }

    private enum Key {
        static let user = "user"
        static let password = "password"
        static let persistence = "persistence"
    }
}
