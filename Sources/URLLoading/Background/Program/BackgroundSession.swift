// What a background session is beyond an ordinary one: a directory, tasks that outlive the process, and an owner of
// their transfers (B10.30 to B10.36). The owner is a helper process or, where none can be had, this process.
//
// Which process may write what: the file `program` in the directory is locked by the one program that has the session,
// the file `lock` by the owner. The program writes a task's first journal itself, before `resume()` returns, so that a
// task that was resumed is not lost however soon the program is killed; from then on it is the owner's.
//
// Whatever is said to the owner while it cannot be reached need not be kept: a conversation begins with what it knows of
// the tasks, and everything that is different is said then (`BackgroundSession+Conversation`).
//
// Must not know: how a transfer is carried out.

import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

/// The background part of a session.
final class BackgroundSession: Sendable {
    let identifier: String
    let values: ConfigurationValues
    let settings: TransferSettings
    /// What keeps the transfers in this process; nil where a helper may have them.
    let ownsHere: String?
    /// Nil where there is none, for the reason in `problem`.
    let directory: BackgroundDirectory?
    /// Why no task can be taken.
    let problem: Problem?
    let loop = LoopGroup.shared.next()
    /// Where the owner is spoken to, and files are written, opened and moved: all of it may wait for the disk.
    let line = BlockingLane(pool: .shared, width: 1)
    /// Where questions are taken in and withdrawn, in their order: the program's credential storage, which is asked about them, may take
    /// its time.
    let inquiries = BlockingLane(pool: .authentication, width: 1)
    let state: Mutex<State>

    /// Why no task can be taken.
    enum Problem: Sendable {
        case directory(BackgroundDirectoryFailure)
        /// Another session of this process has the identifier (B10.25).
        case twice

        /// The error of a task.
        func error(_ url: URL?) -> URLError {
            switch self {
            case .directory(let failure): LoadFailure.make(failure.code, url, failure.description)
            case .twice:
                LoadFailure.make(
                    .backgroundSessionInUseByAnotherProcess, url,
                    "Another session of this process has the same identifier.",
                    suggestion: "Invalidate it first, and wait for urlSession(_:didBecomeInvalidWithError:).")
            }
        }
    }

    /// A task and how far the owner and the delegate know of it.
    struct Entry: Sendable {
        let core: TaskCore
        let load: BackgroundLoad
        /// What the owner is told where it does not know the task; nil for one that was over when it was met again.
        var order: TransferOrder?
        /// Whether the owner has it.
        var isKnown = false
        /// Whether its delegate has given another order than the owner may have, or the program a later date, and the owner has
        /// accepted none since.
        var hasNewOrder = false
        /// Of each order that this owner was told and has not accepted yet, whether its delegate was still to be asked, or it
        /// has been given a later date since.
        var unaccepted: [Bool] = []
        /// Whether an earlier run began it, so that an owner may have it that this run has not spoken to.
        var isEarlier = false
        /// Whether the owner may have it: not before its journal is written.
        var isDue = true
        /// The highest number of the news that were taken for the delegate.
        var taken: UInt64 = 0
        /// The number of the file that was told before the end.
        var fileNumber: UInt64?
        /// What is to be told with the end.
        var path: String?
        /// What was measured, to be told with the end.
        var measures = TransferMeasures()
        /// The number of the end.
        var endNumber: UInt64?
        /// Whether its end is on its way to the delegate.
        var isEnding = false
        /// Questions that are not answered yet.
        var questions: [UInt64: SchemeQuestion] = [:]
        /// What its delegate has answered, until it is known whether the server takes it.
        var offer: Offer?
    }

    /// A password that a delegate has given to the owner behind a channel.
    struct Offer: Sendable {
        let credential: URLCredential
        let space: URLProtectionSpace
        let channel: OwnerChannel
    }

    /// Where the conversation stands.
    enum Phase: Sendable {
        /// There is no owner to speak to.
        case silent
        /// An owner is being looked for.
        case connecting
        /// The greeting has been sent.
        case greeting
        case connected
        /// The session is being wound up.
        case ending
        case ended

        /// Whether there is an owner that goes on listening.
        var isConnected: Bool { if case .connected = self { true } else { false } }

        /// Whether the owner listens to more than a greeting.
        var isTalking: Bool {
            switch self {
            case .connected, .ending: true
            case .silent, .connecting, .greeting, .ended: false
            }
        }
    }

