// How far a task has come in proving its credentials: to the server of its hop, and to a proxy on the way there.
//
// Values; `TaskCore` keeps them behind its Mutex. Must not know: delegates, storages, fields.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

/// What a task has been asked and has answered.
struct AuthenticationProgress: Sendable {
    private var server: AuthenticationRounds?
    private var proxy: AuthenticationRounds?
    /// The request of the hop goes out once more, with what the rounds say.
    var goesAgain = false
    /// The request of the hop goes out without its body.
    var withholdsBody = false
    /// The request after which a connection was kept for the next round.
    var kept: RequestID?
    /// What that was for the request under way.
    var lastKept: RequestID?
    /// What requests of this task alone go out with unasked: the credentials were given for one answer (B2.53).
    var own = RememberedSpaces()
    /// How often a storage was asked; the answer to one question is none to a later one.
    var lookups = 0
    /// Questions of proxies that do not open a tunnel, and answers to them: tells the last answer from others, which
    /// the tunnels that they open say nothing about.
    var tunnelSteps = 0
    /// The user that a URL of the task has named last; later URLs of the same origin mean the same one (B2.74).
    private var user: URLUserInformation?

    /// The rounds with one side. Those with another server or proxy before are forgotten: counting begins anew (B2.17).
    subscript(side: AuthenticationSide) -> AuthenticationRounds? {
        get {
            let rounds =
                switch side {
                case .server: server
                case .proxy: proxy
                }
            return rounds?.side == side ? rounds : nil
        }
        set {
            switch side {
            case .server: server = newValue
            case .proxy: proxy = newValue
            }
        }
    }

    /// The rounds that there are.
    var rounds: [AuthenticationRounds] { [server, proxy].compactMap(\.self) }

    /// The user for an origin, when the URL of the hop names this one, or none.
    mutating func user(_ named: URLUserInformation?, of origin: Origin) -> URLUserInformation? {
        if let named { user = named }
        return user?.origin == origin ? user : nil
    }

    /// A redirect is followed: what was proven before is no part of the next request, unless it is remembered.
    mutating func redirected() {
        server?.authorization = nil
        proxy?.authorization = nil
    }

    /// A redirect leads away from a URL that names this user.
    mutating func note(_ named: URLUserInformation) { user = named }

    /// The connection has gone to which the request was to prove its user. Whether that is proven
    /// anew, from the first message.
    mutating func beginAnew() -> Bool {
        let (isServers, isProxys) = (server?.beginAnew() ?? false, proxy?.beginAnew() ?? false)
        guard isServers || isProxys else { return false }
        // H1.7: what continues another request goes over HTTP/1.1, also where nothing is kept.
        kept = lastKept
        return true
    }

    /// A request whose body was withheld was not refused: what was offered with it has no answer. Returns what was
    /// forgotten, which may be the program's.
    mutating func passedWithoutBody() -> [CredentialOffer] {
        withholdsBody = false
        return [server?.passedWithoutBody(), proxy?.passedWithoutBody()].compactMap(\.self)
    }

    /// The exchange was lost: what it was to prove is proven anew. Returns what was forgotten,
    /// which may be the program's.
    mutating func lost() -> [CredentialOffer] {
        [server?.forgetUnanswered(), proxy?.forgetUnanswered()].compactMap(\.self)
    }
}

/// The rounds with one server or proxy.
struct AuthenticationRounds: Sendable {
    let side: AuthenticationSide
    var machine: AuthenticationMachine
    /// What the next request proves itself with.
    var authorization: Authorization?
    /// What was given for the last question, until the other side has said yes or no.
    var offer: CredentialOffer?
    /// What the other side refused last.
    var refused: URLCredential?
    /// What needs not be tried again (B2.48).
    var tried: [CredentialOffer] = []
    /// How often the rounds have begun anew, since their connection was lost.
    private var beginnings = 0
    /// It is for a CONNECT, and no request of the task bears it.
    var isTunnels = false
    /// An offer without the body has passed, where none was needed: the next one takes the body along.
    private var takesBodyAlong = false
    /// How often a SOCKS proxy has refused a password.
    var socksRefusals = 0
    /// The rounds of the system's library, and why it could not go on.
    var negotiation: NegotiateRounds?
    var negotiationFailure: NegotiateFailure?

    init(side: AuthenticationSide, usesTicketUnasked: Bool) {
        self.side = side
        machine = AuthenticationMachine(side: side, usesTicketUnasked: usesTicketUnasked)
    }

    /// A request goes out with what the session remembers, or its task alone.
    mutating func begin(_ ahead: Authorization, isTasksOwn: Bool = false, isTunnel: Bool = false) {
        machine.sentAhead(ahead)
        authorization = ahead
        isTunnels = isTunnel
        guard let credential = ahead.credential else { return }
        // Should it be refused, it is what the delegate is shown, and needs not be tried again (B2.78).
        note(
            CredentialOffer(
                credential: URLCredential(user: credential.user, password: credential.password, persistence: .none),
                space: URLProtectionSpace(ahead.space, isTunnel: isTunnel), isDelegates: false, isTasksOwn: isTasksOwn))
    }

