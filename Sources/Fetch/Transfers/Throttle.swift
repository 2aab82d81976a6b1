// How long a transfer waits so that it is no faster than --limit-rate. A value; the clock is its own.

/// Counts bytes against time.
struct Throttle: Sendable {
    /// Waits that are shorter than this are not worth a timer.
    private static let shortest = 0.02

    /// Bytes a second.
    private let rate: Double
    private let start = ContinuousClock.now
    /// Whether a wait is under way.
    var isPaused = false

    init(rate: Int64) { self.rate = Double(rate) }

    /// Seconds to wait now that so many bytes have gone; nil where there is no need, or a wait is under way.
    mutating func pause(after bytes: Int64) -> Double? {
        guard !isPaused else { return nil }
        let pause = Double(bytes) / rate - (ContinuousClock.now - start).seconds
        guard pause > Self.shortest else { return nil }
        isPaused = true
        return pause
    }
}
