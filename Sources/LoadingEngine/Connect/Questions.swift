// Questions that stop a handshake until somebody, on any thread, answers. They are put to the receiver of the request for
// which the connection is being opened.
//
// A question is a value that names the handshake and counts how often that one has asked. The first answer to the one
// that is open counts; others, whenever they come, are ignored. A question that nobody answers is open until its
// request goes away; then the next request that waits for the connection is asked.

import LoadingPolicy
import TLS
import Trust

/// What a handshake waits for.
package enum ConnectionQuestion: Sendable {
    /// Whether the server is believed.
    case peer(PeerQuestion)
    /// Which client certificate it is shown.
    case identity(IdentityQuestion)
}

/// "May I talk to the holder of these certificates?"
package struct PeerQuestion: Sendable {
    /// Where the connection goes.
    package let origin: Origin
    /// What the server sent.
    package let chain: CertificateChain
    /// What a default evaluation applies.
    package let policy: TrustPolicy
    /// Who makes the default evaluation.
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
    /// Where the connection goes.
    package let origin: Origin
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

/// What came back.
enum QuestionAnswer: Sendable {
    case peer(PeerQuestion.Answer)
    case identity(IdentityQuestion.Answer)

    var isCancellation: Bool {
        switch self {
        case .peer(.cancel), .identity(.cancel): true
        case .peer, .identity: false
        }
    }
}

/// The way of an answer to the loop.
struct QuestionReply: Sendable {
    let port: EnginePort
    let connection: ConnectionID
    let number: Int

    func send(_ answer: QuestionAnswer) {
        port.tell { [connection, number] core in core.pool.answered(connection, number, answer) }
    }
}
