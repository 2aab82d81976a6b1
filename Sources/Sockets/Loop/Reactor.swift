// Everything that is reachable from one loop's thread: the poller, the timers, the residents, the receive buffer and
// the time. Not Sendable on purpose: the compiler keeps it, and what hangs on it, on its loop.
// Must not know HTTP, TLS or who its residents are.
//
// A turn: wait; take the mailbox; tell what is ready; fire timers; run the mailbox; run what was put off until later.
//
// While the machine sleeps the clock goes on and epoll's waiting does not: a deadline that passed meanwhile is noticed
// at the first turn afterwards.

/// What belongs to one loop.
package final class Reactor {
    /// The time, read once per turn.
    package private(set) var now: ContinuousClock.Instant {
        didSet { elapsed = timers.epoch.duration(to: now) }
    }
    /// The loop this reactor belongs to, for whoever has to answer from another thread.
    package unowned let loop: Loop
    /// 64 KiB that any stream of this loop may use for the duration of one callback.
    package let receiveBuffer: UnsafeMutableRawBufferPointer

    let timers: TimerQueue
    /// nil in virtual mode.
    let poller: Poller?

    private let thread: LoopThread
    /// A virtual reactor owns its loop; a real one is owned by it.
    private let virtualLoop: Loop?
    private var residents: [Int: AnyObject] = [:]
    private var held: [ObjectIdentifier: AnyObject] = [:]
    private var batch: [MailboxItem] = []
    private var putOff: [() -> Void] = []
    private var running: [() -> Void] = []
    private var isStopping = false
    /// `now` as a time since this reactor was made: what hot paths keep and compare.
    ///
    /// Measured: ContinuousClock.Instant is handled through its metadata, which costs several times as much.
    package private(set) var elapsed = Duration.zero

    private init(loop: Loop, poller: Poller?, virtualLoop: Loop?) {
        self.loop = loop
        self.poller = poller
        self.virtualLoop = virtualLoop
        thread = loop.thread
        now = ContinuousClock.now
        timers = TimerQueue(epoch: now)
        receiveBuffer = .allocate(byteCount: 64 << 10, alignment: 64)
    }

    convenience init(loop: Loop) {
        self.init(loop: loop, poller: Poller(), virtualLoop: nil)
    }

    /// A reactor without thread and epoll, whose clock only `advance(by:)` moves; for tests.
    package convenience init(virtualTime: Void) {
        let loop = Loop(virtual: ())
        self.init(loop: loop, poller: nil, virtualLoop: loop)
        thread.adoptCurrentThread()
    }

    deinit {
        receiveBuffer.deallocate()
    }

    // MARK: Timers and later work

    /// A timer of this loop, not set yet.
    ///
    /// It holds `fire` until it is released.
    package func makeTimer(_ fire: @escaping () -> Void) -> LoopTimer {
        LoopTimer(queue: timers, fire: fire)
    }

    /// Runs `work` at the end of this turn, after everything that is ready has been told.
    package func later(_ work: @escaping () -> Void) {
        putOff.append(work)
    }

    // MARK: Residents

    /// The object kept on this reactor under `key`.
    package func resident<T: AnyObject>(_ key: ResidentKey<T>) -> T? {
        // The key's type is the object's: `setResident` takes no other.
        residents[key.id].map { unsafeDowncast($0, to: T.self) }
    }

    /// Keeps an object on this reactor, or lets it go.
    package func setResident<T: AnyObject>(_ key: ResidentKey<T>, _ value: T?) {
        residents[key.id] = value
    }

    /// Keeps an object alive until `release`: an attempt that goes on although its caller let go of it.
    package func hold(_ object: AnyObject) {
        held[ObjectIdentifier(object)] = object
    }

    /// Ends `hold`.
    package func release(_ object: AnyObject) {
        held[ObjectIdentifier(object)] = nil
    }

    // MARK: The thread's life

    /// Ends the loop after this turn and what has been submitted so far.
    func stop() {
        isStopping = true
    }

    func runUntilStopped() {
        while true {
            let count = poller?.wait(milliseconds: waitInMilliseconds()) ?? 0
            now = ContinuousClock.now
            thread.mailbox.take(into: &batch)
            poller?.dispatch(count)
            timers.fire(now: elapsed)
            runBatch()
            runPutOff()
            if isStopping && putOff.isEmpty && thread.mailbox.endIfEmpty() {
                break
            }
        }
        tearDown()
    }

    /// Releases residents, put-off work and unfinished attempts, and with them every cycle through this reactor.
    ///
    /// A stopped loop does this by itself; a test calls it on its virtual reactor before it counts what is left.
    package func tearDown() {
        // Order: each is taken out before it is released, because a deinit may use this reactor.
        while !residents.isEmpty || !held.isEmpty || !putOff.isEmpty {
            let garbage = (residents, held, putOff)
            residents = [:]
            held = [:]
            putOff = []
            _ = garbage
        }
    }

    private func waitInMilliseconds() -> Int32 {
        if !putOff.isEmpty || isStopping || !thread.mailbox.prepareToSleep(poller?.wakeSignal) {
            return 0
        }
        guard let wake = timers.nextWake else { return -1 }
        return (wake - elapsed).wholeMilliseconds
    }

    private func runBatch() {
        guard !batch.isEmpty else { return }
        let serial = thread.asUnownedSerialExecutor()
        let task = thread.asUnownedTaskExecutor()
        for item in batch {
            switch item {
            case .command(let command): command.run(on: self)
            case .work(let work): work(self)
            case .job(let job): job.runSynchronously(isolatedTo: serial, taskExecutor: task)
            }
        }
        // An unusual burst must not be remembered for ever.
        batch.removeAll(keepingCapacity: batch.capacity <= 4096)
    }

    private func runPutOff() {
        guard !putOff.isEmpty else { return }
        swap(&putOff, &running)
        for work in running {
            work()
        }
        running.removeAll(keepingCapacity: running.capacity <= 4096)
    }

    // MARK: Virtual time

    /// Runs commands, jobs and put-off work until there is none.
    ///
    /// Time stands still. For a virtual reactor.
    package func runPending() {
        guard virtualLoop != nil else { return }
        thread.adoptCurrentThread()
        while true {
            thread.mailbox.take(into: &batch)
            if batch.isEmpty && putOff.isEmpty {
                return
            }
            runBatch()
            runPutOff()
        }
    }

    /// Moves the clock, stopping at each deadline on the way in order, and runs what becomes due.
    ///
    /// For a virtual reactor.
    package func advance(by duration: Duration) {
        guard virtualLoop != nil else { return }
        let end = now + duration
        runPending()
        while let deadline = timers.earliestDeadline(), timers.epoch + deadline <= end {
            now = max(now, timers.epoch + deadline)
            timers.fire(now: elapsed)
            runPending()
        }
        now = end
    }
}
