// One proof of the user's credentials, ready to be put into a request. It knows the request it is for only when its
// field is asked for, because Digest covers the request. Nothing of it is printed.

import URLLoadingWire

/// What answers a challenge, or is sent before there is one.
package struct Authorization: Sendable, Concealed {
    enum Proof: Sendable {
        case basic
        case digest(DigestSession)
        /// NTLM's first message.
        case ntlmOffer
        /// NTLM's third message.
        case ntlmAnswer([UInt8])
        /// Base64.
        case negotiate(token: String)
    }

    /// What it is for.
    package let space: AuthenticationSpace
    /// Whose it is; nil for Negotiate, where the system's library knows.
    package let credential: PasswordCredential?
    /// Whether it comes from `RememberedSpaces` and answers no challenge of this request.
    package let isAhead: Bool
    let proof: Proof

    init(space: AuthenticationSpace, credential: PasswordCredential?, isAhead: Bool = false, proof: Proof) {
        self.space = space
        self.credential = credential
        self.isAhead = isAhead
        self.proof = proof
    }

    /// A copy of it with another proof.
    func with(_ proof: Proof, isAhead: Bool? = nil) -> Authorization {
        Authorization(space: space, credential: credential, isAhead: isAhead ?? self.isAhead, proof: proof)
    }

    /// Where and whose it is, in words that are the same for every request: what it lets in may be told apart by that.
    package var mark: String { "\(space.method.scheme) \(space.realm ?? "") \(credential?.user ?? "")" }

    /// Whether the request has to go out on the connection that brought the challenge, and this connection belongs to
    /// its request until the rounds are over (B2.93).
    package var bindsConnection: Bool { space.method.bindsConnection }

    /// Whether no request is let in for it: NTLM's first message only asks for the second.
    package var opensNothing: Bool { if case .ntlmOffer = proof { true } else { false } }

    /// Whether it answers what was asked on a connection, and is worth nothing on another: NTLM's third message.
    package var answersConnection: Bool { if case .ntlmAnswer = proof { true } else { false } }

    /// What begins the rounds anew that this belongs to, should their connection have gone; nil where nothing depends
    /// on that.
    package var beginning: Authorization? { answersConnection ? with(.ntlmOffer) : nil }

    /// The function with which the body has to be hashed before the field can be made; nil when it does not matter
    /// (B2.82).
    package func bodyHash(for request: AuthenticatedRequest) -> HashAlgorithm? {
        guard case .digest(let session) = proof, session.challenge.protection == .authInt, request.body != .empty
        else { return nil }
        return session.challenge.algorithm
    }

    /// The value of Authorization or Proxy-Authorization for a request; nil when none can be made: the hash of a body
    /// is missing, or the system has no such hash function.
    package func field(
        for request: AuthenticatedRequest, bodyHash: [UInt8]? = nil, hashes: HashFunctions
    ) -> String? {
        if bodyHash == nil, self.bodyHash(for: request) != nil { return nil }
        guard let value = value(for: request, bodyHash: bodyHash, hashes: hashes) else { return nil }
        return "\(space.method.scheme) \(value)"
    }

    private func value(for request: AuthenticatedRequest, bodyHash: [UInt8]?, hashes: HashFunctions) -> String? {
        switch proof {
        case .basic:
            // RFC 7617 §2.1: UTF-8 is what servers expect that say what they expect (B2.76).
            credential.map { Base64.encode("\($0.user):\($0.password)".utf8) }
        case .digest(let session):
            credential.flatMap {
                session.parameters($0, request: request, bodyHash: bodyHash, hashes: hashes)
            }
        case .ntlmOffer: Base64.encode(NTLM.negotiateMessage)
        case .ntlmAnswer(let message): Base64.encode(message)
        case .negotiate(let token): token
        }
    }
}
