// A gate that a test opens when it has seen what it waited for: the server stops in the middle of an answer without
// a guess at how long something takes. Knows nothing of connections.

import Synchronization

/// Stops a scripted or slow answer until the test opens it; once open it stays open.
package final class ServerGate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// A closed gate.
    package init() {}

    /// Lets everything that waits here, and all that comes later, go on.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            let waiting = state.waiting
            state.waiting = []
            return waiting
        }
        for resume in waiting { resume() }
    }

    /// Calls `resume` once the gate is open, at once where it is; on the thread that opens it.
    package func whenOpen(_ resume: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if !state.isOpen { state.waiting.append(resume) }
            return state.isOpen
        }
        if isOpen { resume() }
    }
}
