// How long a transfer waits so that it is no faster than --limit-rate. A value; gets the time as an argument.

/// Counts bytes against time.
package struct Throttle: Sendable {
    /// Waits that are shorter than this are not worth a timer.
    private static let shortest = 0.02

    /// Bytes a second.
    private let rate: Double
    /// When the first bytes came.
    private var start: ContinuousClock.Instant?
    /// Whether a wait is under way.
    package var isPaused = false

    /// No more than so many bytes a second.
    package init(rate: Int64) { self.rate = Double(rate) }

    /// Seconds to wait now that so many bytes have gone in all; nil where there is no need, or a wait is under way.
    package mutating func pause(after bytes: Int64, at now: ContinuousClock.Instant) -> Double? {
        guard !isPaused else { return nil }
        let start = start ?? now
        self.start = start
        let pause = Double(bytes) / rate - (now - start).seconds
        guard pause > Self.shortest else { return nil }
        isPaused = true
        return pause
    }
}
