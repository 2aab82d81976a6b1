// What concerns the whole process, its limits and its descriptors' numbers, is tried out in processes of their own: the
// other tests keep their descriptors, and do not get in the way.

import Dispatch
import Testing
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("The whole process", .timeLimit(.minutes(5)))
struct LimitTests {
    @Test("no descriptor left: a dial fails with EMFILE, the loop goes on, and dialling works again later")
    func dialWithoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsDescriptors()
            try await withLoop { loop in
                let address = try await listen(on: loop)
                let drought = Drought()
                let error = drought.wait(on: loop) { dial(address, on: $0, $1) }
                // The loop runs commands and timers meanwhile.
                drought.wait(on: loop) { reactor, finish in
                    let timer = reactor.makeTimer { finish(()) }
                    timer.set(reactor.now)
                    reactor.keep(timer)
                }
                drought.release()
                #expect(error?.errno == EMFILE && error?.isShortage == true)
                #expect(error?.description == "socket: Too many open files")
                #expect(try await dial(address, on: loop) == nil)
            }
        }
    }

    @Test("no descriptor left: accepting pauses, and goes on when there is one again")
    func acceptWithoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsDescriptors()
            try await withLoop { loop in
                let accepted = Counter()
                let address = try await listen(on: loop) { accepted.increment() }
                let drought = Drought(isOver: true)
                // The client has its descriptor; the system completes the connection, and accept finds none.
                let error: SystemError? = drought.wait(on: loop) { reactor, finish in
                    dial(address, on: reactor, finish)
                    drought.begin()
                }
                for _ in 0..<3 {
                    drought.wait(on: loop) { reactor, finish in
                        let timer = reactor.makeTimer { finish(()) }
                        timer.set(reactor.now + .milliseconds(30))
                        reactor.keep(timer)
                    }
                }
                let acceptedMeanwhile = accepted.value
                drought.release()
                #expect(error == nil && acceptedMeanwhile == 0)
                try await until { accepted.value > 0 }
                #expect(accepted.value == 1)
            }
        }
    }

    @Test("a loop that starts without descriptors runs its commands, and gets its poller when there are some")
    func loopWithoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsDescriptors()
            let nowhere = try loopback(port: 1)
            let drought = Drought()
            try await withLoop { loop in
                drought.wait(on: loop) { reactor, finish in
                    let timer = reactor.makeTimer { finish(()) }
                    timer.set(reactor.now + .milliseconds(5))
                    reactor.keep(timer)
                }
                let error = drought.wait(on: loop) { dial(nowhere, on: $0, $1) }
                drought.release()
                #expect(error?.errno == EMFILE)
                let address = try await listen(on: loop)
                #expect(try await dial(address, on: loop) == nil)
            }
        }
    }

    @Test("a helper thread without a descriptor to wait on does its work and ends")
    func poolWithoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsDescriptors()
            let drought = Drought()
            let pool = BlockingPool(limit: 2, idleTime: .zero, name: "poor-pool")
            let done = Counter()
            #expect(pool.run { done.increment() })
            drought.wait { done.value > 0 && pool.threadCount == 0 }
            drought.release()
            #expect(pool.run { done.increment() })
            while done.value == 1 {
                await Task.yield()
            }
        }
    }

    @Test(
        "no thread can be started for a look-up: that is a shortage, and localhost needs none",
        .enabled(if: FullAddressSpace.isPossible))
    func noThreadToLookUp() async {
        await #expect(processExitsWith: .success) {
            let reactor = Reactor(virtualTime: ())
            let pool = BlockingPool(limit: 1, idleTime: .zero, name: "no-names")
            let resolver = SystemResolver(reactor: reactor, pool: pool) { host in
                .failure(ResolverFailure(reason: .noSuchHost, code: 0, host: host, message: "unknown"))
            }
            var found: [Result<[SocketAddress], ResolverFailure>] = []
            let space = FullAddressSpace()
            for host in ["localhost", "name.test"] { _ = resolver.resolve(host, port: 80) { found.append($0) } }
            space.release()
            reactor.runPending()
            #expect(try found.first?.get().map(\.description) == ["[::1]:80", "127.0.0.1:80"])
            guard case .failure(let failure)? = found.last else { throw Missing("a failure") }
            #expect(failure.shortage == SystemError(errno: EAGAIN, call: "pthread_create"))
            reactor.tearDown()
        }
    }

    @Test("a process whose ended children are ignored runs a program and waits for it; its status counts as 0")
    func ignoredChildren() async {
        await #expect(processExitsWith: .success) {
            signal(SIGCHLD, SIG_IGN)
            let command = ["/bin/sh", "-c", "exit $STATUS"]
            #expect(HelperProcess.runApart(command, variable: "STATUS", value: "3") == .success(0))
            signal(SIGCHLD, SIG_DFL)
            #expect(HelperProcess.runApart(command, variable: "STATUS", value: "3") == .success(3))
        }
    }

    /// A command that notes whether it has run or has been refused.
    private final class Order: LoopCommand {
        let refusals = Guarded<[Int32]>([])
        let runs = Counter()

        func run(on reactor: Reactor) { runs.increment() }

        func couldNotRun(_ error: SystemError, on reactor: Reactor) {
            // At the end of a turn, as receivers pass on what they were told.
            reactor.later { [self] in refusals.withLock { $0.append(error.errno) } }
        }
    }

    @Test(
        "threads cannot be started: a waiting command is told, the loop starts later, and a helper pool says no",
        .enabled(if: FullAddressSpace.isPossible))
    func noThreads() async {
        await #expect(processExitsWith: .success) {
            let group = LoopGroup(count: 1, name: "late-loop")
            let loop = group.next()
            let pool = BlockingPool(limit: 1, idleTime: .zero, name: "no-pool")
            let ran = Counter()
            let space = FullAddressSpace()
            let order = Order()
            loop.run { _ in ran.increment() }
            loop.submit(order)
            let isTaken = pool.run { ran.increment() }
            space.release()
            #expect(!isTaken)
            #expect(ran.value == 0)
            try await onLoop(loop) { _, finish in finish(()) }
            #expect(ran.value == 1)
            #expect(order.refusals.withLock { $0 } == [EAGAIN] && order.runs.value == 0)
            group.stop()
        }
    }

    @Test("several pools keep together about as many unused connections as one, but what one host may need")
    func idleConnections() {
        func each(_ perHost: Int, _ pools: Int, of descriptors: Int = 1_024) -> Int {
            DescriptorLimit.idleConnections(perHost: perHost, pools: pools, of: descriptors)
        }
        #expect([each(6, 1), each(6, 4), each(6, 64), each(6, 0)] == [256, 64, 6, 256])
        #expect([each(200, 4), each(200, 4, of: 1 << 20)] == [128, 200])
        #expect([each(6, 4, of: .max), each(6, 4, of: 0)] == [64, 1])
    }

    @Test("a connection leaves some descriptors for what the process cannot live without")
    func reserve() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsDescriptors()
            try await withLoop { loop in
                let address = try await listen(on: loop)
                var limit = rlimit()
                getrlimit(descriptorLimit, &limit)
                let before = limit
                // Room for eight more descriptors.
                let next = open("/dev/null", O_RDONLY)
                close(next)
                limit.rlim_cur = rlim_t(next) + 8
                setrlimit(descriptorLimit, &limit)
                let error = try await dial(address, on: loop)
                limit = before
                setrlimit(descriptorLimit, &limit)
                #expect(error?.description == "socket: Too many open files")
                #expect(try await dial(address, on: loop) == nil)
            }
        }
    }

    @Test("B16.85: where a program has closed its standard descriptors, none of ours takes their numbers")
    func standardNumbers() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsDescriptors()
            try await withLoop { loop in
                for number in Int32(0)...2 { close(number) }
                let numbers: [Int32] = try await onLoop(loop) { reactor, finish in
                    let (first, second) = try SocketStream.pair(on: reactor)
                    finish([first, second].compactMap { $0.withDescriptor { $0 } })
                }
                #expect(numbers.count == 2 && numbers.allSatisfy { $0 > 2 })
            }
        }
    }

    @Test("an event for a stream closed earlier in the same batch is dropped, also when its number is in use again")
    func staleEvents() async {
        // In a process of its own, where no other test takes the number that becomes free.
        await #expect(processExitsWith: .success) {
            try await withLoop { loop in
                let log = try await onLoop(loop) { reactor, finish in
                    var log: [String] = []
                    let pairs = try (0..<2).map { _ in try SocketStream.pair(on: reactor) }
                    var replacements: [SocketStream] = []
                    for (index, pair) in pairs.enumerated() {
                        let observer = Observer()
                        reactor.keep(observer, pair.0, pair.1)
                        pair.0.observer = observer
                        observer.onReadable = { _ in
                            log.append("readable")
                            // The stream that is told first closes the other, whose event waits in this batch, and
                            // takes over its descriptor's number.
                            let other = pairs[1 - index].0
                            let number = other.withDescriptor { $0 }
                            other.close()
                            guard let fresh = try? SocketStream.pair(on: reactor) else { return }
                            replacements = [fresh.0, fresh.1]
                            for stream in replacements {
                                let watcher = Observer()
                                watcher.onReadable = { _ in log.append("replacement was told") }
                                watcher.onWritable = watcher.onReadable
                                stream.observer = watcher
                                reactor.keep(watcher, stream)
                            }
                            log.append(
                                replacements.contains { $0.withDescriptor { $0 } == number } ? "reused" : "other")
                            // Two turns later every event of this batch has been told.
                            reactor.later { reactor.later { reactor.later { finish(log) } } }
                        }
                    }
                    // Both become readable before the next wait: one batch.
                    for pair in pairs {
                        _ = pair.1.write("x")
                    }
                }
                #expect(log == ["readable", "reused"])
            }
        }
    }

    @Test("loops, streams, timers and helper threads leave no descriptor and no thread behind")
    func nothingLeft() async {
        await #expect(processExitsWith: .success) {
            func round() async throws {
                let group = LoopGroup(count: 2, name: "flat-loop")
                let (first, second) = (group.next(), group.next())
                let address = try await listen(on: first)
                for _ in 0..<20 {
                    _ = try await dial(address, on: second)
                }
                let pool = BlockingPool(limit: 2, idleTime: .zero, name: "flat-pool")
                try await onLoop(second) { reactor, finish in
                    let resolver = SystemResolver(reactor: reactor, pool: pool) { _ in .success([]) }
                    _ = resolver.resolve("example.test", port: 1) { _ in finish(()) }
                    reactor.keep(resolver)
                }
                group.stop()
                while pool.threadCount > 0 {
                    await Task.yield()
                }
            }
            // Dispatch's own would else come between the two counts.
            await letDispatchOpenItsDescriptors()
            try await round()
            let before = ProcessCounts.now()
            for _ in 0..<5 {
                try await round()
            }
            // A detached thread may be on its last steps.
            while ProcessCounts.threads(named: "flat-") > 0 {
                await Task.yield()
            }
            // Fewer, where something of the first round was still on its way out.
            #expect(ProcessCounts.now().descriptors <= before.descriptors)
        }
    }
}