    struct State: Sendable {
        /// Held as long as this program has the session.
        var lock: FileLock?
        var entries: [UInt64: Entry] = [:]
        /// What was in the directory when the session was made, until its tasks are made of that.
        var found: BackgroundDirectory.Contents?
        /// Tasks of which nothing is known but that an owner may have them.
        var unopened: Set<UInt64> = []
        /// News of tasks that have ended, up to which the delegate has heard them.
        var heard: [UInt64: UInt64] = [:]
        /// Tasks that have ended here, and may be an owner's that has not answered to that.
        var unanswered: Set<UInt64> = []
        /// Whether this program ends, and an owner is asked whether it has heard everything.
        var isLeaving = false
        /// Whether this owner was told all that it had to be told after its greeting.
        var hasSaidAll = false
        /// Whether an owner that is there has not shown yet that it has heard everything.
        var awaitsEcho = false
        var phase = Phase.silent
        var service: (any TransferService)?
        var channel: OwnerChannel?
        /// The tasks that the owner has told of so far, until it has told of all.
        var met: [TransferSummary] = []
        /// How often an owner was lost or not found since one was of use.
        var losses = 0
        /// How often one has refused since one has not.
        var refusals = 0
        /// How often altogether.
        var allLosses = 0
        var hasWrittenSettings = false
        /// Tasks of an earlier run were met, and the end of what waited is still to be told. An owner may have ended a task
        /// of this run before it was greeted: that wakes no program up (B10.19).
        var awaitsEndOfEvents = false
        var onEnd: (@Sendable () -> Void)?
        weak var session: URLSession?
        weak var core: SessionCore?
    }

    /// Takes the session's directory; nil for sessions of other kinds.
    init?(_ values: ConfigurationValues) {
        guard let identifier = values.identifier else { return nil }
        self.identifier = identifier
        self.values = values
        let (carried, uncarried) = TransferSettings.of(values)
        settings = Self.completed(carried, by: values)
        ownsHere = Self.reasonToOwnHere(values, uncarried)
        let claim = Self.claim(identifier, values)
        directory = claim.directory
        problem = claim.problem
        state = Mutex(State(lock: claim.lock, found: claim.found))
    }

    deinit {
        BackgroundDeparture.remove(self)
        // The owner notices that the program is not there any more.
        let (service, channel, hasLock) = state.withLock { ($0.service, $0.channel, $0.lock != nil) }
        if let service, let channel { line.run { service.disconnected(channel) } }
        if hasLock, let directory { Self.taken.withLock { _ = $0.remove(directory.path) } }
    }

    /// With what an owner has to know beside how the session loads.
    private static func completed(_ settings: TransferSettings, by values: ConfigurationValues) -> TransferSettings {
        var settings = settings
        settings.isDiscretionary = values.isDiscretionary
        settings.sendsLaunchEvents = values.sessionSendsLaunchEvents
        if values.background.eventHook.allSatisfy({ !$0.utf8.contains(0) }) {
            settings.hook = BackgroundHelper.located(hook: values.background.eventHook)
        } else {
            ErrorText.reportMisuse(
                "fault: backgroundEventHook has a NUL, with which no command can be run; it is ignored")
        }
        return settings
    }

    private static func reasonToOwnHere(_ values: ConfigurationValues, _ uncarried: [String]) -> String? {
        if !values.background.usesHelper { return "usesBackgroundHelper is false." }
        if uncarried.isEmpty { return nil }
        return "no other process can be given \(uncarried.joined(separator: ", "))."
    }

    // MARK: The directory

    /// A session's directory, as far as it is to be had.
    private struct Claim {
        var directory: BackgroundDirectory?
        var problem: Problem?
        var lock: FileLock?
        var found: BackgroundDirectory.Contents?
    }

    /// Takes a session's directory, first from the other sessions of this process and then from other programs, and reads it.
    private static func claim(_ identifier: String, _ values: ConfigurationValues) -> Claim {
        let directory: BackgroundDirectory
        do throws(BackgroundDirectoryFailure) {
            directory = try self.directory(of: identifier, values)
        } catch {
            return Claim(problem: .directory(error))
        }
        guard taken.withLock({ $0.insert(directory.path).inserted }) else {
            ErrorText.reportMisuse(
                "fault: a second background session with the identifier \(identifier) was made in this process; "
                    + "invalidate the first and wait for its end")
            return Claim(directory: directory, problem: .twice)
        }
        do throws(BackgroundDirectoryFailure) {
            let lock = try directory.takeProgramLock()
            return Claim(directory: directory, lock: lock, found: try directory.read(settingAside: false))
        } catch {
            taken.withLock { _ = $0.remove(directory.path) }
            return Claim(directory: directory, problem: .directory(error))
        }
    }

