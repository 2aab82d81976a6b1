// A machine on which the whole library is played by one thread: a clock that moves from one thing to do to the next,
// helper threads and alarms that are entries of an agenda, one loop, and a network in memory. Everything that a real
// machine leaves to chance is drawn from the seed: how long a helper takes, when the loop has its turn, what comes
// first of two things that are due together. So one seed is one story.
//
// Must not know: what the program in it does, and what would be wrong.

import URLLoadingSystem
import URLLoadingTestSupport

/// The simulated machine of one run.
//
// `@unchecked Sendable`: one thread plays, and there is no other in the process.
final class World: SimulatedMachine, @unchecked Sendable {
    /// The time of the loops' clock.
    private(set) var now = Duration.seconds(1)
    /// What happened.
    private(set) var story: Story
    /// What went wrong.
    private(set) var faults: [String] = []
    /// Whether its program tries again what has failed.
    var triesAgain = false
    /// Whatever the world leaves to chance.
    var chance: SeededRandom
    private var libraryChance: SeededRandom
    private var agenda = Agenda()
    private var isTurnPlanned = false
    private var wallStep: Int64 = 0
    private(set) var hasSetWallClock = false
    /// The loop's; made once this world is the process's machine, whose clock it reads.
    private(set) lazy var reactor = Reactor(virtualTime: ())
    /// Where connections lead.
    private(set) lazy var network = Network(self)

    init(seed: UInt64, keepsStory: Bool) {
        story = Story(isKept: keepsStory)
        chance = SeededRandom(seed: seed, of: 1)
        libraryChance = SeededRandom(seed: seed, of: 2)
    }

    // MARK: The machine

    var loop: Loop { reactor.loop }
    var nanoseconds: Int64 { now.nanoseconds }
    var wallMicroseconds: Int64 { 1_800_000_000_000_000 + wallStep + now.nanoseconds / 1_000 }

    func random() -> UInt64 { libraryChance.next() }

    func runAside(_ work: @escaping @Sendable () -> Void) {
        add(after: draw(.microseconds(10) ... .milliseconds(20)), work)
    }

    func run(at moment: Duration, _ work: @escaping @Sendable () -> Void) -> Int {
        add(at: moment, work)
    }

    func callOff(_ number: Int) { agenda.callOff(number) }

    func note(_ complaint: String) { tell("the library says: \(complaint)") }

    func makeDialer(on reactor: Reactor) -> any Dialer { network }

    func makeResolver(on reactor: Reactor) -> any Resolver { network }

    // MARK: What happens

    /// Puts something on the agenda.
    @discardableResult
    func add(at moment: Duration, _ work: @escaping () -> Void) -> Int {
        agenda.add(at: max(moment, now), tie: chance.next(), work)
    }

    /// Puts something on the agenda, so long from now.
    func add(after delay: Duration, _ work: @escaping () -> Void) { add(at: now + delay, work) }

    /// Some duration.
    func draw(_ range: ClosedRange<Duration>) -> Duration {
        .nanoseconds(Int64.random(in: range.lowerBound.nanoseconds...range.upperBound.nanoseconds, using: &chance))
    }

    /// Sets the wall clock.
    func stepWallClock(by seconds: Int64) {
        wallStep += seconds * 1_000_000
        hasSetWallClock = true
        tell("the wall clock is set by \(seconds) s")
    }

    /// Adds a line to the story.
    func tell(_ line: String) { story.add(now, line) }

    /// Something that must not be.
    func complain(_ fault: String) {
        faults.append(fault)
        tell("WRONG: \(fault)")
    }

    /// Goes on until nothing is left to be done; false where that does not come before `limit`.
    func play(until limit: Duration) -> Bool {
        while true {
            planTurn()
            let timer = reactor.nextDeadline
            guard let moment = [timer, agenda.nextMoment].compactMap(\.self).min() else { return true }
            guard moment <= limit else { return false }
            now = max(now, moment)
            if let timer, timer <= now, agenda.nextMoment.map({ $0 > now }) ?? true || chance.chance(50) {
                reactor.turn(at: now)
            } else {
                agenda.takeNext()?()
            }
        }
    }

    /// A loop that has something to do has its turn, but not at once: other threads come in between.
    private func planTurn() {
        guard reactor.hasWork, !isTurnPlanned else { return }
        isTurnPlanned = true
        add(after: draw(.zero ... .microseconds(300))) { [self] in
            isTurnPlanned = false
            reactor.turn(at: now)
        }
    }
}

extension Duration {
    /// In whole nanoseconds.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
