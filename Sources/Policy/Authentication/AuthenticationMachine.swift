// The rounds between a refusal and an answer that is none, for one task and one side. Behaviour 2.3, 2.4, 2.8 to 2.11;
// RFC 9110 §11. It must not know delegates, storages, connections or how a request is sent: it says which source to ask
// for what, and what to send, and is told what came of it.
//
//                       refused                        answered(.password, .token)
//     request sent ─────────────────▶ ask / negotiate ────────────────────────────▶ send ─▶ request sent
//          │  ▲                          │      ▲ answered(.reject, .none)
//          │  └── send (stale nonce,     │      └── the next space, while there is one
//          │      second NTLM message)   └───────▶ deliver, when there is none
//          └──────▶ accepted
//
// The user's own Kerberos ticket is a credential like others: `negotiate` comes for servers that are named beforehand,
// or behind an `ask` that is answered with `.ticket`, and for no others.
//
// Bounds: a space is answered ten times at most (B2.103), and a task has a bounded number of rounds in all, so that a
// server which names another realm, or calls every nonce stale, ends nowhere but in its own refusal.

import URLLoadingWire

/// Decides how a task answers the challenges of a server or a proxy.
package struct AuthenticationMachine: Sendable {
    /// Answers that one space gets in a task (B2.103).
    package static let maximumAnswers = 10
    /// Refusals that are answered in a task, silent rounds included.
    package static let maximumRounds = 40
    /// All that there are, made once and not for each task.
    package static let allMethods = Set(AuthenticationMethod.allCases)

    /// What the world says to `ask` or `negotiate`.
    package enum Answer: Sendable, Concealed {
        /// A user name and a password.
        case password(PasswordCredential)
        /// For `ask` about Negotiate: the user's own ticket may be shown.
        case ticket
        /// For `negotiate`: what the system's library made, in base64.
        case token(String)
        /// Not this space, in this task never again (B2.39).
        case reject
        /// There is no credential for this space, or one of the wrong kind (B2.35): the next space is offered.
        case none
        /// Go on without any credential (B2.34, B2.45).
        case unauthenticated
    }

    /// What is to be done.
    package enum Step: Sendable {
        /// Find a credential for this space, and call `answered`. `failures` earlier ones were refused (B2.16), the
        /// last one is `rejected`.
        case ask(AuthenticationSpace, failures: Int)
        /// Have the system's library make a token of the user's ticket, and call `answered`. No delegate is asked any
        /// more (B2.11). `challenge` is the server's part of rounds that have begun, in base64; nil begins anew.
        case negotiate(AuthenticationSpace, challenge: String?)
        /// Send the request again with this.
        case send(Authorization)
        /// The refusal is the answer (B2.46).
        case deliver
    }

    /// What became of the proof that went with a request that was not refused.
    package struct Acceptance: Sendable {
        /// The proof, with the nonce that the server announced for the next one: for `RememberedSpaces.remember`.
        package let authorization: Authorization
        /// Whether the server has proven that it knows the password too; nil where it does not say (B2.89). After false
        /// the credential is neither stored nor remembered.
        package let isProven: Bool?
    }

    /// Whose challenges these are.
    package let side: AuthenticationSide
    /// How many credentials were refused; a challenge for another realm, or after an acceptance, begins
    /// at 0 again (B2.16, B2.17).
    package private(set) var failures = 0
    /// The credential that was refused last (B2.15).
    package private(set) var rejected: PasswordCredential?

    private let allows: Set<AuthenticationMethod>
    private let usesTicketUnasked: Bool
    /// Whether a delegate has answered that the ticket may be shown.
    private var wasTicketGiven = false
    /// What the last request was sent with.
    private var attempt: Authorization?
    /// What can still be tried; the first one was asked for.
    private var offers: [AuthenticationOffer] = []
    /// Spaces that are not offered again.
    private var closed: Set<AuthenticationSpace> = []
    private var answers: [AuthenticationSpace: Int] = [:]
    private var rounds = 0

    /// Makes the machine of one task and side. A redirect to another origin needs another one (B2.17).
    /// `usesTicketUnasked` says that the user's Kerberos ticket is meant for this side, so that it is
    /// shown without a question.
    package init(
        side: AuthenticationSide, allows: Set<AuthenticationMethod> = allMethods, usesTicketUnasked: Bool = false
    ) {
        self.side = side
        self.allows = allows
        self.usesTicketUnasked = usesTicketUnasked
    }

    /// The request went out with what `RememberedSpaces` knew.
    ///
    /// If `refused` then says anything but `.send`, what was remembered is wrong and is to be forgotten (B2.78).
    package mutating func sentAhead(_ authorization: Authorization) {
        attempt = authorization
    }

    /// What the last request went out with is not answered, and never will be: it was neither accepted nor refused.
    package mutating func lost() {
        if let attempt, !attempt.isAhead { answers[attempt.space, default: 1] -= 1 }
        attempt = nil
    }

    /// The connection has gone that the last request was to prove its user to. The rounds begin anew with this, which
    /// is no failure; nil where nothing depended on the connection.
    package mutating func connectionLost() -> Authorization? {
        guard let offer = attempt?.beginning else { return nil }
        attempt = offer
        return offer
    }

    /// A 401 or 407 came.
    package mutating func refused(
        _ head: ResponseHead, request: AuthenticatedRequest, freshness: AuthenticationFreshness
    ) -> Step {
        let refusedAttempt = attempt
        attempt = nil
        offers = AuthenticationOffer.all(in: head, side: side, allows: allows, body: request.body)
        offers.removeAll { closed.contains($0.space) }
        rounds += 1
        guard rounds <= Self.maximumRounds, !offers.isEmpty else { return deliver() }
        if let refusedAttempt {
            if let step = nextRound(of: refusedAttempt, freshness: freshness) { return step }
            noteFailure(of: refusedAttempt)
        }
        return askForNext()
    }

    /// `ask` or `negotiate` is answered.
    package mutating func answered(_ answer: Answer, freshness: AuthenticationFreshness) -> Step {
        guard let offer = offers.first else { return .deliver }
        switch answer {
        case .password(let credential):
            guard let authorization = offer.authorization(credential, freshness: freshness) else { break }
            answers[offer.space, default: 0] += 1
            return send(authorization)
        case .ticket:
            // B2.35: a ticket says nothing to other schemes.
            guard offer.space.method == .negotiate else { break }
            wasTicketGiven = true
            return .negotiate(offer.space, challenge: nil)
        case .token(let token):
            guard offer.space.method == .negotiate, usesTicketUnasked || wasTicketGiven else { break }
            answers[offer.space, default: 0] += 1
            return send(Authorization(space: offer.space, credential: nil, proof: .negotiate(token: token)))
        case .reject:
            closed.insert(offer.space)
        case .none:
            // A ticket that is not allowed now, or that the system's library cannot make, is not worth the same
            // question in the next round.
            if offer.space.method == .negotiate { closed.insert(offer.space) }
        case .unauthenticated:
            return deliver()
        }
        offers.removeFirst()
        return askForNext()
    }

    /// An answer came that is no refusal; nil when nothing was proven with its request.
    package mutating func accepted(
        _ head: ResponseHead, request: AuthenticatedRequest, hashes: HashFunctions
    ) -> Acceptance? {
        guard let accepted = attempt else { return nil }
        attempt = nil
        // B2.17: what is refused from now on is another question.
        failures = 0
        rejected = nil
        guard case .digest(var session) = accepted.proof, let credential = accepted.credential else {
            return Acceptance(authorization: accepted, isProven: nil)
        }
        // Where one request was sent ahead more will follow.
        if accepted.isAhead { session = session.keepingSecret(of: credential, hashes: hashes) }
        let info = head.fields.authenticationParameters(side.infoField)
        let isProven = session.isProven(by: info, credential, request: request, hashes: hashes)
        guard let nonce = info.value(of: "nextnonce"), info.isReturnable("nextnonce"), isProven != false else {
            return Acceptance(authorization: accepted.with(.digest(session)), isProven: isProven)
        }
        return Acceptance(
            authorization: accepted.with(.digest(session.renewed(nonce: nonce))), isProven: isProven)
    }

    // MARK: Steps

    /// What goes on silently: rounds that have begun, and a nonce that is too old.
    private mutating func nextRound(of attempt: Authorization, freshness: AuthenticationFreshness) -> Step? {
        guard let index = offers.firstIndex(where: { $0.space == attempt.space }) else { return nil }
        switch (attempt.proof, offers[index].kind) {
        case (.ntlmOffer, .ntlm(let token?)):
            guard let challenge = Base64.decode(token).flatMap(NTLMChallenge.init), let credential = attempt.credential,
                let message = NTLM.authenticateMessage(
                    challenge, credential: credential, host: side.host, freshness: freshness)
            else { return nil }
            return send(attempt.with(.ntlmAnswer(message)))
        case (.negotiate, .negotiate(let token?)):
            offers.swapAt(0, index)
            return .negotiate(attempt.space, challenge: token)
        case (.digest(let session), .digest(let challenge)):
            // B2.88: stale says that the password was right; the same nonce again is no way out.
            guard challenge.isStale, !challenge.nonce.hasSameBytes(as: session.nonce) else { return nil }
            return send(attempt.with(.digest(DigestSession(challenge, freshness: freshness)), isAhead: false))
        default:
            return nil
        }
    }

    private mutating func noteFailure(of attempt: Authorization) {
        if attempt.space.method == .negotiate {
            // The user's ticket has been refused, and would be again.
            closed.insert(attempt.space)
            offers.removeAll { $0.space == attempt.space }
            // B2.16: where no delegate was asked none is told of a failure.
            if wasTicketGiven {
                failures += 1
                rejected = nil
            }
            return
        }
        if isUnanswerable(attempt) {
            // B2.12: a message that cannot be answered is none, with any credential, and refuses none.
            closed.insert(attempt.space)
            offers.removeAll { $0.space == attempt.space }
            return
        }
        let realm = attempt.space.realm
        if realm == nil || offers.contains(where: { $0.space.realm == nil || $0.space.realm.hasSameBytes(as: realm) }) {
            failures += 1
            rejected = attempt.credential
        } else {
            failures = 0
            rejected = nil
        }
    }

    /// Whether the other side has gone on with NTLM's rounds, and `nextRound` had no answer.
    private func isUnanswerable(_ attempt: Authorization) -> Bool {
        guard attempt.opensNothing else { return false }
        return offers.contains {
            guard $0.space == attempt.space, case .ntlm(token: .some) = $0.kind else { return false }
            return true
        }
    }

    private mutating func askForNext() -> Step {
        guard let space = offers.first?.space, answers[space, default: 0] < Self.maximumAnswers else {
            return deliver()
        }
        return space.method == .negotiate && usesTicketUnasked
            ? .negotiate(space, challenge: nil) : .ask(space, failures: failures)
    }

    private mutating func send(_ authorization: Authorization) -> Step {
        attempt = authorization
        offers = []
        return .send(authorization)
    }

    private mutating func deliver() -> Step {
        offers = []
        return .deliver
    }
}
