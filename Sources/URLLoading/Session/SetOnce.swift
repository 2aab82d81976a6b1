// Room for one object, found without a lock by whoever looks for it, and hardly ever or for ever there.

import Synchronization

/// Room for one object, which once it is there stays.
struct SetOnce<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    // Measured: `AtomicLazyReference` looks its type up each time, which made a small GET a quarter dearer.
    private let place = Atomic<Unmanaged<Object>?>(nil)

    /// The object, if there is one.
    var value: Object? { place.load(ordering: .acquiring)?.takeUnretainedValue() }

    /// Puts an object there, unless there is one already; whether it is this one.
    @discardableResult
    func set(_ object: Object) -> Bool {
        let new = Unmanaged.passRetained(object)
        if place.compareExchange(expected: nil, desired: new, ordering: .acquiringAndReleasing).exchanged {
            return true
        }
        new.release()
        return false
    }

    deinit {
        place.load(ordering: .acquiring)?.release()
    }
}
