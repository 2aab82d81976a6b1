// The order of a background session's transfers, and time that outlives processes and clocks that are moved.

import Testing
import URLLoadingPolicy
import URLLoadingTestSupport

@Suite struct TransferScheduleTests {
    /// A moment, so many milliseconds after the beginning.
    private static func at(_ milliseconds: Int64, wall: Int64? = nil, boot: UInt64 = 1) -> TransferInstant {
        TransferInstant(wall: wall ?? 1_000_000 + milliseconds, uptime: 5_000 + milliseconds, boot: boot)
    }

    private static func entry(
        priority: Float = 0.5, discretionary: Bool = false, earliest: Int64? = nil, allowed: Int64? = nil
    ) -> TransferSchedule.Entry {
        TransferSchedule.Entry(
            priority: priority, isDiscretionary: discretionary, isSuspended: false, earliestBegin: earliest,
            lifetime: TransferLifetime(allowed: allowed, from: at(0)), failures: 0)
    }

    @Test("B10.9: so many transfers at a time, the important first, of equals the older")
    func places() {
        var schedule = TransferSchedule(places: 2)
        for number in 1...4 { schedule.added(UInt64(number), Self.entry(priority: number == 4 ? 1 : 0.5)) }
        #expect(schedule.next(Self.at(0)) == [.begin(4), .begin(1)])
        #expect(schedule.next(Self.at(1)).isEmpty)
        schedule.ended(4)
        #expect(schedule.next(Self.at(2)) == [.begin(2)])
        schedule.suspended(1)
        #expect(schedule.next(Self.at(3)) == [.begin(3)])
        schedule.resumed(1)
        #expect(schedule.next(Self.at(4)).isEmpty)
        schedule.prioritised(1, 1)
        schedule.ended(2)
        #expect(schedule.next(Self.at(5)) == [.begin(1)])
        #expect(schedule.hasWork)
    }

    @Test("B10.9, B10.12: many transfers begin by importance and age, those without haste last", arguments: 1...6)
    func manyPlaces(places: Int) {
        var random = SeededRandom(seed: UInt64(places))
        var schedule = TransferSchedule(places: places)
        var order: [(number: UInt64, priority: Float, isDiscretionary: Bool)] = []
        for number in UInt64(1)...200 {
            let one = (
                number, priority: Float(random.next() % 5) / 4, isDiscretionary: random.next().isMultiple(of: 4)
            )
            order.append(one)
            schedule.added(number, Self.entry(priority: one.priority, discretionary: one.isDiscretionary))
        }
        order.sort { ($1.priority, $0.number) < ($0.priority, $1.number) }
        var expected = order.filter { !$0.isDiscretionary }.map(\.number)[...]
        var running: [UInt64] = []
        while !expected.isEmpty {
            let due = Array(expected.prefix(places - running.count))
            expected = expected.dropFirst(due.count)
            guard schedule.next(Self.at(0)) == due.map({ .begin($0) }) else {
                Issue.record("not \(due)")
                return
            }
            running += due
            // One to all of them end.
            for _ in 0...Int(random.next() % UInt64(running.count)) {
                schedule.ended(running.remove(at: Int(random.next() % UInt64(running.count))))
            }
        }
        for number in running { schedule.ended(number) }
        for one in order where one.isDiscretionary {
            #expect(schedule.next(Self.at(0)) == [.begin(one.number)])
            schedule.ended(one.number)
        }
        #expect(!schedule.hasWork)
    }

    @Test("B10.26: nothing begins before its date, also when the clock is set meanwhile")
    func earliestBegin() {
        var schedule = TransferSchedule(places: 1)
        schedule.added(1, Self.entry(earliest: 1_500_000))
        #expect(schedule.next(Self.at(0)).isEmpty)
        #expect(schedule.wake(Self.at(0)) == 60_000)
        #expect(schedule.wake(Self.at(470_000)) == 30_000)
        // Set back: it is not there yet. Set forward: it is.
        #expect(schedule.next(Self.at(600_000, wall: 1_400_000)).isEmpty)
        #expect(schedule.next(Self.at(1, wall: 1_500_000)) == [.begin(1)])
        #expect(schedule.wake(Self.at(2)) == nil)
    }