    private static func directory(
        of identifier: String, _ values: ConfigurationValues
    ) throws(BackgroundDirectoryFailure) -> BackgroundDirectory {
        guard let chosen = values.background.stateDirectory else {
            return try BackgroundDirectory(identifier: identifier)
        }
        return try BackgroundDirectory(identifier: identifier, in: BackgroundDirectory.root(in: chosen.path))
    }

    /// The directories of the sessions of this process.
    private static let taken = Mutex<Set<String>>([])

    /// Lets other sessions have the directory.
    func release() {
        let lock = state.withLock { state in
            defer { state.lock = nil }
            return state.lock
        }
        if lock != nil, let directory { Self.taken.withLock { _ = $0.remove(directory.path) } }
    }

    // MARK: Parts of downloads

    /// What a program has kept of a download goes to where the owner looks for it.
    func takeIn(partOf data: ResumeData) {
        guard let directory else { return }
        move(data.fileName, from: FileManager.default.temporaryDirectory.path, to: directory.filesPath)
    }

    /// What the owner has kept of a download goes to where resume data are good for every session.
    func giveOut(partOf data: ResumeData) {
        guard let directory else { return }
        move(data.fileName, from: directory.filesPath, to: FileManager.default.temporaryDirectory.path)
    }

    /// Where that fails the download begins anew, as it does with any file that is gone (B9.33).
    private func move(_ name: String, from one: String, to other: String) {
        LoopWatch.note("rename")
        try? FileManager.default.moveItem(atPath: one + "/" + name, toPath: other + "/" + name)
    }

    // MARK: Tasks

    /// What the directory tells of tasks, over or not (B10.33); given once.
    func takeFound() -> BackgroundDirectory.Contents {
        state.withLock { state in
            let found = state.found ?? BackgroundDirectory.Contents()
            state.found = nil
            state.unopened = found.unopened
            return found
        }
    }

    /// A task that was met again; the owner has it, or its journal.
    func adopt(_ record: TransferRecord, _ core: TaskCore, _ load: BackgroundLoad) {
        let asks = core.transfer.asksAtDate(of: record)
        state.withLock { state in
            var entry = Entry(core: core, load: load)
            entry.isEarlier = true
            if record.state != .over { entry.order = TransferOrder(of: record) }
            entry.order?.awaitsDelegate = asks
            state.entries[record.task] = entry
        }
    }

    /// What steers a task: the same from its first order on, since what is read of its answer is there.
    func load(of core: TaskCore) -> BackgroundLoad {
        state.withLock { $0.entries[UInt64(core.identifier)]?.load } ?? BackgroundLoad(self, core)
    }

    /// A task begins: its journal is on the disk when this returns, or the reason why it is not is returned.
    func begin(_ order: TransferOrder, _ core: TaskCore, _ load: BackgroundLoad) -> URLError? {
        let url = core.originalRequest?.url
        if let problem { return problem.error(url) }
        guard let directory else { return nil }
        let isNew = state.withLock { state in
            let known = state.entries[order.task]
            var entry = known ?? Entry(core: core, load: load)
            entry.order = order
            entry.hasNewOrder = known != nil
            // Order: an owner that comes meanwhile hears of the task when its journal is there. It writes the journal
            // from then on, and may be done with it, and have removed it, before a slow disk has taken ours.
            entry.isDue = known != nil
            state.entries[order.task] = entry
            return known == nil
        }
        if isNew {
            let record = TransferRecord(
                order, allowed: settings.resourceTimeout, isDiscretionary: settings.isDiscretionary, now: .now)
            do throws(BackgroundDirectoryFailure) {
                // Again: an owner that begins takes what is not finished for left behind.
                do throws(BackgroundDirectoryFailure) {
                    try write(record, in: directory)
                } catch {
                    try write(record, in: directory)
                }
            } catch {
                state.withLock { _ = $0.entries.removeValue(forKey: order.task) }
                return LoadFailure.make(error.code, url, "The task cannot be written down: \(error)")
            }
        }
        state.withLock { $0.entries[order.task]?.isDue = true }
        tellStart(of: order.task)
        connect()
        return nil
    }

