// The way back of an answer: from a helper thread to the loop that asked.

/// A closure on a loop that waits for a look-up.
struct LookupWaiter: Sendable {
    let loop: Loop
    let id: Int

    /// Whether these are the same.
    func isSame(as other: LookupWaiter) -> Bool { id == other.id && loop === other.loop }

    /// Sends the answer to the loop; may be called on any thread.
    func deliver(_ result: Result<[SocketAddress], ResolverFailure>) {
        loop.submit(LookupAnswer(id: id, result: result))
    }
}

/// An answer on its way.
private final class LookupAnswer: LoopCommand {
    private let id: Int
    private let result: Result<[SocketAddress], ResolverFailure>

    init(id: Int, result: Result<[SocketAddress], ResolverFailure>) {
        self.id = id
        self.result = result
    }

    func run(on reactor: Reactor) {
        reactor.resident(PendingLookups.key)?.finish(id, result)
    }

    /// A loop that has asked has a thread.
    func couldNotRun(_ error: SystemError, on reactor: Reactor) {}
}

/// The completions of one loop's look-ups, by number: they never leave the loop, the numbers do.
final class PendingLookups {
    static let key = ResidentKey<PendingLookups>()

    private var completions: [Int: (Result<[SocketAddress], ResolverFailure>) -> Void] = [:]
    private var lastID = 0

    /// The one of this reactor.
    static func of(_ reactor: Reactor) -> PendingLookups {
        if let present = reactor.resident(key) {
            return present
        }
        let made = PendingLookups()
        reactor.setResident(key, made)
        return made
    }

    func add(_ completion: @escaping (Result<[SocketAddress], ResolverFailure>) -> Void) -> Int {
        lastID += 1
        completions[lastID] = completion
        return lastID
    }

    func forget(_ id: Int) {
        completions[id] = nil
    }

    func finish(_ id: Int, _ result: Result<[SocketAddress], ResolverFailure>) {
        completions.removeValue(forKey: id)?(result)
    }
}
