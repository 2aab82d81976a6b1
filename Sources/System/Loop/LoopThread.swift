// The executor of a loop: its mailbox, and the identity of the one thread that empties it. Must not know what runs on
// the loop, nor how the loop waits.

import Synchronization

/// The serial executor that runs everything on one loop's thread.
package final class LoopThread: SerialExecutor {
    let mailbox: Mailbox
    let name: String
    private let identity = Atomic<UInt>(0)
    private let thread = Mutex(Thread())

    private struct Thread {
        weak var loop: Loop?
        var handle: UInt?
    }

    /// `isVirtual`: no thread is ever started; the thread that drives the reactor is the loop's.
    init(name: String, isVirtual: Bool) {
        self.name = name
        mailbox = Mailbox(startsThread: !isVirtual)
    }

    /// Queues one item; false when the loop has ended and will never run it.
    @discardableResult
    func post(_ item: MailboxItem) -> Bool {
        switch mailbox.append(item) {
        case .nothing:
            break
        case .signal(let signal):
            signal.signal()
        case .startThread:
            start()
        case .refused:
            return false
        }
        return true
    }

    /// True on the thread that runs the loop.
    package var isCurrent: Bool { identity.load(ordering: .relaxed) == Platform.currentThread }

    // MARK: Executor

    /// Queues a piece of a task; the runtime calls this on any thread.
    ///
    /// On a loop that has ended it never runs.
    package func enqueue(_ job: consuming ExecutorJob) {
        post(.job(UnownedJob(job)))
    }

    /// This executor as the runtime wants it.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Stops the program when the caller is not on the loop: a broken promise of our own code.
    package func checkIsolated() {
        precondition(isCurrent, "Expected to be on the thread of loop \(name)")
    }

    /// Lets `assumeIsolated` succeed in plain callbacks that run on the loop's thread.
    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    // MARK: Thread

    /// Tells whose thread this is to be.
    func attach(to loop: Loop) {
        thread.withLock { $0.loop = loop }
    }

    /// Declares the calling thread the loop's.
    func adoptCurrentThread() {
        identity.store(Platform.currentThread, ordering: .relaxed)
    }

    /// Declares that the loop has no thread any more.
    func leaveCurrentThread() {
        identity.store(0, ordering: .relaxed)
    }

    /// Waits for the thread's end, once; returns at once when it never started.
    func join() {
        let handle = thread.withLock { thread in
            defer { thread.handle = nil }
            return thread.handle
        }
        if let handle {
            Platform.joinThread(handle)
        }
    }

    private func start() {
        let error = thread.withLock { thread -> Int32 in
            guard let loop = thread.loop else { return ESRCH }
            let argument = Unmanaged.passRetained(loop)
            let outcome = Platform.startThread(detached: false, body: runLoop, argument: argument.toOpaque())
            if outcome.failed {
                argument.release()
            } else {
                thread.handle = outcome.value
            }
            return outcome.error
        }
        if error != 0 { refuse(SystemError(errno: error, call: "pthread_create")) }
    }

    /// A limit on threads: commands that wait for an answer get one, what else was queued stays queued, and the next
    /// item tries again.
    private func refuse(_ error: SystemError) {
        let commands = mailbox.threadDidNotStart()
        guard !commands.isEmpty else { return }
        let reactor = Reactor(virtualTime: ())
        for command in commands { command.couldNotRun(error, on: reactor) }
        reactor.runPending()
        reactor.tearDown()
    }
}

/// The body of every loop thread.
///
/// Formed outside any actor: a C callback with an isolation would trap here.
private nonisolated func runLoop(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let loop = Unmanaged<Loop>.fromOpaque(argument).takeRetainedValue()
    Platform.nameCurrentThread(loop.thread.name)
    loop.thread.adoptCurrentThread()
    LoopWatch.enter()
    loop.assumeIsolated { $0.runUntilStopped() }
    LoopWatch.leave()
    loop.thread.leaveCurrentThread()
    return nil
}