    /// Says how a task stands that waits here for its date: it has no exchange that could tell of suspensions, and the owner shall not
    /// begin what stands still when this program has gone. And says a date that was set later, of tasks that wait at the owner, too.
    /// Nothing is said of others.
    func tellOfWaiting(_ core: TaskCore) {
        let task = UInt64(core.identifier)
        line.run { [self] in
            // Order: looked at on the line, so that what is said last is what is so.
            let date = core.settings.hints.earliestBeginDate
            let isToBeSaid = state.withLock { state in
                guard var entry = state.entries[task] else { return false }
                let isLater = entry.order?.wait(until: date) ?? false
                let waitsHere = entry.order?.awaitsDelegate == true
                if isLater, !waitsHere {
                    entry.hasNewOrder = true
                    // Order: with that. What the owner accepts between here and the next order has the date of before.
                    entry.unaccepted = entry.unaccepted.map { _ in true }
                }
                state.entries[task] = entry
                return isLater || waitsHere
            }
            // Whatever is over was said to be, and the owner may have forgotten it since.
            guard isToBeSaid, core.state.withLock({ !$0.machine.isOver }) else { return }
            sayStart(of: task)
        }
    }

    /// Says that a task begins, and whether it is suspended.
    func tellStart(of task: UInt64) { line.run { [self] in sayStart(of: task) } }

    /// On the line.
    private func sayStart(of task: UInt64) {
        // Order: looked at on the line, and said at once: whatever changes from now on is said behind it.
        guard let entry = state.withLock({ $0.entries[task] }), entry.isDue, !entry.isEnding, var order = entry.order
        else { return }
        let (phase, isExchangeSuspended) = entry.core.state.withLock {
            ($0.machine.phase, $0.machine.isExchangeSuspended)
        }
        if order.awaitsDelegate {
            guard phase == .running || phase == .suspended else { return }
            order.isSuspended = phase == .suspended
        } else {
            // Not as the task stands: its exchange is told of each change of this.
            order.isSuspended = isExchangeSuspended
        }
        // It takes the place of what was said before.
        order.priority = TaskSettings.usable(entry.core.settings.priority)
        say(.start(order))
    }

    /// With the settings, once, before the first task: a helper whose program was killed before it could say a word has to
    /// know how to load.
    private func write(_ record: TransferRecord, in directory: BackgroundDirectory) throws(BackgroundDirectoryFailure) {
        if !state.withLock({ $0.hasWrittenSettings }) {
            try directory.write(settings)
            state.withLock { $0.hasWrittenSettings = true }
        }
        try directory.write(record)
    }

    /// Says something to the owner, if it can be reached.
    func tell(_ command: TransferCommand) {
        line.run { [self] in say(command) }
    }

    /// On the line.
    private func say(_ command: TransferCommand) {
        let owner = state.withLock { state -> (any TransferService, OwnerChannel)? in
            guard state.phase.isTalking, let service = state.service, let channel = state.channel else {
                return nil
            }
            if case .start(let order) = command {
                state.entries[order.task]?.unaccepted.append(order.awaitsDelegate)
            }
            return (service, channel)
        }
        if let (service, channel) = owner { service.received(command, from: channel) }
    }

    /// On the line. Asks for an answer that this owner gives when it has heard what was said before. Not as long as that would be
    /// taken for the end of the first words, behind which it begins what waits.
    func askForEcho() {
        let isToAsk = state.withLock { $0.isLeaving && $0.hasSaidAll && $0.phase.isConnected }
        if isToAsk { say(.list) }
    }

    /// Notes that this owner has a task by the first of the orders that it has not accepted yet.
    func accepted(_ task: UInt64) {
        state.withLock { state in
            guard var entry = state.entries[task] else { return }
            entry.isKnown = true
            // One that is older than what the delegate or the program has said is no answer to that.
            let isOld = !entry.unaccepted.isEmpty && entry.unaccepted.removeFirst()
            if !isOld { entry.hasNewOrder = false }
            state.entries[task] = entry
        }
    }

