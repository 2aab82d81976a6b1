// Whether a body comes so fast that it had better be read in few large pieces: each piece wakes a thread, and often
// two. What comes slowly is never kept waiting for more.
//
// Must not know: which reader waits for more and how, what time it is, what is in the body.

/// The pace at which a body comes.
///
/// It is looked at whenever everything has been read that was there. Times are nanoseconds since any
/// fixed moment of the caller's.
package struct BodyPace: Sendable {
    /// How many bytes are worth waiting for: what one buffer takes.
    ///
    /// Measured: with half as many, a GiB took 0.251 s of processor time in place of 0.212 s (over TLS 0.574 s and
    /// 0.548 s); with twice as many it took 0.220 s (0.502 s), and a third longer.
    package static let pieceSize = 512 << 10
    /// How long they are waited for. At the least pace that is fast, so many take as long.
    package static let longestWait: Int64 = 1_000_000

    /// When there was nothing more to read.
    private var lastDry: Int64?
    /// How many bytes have been read since.
    private var count: Int64 = 0
    private var fastTimes = 0

    /// A pace of which nothing is known.
    package init() {}

    /// Whether it has been fast for a while.
    package var isFast: Bool { fastTimes == Self.timesOfFlow }

    /// So many bytes have been read.
    package mutating func noteRead(_ count: Int) {
        let (sum, isTooMuch) = self.count.addingReportingOverflow(Int64(count))
        self.count = isTooMuch ? .max : sum
    }

    /// There is nothing more to read for now.
    package mutating func noteDry(at now: Int64) {
        let time = lastDry.map { now &- $0 } ?? .max
        let isFast = count >= Self.leastRead && time / Self.slowestByte <= count
        fastTimes = isFast ? min(fastTimes + 1, Self.timesOfFlow) : 0
        (lastDry, count) = (now, 0)
    }

    /// More has been waited for, and has not come.
    package mutating func noteLull() { fastTimes = 0 }

    /// Two gigabits a second.
    private static let slowestByte: Int64 = 4
    /// Picked by feel: what is smaller is something by itself.
    private static let leastRead: Int64 = 4 << 10
    /// Picked by feel: a body that has been fast fewer times may be over soon.
    private static let timesOfFlow = 4
}