    @Test("B10.12: discretionary transfers begin one by one, when no other transfer is under way")
    func discretion() {
        var schedule = TransferSchedule(places: 3)
        schedule.added(1, Self.entry(priority: 1, discretionary: true))
        schedule.added(2, Self.entry(discretionary: true))
        schedule.added(3, Self.entry())
        #expect(schedule.next(Self.at(0)) == [.begin(3)])
        schedule.ended(3)
        #expect(schedule.next(Self.at(1)) == [.begin(1)])
        #expect(schedule.next(Self.at(2)).isEmpty)
        schedule.ended(1)
        #expect(schedule.next(Self.at(3)) == [.begin(2)])
    }

    @Test(
        "B10.39: failures that may pass are tried again",
        arguments: [-1001, -1003, -1004, -1005, -1006, -1009] as [Int64])
    func passing(code: Int64) {
        var schedule = TransferSchedule(places: 1)
        schedule.added(1, Self.entry())
        _ = schedule.next(Self.at(0))
        #expect(schedule.failed(1, code: code, random: 0, now: Self.at(0)) == .retry(attempt: 1, delay: 1000))
        #expect(schedule.next(Self.at(999)).isEmpty)
        #expect(schedule.wake(Self.at(999)) == 1)
        #expect(schedule.next(Self.at(1000)) == [.begin(1)])
    }

    @Test("B10.9: a transfer whose delay is over and that only waits for a place sets no timer")
    func placeWanted() {
        var schedule = TransferSchedule(places: 1)
        schedule.added(1, Self.entry())
        schedule.added(2, Self.entry())
        #expect(schedule.next(Self.at(0)) == [.begin(1)])
        #expect(schedule.failed(1, code: -1001, random: 0, now: Self.at(0)) == .retry(attempt: 1, delay: 1000))
        #expect(schedule.next(Self.at(1)) == [.begin(2)])
        #expect(schedule.wake(Self.at(1)) == 999)
        #expect(schedule.next(Self.at(1000)).isEmpty)
        #expect(schedule.wake(Self.at(1000)) == nil)
        schedule.ended(2)
        #expect(schedule.next(Self.at(1001)) == [.begin(1)])
    }

    @Test("B10.39: other failures are the end", arguments: [-999, -1000, -1100, -1200, -3000, 0] as [Int64])
    func lasting(code: Int64) {
        var schedule = TransferSchedule(places: 1)
        schedule.added(1, Self.entry())
        _ = schedule.next(Self.at(0))
        #expect(schedule.failed(1, code: code, random: 0, now: Self.at(0)) == .end)
    }

