// The source of the addresses of names: the system, whose call blocks and so runs on a helper thread, or the program,
// which answers some time later. Must not know: which connection waits, and how long an answer is kept.

import Synchronization

/// Looks names up.
package protocol NameService: Sendable {
    /// Whether names under "localhost" are its affair; if not, they are this machine without a
    /// question (RFC 6761 §6.3).
    var knowsLocalNames: Bool { get }

    /// Begins to look a name up, which is in lower case. `answer` is called once, on any thread, also before this
    /// returns, or after the question was called off, if then at all. Nil where it cannot be called off.
    func ask(_ host: String, answer: @escaping @Sendable (NameAnswer) -> Void) -> (any NameQuestion)?
}

/// A look-up that can be called off.
package protocol NameQuestion: Sendable {
    /// Whether it can be called off still. Where it says so, `cancel` follows. Called under a lock: it
    /// must call nothing of others.
    func withdraw() -> Bool

    /// The answer is not wanted any more.
    func cancel()
}

/// What a name service says.
package struct NameAnswer: Sendable {
    /// The addresses, whose ports are 0, without repetition and at least one; or why there are none.
    package let result: Result<[SocketAddress], ResolverFailure>
    /// For how long the addresses are good; nil where the service cannot tell.
    package let lifetime: Duration?

    /// Makes an answer.
    package init(_ result: Result<[SocketAddress], ResolverFailure>, lifetime: Duration? = nil) {
        self.result = result
        self.lifetime = lifetime
    }
}

/// The system's.
struct SystemNameService: NameService {
    let pool: BlockingPool
    let hosts: HostsFile
    let lookUp: @Sendable (String) -> Result<[SocketAddress], ResolverFailure>

    /// A host table may say something unexpected of "localhost".
    var knowsLocalNames: Bool { true }

    func ask(_ host: String, answer: @escaping @Sendable (NameAnswer) -> Void) -> (any NameQuestion)? {
        let question = QueuedLookup()
        // B16.14: what no server is asked for stands behind nothing that one is.
        let pool = NameLookup.isOfThisMachine(host) ? BlockingPool.localNames : pool
        let work: @Sendable () -> Void = { [lookUp] in
            if question.begin() { answer(NameAnswer(Self.orLoopback(host, lookUp(host)))) }
        }
        let isStarted = pool.run(work)
        guard isStarted else {
            let failure = ResolverFailure(
                reason: .failed, code: 0, host: host, message: "No thread could be started to look up this name",
                shortage: SystemError(errno: EAGAIN, call: "pthread_create"))
            answer(NameAnswer(Self.orLoopback(host, .failure(failure))))
            return nil
        }
        // Behind names of servers that are silent it may stand for half a minute. Whichever thread comes first begins.
        if pool.isFull {
            BlockingPool.knownNames.run { [hosts] in
                if !question.isOver, hosts.has(host) { work() }
            }
        }
        return question
    }

    /// A machine whose host table has no "localhost" (a minimal container) still has one.
    private static func orLoopback(
        _ name: String, _ result: Result<[SocketAddress], ResolverFailure>
    ) -> Result<[SocketAddress], ResolverFailure> {
        guard name == "localhost", case .failure = result else { return result }
        return .success(SocketAddress.loopbacks)
    }
}

/// A look-up that waits for a thread. Once it has begun nothing stops it, and its answer serves what asks next.
private final class QueuedLookup: NameQuestion {
    /// Whether it has begun, or never will.
    private let isSettled = Atomic(false)

    /// Whether there is nothing to begin any more.
    var isOver: Bool { isSettled.load(ordering: .relaxed) }

    /// Whether it is to be made.
    func begin() -> Bool { settle() }

    func withdraw() -> Bool { settle() }

    /// Its thread passes it over.
    func cancel() {}

    private func settle() -> Bool { !isSettled.exchange(true, ordering: .relaxed) }
}

extension SocketAddress {
    /// This machine, as itself.
    static var loopbacks: [SocketAddress] {
        [SocketAddress(literal: "::1", port: 0), SocketAddress(literal: "127.0.0.1", port: 0)].compactMap { $0 }
    }
}
