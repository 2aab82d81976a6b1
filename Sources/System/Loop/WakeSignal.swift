// An eventfd that ends another thread's wait. Shared by all that may have to wake that thread, so that its number stays
// open while a late waker still holds it.

/// Wakes a thread that waits on its descriptor.
package final class WakeSignal: Sendable {
    private let descriptor: Descriptor

    var raw: Int32 { descriptor.raw }

    /// `counting`: each `signal()` lets one waiter through; otherwise signals add up to one.
    package init(counting: Bool) throws(SystemError) {
        let outcome = Platform.call { urlloading_eventfd(counting ? 1 : 0) }
        if outcome.failed {
            throw SystemError(errno: outcome.error, call: "eventfd")
        }
        descriptor = Descriptor(owning: outcome.value)
    }

    /// Ends a wait, or the next one.
    package func signal() {
        Platform.wake(descriptor.raw)
    }

    /// Waits for a signal and takes it; false when the time passed first.
    ///
    /// -1 waits for ever.
    package func wait(milliseconds: Int32) -> Bool {
        while Platform.waitReadable(descriptor.raw, milliseconds: milliseconds) {
            // Another waiter may have taken the signal that woke this one.
            if Platform.takeToken(descriptor.raw) {
                return true
            }
        }
        return false
    }
}
