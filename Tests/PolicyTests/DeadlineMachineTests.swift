// The idle and the resource deadline, in virtual time.

import Testing
import URLLoadingPolicy

@Suite struct DeadlineMachineTests {
    private func at(_ seconds: Int) -> Duration { .seconds(1000 + seconds) }

    private func machine(idle: Int? = 60, resource: Int? = nil) -> DeadlineMachine {
        DeadlineMachine(idle: idle.map { .seconds($0) }, resource: resource.map(at))
    }

    @Test("B6.1: the idle time expires after the interval without a byte")
    func idleExpires() {
        var deadlines = machine()
        deadlines.started(at(0))
        #expect(deadlines.next == at(60))
        #expect(deadlines.expired(at(59)) == nil)
        #expect(deadlines.expired(at(60)) == .idle)
    }

    @Test("B6.2: one byte in each interval never expires")
    func slowDrip() {
        var deadlines = machine()
        deadlines.started(at(0))
        for second in stride(from: 59, through: 5900, by: 59) {
            #expect(deadlines.expired(at(second)) == nil)
            deadlines.moved(at(second))
            #expect(deadlines.next == at(second + 60))
        }
    }

    @Test("B6.42: bytes that reach the peer count from then on; what is heard without any of them counts once")
    func arrival() {
        var deadlines = machine()
        deadlines.started(at(0))
        func arrived(_ position: Int, before: Int?, age: Int, now: Int) -> Bool {
            deadlines.arrived(Arrival(position: position, before: before, age: .seconds(age)), at(now))
        }
        #expect(arrived(100, before: nil, age: 20, now: 60) && deadlines.next == at(100))
        #expect(arrived(101, before: 100, age: 0, now: 100) && deadlines.next == at(160))
        #expect(!arrived(101, before: 101, age: 0, now: 160))
        #expect(!arrived(102, before: 101, age: 60, now: 160))
        #expect(deadlines.expired(at(160)) == .idle)
        // The count begins anew when it is full.
        #expect(arrived(.min, before: .max, age: 1, now: 160) && deadlines.next == at(219))
        deadlines.stopped()
        #expect(!arrived(103, before: nil, age: 0, now: 219) && deadlines.next == nil)
    }

    @Test("B6.5: the resource deadline is not moved by bytes")
    func resourceExpires() {
        var deadlines = machine(resource: 100)
        deadlines.started(at(0))
        deadlines.moved(at(50))
        #expect(deadlines.next == at(100))
        deadlines.moved(at(90))
        #expect(deadlines.expired(at(100)) == .resource)
    }

    @Test("B6.6: the limit that was reached first is named")
    func earlierDecides() {
        var deadlines = machine(resource: 61)
        deadlines.started(at(0))
        #expect(deadlines.expired(at(70)) == .idle)
        deadlines.moved(at(2))
        #expect(deadlines.expired(at(70)) == .resource)
        deadlines.moved(at(1))
        #expect(deadlines.expired(at(70)) == .resource)
    }

    @Test("B6.7: no limit, or one not above zero, never expires", arguments: [nil, 0, -5])
    func noLimit(idle: Int?) {
        var deadlines = machine(idle: idle)
        deadlines.started(at(0))
        deadlines.moved(at(1))
        #expect(deadlines.next == nil)
        #expect(deadlines.expired(at(1_000_000)) == nil)
    }

    @Test("B6.8: the resource time runs while a delegate is asked")
    func resourceRunsWhileHeld() {
        var deadlines = machine(resource: 100)
        deadlines.started(at(0))
        deadlines.held(at(10))
        #expect(deadlines.next == at(100))
        #expect(deadlines.expired(at(100)) == .resource)
    }

    @Test("B6.9: the idle time stands still while held and runs on from where it stood")
    func heldStandsStill() {
        var deadlines = machine()
        deadlines.started(at(0))
        deadlines.held(at(20))
        #expect(deadlines.next == nil)
        #expect(deadlines.expired(at(5000)) == nil)
        deadlines.released(at(1000))
        #expect(deadlines.next == at(1040))
    }

    @Test("B6.9: holds are counted")
    func holdsNest() {
        var deadlines = machine()
        deadlines.started(at(0))
        deadlines.held(at(10))
        deadlines.held(at(20))
        deadlines.released(at(30))
        #expect(deadlines.next == nil)
        deadlines.released(at(40))
        #expect(deadlines.next == at(90))
        deadlines.released(at(41))
        #expect(deadlines.next == at(90))
        deadlines.held(at(50))
        #expect(deadlines.next == nil)
    }

    @Test("B6.9: bytes that move while held give the whole time back")
    func movedWhileHeld() {
        var deadlines = machine()
        deadlines.started(at(0))
        deadlines.held(at(50))
        deadlines.moved(at(55))
        deadlines.released(at(100))
        #expect(deadlines.next == at(160))
    }

    @Test("B6.9: a deadline that had passed when it was held expires at once afterwards")
    func heldTooLate() {
        var deadlines = machine()
        deadlines.started(at(0))
        deadlines.held(at(70))
        deadlines.released(at(100))
        #expect(deadlines.expired(at(100)) == .idle)
    }

    @Test("B6.9: started while held, the idle time begins with the release")
    func startedWhileHeld() {
        var deadlines = machine()
        deadlines.held(at(0))
        deadlines.started(at(5))
        #expect(deadlines.next == nil)
        deadlines.released(at(10))
        #expect(deadlines.next == at(70))
    }

    @Test("B6.10: no idle time runs before the start and after a stop, the resource time does")
    func waitingForConnection() {
        var deadlines = machine(resource: 1000)
        deadlines.moved(at(1))
        #expect(deadlines.next == at(1000))
        deadlines.started(at(100))
        #expect(deadlines.next == at(160))
        deadlines.stopped()
        #expect(deadlines.next == at(1000))
        deadlines.held(at(200))
        deadlines.released(at(300))
        #expect(deadlines.next == at(1000))
    }

    @Test("B4.37: a new start gives the whole idle time, the resource deadline stays")
    func restart() {
        var deadlines = machine(resource: 70)
        deadlines.started(at(0))
        deadlines.started(at(50))
        #expect(deadlines.expired(at(69)) == nil)
        #expect(deadlines.expired(at(70)) == .resource)
    }

    @Test("B6.7: an absurd limit does not overflow")
    func absurdLimit() {
        var deadlines = DeadlineMachine(idle: .seconds(Int64.max), resource: nil)
        deadlines.started(at(0))
        deadlines.moved(at(10))
        #expect(deadlines.next == at(10) + .seconds(366 * 86_400))
    }
}
