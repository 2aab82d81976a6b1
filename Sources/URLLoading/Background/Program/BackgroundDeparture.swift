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
        for session in all where session.hasUnknownTasks { session.leaveToHelper() }
    }
}

extension BackgroundSession {
    /// Whether there are tasks that no owner has, and that one should have.
    fileprivate var hasUnknownTasks: Bool {
        state.withLock { state in
            state.entries.values.contains { $0.order != nil && $0.isDue && !$0.isKnown && !$0.isEnding }
        }
    }

    /// Starts a helper, unless a process has the transfers; it outlives this one.
    fileprivate func leaveToHelper() {
        // Order: the lock is let go at once, since the helper takes it.
        guard let directory, (try? directory.takeLock()) != nil,
            let path = BackgroundHelper.path(chosen: values.background.helper)
        else { return }
        BackgroundHelper.launch(path, directory: directory.path)
    }
}
