// What handshakes of one loop wait for from threads that may wait for disks, locks and the program: verdicts that need
// files, hosts that are written down, and certificates that a storage of the program's own class has.
//
// Must not know: what is judged, and what is chosen from.

import URLLoadingSystem
import URLLoadingTrust

/// The completions of one loop's judgements, by number: they never leave the loop, the numbers do.
final class PendingJudgements {
    /// What was found elsewhere.
    enum Judgement: Sendable {
        case verdict(TrustVerdict)
        /// What a connection lacks that is demanded of it; nil for nothing.
        case violation(String?)
        /// Why a server that was believed is refused when it is to be remembered; nil where it is not.
        case learnt(TrustFailure?)
        /// Which certificate is shown by default.
        case identity(Identity?)
    }

    private static let key = ResidentKey<PendingJudgements>()

    /// The threads, which are not those of `BlockingPool.shared`: a file that another process keeps locked must hold up
    /// no other work.
    static let threads = BlockingPool(limit: 16, idleTime: .seconds(5), name: "urlloading-trust")

    private var completions: [Int: (Judgement) -> Void] = [:]
    private var lastID = 0

    /// The one of this reactor.
    static func of(_ reactor: Reactor) -> PendingJudgements {
        if let present = reactor.resident(key) { return present }
        let made = PendingJudgements()
        reactor.setResident(key, made)
        return made
    }

    /// The number under which what is judged elsewhere comes back.
    func add(_ completion: @escaping (Judgement) -> Void) -> Int {
        lastID &+= 1
        completions[lastID] = completion
        return lastID
    }

    /// Drops the completion: its handshake is over.
    func forget(_ id: Int) {
        completions[id] = nil
    }

    /// Says what was found; may be called on any thread.
    static func deliver(_ judgement: Judgement, to id: Int, on loop: Loop) {
        loop.run { reactor in reactor.resident(key)?.completions.removeValue(forKey: id)?(judgement) }
    }
}
