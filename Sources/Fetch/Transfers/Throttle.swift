// How long a transfer waits so that it is no faster than --limit-rate. A value; gets the time as an argument.

/// Counts bytes against time.
package struct Throttle: Sendable {
    /// Waits that are shorter than this are not worth a timer.
    private static let shortest = 0.02

    /// Bytes a second.
    private let rate: Double
    /// When the first bytes came.
    private var start: ContinuousClock.Instant?
    /// Seconds that all bytes so far should take, from the first on.
    private var fairTime = 0.0
    /// Whether a wait is under way.
    package var isPaused = false

    /// No more than so many bytes a second.
    package init(rate: Int64) { self.rate = Double(rate) }

    /// Seconds to wait now that so many bytes have gone in all; nil where there is no need, or a wait is under way.
    package mutating func pause(after bytes: Int64, at now: ContinuousClock.Instant) -> Double? {
        if start == nil { start = now }
        fairTime = max(fairTime, Double(bytes) / rate)
        guard !isPaused, let pause = wait(Double(bytes) / rate, at: now) else { return nil }
        isPaused = true
        return pause
    }

    /// Seconds to wait now that everything has come or gone: what fits into buffers is through before
    /// a wait can hold it back.
    package func rest(at now: ContinuousClock.Instant) -> Double? { wait(fairTime, at: now) }

    /// Seconds until so long a time has passed since the first bytes; nil where that is not worth a timer.
    private func wait(_ time: Double, at now: ContinuousClock.Instant) -> Double? {
        guard let start else { return nil }
        let rest = time - (now - start).seconds
        return rest > Self.shortest ? rest : nil
    }
}