/// Starts a listener that holds what it accepts.
private func listen(on loop: Loop, _ onAccept: @escaping @Sendable () -> Void = {}) async throws -> SocketAddress {
    try await onLoop(loop) { reactor, finish in
        let listener = try Listener(reactor: reactor, address: loopback())
        listener.onAccept = { stream in
            reactor.keep(stream)
            onAccept()
        }
        reactor.keep(listener)
        finish(listener.address)
    }
}

/// Dials from the test and holds the connection; returns the error where there is none.
private func dial(_ address: SocketAddress, on loop: Loop) async throws -> SystemError? {
    try await onLoop(loop) { reactor, finish in dial(address, on: reactor) { finish($0) } }
}

/// Dials on the loop's thread, and holds the connection.
private func dial(_ address: SocketAddress, on reactor: Reactor, _ finish: @escaping (SystemError?) -> Void) {
    let dialer = SocketDialer(reactor: reactor)
    _ = dialer.dial(address, options: DialOptions()) { result in
        switch result {
        case .success(let stream):
            reactor.keep(stream)
            finish(nil)
        case .failure(let error):
            finish(error)
        }
    }
}

/// Dispatch gets its descriptors with its first timer, which it sets for itself at some moment, and ends the process
/// where there are none.
private func letDispatchOpenItsDescriptors() async {
    // A time that has come sets no timer, and this thread may stand still before it has asked: hence
    // some time ahead, and again.
    for _ in 0..<3 {
        await withHandover { handover in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) { handover.resume() }
        }
    }
}

