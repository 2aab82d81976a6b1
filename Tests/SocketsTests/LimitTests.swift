// What concerns the whole process, its limits and its descriptors' numbers, is tried out in processes of their own: the
// other tests keep their descriptors, and do not get in the way.

import Dispatch
import Sockets
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("The whole process", .timeLimit(.minutes(5)))
struct LimitTests {
    @Test("no descriptor left: a dial fails with EMFILE, the loop goes on, and dialling works again later")
    func dialWithoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            try await withLoop { loop in
                let address = try await listen(on: loop)
                let drought = Drought()
                let error = try await dial(address, on: loop)
                #expect(error?.errno == EMFILE && error?.isShortage == true)
                #expect(error?.description == "socket: Too many open files")
                // The loop runs commands and timers meanwhile.
                try await onLoop(loop) { reactor, finish in
                    let timer = reactor.makeTimer { finish(()) }
                    timer.set(reactor.now)
                    reactor.keep(timer)
                }
                drought.release()
                #expect(try await dial(address, on: loop) == nil)
            }
        }
    }

    @Test("no descriptor left: accepting pauses, and goes on when there is one again")
    func acceptWithoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            try await withLoop { loop in
                let accepted = Counter()
                let address = try await listen(on: loop) { accepted.increment() }
                // The client has its descriptor; the system completes the connection, and accept finds none.
                let drought: Drought = try await onLoop(loop) { reactor, finish in
                    let dialer = SocketDialer(reactor: reactor)
                    var drought: Drought?
                    _ = dialer.dial(address, options: DialOptions()) { result in
                        if case .success(let stream) = result, let drought {
                            reactor.keep(stream)
                            finish(drought)
                        }
                    }
                    drought = Drought()
                }
                for _ in 0..<3 {
                    try await onLoop(loop) { reactor, finish in
                        let timer = reactor.makeTimer { finish(()) }
                        timer.set(reactor.now + .milliseconds(30))
                        reactor.keep(timer)
                    }
                }
                #expect(accepted.value == 0)
                drought.release()
                try await until { accepted.value > 0 }
                #expect(accepted.value == 1)
            }
        }
    }

    @Test("a loop that starts without descriptors runs its commands, and gets its poller when there are some")
    func loopWithoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            let drought = Drought()
            try await withLoop { loop in
                try await onLoop(loop) { reactor, finish in
                    let timer = reactor.makeTimer { finish(()) }
                    timer.set(reactor.now + .milliseconds(5))
                    reactor.keep(timer)
                }
                #expect(try await dial(loopback(port: 1), on: loop)?.errno == EMFILE)
                drought.release()
                let address = try await listen(on: loop)
                #expect(try await dial(address, on: loop) == nil)
            }
        }
    }

    @Test("a helper thread without a descriptor to wait on does its work and ends")
    func poolWithoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            // Dispatch gets its descriptors with its first timer, which it sets for itself at some moment, and ends the
            // process where there are none.
            await withHandover { handover in
                DispatchQueue.global().asyncAfter(deadline: .now()) { handover.resume() }
            }
            let drought = Drought()
            let pool = BlockingPool(limit: 2, idleTime: .zero, name: "poor-pool")
            let done = Counter()
            #expect(pool.run { done.increment() })
            // Neither by a timer nor by yielding: once a second Dispatch looks at its own threads while work waits for
            // them, and ends the process where it gets no descriptor for that.
            while done.value == 0 || pool.threadCount > 0 {
                sched_yield()
            }
            drought.release()
            #expect(pool.run { done.increment() })
            while done.value == 1 {
                await Task.yield()
            }
        }
    }

    // A sanitizer's shadow memory takes terabytes of addresses, which no such limit can be set around.
    @Test(
        "threads cannot be started: the loop starts later, and a helper pool says no",
        .enabled(if: ProcessCounts.addressSpace() < 1 << 40))
    func noThreads() async {
        await #expect(processExitsWith: .success) {
            // An address space that is full leaves no room for a stack.
            let before = ProcessCounts.addressSpace()
            var limit = rlimit()
            getrlimit(addressSpaceLimit, &limit)
            var tight = limit
            tight.rlim_cur = rlim_t(before + (1 << 20))
            let group = LoopGroup(count: 1, name: "late-loop")
            let loop = group.next()
            let pool = BlockingPool(limit: 1, idleTime: .zero, name: "no-pool")
            let ran = Counter()
            setrlimit(addressSpaceLimit, &tight)
            loop.run { _ in ran.increment() }
            let isTaken = pool.run { ran.increment() }
            setrlimit(addressSpaceLimit, &limit)
            #expect(!isTaken)
            #expect(ran.value == 0)
            try await onLoop(loop) { _, finish in finish(()) }
            #expect(ran.value == 1)
            group.stop()
        }
    }

    @Test("an event for a stream closed earlier in the same batch is dropped, also when its number is in use again")
    func staleEvents() async {
        // In a process of its own, where nobody else takes the number that becomes free.
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
                            // Whoever is told first closes the other, whose event waits in this batch, and takes over
                            // its descriptor's number.
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
            try await round()
            let before = ProcessCounts.now()
            for _ in 0..<5 {
                try await round()
            }
            // A detached thread may be on its last steps.
            while ProcessCounts.threads(named: "flat-") > 0 {
                await Task.yield()
            }
            #expect(ProcessCounts.now().descriptors == before.descriptors)
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

/// Dials, holds the connection, and says why not if not.
private func dial(_ address: SocketAddress, on loop: Loop) async throws -> SystemError? {
    try await onLoop(loop) { reactor, finish in
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
}

/// Forbids the process to open another descriptor, until `release()`.
private struct Drought {
    private let before: rlimit

    init() {
        var limit = rlimit()
        getrlimit(descriptorLimit, &limit)
        before = limit
        limit.rlim_cur = 0
        setrlimit(descriptorLimit, &limit)
    }

    func release() {
        var limit = before
        setrlimit(descriptorLimit, &limit)
    }
}

#if canImport(Glibc)
    private let descriptorLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    private let addressSpaceLimit = __rlimit_resource_t(RLIMIT_AS.rawValue)
#else
    private let descriptorLimit = RLIMIT_NOFILE
    private let addressSpaceLimit = RLIMIT_AS
#endif
