// The orderly end of a program whose background tasks no owner has yet: a command may resume a task and end at once, and its
// transfers go on all the same. Must not know: what is said to an owner.

import Foundation
import Synchronization
import URLLoadingSystem

/// The background sessions that have looked for a helper.
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

    /// A helper that is on its way may be told of all. It must not keep this program from ending: what it was not told of it
    /// reads, if it begins behind this.
    private static func leaveAll() {
        let all = sessions.withLock { $0.values.compactMap(\.session) }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(1)
        while all.contains(where: \.hasUnknownTasks), clock.now < end { usleep(2000) }
        for session in all { session.leaveToHelper() }
    }
}

extension BackgroundSession {
    /// A task that no owner has, or not with what its delegate has said.
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

    private var unknownTasks: [UInt64: UnknownTask] {
        let entries = state.withLock { state in
            state.entries.filter { _, entry in
                (!entry.isKnown || entry.hasNewOrder) && entry.isDue && !entry.isEnding
            }
        }
        return entries.compactMapValues { entry in
            guard var order = entry.order else { return nil }
            order.wait(until: entry.core.settings.hints.earliestBeginDate)
            return UnknownTask(phase: entry.core.phase, order: order, hasNewOrder: entry.hasNewOrder)
        }
    }

    /// Whether there are tasks that no owner has, and that one should have.
    fileprivate var hasUnknownTasks: Bool {
        unknownTasks.values.contains { $0.phase == .running || $0.phase == .suspended }
    }

    /// Starts a helper if there is something to be carried out, unless a process has the transfers; it outlives this one.
    func leaveToHelper() {
        let tasks = unknownTasks
        guard !tasks.isEmpty, let directory, correctJournals(of: tasks, in: directory),
            tasks.values.contains(where: { $0.phase == .running }),
            let path = BackgroundHelper.path(chosen: values.background.helper)
        else { return }
        BackgroundHelper.launch(path, directory: directory.path)
    }

    /// The next owner carries out nothing that was cancelled or suspended, nor what a delegate has replaced, and goes
    /// on with what was resumed. False where a process has the transfers, and the journals with them, or where something
    /// cannot be written down. The lock is free again then, since the helper takes it.
    private func correctJournals(of tasks: [UInt64: UnknownTask], in directory: BackgroundDirectory) -> Bool {
        guard let lock = try? directory.takeLock() else { return false }
        defer { lock.hold() }
        for record in (try? directory.read(settingAside: false))?.records ?? [] {
            guard let task = tasks[record.task], record.state != .over else { continue }
            switch task.phase {
            case .canceling: directory.remove(task: record.task)
            case .running, .suspended:
                let corrected = task.corrected(record)
                guard corrected == record || (try? directory.write(corrected)) != nil else { return false }
            case .completed: break
            }
        }
        return true
    }
}
