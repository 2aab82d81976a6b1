// A task's life in random order: every event that may come comes at any time, early, late and twice, and books of this
// test say what must come of it.

import Testing
import URLLoadingPolicy
import URLLoadingTestSupport

@Suite("The machine of a task in any order of events")
struct TaskMachineWalkTests {
    @Test("A task begins once and ends once, an old answer changes nothing, and its exchange knows of suspensions")
    func walks() {
        for seed in 1...Sanitizer.share(of: 2_000) {
            var random = SeededRandom(seed: UInt64(seed))
            var task = MockTask()
            for _ in 0..<Int.random(in: 5..<120, using: &random) { task.step(&random) }
            task.finish(&random)
            #expect(task.complaints == [], "seed \(seed)")
        }
    }
}

/// Drives a machine as a task does.
private struct MockTask: ~Copyable {
    /// The part of the task that is at work.
    private enum Worker {
        /// No part: the task has not begun, or is over.
        case idle
        case steps
        case wait(WaitNumber)
        case onTheWay(Float)
        case exchange
    }

    private(set) var complaints: [String] = []
    private var machine = TaskMachine()
    private var worker = Worker.idle
    private var priority: Float = 0.5
    private var suspensions = 1
    private var isCancelled = false
    private var hasBegun = false
    /// How often the end was decided, and whether it was told.
    private var ends = 0
    private var isCompleted = false
    private var oldNumbers: [WaitNumber] = []
    /// What the exchange was told last, and whether it is being told something.
    private var isExchangeSuspended = false
    private var isTelling = false

    private var isOver: Bool { isCancelled || isCompleted }

    private mutating func expect(_ condition: Bool, _ text: String) {
        if !condition { complaints.append(text) }
    }

