// Which bodies come so fast that more of them is worth waiting for.

import Testing
import URLLoadingPolicy

@Suite("The pace of a body") struct BodyPaceTests {
    private static let record = 16 << 10
    private static let microsecond: Int64 = 1_000

    /// The pace of so many reads, one every so many microseconds, with nothing more there behind each.
    private func pace(reads: Int, of count: Int, every gap: Int64) -> BodyPace {
        var pace = BodyPace()
        for step in 0..<reads { read(count, at: Int64(step) * gap * Self.microsecond, &pace) }
        return pace
    }

    private func read(_ count: Int, at now: Int64, _ pace: inout BodyPace) {
        pace.noteRead(count)
        pace.noteDry(at: now)
    }

    @Test("A body is fast once four reads in a row have come at two gigabits a second behind the first")
    func fast() {
        #expect(!BodyPace().isFast)
        #expect(!pace(reads: 4, of: Self.record, every: 12).isFast)
        #expect(pace(reads: 5, of: Self.record, every: 12).isFast)
        #expect(pace(reads: 5, of: Self.record, every: 65).isFast)
        #expect(pace(reads: 100, of: BodyPace.pieceSize, every: BodyPace.longestWait / Self.microsecond).isFast)
        #expect(pace(reads: 100, of: .max, every: 1_000_000).isFast)
    }

    @Test("A body that comes more slowly is never fast, however long it goes on", arguments: [66, 1_000, 1_000_000])
    func slow(gap: Int64) {
        #expect(!pace(reads: 100, of: Self.record, every: gap).isFast)
    }

    @Test("Small pieces do not make a fast body, however fast they come", arguments: [1, 100, 4_095])
    func small(count: Int) {
        #expect(!pace(reads: 100, of: count, every: 0).isFast)
    }

    @Test("Reads without a pause between them count as one")
    func steps() {
        var pace = BodyPace()
        for step in 0..<5 {
            for _ in 0..<16 { pace.noteRead(Self.record) }
            pace.noteDry(at: Int64(step) * BodyPace.longestWait)
        }
        #expect(pace.isFast)
        for _ in 0..<3 { pace.noteRead(.max) }
        pace.noteDry(at: .max)
        #expect(pace.isFast)
    }

    @Test("After a slow read, a small one or a lull, a body has to prove anew that it is fast")
    func again() {
        let breaks: [(inout BodyPace) -> Void] = [
            { read(Self.record, at: 10_000 * Self.microsecond, &$0) },
            { read(1, at: 100 * Self.microsecond, &$0) },
            { $0.noteLull() },
        ]
        for slow in breaks {
            var pace = pace(reads: 5, of: Self.record, every: 12)
            slow(&pace)
            // The first of these is behind a pause.
            for step in 0...4 {
                #expect(!pace.isFast)
                read(Self.record, at: (20_000 + Int64(step)) * Self.microsecond, &pace)
            }
            #expect(pace.isFast)
        }
    }

    @Test("Times at the ends of their range overflow nothing", arguments: [.min, -1, .max - 4] as [Int64])
    func anyTime(start: Int64) {
        var pace = BodyPace()
        for step in 0..<5 { read(Self.record, at: start + Int64(step), &pace) }
        #expect(pace.isFast)
    }
}
