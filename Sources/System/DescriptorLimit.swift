// How many descriptors the process may have, and what is left of them.
//
// Not all are for connections: Dispatch ends the process where it gets none for its timers, which it makes at some
// moment, or for a look at its own threads, which it takes once a second; and the look-up of a name opens files.
// Numbers are given out from the lowest, so that a new one tells how few are left.

/// The process's limit of descriptors.
package enum DescriptorLimit {
    /// How many there may be now; no limit counts as very many.
    package static var current: Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let outcome = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
            let outcome = getrlimit(RLIMIT_NOFILE, &limit)
        #endif
        return outcome == 0 ? Int(clamping: limit.rlim_cur) : Int.max
    }

    /// How many connections each of so many pools may keep unused that may have so many to one host: all of them a
    /// quarter of all descriptors, and half of them where a program wants that many to one host.
    ///
    /// Picked by feel: where there are very many descriptors, 256 are enough for a program that talks to many hosts.
    package static func idleConnections(perHost: Int, pools: Int, of descriptors: Int = current) -> Int {
        let pools = max(1, pools)
        let share = descriptors / pools
        return max(1, min(256 / pools, share / 4), min(perHost, share / 2))
    }

    /// Ends what a new descriptor is for where too few would be left.
    static func check(_ raw: Int32, call: String) throws(SystemError) {
        guard Int(raw) >= current - reserve else { return }
        throw SystemError(errno: EMFILE, call: call)
    }

    /// Why no file can be opened; nil where one can.
    static func shortage() -> SystemError? {
        let outcome = Platform.call { urlloading_eventfd(0) }
        guard outcome.failed else {
            Platform.closeDescriptor(outcome.value)
            return nil
        }
        let error = SystemError(errno: outcome.error, call: "open")
        return error.isOutOfDescriptors ? error : nil
    }

    /// Three that Dispatch keeps (epoll, eventfd, timerfd), one for its look at a thread, two for a look-up, and two
    /// for what is opened and refused here while those are in use.
    private static let reserve = 8
}
