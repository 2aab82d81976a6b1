// Under which conditions a chain is believed. Holds values only; judging is the evaluators' work.

/// What a peer must prove.
package struct TrustPolicy: Sendable, Hashable {
    /// What the certificate is used for.
    package enum Purpose: Sendable, Hashable {
        /// The peer is a TLS server.
        case serverAuthentication
        /// The peer is a TLS client.
        case clientAuthentication
        /// Anything: the chain and its dates are judged, extended key usage and host names are not (B3.34).
        case anyPurpose
    }

    /// How strictly certificates are held to the rules; docs/trust-rules.md has the differences as a table.
    package enum Profile: Sendable, Hashable {
        /// Every rule that an attacker would profit from. Formal mistakes, which private authorities' tools make and
        /// which other software passes over, are forgiven: companies put such authorities into the machine's store too.
        case standard
        /// What RFC 5280 and the CA/Browser forum demand of certificates' form as well.
        case strict
    }

    /// Which signatures on certificates count.
    package struct SignatureAlgorithms: OptionSet, Sendable, Hashable {
        /// One bit for each algorithm.
        package let rawValue: UInt16
        /// A set from its bits.
        package init(rawValue: UInt16) { self.rawValue = rawValue }
        /// RSA with PKCS #1 padding, with SHA-256, SHA-384 or SHA-512.
        package static let rsa = SignatureAlgorithms(rawValue: 1)
        /// RSA with PSS padding, with SHA-256, SHA-384 or SHA-512.
        package static let rsaPSS = SignatureAlgorithms(rawValue: 2)
        /// ECDSA with SHA-256, SHA-384 or SHA-512.
        package static let ecdsa = SignatureAlgorithms(rawValue: 4)
        /// Ed25519 and Ed448.
        package static let eddsa = SignatureAlgorithms(rawValue: 8)
        /// Any of the above with SHA-1, which is broken.
        package static let sha1 = SignatureAlgorithms(rawValue: 16)
        /// What is not broken (B3.29).
        package static let strong: SignatureAlgorithms = [.rsa, .rsaPSS, .ecdsa, .eddsa]
    }

    /// Parts of a policy that a program has asked for by name.
    package struct Parts: OptionSet, Sendable, Hashable {
        /// One bit for each part.
        package let rawValue: UInt8
        /// A set from its bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The host, or that there is none.
        package static let host = Parts(rawValue: 1)
        /// The profile.
        package static let profile = Parts(rawValue: 2)
        /// The mode of revocation, than which more may be asked.
        package static let revocation = Parts(rawValue: 4)
    }

    /// The name the leaf must speak for; nil checks everything but the name (B3.24).
    package var host: HostName?
    /// The host of the connection, for which a program has chosen whom it trusts: whatever name is compared, the choice
    /// stays (B3.35).
    package let place: HostName?
    /// The use the leaf must allow.
    package var purpose: Purpose
    /// How strictly certificates are held to the rules.
    package var profile: Profile
    /// Seconds since 1970 at which the chain must be valid; nil means now.
    package var time: Int64?
    /// How revocation is checked.
    package var revocation: RevocationPolicy
    /// The smallest RSA key (B3.29).
    package var minimumRSABits: Int
    /// The smallest elliptic curve key (B3.29).
    package var minimumECBits: Int
    /// Which signatures on the leaf and on intermediates count (B3.29).
    package var signatureAlgorithms: SignatureAlgorithms
    /// The most certificates between leaf and anchor.
    package var maximumIntermediates: Int
    /// What conditions that were put on an evaluator do not take back (B3.34, B3.47).
    package var fixed: Parts = []

    /// The default policy for a peer of this name, at the end of a connection to it.
    package init(
        host: HostName?, purpose: Purpose = .serverAuthentication, profile: Profile = .standard, time: Int64? = nil,
        revocation: RevocationPolicy = RevocationPolicy(), minimumRSABits: Int = 2048, minimumECBits: Int = 256,
        signatureAlgorithms: SignatureAlgorithms = .strong, maximumIntermediates: Int = 14
    ) {
        self.host = host
        place = host
        self.purpose = purpose
        self.profile = profile
        self.time = time
        self.revocation = revocation
        self.minimumRSABits = minimumRSABits
        self.minimumECBits = minimumECBits
        self.signatureAlgorithms = signatureAlgorithms
        self.maximumIntermediates = maximumIntermediates
    }
}

extension TrustPolicy {
    /// This policy under a condition that was put on an evaluator, which leaves what is fixed as it is.
    func under(_ condition: (inout TrustPolicy) -> Void) -> TrustPolicy {
        var changed = self
        condition(&changed)
        if fixed.contains(.host) { changed.host = host }
        if fixed.contains(.profile) { changed.profile = profile }
        if fixed.contains(.revocation) { changed.revocation.mode = max(changed.revocation.mode, revocation.mode) }
        return changed
    }

    /// Asks for the form and about revocation as much as the other policy does, where that is more.
    package mutating func tighten(by other: TrustPolicy) {
        if other.profile == .strict { profile = .strict }
        revocation.mode = max(revocation.mode, other.revocation.mode)
        // Order: each list once, as no more than some are looked at.
        for list in other.revocation.lists where !revocation.lists.contains(list) { revocation.lists.append(list) }
    }
}
