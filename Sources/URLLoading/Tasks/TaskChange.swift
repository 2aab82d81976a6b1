// What a data task has become, where a delegate has wanted it to go on as something else. It is looked at for every step of every
// task, and hardly ever there.

import Synchronization

/// What a data task has become (B1.68, B1.70).
final class TaskChange: Sendable {
    let outlet: TaskOutlet?
    let kind: TaskKind?

    private init(outlet: TaskOutlet?, kind: TaskKind?) {
        self.outlet = outlet
        self.kind = kind
    }

    /// Its body goes to a file.
    static func download() -> TaskChange { TaskChange(outlet: .file(.delegate), kind: nil) }

    /// It is a connection.
    static func stream(_ calls: StreamCalls) -> TaskChange { TaskChange(outlet: nil, kind: .stream(calls)) }
}

/// Room for one change, which once it is there stays.
struct TaskChangePlace: ~Copyable, Sendable {
    // Measured: `AtomicLazyReference` looks its type up each time, which made a small GET a quarter dearer.
    private let place = Atomic<Unmanaged<TaskChange>?>(nil)

    /// The change, if there has been one.
    var change: TaskChange? { place.load(ordering: .acquiring)?.takeUnretainedValue() }

    /// Notes a change; the first counts.
    func note(_ change: TaskChange) {
        let new = Unmanaged.passRetained(change)
        if !place.compareExchange(expected: nil, desired: new, ordering: .acquiringAndReleasing).exchanged {
            new.release()
        }
    }

    deinit {
        place.load(ordering: .acquiring)?.release()
    }
}
