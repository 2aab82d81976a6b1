// A process that can start no thread. For tests in processes of their own, since all of the process is concerned.

import URLLoadingSystem

/// An address space that is full until `release()`: it leaves no room for the stack of a thread.
package struct FullAddressSpace: Sendable {
    private let before: rlimit

    /// Whether there can be one. A sanitizer's shadow memory takes terabytes of addresses, which no such
    /// limit can be set around.
    package static var isPossible: Bool { ProcessCounts.addressSpace() < 1 << 40 }

    /// Fills it, but for a little memory.
    package init() {
        var limit = rlimit()
        getrlimit(addressSpaceLimit, &limit)
        before = limit
        limit.rlim_cur = rlim_t(ProcessCounts.addressSpace() + (1 << 20))
        setrlimit(addressSpaceLimit, &limit)
    }

    /// From now on threads can be started again.
    package func release() {
        var limit = before
        setrlimit(addressSpaceLimit, &limit)
    }
}

#if canImport(Glibc)
    private let addressSpaceLimit = __rlimit_resource_t(RLIMIT_AS.rawValue)
#else
    private let addressSpaceLimit = RLIMIT_AS
#endif
