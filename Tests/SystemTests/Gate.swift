import Dispatch
import URLLoadingSystem

/// Holds helper threads until it is opened; afterwards every thread passes.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func pass() {
        semaphore.wait()
        semaphore.signal()
    }

    func open() {
        semaphore.signal()
    }

    deinit {
        // A semaphore must not go with less than it began with.
        semaphore.signal()
    }
}

/// The calling thread as a number.
func currentThread() -> UInt {
    #if canImport(Glibc)
        UInt(pthread_self())
    #else
        UInt(bitPattern: pthread_self())
    #endif
}
