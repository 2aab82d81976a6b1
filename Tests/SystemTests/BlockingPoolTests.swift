import Testing
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("BlockingPool", .timeLimit(.minutes(5)))
struct BlockingPoolTests {
    @Test("look-ups that hang hold up no file, cache or credential work, and each kind of work holds up only itself")
    func kinds() async {
        let pools: [BlockingPool] = [.names, .files, .cache, .authentication, .tickets, .shared]
        for held in pools {
            let gate = Gate()
            for _ in 0..<16 { held.run { gate.pass() } }
            // Tests of Negotiate hold the pool of tickets while they wait for that of proofs.
            for other in pools where other !== held && other !== BlockingPool.tickets {
                await withHandover { handover in _ = other.run { handover.resume() } }
            }
            gate.open()
            await withHandover { handover in _ = held.run { handover.resume() } }
        }
    }

    @Test("a lane takes what came while it was busy in the order in which it came, however much that is")
    func lane() async throws {
        let lane = BlockingLane(pool: BlockingPool(limit: 1, idleTime: .zero, name: "lane-order"), width: 1)
        let gate = Gate()
        let done = Log<Int>()
        lane.run { gate.pass() }
        for number in 0..<2_000 {
            lane.run {
                done.append(number)
                // What comes while others wait goes behind them.
                if number < 500 { lane.run { done.append(2_000 + number) } }
            }
        }
        gate.open()
        try await until { done.all.count >= 2_500 }
        #expect(done.all == Array(0..<2_500))
    }

    @Test("at most four threads work at a time, and work begins in order")
    func limit() async throws {
        let pool = BlockingPool(limit: 4, idleTime: .zero, name: "pool-limit")
        let gate = Gate()
        let started = Log<Int>()
        let done = Counter()
        for number in 0..<12 {
            let isTaken = pool.run {
                started.append(number)
                gate.pass()
                done.increment()
            }
            #expect(isTaken)
        }
        try await until { started.all.count >= 4 }
        #expect(pool.threadCount == 4)
        #expect(started.all.sorted() == [0, 1, 2, 3])
        gate.open()
        try await until { done.value >= 12 }
        #expect(started.all.sorted() == Array(0..<12))
        // Idle for no time at all: they go.
        try await until { pool.threadCount == 0 }
    }

    @Test("one thread does one thing after the other, in order")
    func order() async throws {
        let pool = BlockingPool(limit: 1, idleTime: .zero, name: "pool-order")
        let log = Log<Int>()
        for number in 0..<500 {
            pool.run { log.append(number) }
        }
        try await until { log.all.count >= 500 }
        #expect(log.all == Array(0..<500))
    }

    @Test("an idle thread takes new work: no second one is started")
    func reuse() async throws {
        let pool = BlockingPool(limit: 4, idleTime: .seconds(3600), name: "pool-reuse")
        let log = Log<UInt>()
        for round in 1...50 {
            pool.run { log.append(currentThread()) }
            try await until { log.all.count >= round && pool.idleCount > 0 }
        }
        #expect(Set(log.all).count == 1)
        #expect(pool.threadCount == 1)
    }

    @Test("threads that go while work arrives lose none of it")
    func leavingRace() async throws {
        let pool = BlockingPool(limit: 3, idleTime: .zero, name: "pool-race")
        let done = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<500 {
                        pool.run { done.increment() }
                        sched_yield()
                    }
                }
            }
        }
        try await until { done.value >= 2000 }
        #expect(done.value == 2000)
    }

    /// Wants the pool at its own end, as the last holder of a cache does.
    private final class Holder: Sendable {
        let pool: BlockingPool
        let ended: @Sendable () -> Void

        init(_ pool: BlockingPool, ended: @escaping @Sendable () -> Void) {
            self.pool = pool
            self.ended = ended
        }

        deinit {
            let ended = ended
            pool.run { ended() }
        }
    }

    @Test("a job's objects are released when it has run, not when later jobs have, and their release may use the pool")
    func ends() async throws {
        let pool = BlockingPool(limit: 1, idleTime: .seconds(10), name: "pool-held")
        let gate = Gate()
        let log = Log<String>()
        pool.run { gate.pass() }
        for number in 1...3 {
            let holder = Holder(pool) { log.append("end \(number)") }
            pool.run { _ = holder }
            pool.run { log.append("behind \(number)") }
        }
        gate.open()
        try await until { log.all.count >= 6 }
        // Each end asks for a turn behind those that had asked before.
        #expect(log.all == ["behind 1", "behind 2", "behind 3", "end 1", "end 2", "end 3"])
    }
}