    /// Whether something was sent on which the other side has still to say yes or no.
    var awaitsVerdict: Bool { authorization != nil || offer != nil }

    /// Whether an answer that is no refusal says nothing about the password: NTLM's first message was let pass, which
    /// does not bear it. A tunnel that its third message has opened is known of before anything comes through it; else
    /// the first one, which takes the third's place on another connection, has opened that.
    var isUnchecked: Bool {
        guard let authorization else { return false }
        return authorization.opensNothing || isTunnels && authorization.answersConnection
    }

    /// Whether what the next request proves itself with may only go out on the connection that was kept:
    /// else the rounds begin anew.
    var needsKept: Bool { !isTunnels && beginning != nil }

    /// What the rounds begin anew with, should the connection go to which the next request or CONNECT belongs; nil
    /// where nothing depends on that, or it has happened often enough.
    var beginning: Authorization? { beginnings < Self.mostBeginnings ? authorization?.beginning : nil }

    /// The connection has gone, and so has what it was told: the rounds begin anew. False where they do not.
    mutating func beganAnew() -> Bool {
        guard beginning != nil, let offer = machine.connectionLost() else { return false }
        beginnings += 1
        authorization = offer
        return true
    }

    fileprivate mutating func beginAnew() -> Bool { needsKept && beganAnew() }

    /// Picked by feel: a server that closes the connection in each round never says yes or no.
    private static let mostBeginnings = 2

    /// Whether the next request goes without its body: it is refused in any case, by many servers before they have read
    /// the body, and its connection has to stay (B2.93).
    var withholdsBody: Bool { !isTunnels && !takesBodyAlong && authorization?.opensNothing == true }

    fileprivate mutating func passedWithoutBody() -> CredentialOffer? {
        guard withholdsBody else { return nil }
        takesBodyAlong = true
        return forgetUnanswered()
    }

    /// The other side has refused what it was given.
    mutating func noteRefusal() {
        if let offer { refused = offer.credential }
        offer = nil
        authorization = nil
    }

    /// The other side has accepted it; whatever it refuses after that is a new question. What it has refused before
    /// needs not be tried again all the same (B2.48).
    mutating func noteAcceptance() {
        if offer.take() != nil { _ = tried.popLast() }
        authorization = nil
        refused = nil
        socksRefusals = 0
        negotiation = nil
    }

    /// What was given is not answered, and never will be: it may be given again, and no failure is counted. Returns
    /// what was forgotten, which may be the program's.
    mutating func forgetUnanswered() -> CredentialOffer? {
        machine.lost()
        authorization = nil
        return offer.take() == nil ? nil : tried.popLast()
    }

    /// A credential is about to be tried.
    mutating func note(_ offer: CredentialOffer) {
        self.offer = offer
        tried.append(offer)
    }

    /// Whether a credential is known not to open a space; asks credentials, which may be of the program's own classes.
    func hasTried(_ credential: URLCredential, for space: URLProtectionSpace) -> Bool {
        tried.contains {
            $0.space == space && $0.credential.user == credential.user && $0.credential.password == credential.password
        }
    }
}

/// A credential that answers a question.
struct CredentialOffer: Sendable {
    let credential: URLCredential
    let space: URLProtectionSpace
    /// Whether a delegate gave it, so that it is stored when it is accepted (B2.67).
    let isDelegates: Bool
    /// Whether it was given for one answer, so that no other task goes out with it when it is accepted (B2.53).
    var isTasksOwn = false
}

extension TaskState {
    /// Whether the hop, whose connection has gone, goes out once more from the first message that proves who asks
    /// (B2.93). Nothing was refused.
    mutating func beginsRoundsAnew() -> Bool {
        guard isAuthenticating, authentication.beginAnew() else { return false }
        authentication.goesAgain = true
        return goesAgain()
    }

    /// Whether the hop that is being made, which has a body, goes out without it (B2.93); notes that.
    mutating func withholdsBody() -> Bool {
        guard isAuthenticating else { return false }
        let withholds = authentication.rounds.contains { $0.withholdsBody }
        authentication.withholdsBody = withholds
        return withholds
    }

    /// The user whom the URL of a hop names for a server, or that of a hop before; none for a proxy.
    mutating func user(namedBy url: URL?, for side: AuthenticationSide) -> URLUserInformation? {
        guard case .server(let origin, _) = side else { return nil }
        let named = url.flatMap(URLUserInformation.init)
        // Most URLs name no user, and their tasks need no room for one.
        guard named != nil || isAuthenticating else { return nil }
        return authentication.user(named, of: origin)
    }

    /// A redirect leads away from the current request: later URLs of the same origin mean the user whom its URL names
    /// (B2.74).
    mutating func noteUserBeforeRedirect() {
        if let user = currentRequest?.url.flatMap(URLUserInformation.init) { authentication.note(user) }
    }
}