    mutating func step(_ random: inout SeededRandom) {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<18: resume()
        case 18..<30: suspend()
        case 30..<33: cancel()
        case 33..<45: answerLate(&random)
        case 45..<60: tellOrHaveTold()
        case 60..<65: priority = Float(Int.random(in: 0...4, using: &random)) / 4
        default: work(&random)
        }
        expect(machine.isOver == isOver, "over: \(isOver)")
        expect(machine.hasStarted == hasBegun, "begun: \(hasBegun)")
        if case .wait(let number) = worker {
            expect(machine.isWaiting(for: number) && machine.isWaiting, "waits")
        } else {
            expect(!machine.isWaiting, "waits for nothing")
        }
    }

    /// The part that is at work comes to its end.
    mutating func finish(_ random: inout SeededRandom) {
        if !hasBegun { cancel() }
        while ends == 0, complaints.isEmpty {
            if case .exchange = worker { settle() }
            end(&random)
        }
        complete()
        expect(ends == 1, "\(ends) ends")
        expect(machine.phase == .completed, "completed")
        resume()
        suspend()
        cancel()
        expect(machine.tell() == nil, "told after the end")
        expect(machine.wait() == nil && !machine.submit(priority: 0) && !machine.begin(), "goes on after the end")
        for number in oldNumbers { expect(!machine.answered(number), "an old answer counts") }
    }

    // MARK: The program

    private mutating func resume() {
        let begins = !isOver && suspensions == 1 && !hasBegun
        let tells = !isOver && suspensions == 1 && hasBegun
        if !isOver, suspensions > 0 { suspensions -= 1 }
        let said = machine.resume()
        expect((said == .begin) == begins, "begins: \(begins)")
        expect((said == .tellExchange) == tells, "tells: \(tells)")
        if begins {
            hasBegun = true
            worker = .steps
        }
        expectPhase()
    }

    private mutating func suspend() {
        if !isOver { suspensions += 1 }
        let tells = !isOver && suspensions == 1
        expect(machine.suspend() == tells, "tells of a suspension: \(tells)")
        expectPhase()
    }

    private mutating func cancel() {
        let wasOver = isOver
        let said = machine.cancel()
        isCancelled = isCancelled || !isCompleted
        switch worker {
        case _ where wasOver: expect(said == .none, "cancelled twice")
        case .idle where !hasBegun, .wait:
            expect(said == .end, "nothing else ends it")
            if said == .end { decideEnd() }
        case .exchange: expect(said == .exchange, "the exchange is told")
        case .idle, .steps, .onTheWay: expect(said == .none, "something else ends it")
        }
    }

    private mutating func expectPhase() {
        guard !isOver else { return }
        expect(machine.phase == (suspensions > 0 ? .suspended : .running), "\(suspensions) suspensions")
    }

    // MARK: Answers

    private mutating func answerLate(_ random: inout SeededRandom) {
        guard let number = oldNumbers.randomElement(using: &random) else { return }
        expect(!machine.isWaiting(for: number), "an old number is waited for")
        expect(random.chance(50) ? !machine.answered(number) : !machine.timedOut(number), "an old answer counts")
    }

    /// Tells the exchange, or comes back from telling it.
    private mutating func tellOrHaveTold() {
        if isTelling {
            isTelling = false
            return machine.told()
        }
        let isExchanging = if case .exchange = worker { true } else { false }
        let due = isExchanging && (suspensions > 0) != isExchangeSuspended
        let said = machine.tell()
        expect((said != nil) == due, "tells: \(due)")
        guard let said else { return }
        expect(said == (suspensions > 0), "tells \(said)")
        isExchangeSuspended = said
        isTelling = true
    }

    /// Everything that the exchange has to be told is told.
    private mutating func settle() {
        for _ in 0..<3 { tellOrHaveTold() }
        if isTelling { tellOrHaveTold() }
        expect(isExchangeSuspended == (suspensions > 0), "the exchange knows of \(suspensions) suspensions")
    }

    // MARK: The part at work

    private mutating func work(_ random: inout SeededRandom) {
        switch worker {
        case .idle: if ends > 0, random.chance(20) { complete() }
        case .steps: takeStep(&random)
        case .wait(let number):
            worker = .idle
            oldNumbers.append(number)
            if random.chance(90) {
                expect(machine.answered(number), "an answer counts")
                worker = .steps
            } else {
                expect(machine.timedOut(number), "a limit counts")
                decideEnd()
            }
        case .onTheWay(let submitted):
            let arrears = machine.takenUp(priority: priority)
            expect(arrears.isWanted && arrears.isCancelled == isCancelled, "taken up: cancelled \(isCancelled)")
            expect(arrears.isSuspended == (suspensions > 0), "taken up: suspended")
            expect(arrears.priority == (priority == submitted ? nil : priority), "taken up: priority")
            beginExchange()
            isExchangeSuspended = arrears.isSuspended
        case .exchange:
            if random.chance(15) {
                expect(machine.goOnElsewhere() == isCancelled, "goes on elsewhere")
                return beginExchange()
            }
            machine.exchangeEnded()
            worker = .steps
        }
    }

    private mutating func takeStep(_ random: inout SeededRandom) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
            guard let number = machine.wait() else { return endStep() }
            expect(!isOver, "waits though it is over")
            worker = .wait(number)
        case 5..<7:
            guard machine.submit(priority: priority) else { return endStep() }
            expect(!isOver, "submits though it is over")
            worker = .onTheWay(priority)
        case 7..<9:
            guard machine.begin() else { return endStep() }
            expect(!isOver, "begins though it is over")
            beginExchange()
        default:
            worker = .idle
            machine.end()
            decideEnd()
        }
    }

    private mutating func beginExchange() {
        worker = .exchange
        isExchangeSuspended = false
    }

    /// The steps have found that the task is over.
    private mutating func endStep() {
        expect(isOver, "goes no further though it is not over")
        worker = .idle
        machine.end()
        decideEnd()
    }

    /// The part that is at work ends the task soon.
    private mutating func end(_ random: inout SeededRandom) {
        switch worker {
        case .steps:
            worker = .idle
            machine.end()
            decideEnd()
        case .idle: complaints.append("nothing is at work, and it has not ended")
        case .wait, .onTheWay, .exchange: work(&random)
        }
    }

    private mutating func decideEnd() {
        ends += 1
        if case .wait(let number) = worker { oldNumbers.append(number) }
        worker = .idle
        expect(ends == 1, "ends \(ends) times")
    }

    private mutating func complete() {
        guard !isCompleted else { return }
        machine.complete()
        isCompleted = true
    }
}
