// Which transfers of a background session are under way: how many at a time (B10.9), not before their date (B10.26),
// those whose time is left to the system behind all others (B10.12), again after a failure that may pass (B10.22,
// B10.39), those that wait for a network only where no other wants their places, and none beyond its time (B10.41).
//
// A machine: it is told what has happened and asked what is next. It must not know a clock, how a transfer is carried
// out, or what a transfer is besides a number.

/// The order of a session's transfers.
package struct TransferSchedule: Sendable {
    /// How long to wait after failures, in milliseconds.
    package struct Patience: Sendable, Hashable {
        /// After the first.
        package var first: Int64
        /// At most; each wait is twice the one before.
        package var longest: Int64

        /// Waits, B10.39's unless set.
        package init(first: Int64 = 1000, longest: Int64 = 600_000) {
            self.first = max(0, first)
            self.longest = max(self.first, longest)
        }
    }

    /// What is to be done now.
    package enum Step: Sendable, Hashable {
        /// The transfer begins, or goes on after it stood still.
        case begin(UInt64)
        /// The transfer has had its time: it ends with −1001.
        case expire(UInt64)
        /// Another transfer wants the place of this one, which waits for a network: its attempt ends,
        /// and has failed with −1009.
        case postpone(UInt64)
    }

    /// What follows from a failure.
    package enum Verdict: Sendable, Hashable {
        /// It is tried again, for the nth time, in so many milliseconds.
        case retry(attempt: UInt32, delay: Int64)
        /// The task ends with it.
        case end
    }

    /// What has to be known of a transfer.
    package struct Entry: Sendable {
        /// 0 to 1; what is more important begins first, of equals the older.
        package var priority: Float
        /// Whether its time is left to the system.
        package var isDiscretionary: Bool
        /// Whether the program has suspended it.
        package var isSuspended: Bool
        /// Not before this, by the calendar's clock.
        package var earliestBegin: Int64?
        /// Its time.
        package var lifetime: TransferLifetime
        /// How often it has failed without any progress in between.
        package var failures: UInt32
        fileprivate var phase = Phase.ready
        /// Whether its attempt waits for a network.
        fileprivate var isOffline = false
        /// Whether it was the network that its last attempt wanted.
        fileprivate var lackedNetwork = false

        /// A transfer that may begin.
        package init(
            priority: Float, isDiscretionary: Bool, isSuspended: Bool, earliestBegin: Int64?,
            lifetime: TransferLifetime, failures: UInt32
        ) {
            self.priority = priority
            self.isDiscretionary = isDiscretionary
            self.isSuspended = isSuspended
            self.earliestBegin = earliestBegin
            self.lifetime = lifetime
            self.failures = failures
        }
    }

    fileprivate enum Phase: Sendable, Equatable {
        case ready
        case running
        /// After a failure: not before so many milliseconds after a moment.
        case delayed(since: TransferInstant, Int64)
        /// A question is open. The transfer needs no place meanwhile.
        case asking
        /// It has given its place away, and its attempt is about to end.
        case leaving
    }

    private var entries: [UInt64: Entry] = [:]
    private let patience: Patience
    /// Transfers at a time; one at least.
    package var places: Int {
        didSet { places = max(1, places) }
    }

    /// A schedule without transfers.
    package init(places: Int, patience: Patience = Patience()) {
        self.places = max(1, places)
        self.patience = patience
    }

    // MARK: Events

    /// A transfer has come.
    package mutating func added(_ number: UInt64, _ entry: Entry) { entries[number] = entry }

    /// A transfer is over.
    package mutating func ended(_ number: UInt64) { entries[number] = nil }

    /// The program has suspended a transfer: it gives its place away.
    package mutating func suspended(_ number: UInt64) {
        change(number) { entry in
            entry.isSuspended = true
            if entry.phase == .running { entry.phase = .ready }
        }
    }

    /// A suspended transfer waits for a place again.
    package mutating func resumed(_ number: UInt64) { change(number) { $0.isSuspended = false } }

    /// The program has changed its mind about what is important.
    package mutating func prioritised(_ number: UInt64, _ priority: Float) {
        change(number) { $0.priority = priority }
    }

    /// The attempt of a transfer waits for a network. It keeps its place while no other transfer wants that.
    package mutating func waits(_ number: UInt64) { change(number) { $0.isOffline = true } }

    /// Bytes have moved: what failed before is forgotten. Whether others may begin for it.
    @discardableResult
    package mutating func progressed(_ number: UInt64) -> Bool {
        change(number) { $0.failures = 0 }
        return foundNetwork(number)
    }

    /// A transfer cannot go on before a question is answered: its place is free.
    package mutating func asked(_ number: UInt64) {
        change(number) { $0.phase = .asking }
        _ = foundNetwork(number)
    }

    /// Where it had waited for a network, others may have one, too. Whether there are any.
    private mutating func foundNetwork(_ number: UInt64) -> Bool {
        guard entries[number]?.isOffline == true else { return false }
        change(number) { $0.isOffline = false }
        var frees = false
        for (other, entry) in entries where entry.lackedNetwork {
            guard case .delayed = entry.phase else { continue }
            change(other) { $0.phase = .ready }
            frees = true
        }
        return frees
    }

    /// The question of a transfer that is still under way is answered: the transfer takes its place again, one too many
    /// if need be; one that stands still waits for a place when it is resumed.
    package mutating func answered(_ number: UInt64) {
        change(number) { if $0.phase == .asking { $0.phase = $0.isSuspended ? .ready : .running } }
    }

    /// A transfer has failed with a code of `NSURLErrorDomain`; `random` spreads those that failed together.
    package mutating func failed(
        _ number: UInt64, code: Int64, random: UInt32, now: TransferInstant
    ) -> Verdict {
        guard var entry = entries[number], PassingFailures.contains(code), entry.lifetime.remaining(now) != 0 else {
            return .end
        }
        entry.failures = min(entry.failures, Self.mostFailures - 1) + 1
        let full = BackOff.wait(afterFailure: Int(entry.failures), first: patience.first, longest: patience.longest)
        let delay = max(patience.first, BackOff.spread(full, random: random))
        entry.phase = .delayed(since: now, delay)
        entry.isOffline = false
        entry.lackedNetwork = code == Self.noNetwork
        entries[number] = entry
        return .retry(attempt: entry.failures, delay: delay)
    }

    private mutating func change(_ number: UInt64, _ body: (inout Entry) -> Void) {
        guard var entry = entries[number] else { return }
        body(&entry)
        entries[number] = entry
    }

    // MARK: Questions

    /// How often a transfer has failed in a row.
    package func failures(_ number: UInt64) -> UInt32 { entries[number]?.failures ?? 0 }

    /// Whether anything is under way, or will be by itself.
    package var hasWork: Bool { entries.values.contains { !$0.isSuspended && $0.phase != .asking } }

    /// What is to be done now; what begins counts as under way.
    package mutating func next(_ now: TransferInstant) -> [Step] {
        // Asked after every event, with all that wait in it: what has no place to get is neither gathered nor sorted.
        var (expired, offline): ([UInt64], [UInt64]) = ([], [])
        var taken = 0
        for (number, entry) in entries {
            if entry.lifetime.remaining(now) == 0 {
                expired.append(number)
            } else if entry.isRunning {
                taken += 1
                if entry.isOffline { offline.append(number) }
            }
        }
        expired.sort()
        for number in expired { entries[number] = nil }
        var steps = expired.map { Step.expire($0) }
        var free = places - taken
        let isQuiet = taken == offline.count
        // Those that only wait for a network make room. There may be fewer places than transfers that have one.
        offline.sort()
        var leaving = offline[...]
        for number in firstDue(now, atMost: free + offline.count, discretionary: false) {
            while free <= 0, let other = leaving.popFirst() {
                steps.append(postpone(other))
                free += 1
            }
            steps.append(begin(number))
            free -= 1
        }
        // Those without haste go one by one, and only while no other transfer is to run.
        guard isQuiet, !entries.values.contains(where: { $0.isRunning && !$0.isOffline }),
            let number = firstDue(now, atMost: 1, discretionary: true).first
        else { return steps }
        let before = leaving.first { entries[$0]?.isDiscretionary == true }
        if let other = before ?? (free > 0 ? nil : leaving.first) { steps.append(postpone(other)) }
        steps.append(begin(number))
        return steps
    }

    /// Those that want a place, the important first, of equals the older; so many at most.
    private func firstDue(_ now: TransferInstant, atMost count: Int, discretionary: Bool) -> [UInt64] {
        guard count > 0 else { return [] }
        let due = entries.lazy
            .filter { $0.value.isDiscretionary == discretionary && $0.value.isDue(now) }
            .map { (number: $0.key, priority: $0.value.priority) }
        let isBefore = { (one: (number: UInt64, priority: Float), other: (number: UInt64, priority: Float)) in
            (other.priority, one.number) < (one.priority, other.number)
        }
        // One place is what there mostly is.
        if count == 1 { return due.min(by: isBefore).map { [$0.number] } ?? [] }
        return due.sorted(by: isBefore).prefix(count).map(\.number)
    }

    private mutating func postpone(_ number: UInt64) -> Step {
        change(number) { $0.phase = .leaving }
        return .postpone(number)
    }

    private mutating func begin(_ number: UInt64) -> Step {
        change(number) { $0.phase = .running }
        return .begin(number)
    }

    /// In how many milliseconds to ask `next` again, if nothing happens before; nil for never.
    package func wake(_ now: TransferInstant) -> Int64? {
        var earliest: Int64?
        for entry in entries.values {
            guard let wake = entry.wake(now) else { continue }
            earliest = earliest.map { min($0, wake) } ?? wake
        }
        return earliest
    }

    private static let mostFailures: UInt32 = 1_000_000

    /// `NSURLErrorNotConnectedToInternet`.
    package static let noNetwork: Int64 = -1009
}

