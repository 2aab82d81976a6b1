import Testing
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("Loop", .timeLimit(.minutes(5)))
struct LoopTests {
    private final class Note: LoopCommand {
        let number: Int
        let log: Log<Int>

        init(_ number: Int, _ log: Log<Int>) {
            self.number = number
            self.log = log
        }

        func run(on reactor: Reactor) {
            log.append(number)
        }

        func couldNotRun(_ error: SystemError, on reactor: Reactor) {
            log.append(-number)
        }
    }

    @Test("commands and closures of one sender run in the order of their submission")
    func order() async throws {
        try await withLoop { loop in
            let log = Log<Int>()
            for number in 0..<1000 {
                if number % 3 == 0 {
                    loop.run { _ in log.append(number) }
                } else {
                    loop.submit(Note(number, log))
                }
            }
            try await onLoop(loop) { _, finish in finish(()) }
            #expect(log.all == Array(0..<1000))
        }
    }

    #if DEBUG
        @Test("In a debug build, opening a file on a loop's thread is noticed, and on another thread it is not")
        func watch() async {
            // In a process of its own: the suite's may be one that ends there.
            await #expect(processExitsWith: .success) {
                setenv("URLLOADING_LOOP_WATCH", "tell", 1)
                _ = OpenFile.open(path: "/dev/null")
                #expect(LoopWatch.noticed.isEmpty)
                try await withLoop { loop in
                    try await onLoop(loop) { _, finish in
                        _ = OpenFile.open(path: "/dev/null")
                        finish(())
                    }
                }
                #expect(LoopWatch.noticed == ["open"])
            }
        }

        @Test("In a debug build that is told to, the process ends where a file is opened on a loop's thread")
        func watchStops() async {
            await #expect(processExitsWith: .failure) {
                setenv("URLLOADING_LOOP_WATCH", "stop", 1)
                _ = OpenFile.open(path: "/dev/null")
                guard LoopWatch.noticed.isEmpty else { exit(0) }
                try await withLoop { loop in
                    try await onLoop(loop) { _, finish in
                        _ = OpenFile.open(path: "/dev/null")
                        finish(())
                    }
                }
                exit(0)
            }
        }
    #endif

    @Test("what many senders submit arrives whole and in each sender's order")
    func manySenders() async throws {
        try await withLoop { loop in
            let log = Log<Int>()
            await withTaskGroup(of: Void.self) { group in
                for sender in 0..<8 {
                    group.addTask {
                        for number in 0..<500 {
                            loop.submit(Note(sender * 1000 + number, log))
                        }
                    }
                }
            }
            try await onLoop(loop) { _, finish in finish(()) }
            for sender in 0..<8 {
                let own = log.all.filter { $0 / 1000 == sender }
                #expect(own == (0..<500).map { sender * 1000 + $0 })
            }
        }
    }

    @Test("an observer of the turn is told on a real loop too, and held until then")
    func turnObserver() async throws {
        try await withLoop { loop in
            let ended: Bool = try await onLoop(loop) { reactor, finish in
                reactor.atEndOfTurn(EndOfTurn { finish(reactor.loop.isCurrent) })
            }
            #expect(ended)
        }
    }

    private final class EndOfTurn: TurnObserver {
        private let tell: () -> Void

        init(_ tell: @escaping () -> Void) { self.tell = tell }

        func turnEnded() { tell() }
    }

    @Test("a command submitted on the loop runs after the one that submitted it, without a thread change")
    func submitOnLoop() async throws {
        try await withLoop { loop in
            let log = Log<String>()
            try await onLoop(loop) { reactor, finish in
                reactor.loop.run { reactor in
                    log.append(reactor.loop.isCurrent ? "inner" : "elsewhere")
                    finish(())
                }
                log.append("outer")
            }
            #expect(log.all == ["outer", "inner"])
        }
    }

    @Test("the loop's actor runs on the loop's thread, and isCurrent tells")
    func actorRunsOnThread() async throws {
        try await withLoop { loop in
            #expect(!loop.isCurrent)
            #expect(await loop.runsOnItsThread())
        }
    }

    @Test("a task that prefers the loop's executor runs there, and comes back to it after a suspension")
    func taskExecutor() async throws {
        try await withLoop { loop in
            let places = await withTaskExecutorPreference(loop.taskExecutor) {
                let before = loop.isCurrent
                await Task.yield()
                return (before, loop.isCurrent)
            }
            #expect(places == (true, true))
        }
    }

    @Test("assumeIsolated succeeds inside commands")
    func assumeIsolated() async throws {
        try await withLoop { loop in
            let isSame = try await onLoop(loop) { reactor, finish in
                let identity = ObjectIdentifier(reactor)
                finish(reactor.loop.assumeIsolated { $0.currentReactor.map { ObjectIdentifier($0) } == identity })
            }
            #expect(isSame)
        }
    }

    @Test("stopping runs what was submitted before, drops what comes later, and ends the thread")
    func stop() async throws {
        let group = LoopGroup(count: 2, name: "stop-test")
        let loops = [group.next(), group.next()]
        let count = Counter()
        for loop in loops {
            for _ in 0..<100 {
                loop.run { _ in count.increment() }
            }
        }
        for loop in loops {
            try await onLoop(loop) { _, finish in finish(()) }
        }
        #expect(ProcessCounts.threads(named: "stop-test") == 2)
        group.stop()
        #expect(count.value == 200)
        // A joined thread has run its last instruction; the kernel may list it a moment longer.
        try await until { ProcessCounts.threads(named: "stop-test") == 0 }
        weak var dropped: Note?
        do {
            let note = Note(1, Log<Int>())
            dropped = note
            loops[0].submit(note)
        }
        #expect(dropped == nil)
    }

    @Test("a loop's thread starts with the first thing sent to it")
    func lazyThread() async throws {
        let group = LoopGroup(count: 3, name: "lazy-test")
        let first = group.next()
        #expect(ProcessCounts.threads(named: "lazy-test") == 0)
        try await onLoop(first) { _, finish in finish(()) }
        #expect(ProcessCounts.threads(named: "lazy-test") == 1)
        group.stop()
    }

    @Test("loops are handed out in turn, and the shared group has at most four")
    func handedOutInTurn() {
        let group = LoopGroup(count: 2, name: "turn-test")
        let first = group.next()
        let second = group.next()
        #expect(first !== second)
        #expect(group.next() === first)
        let shared = Set((0..<8).map { _ in ObjectIdentifier(LoopGroup.shared.next()) })
        #expect(shared.count <= 4)
    }

    @Test(
        "several loops at once are each another, also where there were fewer before, and those that follow are the next in turn"
    )
    func severalAtOnce() {
        let group = LoopGroup(count: 3, name: "many")
        let (first, second, third) = (group.next(2), group.next(2), group.next(5))
        #expect(first[1] !== first[0] && second[0] !== first[0] && second[0] !== first[1] && second[1] === first[0])
        #expect(third[0] === first[1] && third[1] === second[0] && third[4] === first[0])
        #expect(Set(third.map { ObjectIdentifier($0) }).count == 5)
        #expect(group.next() === first[0])
        #expect(group.next(0).count == 1)
        group.stop()
    }

    @Test("the end of a loop releases residents, held objects, put-off work and streams")
    func stopReleases() async throws {
        final class Resident {
            var reactor: Reactor?
            var stream: SocketStream?
        }
        final class Weak: Sendable {
            let isGone = Guarded(false)
        }
        final class Sentinel {
            let mark: Weak
            init(_ mark: Weak) { self.mark = mark }
            deinit { mark.isGone.withLock { $0 = true } }
        }
        let marks = (0..<3).map { _ in Weak() }
        let key = ResidentKey<Resident>()
        let group = LoopGroup(count: 1, name: "release-test")
        try await onLoop(group.next()) { reactor, finish in
            let resident = Resident()
            resident.reactor = reactor
            let (stream, other) = try SocketStream.pair(on: reactor)
            resident.stream = stream
            reactor.setResident(key, resident)
            reactor.hold(other)
            reactor.hold(Sentinel(marks[0]))
            let sentinel = Sentinel(marks[1])
            let timer = reactor.makeTimer { _ = sentinel }
            timer.set(reactor.now + .seconds(3600))
            reactor.hold(timer)
            final class Cycle {
                var own: (() -> Void)?
                let sentinel: Sentinel
                init(_ sentinel: Sentinel) { self.sentinel = sentinel }
            }
            let cycle = Cycle(Sentinel(marks[2]))
            reactor.later { _ = cycle }
            finish(())
        }
        group.stop()
        #expect(marks.map { $0.isGone.value } == [true, true, true])
    }
}

extension Loop {
    fileprivate func runsOnItsThread() -> Bool { isCurrent }
}
