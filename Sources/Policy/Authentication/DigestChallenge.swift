// What a server asks for with Digest: RFC 7616 §3.3; behaviour B2.80, B2.84, B2.90 to B2.92. It reads a challenge and
// says whether it can be answered; the answer is `DigestSession`'s.

import URLLoadingWire

/// A Digest challenge that can be answered.
struct DigestChallenge: Sendable, Equatable {
    /// What the answer's hash covers.
    enum Protection: String, Sendable {
        /// RFC 2069: method and target, without a count.
        case legacy
        /// Method and target, a count and a nonce of ours.
        case auth
        /// What `auth` covers, and the body.
        case authInt = "auth-int"
    }

    let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: HashAlgorithm
    /// Whether what is derived from the password holds for one session only (`-sess`).
    let isSession: Bool
    /// How the algorithm is called in the answer; nil when the server names none.
    let algorithmName: String?
    let protection: Protection
    /// Whether only the nonce was wrong (B2.88).
    let isStale: Bool
    /// Whether the user's name is sent as a hash (B2.90).
    let hashesUser: Bool
    /// What the space consists of, as the server writes it; empty for all of it (B2.91).
    let domain: [String]

    /// Reads a challenge; nil for one that cannot be answered for a request with such a body.
    init?(_ challenge: AuthenticationChallenge, body: AuthenticatedRequest.Body) {
        guard let realm = challenge["realm"], let nonce = challenge["nonce"],
            let algorithm = Self.algorithm(challenge["algorithm"]),
            let protection = Self.protection(challenge["qop"], body: body),
            // RFC 7616 §3.4.2: what a session is derived from includes our nonce, which answers
            // without qop do not tell.
            !algorithm.isSession || protection != .legacy,
            // B2.86: other bytes than the server's would be hashed and returned.
            ["realm", "nonce", "opaque"].allSatisfy({ challenge.parameters.isReturnable($0) })
        else { return nil }
        self.realm = realm
        self.nonce = nonce
        self.opaque = challenge["opaque"]
        self.algorithm = algorithm.hash
        self.isSession = algorithm.isSession
        self.algorithmName = algorithm.name
        self.protection = protection
        self.isStale = ASCII.isEqual(challenge["stale"] ?? "", "true")
        self.hashesUser = ASCII.isEqual(challenge["userhash"] ?? "", "true")
        self.domain = Self.words(challenge["domain"], separators: " \t")
    }

    /// No name means MD5 (B2.80); nil for an algorithm that is not known.
    private static func algorithm(_ name: String?) -> (hash: HashAlgorithm, isSession: Bool, name: String?)? {
        guard let name else { return (.md5, false, nil) }
        for (known, hash) in [("MD5", HashAlgorithm.md5), ("SHA-256", .sha256), ("SHA-512-256", .sha512_256)] {
            if ASCII.isEqual(name, known) { return (hash, false, known) }
            if ASCII.isEqual(name, known + "-sess") { return (hash, true, known + "-sess") }
        }
        return nil
    }

    /// B2.84: `auth` where it is offered, `auth-int` if there is nothing else and the body can be hashed first.
    private static func protection(_ offered: String?, body: AuthenticatedRequest.Body) -> Protection? {
        let offered = words(offered, separators: ", \t")
        if offered.isEmpty { return .legacy }
        if ASCII.contains(offered, Protection.auth.rawValue) { return .auth }
        return ASCII.contains(offered, Protection.authInt.rawValue) && body != .unrepeatable ? .authInt : nil
    }

    private static func words(_ list: String?, separators: String) -> [String] {
        (list ?? "").split { separators.contains($0) }.map(String.init)
    }
}
