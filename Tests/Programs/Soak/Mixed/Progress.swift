// How far the load is, whatever it is carried by.

import Synchronization

/// Counts exercises, and the workers that carry them out.
final class Progress: Sendable {
    private let state = Mutex((exercises: 0, endedWorkers: 0))

    /// A number for what begins now.
    func nextExercise() -> Int {
        state.withLock { state in
            state.exercises += 1
            return state.exercises
        }
    }

    /// A worker has made its last request, and has seen its end.
    func workerEnded() { state.withLock { $0.endedWorkers += 1 } }

    var endedWorkers: Int { state.withLock(\.endedWorkers) }
}
