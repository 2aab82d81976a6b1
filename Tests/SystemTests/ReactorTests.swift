import Testing
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("Reactor in virtual time")
struct ReactorTests {
    @Test("put-off work runs at the end of the turn, in order, and may put off more")
    func later() {
        let reactor = Reactor(virtualTime: ())
        var log: [String] = []
        reactor.later {
            log.append("a")
            reactor.later { log.append("c") }
        }
        reactor.later { log.append("b") }
        #expect(log.isEmpty)
        reactor.runPending()
        #expect(log == ["a", "b", "c"])
    }

    @Test("an observer is told once for each time it asked, after the turn's commands and put-off work")
    func turnObserver() {
        let reactor = Reactor(virtualTime: ())
        let batch = Batch()
        for item in ["a", "b"] {
            reactor.loop.run { reactor in reactor.resident(Batch.key)?.add(item, on: reactor) }
        }
        reactor.setResident(Batch.key, batch)
        reactor.later { batch.add("c", on: reactor) }
        reactor.runPending()
        #expect(batch.told == [["a", "b", "c"]])
        batch.again = "d"
        batch.add("e", on: reactor)
        reactor.runPending()
        #expect(batch.told == [["a", "b", "c"], ["e"], ["d"]])
    }

    /// Collects until the end of the turn.
    private final class Batch: TurnObserver {
        static let key = ResidentKey<Batch>()
        var told: [[String]] = []
        var again: String?
        private var items: [String] = []
        private weak var reactor: Reactor?

        func add(_ item: String, on reactor: Reactor) {
            if items.isEmpty { reactor.atEndOfTurn(self) }
            self.reactor = reactor
            items.append(item)
        }

        func turnEnded() {
            told.append(items)
            items = []
            if let next = again, let reactor {
                again = nil
                add(next, on: reactor)
            }
        }
    }

    @Test("commands sent to a virtual loop run in runPending, and count as on the loop")
    func virtualCommands() {
        let reactor = Reactor(virtualTime: ())
        let log = Log<Bool>()
        reactor.loop.run { reactor in log.append(reactor.loop.isCurrent) }
        #expect(log.all.isEmpty)
        reactor.runPending()
        #expect(log.all == [true])
    }

    @Test("the virtual clock moves only when it is told to, and stops at each deadline")
    func virtualClock() {
        let reactor = Reactor(virtualTime: ())
        let start = reactor.now
        var fired: [Duration] = []
        let timers = [30, 10, 20].map { milliseconds in
            let timer = reactor.makeTimer { fired.append(reactor.now - start) }
            timer.set(start + .milliseconds(milliseconds))
            return timer
        }
        reactor.runPending()
        #expect(fired.isEmpty && reactor.now == start)
        reactor.advance(by: .milliseconds(15))
        #expect(fired == [.milliseconds(10)])
        #expect(reactor.now - start == .milliseconds(15))
        reactor.advance(by: .milliseconds(15))
        #expect(fired == [.milliseconds(10), .milliseconds(20), .milliseconds(30)])
        #expect(timers.allSatisfy { $0.deadline == nil })
    }

    @Test("a timer moved later fires once, at its last deadline")
    func movedLater() {
        let reactor = Reactor(virtualTime: ())
        let start = reactor.now
        var fired: [Duration] = []
        let timer = reactor.makeTimer { fired.append(reactor.now - start) }
        timer.set(start + .seconds(1))
        for step in 1...100 {
            reactor.advance(by: .milliseconds(500))
            timer.set(start + .milliseconds(500 * step) + .seconds(1))
        }
        #expect(fired.isEmpty)
        reactor.advance(by: .seconds(10))
        #expect(fired == [.seconds(51)])
    }

    @Test("a timer moved earlier fires at the earlier deadline only")
    func movedEarlier() {
        let reactor = Reactor(virtualTime: ())
        let start = reactor.now
        var fired: [Duration] = []
        let timer = reactor.makeTimer { fired.append(reactor.now - start) }
        timer.set(start + .seconds(10))
        timer.set(start + .seconds(1))
        reactor.advance(by: .seconds(20))
        #expect(fired == [.seconds(1)])
    }

    @Test("a cleared timer does not fire, and can be set again")
    func cleared() {
        let reactor = Reactor(virtualTime: ())
        let start = reactor.now
        var fired = 0
        let timer = reactor.makeTimer { fired += 1 }
        timer.set(start + .seconds(1))
        timer.clear()
        reactor.advance(by: .seconds(2))
        #expect(fired == 0)
        timer.set(reactor.now + .seconds(1))
        timer.clear()
        timer.set(reactor.now + .seconds(3))
        reactor.advance(by: .seconds(2))
        #expect(fired == 0)
        reactor.advance(by: .seconds(1))
        #expect(fired == 1)
    }

    @Test("a timer that is let go does not fire, and releases its closure")
    func released() {
        final class Token {}
        let reactor = Reactor(virtualTime: ())
        weak var watched: Token?
        var fired = 0
        do {
            let token = Token()
            watched = token
            let timer = reactor.makeTimer {
                _ = token
                fired += 1
            }
            timer.set(reactor.now + .seconds(1))
        }
        #expect(watched == nil)
        reactor.advance(by: .seconds(2))
        #expect(fired == 0)
    }