    @Test("B10.39: waits double from 1 s to 10 min, spread by up to a quarter, and begin anew with progress")
    func waits() {
        var schedule = TransferSchedule(places: 1)
        schedule.added(1, Self.entry())
        var delays: [Int64] = []
        for _ in 0..<14 {
            guard case .retry(_, let delay) = schedule.failed(1, code: -1005, random: 0, now: Self.at(0)) else {
                Issue.record("no retry")
                return
            }
            delays.append(delay)
        }
        let seconds: [Int64] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600]
        #expect(delays.prefix(11).map { $0 / 1000 } == seconds)
        #expect(delays.allSatisfy { $0.isMultiple(of: 1000) })
        #expect(delays.suffix(3) == [600_000, 600_000, 600_000])
        var spread: Set<Int64> = []
        for random in stride(from: UInt32(0), to: UInt32.max - 50_000_000, by: 50_000_000) {
            guard case .retry(_, let delay) = schedule.failed(1, code: -1005, random: random, now: Self.at(0)) else {
                Issue.record("no retry")
                return
            }
            #expect((450_000...600_000).contains(delay))
            spread.insert(delay)
        }
        #expect(spread.count > 20)
        schedule.progressed(1)
        #expect(schedule.failed(1, code: -1005, random: 1, now: Self.at(0)) == .retry(attempt: 1, delay: 1000))
    }

    @Test("B10.22, B10.39: a transfer whose time is over is not tried again, and ends also while it waits")
    func expiry() {
        var schedule = TransferSchedule(places: 1)
        schedule.added(1, Self.entry(allowed: 5000))
        schedule.added(2, Self.entry(allowed: 7000))
        _ = schedule.next(Self.at(0))
        #expect(schedule.failed(1, code: -1001, random: 0, now: Self.at(4500)) == .retry(attempt: 1, delay: 1000))
        #expect(schedule.wake(Self.at(4500)) == 500)
        #expect(schedule.next(Self.at(5000)) == [.expire(1), .begin(2)])
        #expect(schedule.failed(2, code: -1001, random: 0, now: Self.at(7000)) == .end)
        #expect(schedule.next(Self.at(7000)) == [.expire(2)])
        #expect(!schedule.hasWork)
    }

    @Test("B10.39: a transfer that waits for a network keeps its place only while no other wants it")
    func waitingForNetwork() {
        var schedule = TransferSchedule(places: 2)
        for number in 1...2 { schedule.added(UInt64(number), Self.entry()) }
        #expect(schedule.next(Self.at(0)) == [.begin(1), .begin(2)])
        schedule.waits(1)
        #expect(schedule.next(Self.at(1)).isEmpty, "nothing else is to be done")
        schedule.added(3, Self.entry())
        schedule.added(4, Self.entry())
        #expect(schedule.next(Self.at(2)) == [.postpone(1), .begin(3)], "what does not wait keeps its place")
        #expect(schedule.next(Self.at(3)).isEmpty && schedule.hasWork)
        #expect(schedule.failed(1, code: -1009, random: 0, now: Self.at(3)) == .retry(attempt: 1, delay: 1000))
        schedule.waits(3)
        #expect(schedule.next(Self.at(4)) == [.postpone(3), .begin(4)])
        // Bytes of one that has waited say that there is a network again: the others need not wait any longer.
        #expect(schedule.failed(3, code: -1009, random: 0, now: Self.at(5)) == .retry(attempt: 1, delay: 1000))
        schedule.waits(4)
        schedule.ended(2)
        #expect(schedule.next(Self.at(6)).isEmpty)
        #expect(schedule.progressed(4) == true, "who tells of it asks what is next")
        #expect(schedule.progressed(4) == false)
        #expect(schedule.next(Self.at(7)) == [.begin(1)])
        schedule.ended(4)
        #expect(schedule.next(Self.at(8)) == [.begin(3)])
        // It has a network now.
        schedule.added(5, Self.entry())
        #expect(schedule.next(Self.at(9)).isEmpty)
    }

    @Test("B10.12, B10.39: discretionary transfers begin one by one also where one of them waits for a network")
    func discretionWaitingForNetwork() {
        var schedule = TransferSchedule(places: 2)
        for number in 1...2 { schedule.added(UInt64(number), Self.entry(discretionary: true)) }
        #expect(schedule.next(Self.at(0)) == [.begin(1)])
        schedule.waits(1)
        #expect(schedule.next(Self.at(1)) == [.postpone(1), .begin(2)])
        #expect(schedule.next(Self.at(2)).isEmpty)
    }

    @Test("B10.9, B10.39: what waits for a network makes room only for as many as there are places")
    func fewerPlacesThanTaken() {
        var schedule = TransferSchedule(places: 4)
        for number in 1...5 { schedule.added(UInt64(number), Self.entry()) }
        #expect(schedule.next(Self.at(0)) == [.begin(1), .begin(2), .begin(3), .begin(4)])
        schedule.places = 2
        for number in 1...2 {
            schedule.waits(UInt64(number))
            #expect(schedule.next(Self.at(1)).isEmpty)
        }
        schedule.waits(3)
        #expect(schedule.next(Self.at(2)) == [.postpone(1), .postpone(2), .postpone(3), .begin(5)])
    }

    @Test("B10.37: a transfer that waits for an answer leaves its place to the next one")
    func asking() {
        var schedule = TransferSchedule(places: 1)
        schedule.added(1, Self.entry())
        schedule.added(2, Self.entry())
        #expect(schedule.next(Self.at(0)) == [.begin(1)])
        schedule.asked(1)
        #expect(schedule.next(Self.at(1)) == [.begin(2)])
        schedule.ended(2)
        #expect(!schedule.hasWork)
        schedule.answered(1)
        #expect(schedule.hasWork)
        #expect(schedule.next(Self.at(2)).isEmpty)
    }

    @Test("B10.37: what was suspended while it waited for an answer begins again when it is resumed")
    func suspendedWhileAsking() {
        var schedule = TransferSchedule(places: 1)
        schedule.added(1, Self.entry())
        #expect(schedule.next(Self.at(0)) == [.begin(1)])
        schedule.asked(1)
        schedule.suspended(1)
        schedule.answered(1)
        #expect(schedule.next(Self.at(0)).isEmpty && !schedule.hasWork)
        schedule.resumed(1)
        #expect(schedule.next(Self.at(0)) == [.begin(1)])
    }

    @Test("B10.41: a clock that is set while the machine runs does not change the time that is left")
    func movedClock() {
        var life = TransferLifetime(allowed: 10_000, from: Self.at(0))
        // A year ahead, and a year back.
        #expect(life.remaining(Self.at(1000, wall: 31_557_600_000)) == 9000)
        #expect(life.remaining(Self.at(1000, wall: -31_557_600_000)) == 9000)
        life.note(Self.at(2000, wall: 5))
        #expect(life.remaining(Self.at(3000, wall: 99_999_999)) == 7000)
    }

    @Test("B10.41: after a restart of the machine the calendar tells the time that has passed, never less than none")
    func otherBoot() {
        let life = TransferLifetime(allowed: 10_000, from: Self.at(0))
        let later = TransferInstant(wall: 1_004_000, uptime: 10, boot: 2)
        #expect(life.remaining(later) == 6000)
        let before = TransferInstant(wall: 500_000, uptime: 10, boot: 2)
        #expect(life.remaining(before) == 10_000)
        let muchLater = TransferInstant(wall: 9_000_000, uptime: 10, boot: 2)
        #expect(life.remaining(muchLater) == 0)
        #expect(TransferLifetime(allowed: nil, from: Self.at(0)).remaining(muchLater) == nil)
    }

    @Test("B10.41: numbers that cannot be are brought back, and nothing overflows")
    func extremes() {
        let end = TransferInstant(wall: .max, uptime: .max, boot: 1)
        let start = TransferInstant(wall: .min, uptime: .min, boot: 2)
        #expect(end.elapsed(since: start) > 0)
        #expect(start.elapsed(since: end) == 0)
        var life = TransferLifetime(allowed: .max, spent: .max, noted: start)
        life.note(end)
        #expect(life.remaining(end) == 0)
        var schedule = TransferSchedule(places: 0, patience: .init(first: .max, longest: .max))
        var entry = Self.entry()
        entry.failures = .max
        schedule.added(1, entry)
        #expect(schedule.next(Self.at(0)) == [.begin(1)])
        #expect(schedule.failed(1, code: -1001, random: .max, now: end) != .end)
        #expect(schedule.failed(1, code: -1001, random: .max, now: end) != .end)
        #expect((schedule.wake(end) ?? -1) >= 0)
    }
}
