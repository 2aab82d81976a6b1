// What a program may set on a task: hints, the priority, a delegate of its own.
//
// Must not know: what comes of it.

import Foundation
import URLLoadingEngine

/// A task as something that a program sets things on.
struct TaskSettings: Sendable {
    let task: TaskCore

    var hints: TaskHints { task.state.withLock { $0.hints } }
    var delegate: (any URLSessionTaskDelegate)? { task.state.withLock { $0.delegate } }
    var priority: Float { task.state.withLock { $0.priority } }

    func setHint<Value: Sendable>(_ path: WritableKeyPath<TaskHints, Value> & Sendable, _ value: Value) {
        task.state.withLock { $0.hints[keyPath: path] = value }
    }

    func setEarliestBeginDate(_ date: Date?) {
        setHint(\.earliestBeginDate, date)
        // Who begins it when this program has gone shall not be too early (B10.26).
        task.session?.background?.tellOfWaiting(task)
    }

    func setDescription(_ text: String?) {
        setHint(\.description, text)
        // A later run meets the task with what it is called now (B10.33).
        task.session?.background?.tellLabel(of: task)
    }

    func setDelegate(_ delegate: (any URLSessionTaskDelegate)?) {
        if task.session?.background != nil, delegate != nil {
            // B10.28: it would not be there when the task is met again.
            ErrorText.reportMisuse(
                "fault: Tasks of background sessions have no delegates of their own; the assignment is ignored.")
            return
        }
        let view = delegate.map { DelegateView($0) }
        // Order: the delegate of before goes when the lock is free, since its deinit may call its task.
        let before = task.state.withLock { state -> ((any URLSessionTaskDelegate)?, DelegateView?)? in
            guard !state.machine.hasStarted, !state.isOver else { return nil }
            defer { (state.delegate, state.delegateView) = (delegate, view) }
            return (state.delegate, state.delegateView)
        }
        if before == nil {
            ErrorText.reportMisuse("a task's delegate cannot be changed after resume(); the assignment is ignored")
        }
    }

    func setPriority(_ priority: Float) {
        let handle = task.state.withLock { state in
            state.priority = priority
            return state.load.handle
        }
        handle?.setPriority(Self.usable(priority))
    }

    /// A priority for the engine, whatever number it was set to.
    static func usable(_ priority: Float) -> Float {
        priority.isNaN ? URLSessionTask.defaultPriority : min(max(priority, 0), 1)
    }
}

extension TaskCore {
    /// What may be set on the task.
    var settings: TaskSettings { TaskSettings(task: self) }
}
