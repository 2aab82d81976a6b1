// The order and rhythm of connection attempts: tables of events and actions, and races in virtual time.

import Testing
import URLLoadingPolicy

@Suite struct AddressRaceTests {
    private let start = Duration.seconds(7)

    private func at(_ milliseconds: Int) -> Duration { start + .milliseconds(milliseconds) }

    // MARK: Order

    @Test(
        "B16.10: families are interleaved, IPv6 first",
        arguments: [
            ("444666", [3, 0, 4, 1, 5, 2]), ("666444", [0, 3, 1, 4, 2, 5]), ("464", [1, 0, 2]), ("4644", [1, 0, 2, 3]),
            ("6664", [0, 3, 1, 2]), ("444", [0, 1, 2]), ("666", [0, 1, 2]), ("6", [0]), ("", []),
        ])
    func interleaving(families: String, order: [Int]) {
        #expect(dialOrder(families, preferred: .ipv6) == order)
    }

    @Test(
        "B16.10: without a preference the resolver's first family goes first",
        arguments: [
            ("4466", [0, 2, 1, 3]), ("6644", [0, 2, 1, 3]), ("44", [0, 1]), ("", []),
        ])
    func resolverOrder(families: String, order: [Int]) {
        #expect(dialOrder(families, preferred: nil) == order)
    }

    private func dialOrder(_ families: String, preferred: AddressFamily?) -> [Int] {
        var race = AddressRace(families: families.map { $0 == "6" ? .ipv6 : .ipv4 }, preferred: preferred)
        var order: [Int] = []
        var action = race.start(now: start)
        while let index = action.dial {
            order.append(index)
            action = race.attemptFailed(index, now: start)
        }
        #expect(action.outcome == .lostAll)
        return order
    }

    // MARK: Rhythm

    @Test("B16.10: the next attempt starts 250 ms after the last, none after the last address")
    func rhythm() {
        var race = AddressRace(families: [.ipv6, .ipv4, .ipv6])
        #expect(race.start(now: at(0)) == RaceAction(dial: 0, timer: .set(at(250))))
        #expect(race.timerFired(now: at(250)) == RaceAction(dial: 1, timer: .set(at(500))))
        #expect(race.timerFired(now: at(500)) == RaceAction(dial: 2, timer: .clear))
        #expect(race.timerFired(now: at(750)) == RaceAction())
    }

    @Test("B16.10: a failed attempt starts the next at once, and the rhythm begins anew")
    func failureIsFollowedAtOnce() {
        var race = AddressRace(families: [.ipv6, .ipv4, .ipv6])
        _ = race.start(now: at(0))
        #expect(race.attemptFailed(0, now: at(10)) == RaceAction(dial: 1, timer: .set(at(260))))
        #expect(race.attemptFailed(1, now: at(20)) == RaceAction(dial: 2, timer: .clear))
    }

    @Test(
        "B16.10: the delay is kept between 10 ms and 2 s",
        arguments: [
            (Duration.zero, 10), (.milliseconds(-5), 10), (.milliseconds(300), 300), (.seconds(60), 2000),
            (.seconds(Int64.max), 2000),
        ])
    func delayBounds(delay: Duration, expected: Int) {
        var race = AddressRace(families: [.ipv6, .ipv4], attemptDelay: delay)
        #expect(race.start(now: at(0)) == RaceAction(dial: 0, timer: .set(at(expected))))
    }

    // MARK: Outcome

    @Test("B16.10: the first success wins and every other attempt is called off")
    func firstSuccessWins() {
        var race = AddressRace(families: [.ipv6, .ipv4, .ipv6, .ipv4])
        _ = race.start(now: at(0))
        _ = race.timerFired(now: at(250))
        _ = race.timerFired(now: at(500))
        _ = race.attemptFailed(0, now: at(510))
        #expect(race.attemptSucceeded(2) == RaceAction(timer: .clear, outcome: .won(2, losers: [1, 3])))
    }

    @Test("B16.10: a single attempt that succeeds has no losers")
    func noLosers() {
        var race = AddressRace(families: [.ipv4, .ipv4])
        _ = race.start(now: at(0))
        #expect(race.attemptSucceeded(0) == RaceAction(timer: .clear, outcome: .won(0, losers: [])))
    }

