// Everything that is reachable from one loop's thread: the poller, the timers, the residents, the receive buffer and
// the time. Not Sendable on purpose: the compiler keeps it, and what hangs on it, on its loop.
// Must not know HTTP, TLS or what its residents are.
//
// A turn: wait; take the mailbox; tell what is ready; fire timers, unless more is ready; run the mailbox; run what was
// put off until later; tell the turn's observers. What has come into the mailbox meanwhile is run in further rounds of
// the same turn, without asking the system in between: a task that is resumed on this loop sends its next request at
// once.
//
// While the machine sleeps the clock goes on and epoll's waiting does not: a deadline that passed meanwhile is noticed
// at the first turn afterwards.

/// What belongs to one loop.
package final class Reactor {
    // `@exclusivity(unchecked)`: measured, the checks cost a small request 91 calls into the runtime. The compiler
    // keeps this object on its loop, and no command, event or callback runs while a property is being changed.
    /// The time, read once per turn.
    package var now: ContinuousClock.Instant { timers.epoch + elapsed }
    /// The loop this reactor belongs to, for code that has to answer from another thread.
    package unowned let loop: Loop
    /// 256 KiB that any stream of this loop may use for the duration of one callback.
    package let receiveBuffer: UnsafeMutableRawBufferPointer

    let timers: TimerQueue
    /// nil in virtual mode.
    let poller: Poller?

    private let thread: LoopThread
    /// A virtual reactor owns its loop; a real one is owned by it.
    private let virtualLoop: Loop?
    @exclusivity(unchecked) private var residents: [Int: AnyObject] = [:]
    /// The resident asked for last: nearly always the one that is asked for next.
    @exclusivity(unchecked) private var latest: (id: Int, object: AnyObject)?
    /// The one before: an engine and what gathers its answers take turns.
    @exclusivity(unchecked) private var earlier: (id: Int, object: AnyObject)?
    private var held: [ObjectIdentifier: AnyObject] = [:]
    @exclusivity(unchecked) private var batch: [MailboxItem] = []
    @exclusivity(unchecked) private var putOff: [() -> Void] = []
    @exclusivity(unchecked) private var running: [() -> Void] = []
    @exclusivity(unchecked) private var turnObservers: [any TurnObserver] = []
    @exclusivity(unchecked) private var toldObservers: [any TurnObserver] = []
    private var isStopping = false
    /// How many waits for events have begun.
    @exclusivity(unchecked) private var polls = 0
    /// When the last of them was over.
    @exclusivity(unchecked) private var polledAt: Int64 = 0
    /// Everything that was ready then has been told, and nothing that may take its time has run since.
    @exclusivity(unchecked) private var isViewCurrent = false
    /// Whether deadlines may be judged although more may be ready.
    @exclusivity(unchecked) private var sight = PollSight()
    /// `now` as a time since `LoopClock.epoch`: what hot paths keep and compare.
    ///
    /// Measured: ContinuousClock.Instant is handled through its metadata, which costs several times as much.
    package private(set) var elapsed: Duration {
        get { turn.elapsed }
        set { turn = Turn(elapsed: newValue) }
    }
    /// `elapsed` for records that keep many times.
    package var nanoseconds: Int64 { turn.nanoseconds }
    // Private: a stored property that another module reads is checked there whatever this one says.
    @exclusivity(unchecked) private var turn: Turn

    /// When this turn is.
    private struct Turn {
        let elapsed: Duration
        let nanoseconds: Int64

        init(elapsed: Duration) {
            self.elapsed = elapsed
            nanoseconds = elapsed.wholeNanoseconds
        }

        init(nanoseconds: Int64) {
            elapsed = Duration(wholeNanoseconds: nanoseconds)
            self.nanoseconds = nanoseconds
        }

        /// The turn that begins now.
        static var now: Turn { Turn(nanoseconds: LoopClock.nanoseconds) }
    }

    private init(loop: Loop, poller: Poller?, virtualLoop: Loop?) {
        self.loop = loop
        self.poller = poller
        self.virtualLoop = virtualLoop
        thread = loop.thread
        timers = TimerQueue(epoch: LoopClock.epoch)
        turn = .now
        // Pages that were never needed cost nothing.
        receiveBuffer = .allocate(byteCount: 256 << 10, alignment: 64)
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

    /// Tells `observer` once, when this turn's events and commands have been dealt with and `later`'s work is done.
    ///
    /// For what is cheaper for many at once: an observer collects during the turn and asks with the first item. It is
    /// held until it has been told; one that asks while it is told is told in the next round.
    package func atEndOfTurn(_ observer: any TurnObserver) {
        turnObservers.append(observer)
    }

    // MARK: What is known of descriptors

    /// Names the last wait for events, for `hasSeenAll(since:)`.
    package var pollMark: Int { polls }

    /// Whether everything has been told that came to this loop's descriptors since the mark was taken, but for what
    /// came within the last moment.
    ///
    /// That takes a wait that began after the mark, all of whose events have been told. What came after that wait is
    /// not known; so it must have been just now, and no job of a program may have held the loop up meanwhile. Always
    /// false in virtual mode.
    package func hasSeenAll(since mark: Int) -> Bool {
        isViewCurrent && polls > mark && LoopClock.nanoseconds &- polledAt < Self.longestMoment
    }

    /// Picked by feel: ten times what a lone request takes from the wait to its first byte, and no more than the way
    /// from the peer would take.
    private static let longestMoment: Int64 = 100_000

    // MARK: Residents

    /// The object kept on this reactor under `key`.
    package func resident<T: AnyObject>(_ key: ResidentKey<T>) -> T? {
        // The key's type is the object's: `setResident` takes no other.
        if let latest, latest.id == key.id { return unsafeDowncast(latest.object, to: T.self) }
        if let earlier, earlier.id == key.id { return unsafeDowncast(earlier.object, to: T.self) }
        guard let object = residents[key.id] else { return nil }
        earlier = latest
        latest = (key.id, object)
        return unsafeDowncast(object, to: T.self)
    }

    /// Keeps an object on this reactor, or lets it go.
    package func setResident<T: AnyObject>(_ key: ResidentKey<T>, _ value: T?) {
        residents[key.id] = value
        (latest, earlier) = (nil, nil)
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
        var mayWait = false
        while true {
            isViewCurrent = false
            polls &+= 1
            let count = poller?.wait(milliseconds: mayWait ? millisecondsToNextTimer : 0) ?? 0
            turn = .now
            polledAt = nanoseconds
            thread.mailbox.take(into: &batch)
            poller?.dispatch(count)
            // Order: not before; while one event is told, those behind it were not told yet.
            isViewCurrent = poller?.sawEverything ?? false
            if isViewCurrent || hasToldEnough() { timers.fire(now: elapsed) }
            runRound()
            mayWait = runFurtherRounds()
            if isStopping && isAtRest && thread.mailbox.endIfEmpty() {
                break
            }
        }
        tearDown()
    }

    /// After a wait that has not answered with everything: whether deadlines are judged nevertheless. The next wait
    /// goes on where this one has ended, and does not wait while a deadline has passed.
    private func hasToldEnough() -> Bool {
        guard let poller else { return true }
        return sight.hasSeenAll(afterFull: polls, ofSize: Int(Poller.batchSize), ready: poller.descriptorLimit)
    }

    /// Runs what is in hand, then tells the observers that wait for the end of it.
    private func runRound() {
        runBatch()
        runPutOff()
        tellTurnObservers()
    }

    /// Runs what came during the last round; true when nothing is left and the next sender will wake this loop.
    private func runFurtherRounds() -> Bool {
        for _ in 1..<Self.roundsPerTurn {
            guard putOff.isEmpty, !isStopping else { return false }
            if turnObservers.isEmpty, thread.mailbox.prepareToSleep(poller?.wakeSignal) { return true }
            thread.mailbox.take(into: &batch)
            // A job may have taken its time, and what it submits counts its own from now.
            turn = .now
            runRound()
        }
        return false
    }

    /// Nothing is left that would have to run without a new event.
    private var isAtRest: Bool { putOff.isEmpty && turnObservers.isEmpty }

    /// Picked by feel: a request and its answer's way to the next request take two; ready descriptors wait no longer.
    private static let roundsPerTurn = 8

    /// Releases residents, put-off work and unfinished attempts, and with them every cycle through this reactor.
    ///
    /// A stopped loop does this by itself; a test calls it on its virtual reactor before it counts what is left.
    package func tearDown() {
        // Order: each is taken out before it is released, because a deinit may use this reactor.
        while poller?.releaseAll() == true || !residents.isEmpty || !held.isEmpty || !isAtRest {
            let garbage = (residents, held, putOff, turnObservers)
            residents = [:]
            (latest, earlier) = (nil, nil)
            held = [:]
            putOff = []
            turnObservers = []
            _ = garbage
        }
    }

    private var millisecondsToNextTimer: Int32 {
        guard let wake = timers.nextWake else { return -1 }
        return (wake - elapsed).wholeMilliseconds
    }

    private func runBatch() {
        guard !batch.isEmpty else { return }
        let serial = thread.asUnownedSerialExecutor()
        for item in batch {
            if case .command(let command) = item {
                command.run(on: self)
                continue
            }
            isViewCurrent = false
            switch item {
            case .command: break
            case .work(let work): work(self)
            case .job(let job): job.runSynchronously(on: serial)
            case .taskJob(let job, let executor): job.runSynchronously(on: executor)
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

    private func tellTurnObservers() {
        guard !turnObservers.isEmpty else { return }
        swap(&turnObservers, &toldObservers)
        for observer in toldObservers {
            observer.turnEnded()
        }
        toldObservers.removeAll(keepingCapacity: true)
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
            if batch.isEmpty && isAtRest {
                return
            }
            runRound()
        }
    }

    /// When the next timer fires; nil for never.
    package var nextDeadline: Duration? { timers.earliestDeadline() }

    /// Whether a turn would find something to do without a timer.
    package var hasWork: Bool { !isAtRest || thread.mailbox.hasItems }

    /// One turn at a moment, no earlier than the last: fires what is due and runs what there is. Elsewhere than in its
    /// turns the calling thread is not the loop's.
    ///
    /// For a virtual reactor.
    package func turn(at moment: Duration) {
        guard virtualLoop != nil else { return }
        elapsed = max(elapsed, moment)
        thread.adoptCurrentThread()
        timers.fire(now: elapsed)
        runPending()
        thread.leaveCurrentThread()
    }

    /// Moves the clock, stopping at each deadline on the way in order, and runs what becomes due.
    ///
    /// For a virtual reactor.
    package func advance(by duration: Duration) {
        guard virtualLoop != nil else { return }
        let end = elapsed + duration
        runPending()
        while let deadline = timers.earliestDeadline(), deadline <= end {
            elapsed = max(elapsed, deadline)
            timers.fire(now: elapsed)
            runPending()
        }
        elapsed = end
    }
}
