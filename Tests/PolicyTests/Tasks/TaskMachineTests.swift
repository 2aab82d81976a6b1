// Which part of a task works next (its steps, a wait or its exchange), event by event.

import Testing
import URLLoadingPolicy

@Suite("The machine of a task")
struct TaskMachineTests {
    /// A machine whose exchange is under way.
    private static func exchanging() -> TaskRig {
        let machine = TaskRig()
        _ = machine.resume()
        _ = machine.submit(priority: 0.5)
        _ = machine.takenUp(priority: 0.5)
        return machine
    }

    // MARK: Suspensions

    @Test("B1.36: a new task counts as suspended once, and begins when it is resumed as often")
    func begins() {
        let machine = TaskRig()
        #expect(machine.phase == .suspended && !machine.hasStarted)
        #expect(!machine.suspend())
        #expect(machine.resume() == .none)
        #expect(machine.phase == .suspended)
        #expect(machine.resume() == .begin)
        #expect(machine.phase == .running && machine.hasStarted)
        #expect(machine.resume() == .none)
    }

    @Test("B1.36: a task that is suspended between two steps goes on taking them, and begins but once")
    func suspendedBetweenSteps() {
        let machine = TaskRig()
        _ = machine.resume()
        #expect(machine.suspend())
        #expect(machine.phase == .suspended)
        #expect(machine.wait() != nil)
        #expect(machine.resume() == .tellExchange)
        #expect(machine.phase == .running)
    }

    @Test("A task without a session only pretends to run: it shows that it runs, and never begins")
    func pretends() {
        let machine = TaskRig()
        #expect(machine.resume(pretends: true) == .none)
        #expect(machine.phase == .running && !machine.hasStarted)
    }

    @Test("B1.39: the exchange is told to pause and to go on by one thread at a time")
    func tells() {
        let machine = Self.exchanging()
        #expect(machine.tell() == nil)
        #expect(machine.suspend())
        #expect(machine.tell() == true)
        // Another thread resumes before the exchange has heard of the suspension.
        #expect(machine.resume() == .tellExchange)
        #expect(machine.tell() == nil)
        machine.told()
        #expect(machine.tell() == false)
        machine.told()
        #expect(machine.tell() == nil)
    }

    @Test("B1.39: an exchange taken up while its task is suspended begins standing still; one that takes over is told")
    func toldWhenTakenUp() {
        let machine = TaskRig()
        _ = machine.resume()
        #expect(machine.submit(priority: 0.5))
        #expect(machine.suspend())
        #expect(machine.tell() == nil)
        #expect(machine.takenUp(priority: 0.5).isSuspended)
        #expect(machine.tell() == nil, "it begins standing still")
        #expect(machine.resume() == .tellExchange)
        #expect(machine.tell() == false)
        machine.told()
        #expect(machine.suspend())
        #expect(!machine.goOnElsewhere())
        #expect(machine.tell() == true)
    }

    @Test(
        "B10.33: a task of an earlier run of the program continues in the state that its journal holds",
        arguments: [true, false])
    func earlierLife(isSuspended: Bool) {
        let machine = TaskRig()
        machine.takeUp(isSuspended: isSuspended)
        #expect(machine.phase == (isSuspended ? .suspended : .running))
        #expect(machine.hasStarted && machine.tell() == nil)
        #expect(machine.resume() == (isSuspended ? .tellExchange : .none))
        #expect(machine.tell() == (isSuspended ? false : nil))
    }

    // MARK: Waits

    @Test("An answer counts once, and not after another wait has begun")
    func answers() throws {
        let machine = TaskRig()
        _ = machine.resume()
        let first = try #require(machine.wait())
        #expect(machine.isWaiting && machine.isWaiting(for: first))
        #expect(machine.answered(first))
        #expect(!machine.isWaiting && !machine.answered(first))
        let second = try #require(machine.wait())
        #expect(first != second)
        #expect(!machine.answered(first) && !machine.timedOut(first))
        #expect(machine.answered(second))
    }

