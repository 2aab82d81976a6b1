// Waits that grow with the number of failures.

import Testing
import URLLoadingPolicy

@Suite struct BackOffTests {
    @Test("Each wait is twice as long as the one before, and none longer than the longest")
    func doubling() {
        func waits(_ first: Int64, _ longest: Int64) -> [Int64] {
            (0...6).map { BackOff.wait(afterFailure: $0, first: first, longest: longest) }
        }
        #expect(waits(1, 100) == [1, 1, 2, 4, 8, 16, 32])
        #expect(waits(3, 20) == [3, 3, 6, 12, 20, 20, 20])
        #expect(waits(0, 100) == [0, 0, 0, 0, 0, 0, 0])
        #expect(waits(50, 20) == [20, 20, 20, 20, 20, 20, 20])
        #expect(BackOff.wait(afterFailure: .max, first: Int64(1), longest: .max) == .max)
        #expect(
            BackOff.wait(afterFailure: 3, first: Duration.milliseconds(5), longest: .seconds(1)) == .milliseconds(20))
    }

    @Test("A wait is spread over its last quarter")
    func spread() {
        #expect(BackOff.spread(1000, random: 0) == 1000)
        #expect(BackOff.spread(1000, random: 250) == 750)
        #expect(BackOff.spread(1000, random: 251) == 1000)
        #expect(BackOff.spread(3, random: .max) == 3)
        #expect(BackOff.spread(0, random: .max) == 0)
        #expect(BackOff.spread(.max, random: .max) == .max - Int64(UInt32.max))
    }
}
