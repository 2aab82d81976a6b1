// Numbers for the delegates of tasks that judge connections: one for each as long as it lives, and never used for
// another, whereas the address of a delegate that is gone may be its successor's.

import Synchronization
import URLLoadingPolicy

/// A task's delegate that passes its questions on to another object.
package protocol DelegateStandIn: AnyObject {
    /// The object that answers.
    var principal: AnyObject? { get }
}

/// The delegates that judge connections in a session beside the session itself.
final class TaskJudges: Sendable {
    private let state = Mutex(State())

    private struct State: Sendable {
        var known: [ObjectIdentifier: Known] = [:]
        var latest = 0
        /// How many are known before those that have gone are forgotten.
        var limit = 32
    }

    private struct Known: Sendable {
        // Guarded by the mutex of `state`; only asked whether it is still there.
        nonisolated(unsafe) weak var object: AnyObject?
        let number: Int
    }

    /// The judge that a delegate is, which the caller holds.
    func judge(_ delegate: any URLSessionDelegate) -> ConnectionJudge {
        let object = (delegate as? any DelegateStandIn)?.principal ?? delegate
        let place = ObjectIdentifier(object)
        // The closure below only asks whether it is there, under the lock, while this call holds it.
        nonisolated(unsafe) let shown = object
        // Order: a delegate that is looked for may lose its last owner meanwhile. It goes when the lock is free, since
        // its deinit may call the session.
        var found: [AnyObject] = []
        defer { withExtendedLifetime((object, found)) {} }
        return state.withLock { state in
            // An object that is gone has left its entry, and its successor may have the same place.
            if let known = state.known[place], known.object != nil { return .delegate(known.number) }
            if state.known.count >= state.limit {
                state.known = state.known.filter { entry in
                    guard let object = entry.value.object else { return false }
                    found.append(object)
                    return true
                }
                state.limit = max(32, 2 * state.known.count)
            }
            state.latest += 1
            state.known[place] = Known(object: shown, number: state.latest)
            return .delegate(state.latest)
        }
    }
}
