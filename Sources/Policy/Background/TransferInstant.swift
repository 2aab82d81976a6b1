// Time that outlives processes. A journal cannot keep a moment of the clock that only goes forward, since that begins
// anew with the machine; and the calendar's clock is set forward and back. So both are noted, with a number of the
// machine's running: within one running the first is believed, across two the second, but never backwards (B10.41).
//
// It must not know a clock: code that has one makes the instants.

/// A moment by both clocks, in milliseconds.
package struct TransferInstant: Sendable, Hashable {
    /// Since the beginning of 1970, by the calendar's clock.
    package var wall: Int64
    /// Since the machine was started, its sleep included.
    package var uptime: Int64
    /// Which running of the machine it is; 0 where that is not known.
    package var boot: UInt64

    /// Makes a moment; what lies beyond a million years is brought back.
    package init(wall: Int64, uptime: Int64, boot: UInt64) {
        self.wall = min(max(wall, -Self.limit), Self.limit)
        self.uptime = min(max(uptime, 0), Self.limit)
        self.boot = boot
    }

    /// How many milliseconds lie between an earlier moment and this one; never below 0, whatever was done to the clock.
    package func elapsed(since earlier: TransferInstant) -> Int64 {
        if boot != 0, boot == earlier.boot { return max(0, uptime - earlier.uptime) }
        return max(0, wall - earlier.wall)
    }

    /// Keeps sums of two from overflowing.
    static let limit: Int64 = 31_557_600_000_000_000
}

/// How much of its time a transfer has had (B6.5, B10.22).
package struct TransferLifetime: Sendable, Hashable {
    /// How long it may take in all, in milliseconds; nil for as long as it takes.
    package var allowed: Int64?
    /// How long it had taken when that was last noted.
    package var spent: Int64
    /// When it was noted.
    package var noted: TransferInstant

    /// A life that begins now.
    package init(allowed: Int64?, from now: TransferInstant) {
        self.init(allowed: allowed, spent: 0, noted: now)
    }

    /// A life that was written down; numbers that cannot be are brought back.
    package init(allowed: Int64?, spent: Int64, noted: TransferInstant) {
        self.allowed = allowed.map { min(max($0, 0), TransferInstant.limit) }
        self.spent = min(max(spent, 0), TransferInstant.limit)
        self.noted = noted
    }

    /// Notes what has passed. To be called before a journal is written: from then on the clock may be moved.
    package mutating func note(_ now: TransferInstant) {
        spent = min(spent + now.elapsed(since: noted), TransferInstant.limit)
        noted = now
    }

    /// What is left, in milliseconds, 0 if nothing is; nil without a limit.
    package func remaining(_ now: TransferInstant) -> Int64? {
        allowed.map { max(0, $0 - min(spent + now.elapsed(since: noted), TransferInstant.limit)) }
    }
}
