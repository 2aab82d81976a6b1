// The pauses between attempts, and what Retry-After says.

import Testing
import URLLoadingPolicy

@Suite struct RetryPauseTests {
    @Test("B6.34: each pause is longer than the one before, up to the longest")
    func growth() {
        let pauses = RetryPause(first: .milliseconds(500), longest: .seconds(30), growth: 2, jitter: 0)
        let seconds = (1...9).map { pauses.pause(before: $0, chance: 1) / .seconds(1) }
        #expect(seconds == [0.5, 1, 2, 4, 8, 16, 30, 30, 30])
    }

    @Test("B6.34: chance takes away as much as it may", arguments: [0, 0.25, 1])
    func jitter(jitter: Double) {
        let pauses = RetryPause(first: .seconds(8), longest: .seconds(8), growth: 2, jitter: jitter)
        #expect(pauses.pause(before: 1, chance: 0) == .seconds(8))
        #expect(pauses.pause(before: 1, chance: 0.5) == .seconds(8 * (1 - jitter / 2)))
        #expect(pauses.pause(before: 1, chance: 1) == .seconds(8 * (1 - jitter)))
    }

    @Test(
        "Whatever the numbers are, a pause lies between zero and the longest",
        arguments: [-1, 0, 0.5, 1, 2, 1e300, .infinity, -.infinity, .nan] as [Double])
    func anyNumbers(number: Double) {
        for jitter in [number, 0.5] {
            for duration in [Duration.zero, .seconds(-5), .nanoseconds(1), .seconds(Int64.max)] {
                let pauses = RetryPause(first: duration, longest: .seconds(7), growth: number, jitter: jitter)
                for count in [Int.min, -1, 0, 1, 2, 1_000_000, .max] {
                    let pause = pauses.pause(before: count, chance: number)
                    #expect(pause >= .zero && pause <= .seconds(7))
                }
            }
        }
    }

    @Test("A pause of zero stays zero, however often it grows")
    func nothing() {
        let pauses = RetryPause(first: .zero, longest: .seconds(7), growth: .infinity, jitter: 0)
        #expect(pauses.pause(before: 1_000, chance: 0) == .zero)
    }

    static let now = WallTime(seconds: 784_111_777)

    @Test(
        "B6.35: Retry-After is a number of seconds or a date",
        arguments: [
            ("0", 0), ("120", 120), ("0120", 120), ("Sun, 06 Nov 1994 08:50:07 GMT", 30),
            ("Sunday, 06-Nov-94 08:50:07 GMT", 30), ("Sun Nov  6 08:50:07 1994", 30),
            ("Sun, 06 Nov 1994 08:49:36 GMT", 0),
            ("Sun, 06 Nov 1983 08:49:36 GMT", 0), ("9999999999", 3_153_600_000),
            ("99999999999999999999999999", 3_153_600_000),
        ])
    func retryAfter(text: String, seconds: Int64) {
        #expect(RetryPause.asked(by: text, now: Self.now) == .seconds(seconds))
    }

    @Test("B6.35: any other Retry-After is ignored", arguments: ["", " ", "-1", "+5", "1.5", "5s", "soon", "1,2", "٣"])
    func noRetryAfter(text: String) {
        #expect(RetryPause.asked(by: text, now: Self.now) == nil)
    }
}
