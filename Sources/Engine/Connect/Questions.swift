// Questions that stop a handshake until they are answered, on any thread. They are put to the receiver of the request
// for which the connection is being opened.
//
// A question is a value that names the handshake and counts how often that one has asked. The first answer to the one
// that is open counts; others, whenever they come, are ignored. A question that is not answered is open until its
// request goes away; then the next request that waits for the connection is asked.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust
import URLLoadingWire

/// What a handshake waits for.
package enum ConnectionQuestion: Sendable {
    /// Whether the server is believed.
    case peer(PeerQuestion)
    /// Which client certificate it is shown.
    case identity(IdentityQuestion)
    /// Which name and password a proxy is shown.
    case proxy(ProxyQuestion)
}

extension ConnectionQuestion {
    /// The judge of the connection has no say in this: the connection is the session's, and all requests of the session
    /// may use it. Called before the answer, which is then the session's.
    package func leaveToSession() {
        switch self {
        case .peer(let question): question.reply.leaveToSession()
        case .identity(let question): question.reply.leaveToSession()
        case .proxy: break
        }
    }
}

/// "May I talk to the holder of these certificates?"
package struct PeerQuestion: Sendable {
    /// Where the connection goes; the place of the proxy, where one has sent the certificates (B13.21).
    package let origin: Origin
    /// The proxy that has sent them, if it was one.
    package var proxy: ProxyServer?
    /// What the server sent.
    package let chain: CertificateChain
    /// What a default evaluation applies.
    package let policy: TrustPolicy
    /// The evaluator that makes the default evaluation.
    package let evaluator: any TrustEvaluator
    let reply: QuestionReply

    /// What is made of the peer.
    package enum Answer: Sendable {
        /// It is believed, whatever an evaluation would say (B2.43).
        case accept
        /// The default evaluation decides (B2.36).
        case evaluate
        /// It is not believed, and the request that was asked fails with this reason.
        case refuse(TrustFailure)
        /// The request that was asked ends with `EngineError.cancelled` (B2.38).
        case cancel
    }

    /// Answers; the handshake goes on or ends.
    package func answer(_ answer: Answer) {
        reply.send(.peer(answer))
    }
}

/// "Which certificate shall I show?"
package struct IdentityQuestion: Sendable {
    /// Where the connection goes; the place of the proxy, where one asks.
    package let origin: Origin
    /// The proxy that asks, if it is one.
    package var proxy: ProxyServer?
    /// The names of the authorities the server accepts, DER; empty means any.
    package let acceptableIssuers: [[UInt8]]
    /// What is shown by default.
    package let usual: Identity?
    let reply: QuestionReply

    /// What the server is shown.
    package enum Answer: Sendable {
        /// This certificate; without one the list is empty, and the server decides (B2.41).
        case show(Identity?)
        /// The request that was asked ends with `EngineError.cancelled` (B2.38).
        case cancel
    }

    /// Answers; the handshake goes on or ends.
    package func answer(_ answer: Answer) {
        reply.send(.identity(answer))
    }
}

/// "What are your name and password?", asked by a proxy before it opens a tunnel.
package struct ProxyQuestion: Sendable {
    /// The proxy that asks.
    package let proxy: ProxyServer
    /// Where the tunnel is to go.
    package let origin: Origin
    /// What it wants.
    package let demand: Demand
    /// Whether no question of the proxy was answered for this connection before, so that it has refused no answer.
    package let isFirst: Bool
    /// With what the CONNECT went out unasked that the proxy has refused; nil where it bore no proof, or an answer.
    package let ahead: Authorization?
    /// Whether the connection had gone on which the last answer was worth something, so that its `beginning` went out,
    /// which the proxy has refused now.
    package let beganAnew: Bool
    let reply: QuestionReply

    /// What a proxy can want.
    package enum Demand: Sendable {
        /// It answered CONNECT with 407; the target is CONNECT's, in authority form (B2.100).
        case http(ResponseHead, target: String)
        /// It wants a user name and a password, or others than it was given (B13.28).
        case socksPassword
    }

    /// Called on the loop, once at most: the proxy has taken the answer and opened the tunnel, whatever becomes of what
    /// is behind it. The head is that of its answer to CONNECT; nil where it does not speak HTTP.
    package typealias Acceptance = @Sendable (ResponseHead?, Reactor) -> Void

    /// What it is told.
    package enum Answer: Sendable {
        /// CONNECT goes out again with this value of Proxy-Authorization, on the same connection if that still stands;
        /// on another one with `beginning` in its place, where there is one, and then nothing is accepted yet.
        case authorize(String, beginning: String? = nil, accepted: Acceptance? = nil)
        /// These are sent to a SOCKS proxy, on a new connection.
        case password(user: String, password: String, accepted: Acceptance? = nil)
        /// Nothing: the request that was asked fails with `EngineError.proxy`.
        case giveUp
        /// The request that was asked ends with `EngineError.cancelled` (B2.38).
        case cancel
    }

    /// Answers; the connection goes on being opened, or ends.
    package func answer(_ answer: Answer) {
        reply.send(.proxy(answer))
    }
}

/// What came back.
enum QuestionAnswer: Sendable {
    case peer(PeerQuestion.Answer)
    case identity(IdentityQuestion.Answer)
    case proxy(ProxyQuestion.Answer)

    var isCancellation: Bool {
        switch self {
        case .peer(.cancel), .identity(.cancel), .proxy(.cancel): true
        case .peer, .identity, .proxy: false
        }
    }
}

/// The way of an answer to the loop.
struct QuestionReply: Sendable {
    let port: EnginePort
    let connection: ConnectionName
    let number: Int

    func send(_ answer: QuestionAnswer) {
        port.tell { [connection, number] core in core.answered(connection, number, answer) }
    }

    func leaveToSession() {
        port.tell { [connection, number] core in core.leftToSession(connection, number) }
    }
}
