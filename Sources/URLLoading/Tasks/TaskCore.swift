// One task: what it is, and what is known of it. What it does is said by its parts, each with one duty, which are made
// where they are needed and hold nothing but the task.
//
// What every task does: `TaskDriver` steers it, `HopPreparation` and `HopAnswer` are its way to a server and back,
// `TaskHops` goes from one hop to the next, `TaskCompletion` ends it; `TaskCounting` counts, `TaskDelivery`,
// `TaskTelling` and `DelegateQuestions` reach its delegates, `TaskSettings` is what a program may set. What only some
// do: `TaskDownload`, `TaskUpload`, `TaskStream`, `TaskWebSocket`, `TaskCaching`, `TaskCookies`, `TaskAuthentication`,
// `TaskTrust`, `TaskDelay`, `TaskRetry` and `TaskTransfer`.
//
// The state is behind one Mutex, counters are atomic, events go through a mailbox. Nothing is
// called while a lock is held.
//
// Must not know: bytes on the wire, the loop.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingPolicy

/// One task, behind whatever face users see of it.
final class TaskCore: Sendable {
    let identifier: Int
    /// `nil` for a mock, which belongs to no session.
    let session: SessionCore?
    /// Its place among the session's tasks; `nil` also where the session had been invalidated before (B1.21).
    let slot: Int?
    /// The session's engine, if it had one when the task was made: found without the session's lock.
    let engine: Engine?
    private let givenOutlet: TaskOutlet
    private let givenKind: TaskKind
    /// What the task has become; the first change counts.
    private let change = SetOnce<TaskChange>()
    let creation = ContinuousClock.now
    /// The trace that follows the task step by step; nil where nothing does.
    let trace: TaskTrace?
    /// Whether the task calls anything on the delegate queue; an async call without any delegate does not.
    let usesRelay: Bool

    let state: Mutex<TaskState>
    let mailbox = Mutex(TaskMailbox())
    let counters = TaskCounters()
    let probe = DelegateProbe()
    /// For the `async` forms, which may outlive the question that they were asked.
    let asyncProbe = DelegateProbe()
    /// Whether `progress` was asked for; from then on the counters are carried over into it.
    let hasProgress = Atomic<Bool>(false)

    init(
        _ new: borrowing NewTask, identifier: Int, session: SessionCore?, slot: Int?, engine: Engine?, usesRelay: Bool,
        state makeState: () -> TaskState
    ) {
        self.identifier = identifier
        self.session = session
        self.slot = slot
        self.engine = engine
        givenOutlet = new.outlet
        self.usesRelay = usesRelay
        givenKind = new.kind
        // Another process carries what a background session loads.
        let isFollowed = session.map { $0.background == nil } ?? false
        trace =
            isFollowed
            ? TaskTrace.make(session?.settings.traceHooks, new, taskIdentifier: identifier) : nil
        state = Mutex(makeState())
        // The counters of a new task are at nothing.
        let (sent, received) = (new.expectedToSend, new.expectedToReceive)
        if sent != 0 { counters.expectedToSend.store(sent, ordering: .relaxed) }
        if received != 0 { counters.expectedToReceive.store(received, ordering: .relaxed) }
    }

    /// A task that belongs to no session.
    static func detached() -> TaskCore {
        let new = NewTask(nil, outlet: .delegate)
        return TaskCore(new, identifier: 0, session: nil, slot: nil, engine: nil, usesRelay: false) { TaskState() }
    }

    // MARK: What it is

    /// Where the result goes: what the task was made for, unless a delegate has decided otherwise (B1.68).
    var outlet: TaskOutlet { change.value?.outlet ?? givenOutlet }

    /// Whether it is a download, whose body goes to a file.
    var savesFile: Bool {
        // Without a copy of the outlet.
        if let outlet = change.value?.outlet { return outlet.savesFile }
        return givenOutlet.savesFile
    }

    /// Whether the end is told to the waiting async call alone: all of it may then happen at once.
    /// No other task becomes one.
    var endsQuietly: Bool { if case .whole(.awaiting) = givenOutlet { !usesRelay } else { false } }

    /// Whether it sends a body that was given beside its request. No other task becomes one.
    var isUpload: Bool { givenKind.isUpload }

    /// What it is asked to do as a web socket; nil where it is none.
    var webSocketCalls: WebSocketCalls? { givenKind.webSocket }

    /// What the user sees: what the task was made as, unless a delegate has decided otherwise (B1.70).
    var kind: TaskKind { change.value?.kind ?? givenKind }

    /// The name of that, without a copy.
    var kindName: TaskKind.Name { change.value?.kind?.name ?? givenKind.name }

    /// From now on the task is something else than it was made as; the first change counts.
    func become(_ change: TaskChange) { self.change.set(change) }

    /// The face that delegates and `allTasks` see; made when it is first needed.
    var face: URLSessionTask {
        let made = state.withLock { $0.face }
        if let made { return made }
        let new: URLSessionTask =
            switch kindName {
            case .data where savesFile: URLSessionDownloadTask(core: self)
            case .data, .warmUp: URLSessionDataTask(core: self)
            case .upload: URLSessionUploadTask(core: self)
            case .stream: URLSessionStreamTask(core: self)
            case .webSocket: URLSessionWebSocketTask(core: self)
            }
        return state.withLock { state in
            if let made = state.face { return made }
            // Held only until the end: afterwards the face would keep itself alive.
            if state.machine.phase != .completed { state.show(new, isListed: slot != nil) }
            return new
        }
    }

    // MARK: What is known of it

    var phase: URLSessionTask.State { URLSessionTask.State(state.withLock { $0.machine.phase }) }
    var isOver: Bool { state.withLock { $0.isOver } }
    var originalRequest: URLRequest? { state.withLock { $0.originalRequest } }
    var response: URLResponse? { state.withLock { $0.response } }
    var error: (any Error)? { state.withLock { $0.error } }

    /// The request of the current hop, with the fields that the loader added once it was sent (B1.47).
    var currentRequest: URLRequest? {
        let (request, fields) = state.withLock { state in
            // The requests by which an upload goes on are not shown (B11.34).
            let isOwn = isUpload && state.upload?.isHelper ?? false
            return (isOwn ? state.ownRequest : state.currentRequest, isOwn ? nil : state.sentFields)
        }
        return request.map { $0.showing(fields) }
    }
}

extension URLSessionTask.State {
    fileprivate init(_ phase: TaskMachine.Phase) {
        switch phase {
        case .suspended: self = .suspended
        case .running: self = .running
        case .canceling: self = .canceling
        case .completed: self = .completed
        }
    }
}
