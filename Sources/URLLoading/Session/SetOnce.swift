// Room for one object that is put there once and stays. It is read without a lock.

import Synchronization

/// Room for one object, which stays once it is there.
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