/// Forbids the process to open another descriptor, until `release()`.
///
/// While it lasts nothing is awaited: Dispatch, which tasks run by, may want a descriptor for a timer at any time, and
/// once a second for a look at its own threads while work waits for them. It ends the process where it gets none.
private struct Drought: Sendable {
    private let before: rlimit

    /// Begins at once, or with `begin()`.
    init(isOver: Bool = false) {
        var limit = rlimit()
        getrlimit(descriptorLimit, &limit)
        before = limit
        if !isOver { begin() }
    }

    func begin() {
        var limit = before
        limit.rlim_cur = 0
        setrlimit(descriptorLimit, &limit)
    }

    func release() {
        var limit = before
        setrlimit(descriptorLimit, &limit)
    }

    /// Waits, and keeps the thread.
    func wait(until condition: () -> Bool) {
        while !condition() { sched_yield() }
    }

    /// Runs `body` on the loop, and waits for what it finishes with.
    func wait<Value: Sendable>(
        on loop: Loop, _ body: @escaping @Sendable (Reactor, @escaping @Sendable (Value) -> Void) -> Void
    ) -> Value {
        let found = Guarded<Value?>(nil)
        loop.run { reactor in body(reactor) { value in found.withLock { $0 = value } } }
        while true {
            if let value = found.value { return value }
            sched_yield()
        }
    }
}

#if canImport(Glibc)
    private let descriptorLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#else
    private let descriptorLimit = RLIMIT_NOFILE
#endif
