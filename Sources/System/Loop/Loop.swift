// A loop: an actor whose executor is one epoll thread. What belongs to the loop (connections, pools, timers, buffers)
// is plain, unshared state that hangs on its `Reactor`; other threads reach it through the mailbox only. Must not know
// what its commands do.

/// An actor that runs on its own epoll thread.
package actor Loop {
    package nonisolated let thread: LoopThread
    /// The loop's thread for tasks that are isolated to no actor.
    package nonisolated let taskExecutor: LoopTaskExecutor
    private var reactor: Reactor?

    /// The loop's thread is its executor.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// A loop with a thread that starts with the first thing sent to it.
    init(name: String) {
        thread = LoopThread(name: name, isVirtual: false)
        taskExecutor = LoopTaskExecutor(thread)
        thread.attach(to: self)
    }

    /// A loop without a thread, for a virtual reactor.
    init(virtual: Void) {
        thread = LoopThread(name: "virtual", isVirtual: true)
        taskExecutor = LoopTaskExecutor(thread)
    }

    // MARK: From any thread

    /// Hands a command to the loop: one lock for an append, and a wake-up only when the loop sleeps.
    ///
    /// Commands run in the order of their submission. A loop that has been stopped drops them.
    package nonisolated func submit(_ command: any LoopCommand) {
        thread.post(.command(command))
    }

    /// Hands a closure to the loop, in one order with the commands; false when the loop has been stopped and drops it.
    @discardableResult
    package nonisolated func run(_ work: @escaping @Sendable (Reactor) -> Void) -> Bool {
        thread.post(.work(work))
    }

    /// True when the calling thread is the loop's.
    package nonisolated var isCurrent: Bool { thread.isCurrent }

    // MARK: On the loop

    /// The loop's reactor, for code that is isolated to this actor; nil on a loop that has ended or is virtual.
    package var currentReactor: Reactor? { reactor }

    /// The whole life of the loop's thread.
    func runUntilStopped() {
        let reactor = Reactor(loop: self)
        self.reactor = reactor
        reactor.runUntilStopped()
        self.reactor = nil
    }
}
