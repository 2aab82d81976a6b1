// The orderly end of a program whose background tasks no owner has yet: a command may resume a task and end at once,
// and its transfers go on all the same. Must not know: what is said to an owner.

import Foundation
import Synchronization
import URLLoadingSystem

/// The background sessions that have looked for an owner.
enum BackgroundDeparture {
    private struct Weak: Sendable {
        weak var session: BackgroundSession?
    }

    private static let sessions = Mutex<[ObjectIdentifier: Weak]>([:])
    private static let looksAtExit: Void = { _ = atexit { BackgroundDeparture.leaveAll() } }()

    /// Notes a session.
    static func add(_ session: BackgroundSession) {
        _ = looksAtExit
        sessions.withLock { $0[ObjectIdentifier(session)] = Weak(session: session) }
    }

    /// Forgets a session that goes.
    static func remove(_ session: BackgroundSession) {
        sessions.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(session)) }
    }

    /// A helper that is on its way may be told of all, and one that is there answers what it was told last. It must not
    /// keep this program from ending: what it was not told of it reads, if it begins behind this.
    private static func leaveAll() {
        let all = sessions.withLock { $0.values.compactMap(\.session) }
        for session in all {
            session.tellOfEnds()
            session.beginLeaving()
        }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(1)
        while all.contains(where: \.hasUnknownTasks), clock.now < end { usleep(2000) }
        for session in all { session.leaveToHelper() }
    }
}

extension BackgroundSession {
    /// A task that no owner has as it stands.
    private struct UnknownTask {
        let phase: URLSessionTask.State
        let order: TransferOrder
        let hasNewOrder: Bool

        /// The journal with what no owner was told.
        func corrected(_ record: TransferRecord) -> TransferRecord {
            var record = record
            if hasNewOrder {
                (record.original, record.current) = (order.original, order.current)
                record.awaitsDelegate = order.awaitsDelegate
            }
            (record.earliestBegin, record.label) = (order.earliestBegin, order.label)
            record.isSuspended = phase == .suspended
            return record
        }
    }

    /// With those of an owner that is lost, and those that are cancelled: an owner that has heard
    /// of that tells their end.
    private var unknownTasks: [UInt64: UnknownTask] {
        let (entries, isTalking) = state.withLock { state in
            (state.entries.filter { $0.value.isDue && !$0.value.isEnding }, state.phase.isTalking)
        }
        return entries.compactMapValues { entry in
            let phase = entry.core.phase
            guard !isTalking || !entry.isKnown || entry.hasNewOrder || phase == .canceling, phase != .completed,
                var order = entry.order
            else { return nil }
            order.wait(until: entry.core.settings.hints.earliestBeginDate)
            return UnknownTask(phase: phase, order: order, hasNewOrder: entry.hasNewOrder)
        }
    }

    /// Whether there is something that no owner has heard, and that one should.
    var hasUnknownTasks: Bool {
        !unknownTasks.isEmpty
            || state.withLock { !$0.unanswered.isEmpty || ($0.awaitsEcho && $0.phase.isConnected) }
    }

    /// Wants to know when the owner that is there, or comes, has heard everything: a suspension of a moment ago, for
    /// instance, is still on its way.
    func beginLeaving() {
        state.withLock { $0.awaitsEcho = true }
        line.run { [self] in
            // Order: on the line, so that nothing that was said before is behind the question.
            state.withLock { $0.isLeaving = true }
            askForEcho()
        }
    }

    /// Tells of the ends of tasks that nothing carries out yet. That waits for the delegate otherwise, whose queue may
    /// be what ends this program.
    func tellOfEnds() {
        let waiting = state.withLock { state in
            state.entries.filter { $0.value.order?.awaitsDelegate == true && $0.value.isDue }
        }
        for (task, entry) in waiting where entry.core.state.withLock({ $0.machine.isOver }) {
            let isFirst = state.withLock { state in
                guard state.entries[task]?.isEnding == false else { return false }
                state.entries[task]?.isEnding = true
                state.unanswered.insert(task)
                return true
            }
            if isFirst { tellOfEnd(of: task, entry) }
        }
    }

    /// Starts a helper if there is something to be carried out, unless a process has the transfers; it outlives this
    /// one. Whether it was started.
    @discardableResult
    func leaveToHelper() -> Bool {
        let tasks = unknownTasks
        let ended = state.withLock { $0.unanswered }
        guard let directory, !tasks.isEmpty || !ended.isEmpty else { return false }
        guard correctJournals(of: tasks, ended: ended, in: directory), ownsHere == nil,
            tasks.values.contains(where: { $0.phase == .running }),
            let path = BackgroundHelper.path(chosen: values.background.helper)
        else { return false }
        BackgroundHelper.launch(path, directory: directory.path)
        return true
    }

    /// The next owner carries out nothing that is over or suspended, nor what a delegate has replaced, and goes on with
    /// what was resumed. False where a process has the transfers, and the journals with them, or where something cannot
    /// be read or written down. The lock is free again then, since the helper takes it.
    private func correctJournals(
        of tasks: [UInt64: UnknownTask], ended: Set<UInt64>, in directory: BackgroundDirectory
    ) -> Bool {
        guard let lock = try? directory.takeLock() else { return false }
        defer { lock.hold() }
        var isCorrect = true
        for task in ended where !directory.remove(task: task) { isCorrect = false }
        guard let contents = try? directory.read(settingAside: false) else { return false }
        if !contents.unopened.isDisjoint(with: tasks.keys) { isCorrect = false }
        for record in contents.records {
            guard let task = tasks[record.task], record.state != .over else { continue }
            switch task.phase {
            case .canceling: if !directory.remove(task: record.task) { isCorrect = false }
            case .running, .suspended:
                let corrected = task.corrected(record)
                if corrected != record, (try? directory.write(corrected)) == nil { isCorrect = false }
            case .completed: break
            }
        }
        return isCorrect
    }
}
