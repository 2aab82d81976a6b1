// Durations as the system's waiting calls want them.

extension Duration {
    /// Whole nanoseconds, rounded down; far beyond the age of any process they wrap.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
    }

    /// Whole milliseconds, rounded up: waking early would only mean waiting again.
    ///
    /// Between 0 and an hour; a wake-up too many is harmless.
    var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 3600 else { return 3_600_000 }
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