    @Test("B6.8: when the time for an answer is over the task ends, and a late answer does not count")
    func timedOut() throws {
        let machine = TaskRig()
        _ = machine.resume()
        let number = try #require(machine.wait())
        #expect(machine.timedOut(number))
        #expect(!machine.answered(number) && !machine.timedOut(number))
        #expect(machine.cancel() == .none)
        machine.complete()
        #expect(machine.phase == .completed && machine.hasStarted)
    }

    // MARK: Cancellations

    @Test("B1.41: a task that never began is ended by its cancellation, and counts as never begun")
    func cancelledUnstarted() {
        let machine = TaskRig()
        #expect(machine.cancel() == .end)
        #expect(machine.phase == .canceling && machine.isOver)
        #expect(machine.cancel() == .none && machine.resume() == .none && !machine.suspend())
        machine.complete()
        #expect(machine.phase == .completed && !machine.hasStarted)
    }

    @Test("B1.41: a cancellation ends a wait")
    func cancelledWaiting() throws {
        let machine = TaskRig()
        _ = machine.resume()
        let number = try #require(machine.wait())
        #expect(machine.cancel() == .end)
        #expect(!machine.answered(number))
    }

    @Test("B1.41: a task that is cancelled between two steps begins no wait and no exchange")
    func cancelledPreparing() {
        let machine = TaskRig()
        _ = machine.resume()
        #expect(machine.cancel() == .none)
        #expect(machine.wait() == nil)
        #expect(!machine.submit(priority: 0.5))
        #expect(!machine.begin())
    }

    @Test("B1.41: an exchange is cancelled, also one that is still on its way")
    func cancelledExchanging() {
        let machine = Self.exchanging()
        #expect(machine.cancel() == .exchange)
        let other = TaskRig()
        _ = other.resume()
        _ = other.submit(priority: 0.5)
        #expect(other.cancel() == .none)
        let arrears = other.takenUp(priority: 0.5)
        #expect(arrears.isWanted && arrears.isCancelled)
        #expect(other.goOnElsewhere())
    }

    @Test("B1.53: a priority that was set while the exchange was on its way is made up for")
    func priority() {
        let machine = TaskRig()
        _ = machine.resume()
        _ = machine.submit(priority: 0.5)
        #expect(machine.takenUp(priority: 0.75).priority == 0.75)
        let same = TaskRig()
        _ = same.resume()
        _ = same.submit(priority: 0.5)
        #expect(same.takenUp(priority: 0.5).priority == nil)
    }

    @Test("An exchange that is taken up after the task's end is not wanted")
    func takenUpLate() {
        let machine = TaskRig()
        _ = machine.resume()
        _ = machine.submit(priority: 0.5)
        machine.end()
        let arrears = machine.takenUp(priority: 0.5)
        #expect(!arrears.isWanted && !arrears.isCancelled)
        #expect(machine.tell() == nil)
    }
}

/// A machine whose calls the macros of the tests can take apart, which a value that cannot be copied does not allow.
private final class TaskRig {
    private var machine = TaskMachine()

    var phase: TaskMachine.Phase { machine.phase }
    var isOver: Bool { machine.isOver }
    var hasStarted: Bool { machine.hasStarted }
    var isWaiting: Bool { machine.isWaiting }

    func isWaiting(for number: WaitNumber) -> Bool { machine.isWaiting(for: number) }
    func resume(pretends: Bool = false) -> TaskMachine.Resumption { machine.resume(pretends: pretends) }
    func suspend() -> Bool { machine.suspend() }
    func cancel() -> TaskMachine.Cancellation { machine.cancel() }
    func wait() -> WaitNumber? { machine.wait() }
    func answered(_ number: WaitNumber) -> Bool { machine.answered(number) }
    func timedOut(_ number: WaitNumber) -> Bool { machine.timedOut(number) }
    func submit(priority: Float) -> Bool { machine.submit(priority: priority) }
    func takenUp(priority: Float) -> TaskMachine.Arrears { machine.takenUp(priority: priority) }
    func begin() -> Bool { machine.begin() }
    func goOnElsewhere() -> Bool { machine.goOnElsewhere() }
    func tell() -> Bool? { machine.tell() }
    func told() { machine.told() }
    func end() { machine.end() }
    func complete() { machine.complete() }
    func takeUp(isSuspended: Bool) { machine.takeUp(isSuspended: isSuspended) }
}
