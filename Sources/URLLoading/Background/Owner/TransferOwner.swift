// Owns the transfers of one background session: carries them out with a session of its own, writes down what has
// happened before it tells the program, and keeps it until the program has confirmed it (B10.30 to B10.41). It is the
// same in a helper process and in the program itself; the program talks to it by a `TransferChannel`.
//
// Everything happens on one serial queue, in the order in which it was said. The other halves are
// `TransferOwner+Programs` (the program that talks to it), `+Attempts` (carrying out) and
// `+Answers` (questions and files).
//
// Must not know: sockets, processes, the program's own session.

import Dispatch
import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// The owner of a session's transfers. It ends with its object, as if its process had died;
/// `stop` ends it in good order.
actor TransferOwner: TransferService {
    /// What an owner is told at its making.
    struct Arrangement: Sendable {
        /// The configuration to load with in place of what can be made of the program's settings: for an owner in the
        /// program itself, which has what cannot be written down.
        var configuration: ConfigurationValues?
        /// The time.
        var clock = TransferClock.system
        /// How long to wait after failures.
        var patience = TransferSchedule.Patience()
        /// How long to wait for an owner that is about to end.
        var lockPatience = Duration.zero
        /// How long to wait for the greeting of a program that is on its way, before anything begins: it may want to
        /// judge servers.
        var greetingPatience = Duration.zero
        /// Called when nothing is left to be done and no program is connected; never again before
        /// something was to be done.
        var whenIdle: @Sendable () -> Void = {}
        /// Called with the settings, which have a hook, when a program is wanted and none is
        /// connected (B10.13, B10.35).
        var whenWanted: @Sendable (TransferSettings) -> Void = { _ in }
        /// Called when the session has been invalidated and nothing of it is left.
        var whenInvalidated: @Sendable () -> Void = {}
        /// Called with what a person should know, such as a journal that was damaged.
        var report: @Sendable (String) -> Void = { ErrorText.reportMisuse($0) }

        init() {}
    }

    nonisolated let queue: DispatchQueue
    private nonisolated let executor: TransferOwnerExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let directory: BackgroundDirectory
    let arrangement: Arrangement
    /// Nil once the owner has stopped.
    private var lock: FileLock?
    var settings: TransferSettings?
    var schedule: TransferSchedule
    var transfers: [UInt64: LiveTransfer] = [:]
    /// The transfers of the attempts that have not ended, by the tasks themselves, which the transfers keep: every
    /// session counts its tasks from 1, and attempts of an earlier one may still be under way.
    var attempts: [ObjectIdentifier: UInt64] = [:]
    /// Made for the first attempt; another one when the settings have changed.
    var session: URLSession?
    /// Begins anywhere: what was said to the questions of an earlier owner is no answer to this one's.
    var nextQuestion = UInt64.random(in: 1...1 << 62)

    /// The program that is served.
    var program: (any TransferChannel)?
    var hello: TransferHello?
    /// What waited for the program when it came, and has not been confirmed.
    var unconfirmed: Set<NewsName> = []
    /// Whether `allDelivered` is still to be said.
    var owesAllDelivered = false
    /// Whether the program wants the session to end with its last task.
    var isEnding = false
    /// Whether it wants that now.
    var isCancelling = false
    private(set) var isStopped = false
    /// Whether nothing begins before the program's greeting.
    var awaitsGreeting = false
    /// Whether nothing begins before the program has said what it knows otherwise: it may have cancelled what waits.
    var awaitsWords = false
    private var isSettling = false
    private var settlesAgain = false
    private var timerGeneration = 0
    private var wasIdle = false
    private var hasCalledProgram = false

    /// A piece of news of a task.
    struct NewsName: Hashable, Sendable {
        var task: UInt64
        var number: UInt64
    }

    /// Takes the session's transfers over, and begins with what is under way.
    init(
        directory: BackgroundDirectory, arrangement: Arrangement = Arrangement()
    ) throws(BackgroundDirectoryFailure) {
        let lock = try directory.takeLock(patience: arrangement.lockPatience)
        let contents = try directory.read()
        self.directory = directory
        self.arrangement = arrangement
        self.lock = lock
        let queue = DispatchQueue(label: "URLLoading.TransferOwner")
        self.queue = queue
        executor = TransferOwnerExecutor(queue)
        settings = contents.settings
        schedule = TransferSchedule(
            places: Int(contents.settings?.transfersAtATime ?? 4), patience: arrangement.patience)
        for damage in contents.damaged {
            arrangement.report(damage.text)
        }
        queue.async { [weak self] in self?.assumeIsolated { $0.takeOver(contents) } }
    }

    deinit {
        session?.invalidateAndCancel()
    }

    /// Runs something on the owner's queue, from any thread, and waits for it; not from that queue.
    nonisolated func run<Value: Sendable>(_ body: @Sendable (isolated TransferOwner) -> Value) -> Value {
        queue.sync { assumeIsolated { body($0) } }
    }

    /// Runs something on the owner's queue, from any thread.
    nonisolated func later(_ body: @escaping @Sendable (isolated TransferOwner) -> Void) {
        queue.async { [weak self] in self?.assumeIsolated { body($0) } }
    }

    var now: TransferInstant { arrangement.clock.now() }

    // MARK: Beginning and end

    private func takeOver(_ contents: BackgroundDirectory.Contents) {
        let now = now
        awaitGreeting()
        for var record in contents.records {
            if record.isDone {
                directory.remove(task: record.task)
                continue
            }
            if record.state != .over {
                recover(&record, now)
                schedule.added(record.task, TransferSchedule.Entry(record))
            }
            transfers[record.task] = LiveTransfer(record: record)
        }
        if contents.isComplete {
            let week: Int64 = 604_800_000
            directory.removeFiles(except: keptFiles, now: now, partsOlderThan: settings?.resourceTimeout ?? week)
        }
        settle()
    }

    /// Lets the program come first that has started this owner, and may be about to judge servers; not for
    /// ever, since it may be dead.
    private func awaitGreeting() {
        guard arrangement.greetingPatience > .zero else { return }
        awaitsGreeting = true
        let delay = Int64(arrangement.greetingPatience / .milliseconds(1))
        arrangement.clock.wake(delay, queue) { [weak self] in
            self?.assumeIsolated { owner in
                guard owner.awaitsGreeting else { return }
                owner.awaitsGreeting = false
                owner.settle()
            }
        }
    }

    /// Lets the program say first what it knows otherwise; not for ever, since one of the version
    /// before says no last word.
    func awaitWords(of channel: any TransferChannel) {
        awaitsWords = true
        arrangement.clock.wake(Self.wordsPatience, queue) { [weak self, weak channel] in
            self?.assumeIsolated { owner in
                guard owner.awaitsWords, let program = owner.program, program === channel else { return }
                owner.awaitsWords = false
                owner.settle()
            }
        }
    }

    /// In milliseconds. Picked by feel.
    private static let wordsPatience: Int64 = 5000

    /// Brings a record in line with the fact that the owner that had it is no more.
    private func recover(_ record: inout TransferRecord, _ now: TransferInstant) {
        let machineStopped = record.lifetime.noted.boot != now.boot
        record.lifetime.note(now)
        record.state = .waiting
        if record.kind == .download, let data = record.resumption {
            let source = ResumeData(Data(data))?
                .catchingUp(in: directory.filesPath, afterCrash: machineStopped)
            record.resumption = source.map { Array($0.encoded) }
            record.counts.received = source?.byteCount ?? 0
        }
    }

    private var keptFiles: Set<String> {
        var names: Set<String> = []
        func insert(_ data: [UInt8]?) {
            if let source = data.flatMap({ ResumeData(Data($0)) }) { names.insert(source.fileName) }
        }
        for transfer in transfers.values {
            insert(transfer.record.resumption)
            for news in transfer.record.events {
                switch news.content {
                case .downloaded(let path), .answered(let path):
                    names.insert(URL(fileURLWithPath: path).lastPathComponent)
                case .completed(let failure): insert(failure?.resumeData)
                case .measured: break
                }
            }
        }
        return names
    }

    /// Ends the owner in good order: what is under way stops where it can go on, is written down, and may be another
    /// owner's when `completion` is called. A program that is connected is left without a word.
    nonisolated func stop(_ completion: @escaping @Sendable () -> Void) {
        queue.async { self.assumeIsolated { $0.beginStopping(completion) } }
    }

    private func beginStopping(_ completion: @escaping @Sendable () -> Void) {
        guard !isStopped else {
            lock = nil
            return completion()
        }
        isStopped = true
        let group = DispatchGroup()
        for number in transfers.keys.sorted() { halt(number, group) }
        group.notify(queue: queue) { self.assumeIsolated { $0.finishStopping(completion) } }
    }

    private func finishStopping(_ completion: @escaping @Sendable () -> Void) {
        session?.invalidateAndCancel()
        session = nil
        program?.close()
        program = nil
        lock = nil
        completion()
    }

    /// The session is no more: nothing of it is left (B10.40). The lock stays until the owner is stopped or goes: a
    /// helper removes its socket first.
    func endForGood() {
        guard !isStopped else { return }
        isStopped = true
        directory.removeAll()
        program?.send(.invalidated)
        program?.close()
        program = nil
        session?.invalidateAndCancel()
        session = nil
        arrangement.whenInvalidated()
    }

    // MARK: What is next

    /// Does what is to be done now, and arranges to be called when something will be. Called after everything.
    func settle() {
        guard !isSettling else {
            settlesAgain = true
            return
        }
        isSettling = true
        repeat {
            settlesAgain = false
            carryOutSteps()
        } while settlesAgain
        isSettling = false
        guard !isStopped else { return }
        if isEnding, transfers.isEmpty { return endForGood() }
        setTimer()
        callProgram()
        if isIdle, !wasIdle { arrangement.whenIdle() }
        wasIdle = isIdle
    }

    /// Whether nothing will happen unless a program comes.
    var isIdle: Bool { program == nil && !(schedule.hasWork && knowsHowToLoad) }

    /// Without settings it is not known how to load, and time changes nothing about that.
    private var knowsHowToLoad: Bool { settings != nil || arrangement.configuration != nil }

    /// Whether transfers may begin and end.
    private var mayGoOn: Bool { !awaitsGreeting && !awaitsWords && knowsHowToLoad }

    private func carryOutSteps() {
        guard !isStopped, mayGoOn else { return }
        for step in schedule.next(now) {
            switch step {
            case .begin(let number): begin(number)
            case .expire(let number): expire(number)
            case .postpone(let number): postpone(number)
            }
        }
    }

    private func setTimer() {
        timerGeneration += 1
        guard mayGoOn, let delay = schedule.wake(now) else { return }
        let generation = timerGeneration
        arrangement.clock.wake(min(delay, Self.longestWait), queue) { [weak self] in
            self?.assumeIsolated { if $0.timerGeneration == generation { $0.settle() } }
        }
    }

    /// A timer stands still while the machine sleeps, and time goes on: so it is looked at now
    /// and then, here each minute.
    private static let longestWait: Int64 = 60_000

    /// B10.13, B10.35: once, when nothing goes on without the program any more.
    private func callProgram() {
        guard program == nil else {
            hasCalledProgram = false
            return
        }
        // One that has started this owner is on its way.
        guard !awaitsGreeting, let settings, settings.sendsLaunchEvents, !settings.hook.isEmpty, !hasCalledProgram,
            !schedule.hasWork, transfers.values.contains(where: \.record.wantsProgram)
        else { return }
        hasCalledProgram = true
        arrangement.whenWanted(settings)
    }

    // MARK: Writing down

    /// Writes a transfer's journal; answers why that cannot be done.
    @discardableResult
    func save(_ number: UInt64) -> BackgroundDirectoryFailure? {
        guard let transfer = transfers[number] else { return nil }
        transfer.record.lifetime.note(now)
        do throws(BackgroundDirectoryFailure) {
            try directory.write(transfer.record)
            transfer.isUnsaved = false
            return nil
        } catch {
            // What the disk has is older and still true; what is newer is tried again with the next change.
            if !transfer.isUnsaved {
                arrangement.report("a journal of a background session cannot be written: \(error)")
            }
            transfer.isUnsaved = true
            return error
        }
    }

    /// Tells the program, if there is one.
    func tell(_ event: TransferEvent) { program?.send(event) }
}
