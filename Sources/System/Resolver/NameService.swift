// The source of the addresses of names: the system, whose call blocks and so runs on a helper thread, or the program, which answers
// some time later. Must not know: which connection waits, and how long an answer is kept.

/// Looks names up.
package protocol NameService: Sendable {
    /// Whether names under "localhost" are its affair; if not, they are this machine without a question (RFC 6761 §6.3).
    var knowsLocalNames: Bool { get }

    /// Begins to look a name up, which is in lower case. `answer` is called once, on any thread, also before this returns, or after
    /// the question was called off. Nil where it cannot be called off.
    func ask(_ host: String, answer: @escaping @Sendable (NameAnswer) -> Void) -> (any NameQuestion)?
}

/// A look-up that can be called off.
package protocol NameQuestion: Sendable {
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
    let lookUp: @Sendable (String) -> Result<[SocketAddress], ResolverFailure>

    /// A host table may say something unexpected of "localhost".
    var knowsLocalNames: Bool { true }

    func ask(_ host: String, answer: @escaping @Sendable (NameAnswer) -> Void) -> (any NameQuestion)? {
        let isStarted = pool.run { [lookUp] in answer(NameAnswer(Self.orLoopback(host, lookUp(host)))) }
        if !isStarted {
            answer(
                NameAnswer(
                    .failure(
                        ResolverFailure(
                            reason: .failed, code: 0, host: host,
                            message: "No thread could be started to look up this name"))))
        }
        return nil
    }

    /// A machine whose host table has no "localhost" (a minimal container) still has one.
    private static func orLoopback(
        _ name: String, _ result: Result<[SocketAddress], ResolverFailure>
    ) -> Result<[SocketAddress], ResolverFailure> {
        guard name == "localhost", case .failure = result else { return result }
        return .success(SocketAddress.loopbacks)
    }
}

extension SocketAddress {
    /// This machine, as itself.
    static var loopbacks: [SocketAddress] {
        [SocketAddress(literal: "::1", port: 0), SocketAddress(literal: "127.0.0.1", port: 0)].compactMap { $0 }
    }
}