    /// Says what a task is called now, and notes it for an owner that does not know the task.
    func tellLabel(of core: TaskCore) {
        let task = UInt64(core.identifier)
        line.run { [self] in
            // Order: looked at on the line, so that what is said last is what is so.
            let label = core.settings.hints.description
            guard state.withLock({ $0.entries[task] != nil }) else { return }
            guard label.map({ $0.utf8.count <= TransferLimits.label }) ?? true else {
                return ErrorText.reportMisuse(
                    "fault: a taskDescription is too long to be kept for a later run; there the task has the one before"
                )
            }
            state.withLock { $0.entries[task]?.order?.label = label }
            tell(.label(task: task, label))
        }
    }

    /// The task's last message, and with it the number of its end, has been told.
    func ended(_ core: TaskCore) {
        let task = UInt64(core.identifier)
        let (entry, number) = state.withLock { state -> (Entry?, UInt64) in
            guard let entry = state.entries.removeValue(forKey: task) else { return (nil, 0) }
            let number = entry.endNumber ?? 0
            state.heard[task] = entry.endNumber ?? UInt64.max
            // Order: with that, or an orderly end could come between.
            if entry.endNumber == nil { state.unanswered.insert(task) }
            return (entry, number)
        }
        guard let entry else { return }
        if number > 0 {
            tell(.delivered(task: task, number: number))
        } else {
            tellOfEnd(of: task, entry)
        }
    }

    /// A task ended here, and the owner does not know: whatever it still has to tell is heard already.
    func tellOfEnd(of task: UInt64, _ entry: Entry) {
        tell(.cancel(task: task, wantsResumeData: false))
        let isOurs = !entry.isKnown && !entry.isEarlier
        let hasStarted = !entry.unaccepted.isEmpty
        line.run { [self] in
            guard removeJournal(of: task, isOurs: isOurs) else { return }
            // An owner that has been told to begin it answers all the same.
            state.withLock { if !hasStarted || !$0.phase.isTalking { $0.unanswered.remove(task) } }
        }
    }

    /// The delegate has heard the end of a task, and no owner knows of that: none shall carry it out again (B10.44). A journal that
    /// may be an owner's is left to it while it lives. Whether it is gone.
    private func removeJournal(of task: UInt64, isOurs: Bool) -> Bool {
        guard let directory else { return true }
        if isOurs { return directory.remove(task: task) }
        guard let lock = try? directory.takeLock() else { return false }
        defer { lock.hold() }
        return directory.remove(task: task)
    }

    /// The delegate has had the task's file.
    func toldFile(_ core: TaskCore) {
        let task = UInt64(core.identifier)
        guard let number = state.withLock({ $0.entries[task]?.fileNumber }) else { return }
        tell(.delivered(task: task, number: number))
    }
}

extension BackgroundSession {
    /// Makes the tasks that are known of this session, which everything else is told about (B10.33), and says what the
    /// program should not have asked for.
    func meetTasks(of session: URLSession) {
        let core = session.core
        state.withLock { ($0.session, $0.core) = (session, core) }
        if core.delegate == nil { BackgroundRefusal.noDelegate.report() }
        if !(values.protocolClasses ?? []).allSatisfy({ $0 is BuiltInProtocol.Type }) {
            // B14.33.
            ErrorText.reportMisuse("fault: Custom protocol classes are not asked in background sessions.")
        }
        let found = takeFound()
        // A helper has no standard error. An owner in this process reads the same, and says it.
        if ownsHere == nil { for damage in found.damaged { ErrorText.reportMisuse(damage.text) } }
        let records = found.records
        // A journal that cannot be read is another task's all the same (B10.46).
        if let last = Int(exactly: found.lastTask), last < Int.max { core.count(from: last) }
        for record in records {
            guard let identifier = Int(exactly: record.task), identifier > 0, identifier < Int.max,
                let request = record.original.programsRequest(after: record.original)
            else { continue }
            let body: TaskBody = record.kind == .upload ? .file(URL(fileURLWithPath: record.source ?? "/")) : .request
            var new = NewTask(
                request, body: body, outlet: record.kind == .download ? .file(.delegate) : .delegate)
            new.number = identifier
            let task = core.makeTask(new, session: session)
            let load = BackgroundLoad(self, task)
            adopt(record, task, load)
            task.transfer.takeUp(record, load)
        }
        if !records.isEmpty {
            state.withLock { $0.awaitsEndOfEvents = true }
            connect()
        }
    }
}
