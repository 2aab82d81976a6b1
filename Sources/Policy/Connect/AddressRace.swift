// In which order and rhythm the addresses of a host are tried, and which attempt wins: RFC 8305 §4 and §5, B16.10
// and B16.11. It must not know addresses, sockets or clocks: an address is its position in the resolver's list, and
// the reasons of failures are the driver's to keep.

/// What the order of attempts depends on in an address.
package enum AddressFamily: Sendable, Hashable {
    case ipv4
    case ipv6
}

/// What to do after an event of an `AddressRace`.
package struct RaceAction: Sendable, Equatable {
    /// How the race ended, if this event ended it.
    package enum Outcome: Sendable, Equatable {
        /// It goes on, or had ended before.
        case none
        /// The attempt at this index is the connection; the attempts at the others are to be cancelled.
        case won(Int, losers: [Int])
        /// Every address failed, or there was none.
        case lostAll
    }

    /// Index of the address to try now.
    package var dial: Int?
    /// What to do with the race's timer.
    package var timer = TimerAction.none
    /// How the race ended.
    package var outcome: Outcome = .none

    /// Makes an action that does nothing but what it is told.
    package init(dial: Int? = nil, timer: TimerAction = .none, outcome: Outcome = .none) {
        self.dial = dial
        self.timer = timer
        self.outcome = outcome
    }
}

/// A race of connection attempts over the addresses of one host.
package struct AddressRace: ~Copyable {
    private enum Attempt { case untried, running, over }

    private let attemptDelay: Duration
    private let order: [Int]
    private var attempts: [Attempt]
    private var tried = 0
    private var running = 0
    private var isOver = false

    /// A race over addresses given by their families, in the resolver's order (RFC 6724).
    ///
    /// Families alternate, beginning with `preferred` where it occurs; nil begins with the resolver's first. The delay
    /// is kept between 10 ms and 2 s (RFC 8305 §5).
    package init(
        families: [AddressFamily],
        attemptDelay: Duration = .milliseconds(250),
        preferred: AddressFamily? = .ipv6
    ) {
        self.attemptDelay = min(max(attemptDelay, .milliseconds(10)), .seconds(2))
        order = Self.interleaved(families, preferred: preferred)
        attempts = Array(repeating: .untried, count: families.count)
    }

    /// Starts the first attempt.
    package mutating func start(now: Duration) -> RaceAction {
        guard tried == 0, !isOver else { return RaceAction() }
        return next(now: now)
    }

    /// An attempt failed: the next one starts without waiting.
    package mutating func attemptFailed(_ index: Int, now: Duration) -> RaceAction {
        guard end(index), !isOver else { return RaceAction() }
        return next(now: now)
    }

    /// An attempt connected: it wins, and the others are called off.
    package mutating func attemptSucceeded(_ index: Int) -> RaceAction {
        guard end(index), !isOver else { return RaceAction() }
        isOver = true
        let losers = running == 0 ? [] : order.filter { attempts[$0] == .running }
        return RaceAction(timer: .clear, outcome: .won(index, losers: losers))
    }

    /// The attempts so far have had their time: the next one joins them.
    package mutating func timerFired(now: Duration) -> RaceAction {
        guard running > 0, tried < order.count, !isOver else { return RaceAction() }
        return next(now: now)
    }

    private mutating func next(now: Duration) -> RaceAction {
        guard tried < order.count else {
            guard running == 0 else { return RaceAction() }
            isOver = true
            return RaceAction(timer: .clear, outcome: .lostAll)
        }
        let index = order[tried]
        attempts[index] = .running
        tried += 1
        running += 1
        return RaceAction(dial: index, timer: tried < order.count ? .set(now + attemptDelay) : .clear)
    }

    private mutating func end(_ index: Int) -> Bool {
        guard attempts.indices.contains(index), attempts[index] == .running else { return false }
        attempts[index] = .over
        running -= 1
        return true
    }

    /// Takes from the families in turn, each in its own order, until all are used up (RFC 8305 §4).
    private static func interleaved(_ families: [AddressFamily], preferred: AddressFamily?) -> [Int] {
        if families.count < 2 { return Array(families.indices) }
        guard let first = preferred.flatMap({ families.contains($0) ? $0 : nil }) ?? families.first else { return [] }
        var mine = families.indices.filter { families[$0] == first }[...]
        var others = families.indices.filter { families[$0] != first }[...]
        var order: [Int] = []
        while let index = mine.popFirst() {
            order.append(index)
            if let other = others.popFirst() { order.append(other) }
        }
        return order + others
    }
}
