// The tasks of a background session: what is written down of them, what their owner is told of them, and how those of
// an earlier run are met again (B10.33).
//
// Must not know: which process the owner is, and how it is found.

import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

extension BackgroundSession {
    /// What the directory tells of tasks, over or not (B10.33); given once.
    private func takeFound() -> BackgroundDirectory.Contents {
        state.withLock { state in
            let found = state.found ?? BackgroundDirectory.Contents()
            state.found = nil
            state.unopened = found.unopened
            return found
        }
    }

    /// A task that was met again; the owner has it, or its journal.
    private func adopt(_ record: TransferRecord, _ core: TaskCore, _ load: BackgroundLoad) {
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
        do throws(BackgroundDirectoryFailure) {
            if isNew { try writeDown(order, in: directory) }
        } catch {
            state.withLock { _ = $0.entries.removeValue(forKey: order.task) }
            return LoadFailure.make(error.code, url, "The task cannot be written down: \(error)")
        }
        state.withLock { $0.entries[order.task]?.isDue = true }
        tellStart(of: order.task)
        connect()
        return nil
    }

    /// Writes the first journal of a task.
    private func writeDown(
        _ order: TransferOrder, in directory: BackgroundDirectory
    ) throws(BackgroundDirectoryFailure) {
        let record = TransferRecord(
            order, allowed: settings.resourceTimeout, isDiscretionary: settings.isDiscretionary, now: .now)
        do throws(BackgroundDirectoryFailure) {
            try write(record, in: directory)
        } catch {
            // Once more: an owner that begins takes what is not finished for left behind.
            try write(record, in: directory)
        }
    }

    /// With the settings, once, before the first task: a helper whose program was killed before it could say a word has
    /// to know how to load.
    private func write(_ record: TransferRecord, in directory: BackgroundDirectory) throws(BackgroundDirectoryFailure) {
        if !state.withLock({ $0.hasWrittenSettings }) {
            try directory.write(settings: settings)
            state.withLock { $0.hasWrittenSettings = true }
        }
        try directory.write(record)
    }

    /// Says how a task stands that waits here for its date: it has no exchange that could tell of suspensions, and the
    /// owner shall not begin what stands still when this program has gone. And says a date that was set later, of tasks
    /// that wait at the owner, too. Nothing is said of others.
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

    /// On the line. Asks for an answer that this owner gives when it has heard what was said before. Not as long as
    /// that would be taken for the end of the first words, behind which it begins what waits.
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
            let isGone = removeJournal(of: task, isOurs: isOurs)
            state.withLock { state in
                // An owner that has been told to begin it answers all the same.
                let isSettled = isGone && (!hasStarted || !state.phase.isTalking)
                if isSettled || entry.isMissed && state.phase.isTalking { state.unanswered.remove(task) }
            }
        }
    }

    /// The delegate has heard the end of a task, and no owner knows of that: none shall carry it out again (B10.44). A
    /// journal that may be an owner's is left to it while it lives. Whether it is gone.
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

    // MARK: Earlier runs

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
        let records = found.records
        // A helper has no standard error. An owner in this process reads the same, and says it; without a task there
        // may be none.
        if ownsHere == nil || records.isEmpty { for damage in found.damaged { ErrorText.reportMisuse(damage.text) } }
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
