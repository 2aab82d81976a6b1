// Which delegates a task asks and tells, and in which order: its own, then the session's (B1.95, B1.96). It is said
// here alone.
//
// Must not know: what they are asked and told.

/// The delegates of a task, in their order. Leaving one out says that it is not asked or told.
struct TaskDelegates {
    let own: DelegateView?
    /// Looked at only where the task's own delegate is not the one that is sought.
    let session: SessionCore?

    /// The delegates of an audience.
    func among(_ audience: Audience) -> TaskDelegates {
        switch audience {
        case .all: self
        case .own: TaskDelegates(own: own, session: nil)
        case .noDelegate: TaskDelegates(own: nil, session: nil)
        }
    }

    /// The first that `isSought` accepts.
    func first(where isSought: (DelegateView) -> Bool) -> DelegateView? {
        if let own, isSought(own) { return own }
        guard let sessions = session?.delegateView, isSought(sessions) else { return nil }
        return sessions
    }

    /// Whether `isSought` accepts any.
    func contains(where isSought: (DelegateView) -> Bool) -> Bool { first(where: isSought) != nil }

    /// All that there are.
    var all: [DelegateView] {
        var views: [DelegateView] = []
        _ = first { view in
            views.append(view)
            return false
        }
        return views
    }
}

/// The audience of an event: which of a task's delegates it is for.
enum Audience: Sendable {
    case all
    /// The task's own delegate alone.
    case own
    /// None of them.
    case noDelegate
}

extension TaskCore {
    /// Its delegates at this moment.
    var delegates: TaskDelegates { TaskDelegates(own: state.withLock { $0.delegateView }, session: session) }
}
