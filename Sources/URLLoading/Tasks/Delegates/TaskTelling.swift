// What a task tells its delegates without waiting for an answer, on the delegate queue: by the first that has the
// method (`TaskDelegates`). A delegate that has only a method's default does not have the method (`DelegateProbe`).

import Foundation
import URLLoadingEngine
import URLLoadingSystem

/// What a task tells its delegates, and whatever follows it otherwise.
struct TaskTelling: Sendable {
    let task: TaskCore

    // MARK: The audience

    /// Calls a method that every kind of task has.
    func tell(
        _ method: DelegateMethod, _ call: (any URLSessionTaskDelegate, URLSession, URLSessionTask) -> Void
    ) {
        tellFirst(method, \.task) { call($0, $1, task.face) }
    }

    /// Calls a method of one kind of delegate, of those in its audience.
    func tellFirst<Delegate>(
        _ method: DelegateMethod, _ kind: (DelegateView) -> Delegate?, among audience: Audience = .all,
        _ call: (Delegate, URLSession) -> Void
    ) {
        let (own, urlSession) = task.state.withLock { ($0.delegateView, $0.session) }
        guard let urlSession else { return }
        _ = TaskDelegates(own: own, session: task.session).among(audience).first { view in
            guard let delegate = kind(view) else { return false }
            task.probe.arm(method, of: view.session)
            call(delegate, urlSession)
            let isThere = task.probe.disarm()
            if !isThere, method == .metrics { view.forms.learnLackOfMetrics() }
            return isThere
        }
    }

    // MARK: What

    /// Tells the delegates that the task was made; an async call without any delegate tells nothing.
    func tellMaking() {
        if task.usesRelay { tell(.createTask) { $0.urlSession($1, didCreateTask: $2) } }
    }

    /// What was measured, which is made only for a delegate that may have the method.
    func tellMetrics(_ metrics: () -> URLSessionTaskMetrics) {
        tellFirst(.metrics, { $0.mayTakeMetrics ? $0.task : nil }) {
            $0.urlSession($1, task: task.face, didFinishCollecting: metrics())
        }
    }

    /// The last message.
    func tellCompletion(_ error: (any Error)?) {
        tell(.complete) { $0.urlSession($1, task: $2, didCompleteWithError: error) }
    }

    /// The body is sent once more, from its beginning (B11.12).
    func countSentAnew() {
        let base = sentBefore
        task.state.withLock { $0.sentTold = base }
    }

    /// What an upload that goes on has sent before its request began.
    private var sentBefore: Int64 { task.isUpload ? task.state.withLock { $0.upload?.base ?? 0 } : 0 }

    /// What of the body has been sent since the last call.
    func tellSent(_ total: Int64) {
        let base = sentBefore
        guard total > base else { return task.state.withLock { $0.sentTold = base } }
        let before = task.state.withLock { state in
            defer { state.sentTold = total }
            // A replay or a redirect starts again from the beginning. What a journal of another process says was told
            // may be any number.
            return total < state.sentTold ? base : max(state.sentTold, base)
        }
        let expected = task.counters.expectedToSend.load(ordering: .relaxed)
        tell(.sendBodyData) {
            $0.urlSession(
                $1, task: $2, didSendBodyData: total - before, totalBytesSent: total,
                totalBytesExpectedToSend: expected)
        }
    }

    /// A piece of the body.
    func tellData(_ data: Data) {
        guard !task.isOver, let shown = task.face as? URLSessionDataTask else { return }
        tellFirst(.data, \.data, among: task.outlet.audience) { $0.urlSession($1, dataTask: shown, didReceive: data) }
    }

    /// Tells the delegate that was, or would have been, told of the data.
    func tellBecame(_ method: DelegateMethod, _ call: (any URLSessionDataDelegate, URLSession) -> Void) {
        tellFirst(method, \.data, call)
    }

    // MARK: Past the delegate queue

    /// Adds an event to the sequence of the task's events, where there is one and it is of everything.
    func announce(_ event: () -> URLSession.TransferEvent?) {
        guard let pipe = task.outlet.pipe, pipe.scope == .everything, let event = event() else { return }
        pipe.post(event)
    }

    /// Posts a notification about a task of a session with `URLSession.EventHandlers`.
    func postNotice(_ name: Notification.Name) {
        guard let session = task.session, session.postsNotices else { return }
        NotificationCenter.default.post(name: name, object: task.face)
    }
}

extension TaskCore {
    /// What the task tells.
    var telling: TaskTelling { TaskTelling(task: self) }
}