    @Test("B16.11: only when the last running attempt fails is the race lost")
    func lostAll() {
        var race = AddressRace(families: [.ipv6, .ipv4])
        _ = race.start(now: at(0))
        _ = race.timerFired(now: at(250))
        #expect(race.attemptFailed(1, now: at(300)) == RaceAction())
        #expect(race.attemptFailed(0, now: at(400)) == RaceAction(timer: .clear, outcome: .lostAll))
    }

    @Test("B16.11: a race without addresses is lost at once")
    func noAddresses() {
        var race = AddressRace(families: [])
        #expect(race.start(now: at(0)) == RaceAction(timer: .clear, outcome: .lostAll))
        #expect(race.start(now: at(0)) == RaceAction())
    }

    @Test("B16.10: events after the end, twice, or about unknown attempts change nothing")
    func senselessEvents() {
        var race = AddressRace(families: [.ipv6, .ipv4, .ipv4])
        #expect(race.timerFired(now: at(0)) == RaceAction())
        #expect(race.attemptFailed(0, now: at(0)) == RaceAction())
        #expect(race.attemptSucceeded(0) == RaceAction())
        _ = race.start(now: at(0))
        #expect(race.start(now: at(1)) == RaceAction())
        for index in [-1, 1, 3, Int.max, Int.min] {
            #expect(race.attemptFailed(index, now: at(1)) == RaceAction())
            #expect(race.attemptSucceeded(index) == RaceAction())
        }
        _ = race.timerFired(now: at(250))
        _ = race.attemptSucceeded(1)
        #expect(race.attemptSucceeded(0) == RaceAction())
        #expect(race.attemptFailed(0, now: at(300)) == RaceAction())
        #expect(race.timerFired(now: at(500)) == RaceAction())
    }

    // MARK: Whole races in virtual time

    /// What an address does: answers, refuses after some milliseconds, or is silent for good.
    enum Peer: Equatable {
        case accepts(after: Int)
        case refuses(after: Int)
        case silent
    }

    /// Runs a race to its end; tells which address won, at which time, and when each address was tried.
    private func run(_ families: [AddressFamily], _ peers: [Peer]) -> (won: Int?, at: Int, tried: [Int]) {
        var race = AddressRace(families: families)
        var (now, timer) = (0, Int?.none)
        var events: [(time: Int, index: Int)] = []
        var tried: [Int] = []
        var action = race.start(now: at(0))
        while true {
            switch action.timer {
            case .none: break
            case .clear: timer = nil
            case .set(let deadline): timer = Int((deadline - start) / .milliseconds(1))
            }
            switch action.outcome {
            case .none: break
            case .won(let index, _): return (index, now, tried)
            case .lostAll: return (nil, now, tried)
            }
            if let index = action.dial {
                tried.append(now)
                switch peers[index] {
                case .accepts(let after), .refuses(let after): events.append((now + after, index))
                case .silent: break
                }
            }
            events.sort { $0.time < $1.time }
            if let event = events.first, event.time <= timer ?? .max {
                events.removeFirst()
                now = event.time
                let isAccepted = if case .accepts = peers[event.index] { true } else { false }
                action = isAccepted ? race.attemptSucceeded(event.index) : race.attemptFailed(event.index, now: at(now))
            } else if let due = timer {
                (now, timer) = (due, nil)
                action = race.timerFired(now: at(now))
            } else {
                return (nil, now, tried)
            }
        }
    }

    @Test("B16.10: with IPv6 silent the IPv4 address wins after one delay")
    func brokenIPv6() {
        let result = run([.ipv6, .ipv4], [.silent, .accepts(after: 20)])
        #expect(result.won == 1 && result.at == 270 && result.tried == [0, 250])
    }

    @Test("B16.10: a slow first address that answers before the second wins")
    func slowFirst() {
        let result = run([.ipv6, .ipv4], [.accepts(after: 300), .accepts(after: 100)])
        #expect(result.won == 0 && result.at == 300 && result.tried == [0, 250])
    }

    @Test("B16.10: refusals are followed at once, so dead addresses cost no delay")
    func refusals() {
        let result = run([.ipv4, .ipv4, .ipv4], [.refuses(after: 1), .refuses(after: 1), .accepts(after: 1)])
        #expect(result.won == 2 && result.at == 3 && result.tried == [0, 1, 2])
    }

    @Test("B16.11: all refused: lost when the slowest refusal has come")
    func allRefused() {
        let result = run([.ipv6, .ipv4], [.refuses(after: 400), .refuses(after: 10)])
        #expect(result.won == nil && result.at == 400 && result.tried == [0, 250])
    }
}
