// Questions that stop a handshake until somebody, on any thread, answers.
//
// Each is answered once; later answers are ignored. One that is dropped without an answer is answered by its
// end, so that no handshake waits for somebody who has gone.

import LoadingPolicy
import Sockets
import Synchronization
import TLS
import Trust

/// "May I talk to the holder of these certificates?"
package final class PeerQuestion: Sendable {
    /// Where the connection goes.
    package let origin: Origin
    /// What the server sent.
    package let chain: CertificateChain
    /// What a default evaluation would apply.
    package let policy: TrustPolicy
    private let reply: OnceReply<TrustVerdict>

    init(
        origin: Origin, chain: CertificateChain, policy: TrustPolicy, reply: @escaping @Sendable (TrustVerdict) -> Void
    ) {
        self.origin = origin
        self.chain = chain
        self.policy = policy
        self.reply = OnceReply(reply)
    }

    /// Answers; the handshake goes on or ends.
    package func answer(_ verdict: TrustVerdict) {
        reply.send(verdict)
    }

    deinit {
        reply.send(.refused(TrustFailure(.other("nobody answered whether it is to be trusted"), chain.leaf)))
    }
}

/// "Which certificate shall I show?"
package final class IdentityQuestion: Sendable {
    /// Where the connection goes.
    package let origin: Origin
    /// The names of the authorities the server accepts, DER; empty means any.
    package let acceptableIssuers: [[UInt8]]
    private let reply: OnceReply<Identity?>

    init(origin: Origin, acceptableIssuers: [[UInt8]], reply: @escaping @Sendable (Identity?) -> Void) {
        self.origin = origin
        self.acceptableIssuers = acceptableIssuers
        self.reply = OnceReply(reply)
    }

    /// Answers; `nil` goes on without a certificate.
    package func answer(_ identity: Identity?) {
        reply.send(identity)
    }

    deinit {
        reply.send(nil)
    }
}

/// Passes the first answer on and ignores the rest.
private final class OnceReply<Answer: Sendable>: Sendable {
    private let isSent = Atomic<Bool>(false)
    private let reply: @Sendable (Answer) -> Void

    init(_ reply: @escaping @Sendable (Answer) -> Void) {
        self.reply = reply
    }

    func send(_ answer: Answer) {
        if isSent.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged {
            reply(answer)
        }
    }
}
