// Where loops begin to count time. One moment for the process, so that times of different loops compare.

/// The clock of all loops.
package enum LoopClock {
    /// The moment at which `Reactor.elapsed` was zero.
    package static let epoch = ContinuousClock.now

    /// The moment so many nanoseconds after the epoch.
    package static func instant(_ nanoseconds: Int64) -> ContinuousClock.Instant {
        epoch + .nanoseconds(nanoseconds)
    }

    /// The time since the epoch.
    package static var elapsed: Duration { epoch.duration(to: .now) }
}
