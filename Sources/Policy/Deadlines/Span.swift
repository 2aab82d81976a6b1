// Bounds on durations that come from outside, so that adding one to an instant can never overflow.

package enum Span {
    /// A century would do as well; a year is longer than any process waits and far from overflow.
    static let longest: Duration = .seconds(366 * 86_400)

    /// The duration, not below zero and not above the longest.
    package static func bounded(_ duration: Duration) -> Duration {
        min(max(duration, .zero), longest)
    }
}
