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
    /// How the tasks stand that no owner has.
    private var unknownTasks: [UInt64: URLSessionTask.State] {
        let entries = state.withLock { state in
            state.entries.filter { $0.value.order != nil && $0.value.isDue && !$0.value.isKnown && !$0.value.isEnding }
        }
        return entries.mapValues(\.core.phase)
    }

    /// Whether there are tasks that no owner has, and that one should have.
    fileprivate var hasUnknownTasks: Bool { unknownTasks.values.contains { $0 == .running || $0 == .suspended } }

    /// Starts a helper if there is something to be carried out, unless a process has the transfers; it outlives this one.
    func leaveToHelper() {
        let tasks = unknownTasks
        guard !tasks.isEmpty, let directory, correctJournals(of: tasks, in: directory), tasks.values.contains(.running),
            let path = BackgroundHelper.path(chosen: values.background.helper)
        else { return }
        BackgroundHelper.launch(path, directory: directory.path)
    }

    /// No owner carries out what was cancelled, nor begins what was suspended, and was not said to one. False where a process has
    /// the transfers, and the journals with them, or where a suspension cannot be written down. The lock is free again then, since
    /// the helper takes it.
    private func correctJournals(of tasks: [UInt64: URLSessionTask.State], in directory: BackgroundDirectory) -> Bool {
        guard let lock = try? directory.takeLock() else { return false }
        defer { lock.hold() }
        for var record in (try? directory.read(settingAside: false))?.records ?? [] {
            switch tasks[record.task] {
            case .canceling: directory.remove(task: record.task)
            case .suspended:
                record.isSuspended = true
                guard (try? directory.write(record)) != nil else { return false }
            case .running, .completed, nil: break
            }
        }
        return true
    }
}