extension TransferSchedule.Entry {
    /// Whether it has a place.
    fileprivate var isRunning: Bool { phase == .running && !isSuspended }

    /// Whether it wants a place.
    fileprivate func isDue(_ now: TransferInstant) -> Bool {
        if isSuspended { return false }
        switch phase {
        case .running, .asking, .leaving: return false
        case .ready: return earliestBegin.map { $0 <= now.wall } ?? true
        case .delayed(let since, let delay): return now.elapsed(since: since) >= delay
        }
    }

    fileprivate func wake(_ now: TransferInstant) -> Int64? {
        let remaining = lifetime.remaining(now)
        guard let turn = untilTurn(now) else { return remaining }
        return remaining.map { min($0, turn) } ?? turn
    }

    /// How long it wants no place; nil where that is not a matter of time.
    private func untilTurn(_ now: TransferInstant) -> Int64? {
        if isSuspended { return nil }
        switch phase {
        case .running, .asking, .leaving: return nil
        case .ready:
            // The calendar's clock may be set meanwhile, so it is looked at again and again.
            guard let earliestBegin, earliestBegin > now.wall else { return nil }
            return min(earliestBegin - now.wall, 60_000)
        case .delayed(let since, let delay):
            // One whose delay is over waits for a place, and the end of another transfer tells of that.
            let rest = delay - now.elapsed(since: since)
            return rest > 0 ? rest : nil
        }
    }
}
