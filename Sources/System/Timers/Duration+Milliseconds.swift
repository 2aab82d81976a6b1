// Durations as the system's waiting calls and the loops' clock want them. By `attoseconds`, which compiles to a few
// instructions; `components` is a call into the library that divides twice.

extension Duration {
    /// So many nanoseconds.
    init(wholeNanoseconds: Int64) {
        self.init(attoseconds: Int128(wholeNanoseconds) &* 1_000_000_000)
    }

    /// Whole nanoseconds, rounded down; far beyond the age of any process they wrap.
    package var wholeNanoseconds: Int64 {
        Int64(truncatingIfNeeded: attoseconds / 1_000_000_000)
    }

    /// Whole milliseconds, rounded up: waking early would only mean waiting again.
    ///
    /// Between 0 and an hour; a wake-up too many is harmless.
    var wholeMilliseconds: Int32 {
        let attoseconds = attoseconds
        guard attoseconds > 0 else { return 0 }
        guard attoseconds < 3600 * 1_000_000_000_000_000_000 else { return 3_600_000 }
        return Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