    @Test("timers due together all fire, also when one clears or moves another")
    func dueTogether() {
        let reactor = Reactor(virtualTime: ())
        let start = reactor.now
        var log: [String] = []
        var others: [LoopTimer] = []
        let first = reactor.makeTimer {
            log.append("first")
            others[0].clear()
            others[1].set(reactor.now + .seconds(1))
        }
        others.append(reactor.makeTimer { log.append("cleared") })
        others.append(reactor.makeTimer { log.append("moved \(reactor.now - start)") })
        for timer in [first] + others {
            timer.set(start + .milliseconds(1))
        }
        reactor.advance(by: .milliseconds(2))
        #expect(log == ["first"])
        reactor.advance(by: .seconds(2))
        #expect(log == ["first", "moved 1.001 seconds"])
    }

    @Test("a timer that another one due with it releases does not fire, nor does a new one in its place")
    func releasedWhileDue() {
        let reactor = Reactor(virtualTime: ())
        var log: [String] = []
        var others: [LoopTimer] = []
        let first = reactor.makeTimer {
            log.append("first")
            others = []
            others.append(reactor.makeTimer { log.append("new") })
            others[0].set(reactor.now)
        }
        others.append(reactor.makeTimer { log.append("released") })
        for timer in [first] + others { timer.set(reactor.now + .milliseconds(1)) }
        // What `advance` fires afterwards is due anew.
        reactor.advance(by: .milliseconds(1))
        #expect(!log.contains("released") && log.first == "first")
    }

    @Test("any sequence of set, move, clear and release fires what a simple model fires")
    func timersAgainstModel() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<50 {
            let reactor = Reactor(virtualTime: ())
            let start = reactor.now
            var fired: [Int: [Duration]] = [:]
            var timers: [Int: LoopTimer] = [:]
            var model: [Int: Duration] = [:]
            var expected: [Int: [Duration]] = [:]
            for step in 0..<300 {
                let id = Int(random.next() % 20)
                switch random.next() % 6 {
                case 0, 1, 2:
                    let deadline = reactor.now - start + .milliseconds(Int(random.next() % 50) + 1)
                    let timer = timers[id] ?? reactor.makeTimer { fired[id, default: []].append(reactor.now - start) }
                    timers[id] = timer
                    timer.set(start + deadline)
                    model[id] = deadline
                case 3:
                    timers[id]?.clear()
                    model[id] = nil
                case 4:
                    timers[id] = nil
                    model[id] = nil
                default:
                    let now = reactor.now - start + .milliseconds(Int(random.next() % 20))
                    for (id, deadline) in model where deadline <= now {
                        expected[id, default: []].append(deadline)
                        model[id] = nil
                    }
                    reactor.advance(by: now - (reactor.now - start))
                }
                #expect(fired == expected, "step \(step)")
            }
        }
    }

    @Test("a resident is found under its key only, and can be let go")
    func residents() {
        final class One {}
        final class Two {}
        let reactor = Reactor(virtualTime: ())
        let first = ResidentKey<One>()
        let second = ResidentKey<One>()
        let third = ResidentKey<Two>()
        let one = One()
        reactor.setResident(first, one)
        #expect(reactor.resident(first) === one)
        #expect(reactor.resident(second) == nil)
        #expect(reactor.resident(third) == nil)
        reactor.setResident(first, nil)
        #expect(reactor.resident(first) == nil)
    }

    @Test("tearing down releases everything that keeps itself alive through the reactor")
    func tearDown() {
        let tracker = LeakTracker()
        do {
            let reactor = tracker.track(Reactor(virtualTime: ()), "reactor")
            let key = ResidentKey<Listing>()
            let listing = tracker.track(Listing(reactor), "resident")
            reactor.setResident(key, listing)
            let held = tracker.track(Listing(reactor), "held")
            reactor.hold(held)
            let late = tracker.track(Listing(reactor), "later")
            reactor.later { _ = late }
            reactor.tearDown()
        }
        #expect(tracker.alive == [])
    }

    private final class Listing {
        let reactor: Reactor
        init(_ reactor: Reactor) { self.reactor = reactor }
    }

    @Test("a virtual reactor has no sockets: making one is an error")
    func noSockets() {
        let reactor = Reactor(virtualTime: ())
        #expect(throws: SystemError.self) { _ = try SocketStream.pair(on: reactor) }
    }
}

@Suite("Timers in real time", .timeLimit(.minutes(5)))
struct RealTimerTests {
    @Test("timers fire in the order of their deadlines, and never early")
    func order() async throws {
        try await withLoop { loop in
            let log = try await onLoop(loop) { reactor, finish in
                let start = reactor.now
                var log: [String] = []
                var isEarly = false
                let late = reactor.makeTimer {
                    isEarly = isEarly || reactor.now < start + .milliseconds(20)
                    finish(log + ["late", isEarly ? "early" : "on time"])
                }
                let soon = reactor.makeTimer {
                    isEarly = isEarly || reactor.now < start + .milliseconds(5)
                    log.append("soon")
                }
                late.set(start + .milliseconds(20))
                soon.set(start + .milliseconds(5))
                reactor.keep(late, soon)
            }
            #expect(log == ["soon", "late", "on time"])
        }
    }

    @Test("a timer that sets itself to now fires again and again without starving the mailbox")
    func noStarvation() async throws {
        try await withLoop { loop in
            let count = try await onLoop(loop) { reactor, finish in
                final class State {
                    var count = 0
                    weak var timer: LoopTimer?
                }
                let state = State()
                let timer = reactor.makeTimer {
                    state.count += 1
                    if state.count == 10 {
                        reactor.loop.run { _ in finish(10) }
                    }
                    state.timer?.set(reactor.now)
                }
                state.timer = timer
                timer.set(reactor.now)
                reactor.keep(timer)
            }
            #expect(count == 10)
        }
    }
}
