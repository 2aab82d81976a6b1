// How long a transfer is held back for --limit-rate.

import Foundation
import Testing
import URLLoadingFetch

@Suite("fetch: the rate of a transfer")
struct ThrottleTests {
    @Test("A transfer that is ahead of its time waits for it, and time before its first bytes does not count")
    func waits() {
        let start = ContinuousClock.now
        var throttle = Throttle(rate: 1000)
        #expect(throttle.pause(after: 500, at: start) == 0.5)
        #expect(throttle.pause(after: 600, at: start) == nil, "a wait is under way")
        throttle.isPaused = false
        #expect(throttle.pause(after: 1000, at: start + .seconds(1)) == nil)
        #expect(throttle.pause(after: 1010, at: start + .seconds(1)) == nil, "too short for a timer")
        #expect(throttle.pause(after: 3000, at: start + .seconds(1)) == 2)
        throttle.isPaused = false
        #expect(throttle.pause(after: 3100, at: start + .seconds(60)) == nil)
    }

    @Test("What came during a wait counts at the end, and where nothing came there is no wait")
    func rest() {
        let start = ContinuousClock.now
        var throttle = Throttle(rate: 1000)
        #expect(throttle.rest(at: start) == nil)
        #expect(throttle.pause(after: 500, at: start) == 0.5)
        #expect(throttle.pause(after: 4000, at: start) == nil, "a wait is under way")
        // A body may have been sent before the answer's began.
        #expect(throttle.pause(after: 10, at: start) == nil)
        #expect(throttle.rest(at: start + .seconds(1)) == 3)
        #expect(throttle.rest(at: start + .seconds(4)) == nil)
    }
}
