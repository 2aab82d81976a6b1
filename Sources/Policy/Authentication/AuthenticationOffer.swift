// The challenges of one refusal that can be answered, in the order in which they are tried. Behaviour B2.12, B2.29 to
// B2.32. It must not know what was tried before.

import URLLoadingWire

/// A space that a refusal offers, and what its scheme says besides.
struct AuthenticationOffer: Sendable {
    enum Kind: Sendable {
        case basic
        case digest(DigestChallenge)
        /// The token goes on with rounds that have begun.
        case ntlm(token: String?)
        case negotiate(token: String?)
    }

    /// More than any server has realms on one page.
    static let maximumCount = 16

    let space: AuthenticationSpace
    let kind: Kind

    /// The offers of a 401 or 407, the strongest scheme first (B2.31), each space once.
    static func all(
        in head: ResponseHead, side: AuthenticationSide, allows: Set<AuthenticationMethod>,
        body: AuthenticatedRequest.Body
    ) -> [AuthenticationOffer] {
        var offers: [AuthenticationOffer] = []
        for challenge in head.fields.challenges(side.challengeField) {
            guard let offer = AuthenticationOffer(challenge, side: side, body: body),
                allows.contains(offer.space.method),
                // Among several Digest challenges of a realm, the server puts the one it prefers first.
                !offers.contains(where: { $0.space == offer.space })
            else { continue }
            offers.append(offer)
            if offers.count == maximumCount { break }
        }
        return AuthenticationMethod.allCases.flatMap { method in offers.filter { $0.space.method == method } }
    }

    /// Nil for a challenge that cannot be answered.
    private init?(_ challenge: AuthenticationChallenge, side: AuthenticationSide, body: AuthenticatedRequest.Body) {
        switch challenge.scheme {
        case "basic":
            // B2.30: programs count on the host's name where a realm is missing.
            space = AuthenticationSpace(side: side, realm: challenge["realm"] ?? side.host, method: .basic)
            kind = .basic
        case "digest":
            guard let digest = DigestChallenge(challenge, body: body) else { return nil }
            space = AuthenticationSpace(side: side, realm: digest.realm, method: .digest)
            kind = .digest(digest)
        case "ntlm":
            space = AuthenticationSpace(side: side, realm: nil, method: .ntlm)
            kind = .ntlm(token: challenge.token)
        case "negotiate":
            space = AuthenticationSpace(side: side, realm: nil, method: .negotiate)
            kind = .negotiate(token: challenge.token)
        default:
            return nil
        }
    }

    /// The proof for a credential; nil where the scheme cannot express it.
    func authorization(_ credential: PasswordCredential, freshness: AuthenticationFreshness) -> Authorization? {
        switch kind {
        case .basic:
            // B2.76: what stands behind the first colon is the password.
            if credential.user.utf8.contains(UInt8(ascii: ":")) { return nil }
            return Authorization(space: space, credential: credential, proof: .basic)
        case .digest(let challenge):
            let session = DigestSession(challenge, freshness: freshness)
            return Authorization(space: space, credential: credential, proof: .digest(session))
        case .ntlm:
            return Authorization(space: space, credential: credential, proof: .ntlmOffer)
        case .negotiate:
            return nil
        }
    }
}
