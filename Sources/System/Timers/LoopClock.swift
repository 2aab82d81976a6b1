// Where loops begin to count time. One moment for the process, so that times of different loops compare.

/// The clock of all loops.
package enum LoopClock {
    /// The moment at which `Reactor.elapsed` was zero.
    package static let epoch = ContinuousClock.now - .nanoseconds(Platform.continuousNanoseconds &- start)

    // Measured: a `ContinuousClock.Instant` and what is reckoned with it cost a turn several times the reading of the
    // clock, so it is read by its number. The two stand apart because a pair of them is copied by way of metadata.
    private static let start = Platform.continuousNanoseconds

    /// Whole nanoseconds since the epoch.
    static var nanoseconds: Int64 {
        Machine.simulated?.nanoseconds ?? (Platform.continuousNanoseconds &- start)
    }

    /// The moment so many nanoseconds after the epoch.
    package static func instant(_ nanoseconds: Int64) -> ContinuousClock.Instant {
        epoch + .nanoseconds(nanoseconds)
    }

    /// The time since the epoch.
    package static var elapsed: Duration { Duration(wholeNanoseconds: nanoseconds) }
}
