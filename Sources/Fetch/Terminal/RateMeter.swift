// How fast bytes have come of late. A value; gets the time as an argument.

/// Measures a rate over the last seconds.
package struct RateMeter: Sendable {
    /// How far back it looks, in seconds: felt, not measured. Long enough to be calm, short enough to show a stall.
    private static let window = 5.0

    private var samples: [(time: Double, bytes: Int64)] = []

    /// Nothing measured yet.
    package init() {}

    /// So many bytes had come in all at that time, in seconds of any clock that never goes back.
    package mutating func note(_ bytes: Int64, at time: Double) {
        // Samples nearer to each other than a twentieth of a second are one, or a fast transfer would fill the memory.
        if let last = samples.last, samples.count > 1, time - samples[samples.count - 2].time < 0.05 {
            samples[samples.count - 1] = (max(time, last.time), bytes)
        } else {
            samples.append((time, bytes))
        }
        while samples.count > 2, samples[1].time < time - Self.window { samples.removeFirst() }
    }

    /// Bytes a second up to that time.
    package func rate(at time: Double) -> Double {
        guard let first = samples.first, let last = samples.last, time > first.time else { return 0 }
        return Double(max(0, last.bytes - first.bytes)) / (time - first.time)
    }
}
