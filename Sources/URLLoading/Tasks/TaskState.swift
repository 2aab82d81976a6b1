// What one task knows that changes while it lives, all behind the one Mutex of its `TaskCore`.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingWire

/// The changing state of a task. Not copyable: on its way behind the lock it was copied once, with all it refers to.
struct TaskState: ~Copyable, Sendable {
    /// What the task is doing (B1.36: a new one counts as suspended once).
    var machine = TaskMachine()
    /// What carries the exchange, while there is one.
    var load = TaskLoad.none

    var originalRequest: URLRequest?
    var currentRequest: URLRequest?
    /// What the task began to load: the original request, or the one that a delegate gave for a delayed task.
    var firstRequest: URLRequest?
    /// The fields that were sent with `currentRequest`, the loader's own included.
    var sentFields: Fields?
    var body = TaskBody.request
    private var rareStreams = Rare<BodyStreams>.none
    /// What ended the sending before, while a stream for another is asked for.
    var lostSending: LostSending?
    /// Sleeps while the task does: until a pause is over, or a delegate's time to supply a body stream.
    var alarm: Alarm?
    /// Rings when the task's time is over, while only a delegate's answer could let it go on.
    var answerLimit: Alarm?
    var response: URLResponse?
    var error: (any Error)?
    /// An error that the API's own layer decided on while the engine was at work.
    var ownFailure: URLError?

    var delegate: (any URLSessionTaskDelegate)?
    var delegateView: DelegateView?
    /// The judge of the task's connections, from the first on that is judged at all.
    var judge: ConnectionJudge?
    var call: WaitingCall?
    /// What `face` shows, as the task holds it. It and the session keep each other alive until the task has ended.
    private var heldFace = TaskFace.none
    var session: URLSession?

    var priority: Float = 0.5
    var hints = TaskHints()
    var progress: TaskProgress?

    /// What carries the hop once a delegate has supplied the stream for its body.
    var waitingChoice: ProtocolChoice?
    /// The hop under way, while it has another way to go when this one leads nowhere.
    var reroutable: ReroutableHop?
    /// What a cache has to do with the hop under way.
    var cachePart: CachePart?
    /// Whether the hop's answer is what a cache has, so that no connection stands behind it.
    var isAnswerStored = false
    /// Whether the hop's request goes out once more without conditions, because the answer was about something else.
    var omitsConditions = false
    /// Whether the task is suspended because its progress is paused.
    var isSuspendedByProgress = false
    /// The call of a resolver, or of a policy that decides, that is waited for.
    var asking: Task<Void, Never>?
    var resourceDeadline: Duration?
    var redirect = RedirectProgress()
    private var rareDownload = Rare<DownloadProgress>.none
    private var rareUpload = Rare<UploadProgress>.none
    var rareRetry = Rare<RetryProgress>.none
    private var rareAuthentication = Rare<AuthenticationProgress>.none
    /// The handlers that wait for the resume data of an upload that was cancelled.
    var resumeDataHandlers: [@Sendable (Data?) -> Void] = []
    /// What an owner of a background session's transfers says that an upload can go on with.
    var ownersResumeData: Data?
    var records: [TransactionRecord] = []
    /// When an earlier run of the program made the task.
    var earlierCreation: Date?
    /// What a web socket task's hop asks for.
    var handshake: WebSocketHop?
    /// Whether the task has said that it waits for connectivity (B6.16).
    var hasToldWaiting = false
    /// What `didSendBodyData` has told.
    var sentTold: Int64 = 0
    /// What `didWriteData` has told.
    var writtenTold: Int64 = 0
    /// What was let go of behind the lock, and may be the program's, as a stream or a response. Its `deinit` may ask
    /// the task something, so it stays until it is taken out from behind the lock.
    private var spent: [any Sendable]?

    init() {}

    /// The state of a new task.
    init(_ new: borrowing NewTask, delegateView: DelegateView?, session: URLSession) {
        let request = new.request
        originalRequest = request
        currentRequest = request
        body = new.body
        delegate = new.delegate
        self.delegateView = delegateView
        self.session = session
        hints.prefersIncrementalDelivery = new.outlet.prefersIncrementalDelivery
        rareDownload = new.download
    }

    /// What the program sees of the task; kept until the task has ended.
    var face: URLSessionTask? {
        get { heldFace.object }
        set { heldFace = if let newValue { .kept(newValue) } else { .none } }
    }

    /// Notes what the program sees of the task. Where no session knows of the task, only the program keeps it, unless
    /// the end is on its way: it may never come (B1.21).
    mutating func show(_ face: URLSessionTask, isListed: Bool) {
        heldFace = isListed || isOver ? .kept(face) : .loose(TaskFace.Reference(object: face))
    }

    /// Keeps what the program sees of the task until the end, which is on its way.
    mutating func keepFace() { face = heldFace.object }

    /// How far a download has come; nil where the task is none, or is over.
    var download: DownloadProgress? {
        get { rareDownload.value }
        set { rareDownload.value = newValue }
    }

    /// The upload, if it is one that may be resumed.
    var upload: UploadProgress? {
        get { rareUpload.value }
        set { rareUpload.value = newValue }
    }

    /// The streams that were there for the body so far.
    var bodyStreams: BodyStreams {
        get { rareStreams.value ?? BodyStreams() }
        set { rareStreams = .some(newValue) }
    }

    /// Lets go of the streams.
    mutating func dropBodyStreams() { rareStreams = .none }

    /// Whether a download's request goes out once more, without a range; true once.
    mutating func startsDownloadOver() -> Bool {
        guard rareDownload.exists, download?.startsOver == true else { return false }
        download?.startsOver = false
        sentFields = nil
        return true
    }

    /// Whether a server or a proxy has asked for a proof.
    var isAuthenticating: Bool { rareAuthentication.exists }

    /// What came of that; empty until one has asked.
    var authentication: AuthenticationProgress {
        get { rareAuthentication.value ?? AuthenticationProgress() }
        set { rareAuthentication = .some(newValue) }
    }

    /// Whether the hop's request goes out once more, with another proof of credentials; true once.
    mutating func goesAgain() -> Bool {
        guard isAuthenticating, authentication.goesAgain else { return false }
        authentication.goesAgain = false
        redirect.deliversBody = nil
        sentFields = nil
        // B11.12: counting begins anew.
        sentTold = 0
        return true
    }

    /// The request after which a connection was kept for the one that is about to be made; once.
    mutating func takeKept() -> RequestID? {
        guard isAuthenticating, let kept = authentication.kept else { return nil }
        authentication.kept = nil
        authentication.lastKept = kept
        return kept
    }

    /// Whether waiting for connectivity is to be told; true once.
    mutating func tellsWaiting() -> Bool {
        defer { hasToldWaiting = true }
        return !hasToldWaiting
    }

    /// Ends the task, and releases everything if nothing more is told. A cancellation that came before
    /// wins (B17.54).
    mutating func end(with failure: (any Error)?, quietly: Bool) -> TaskResult {
        var failure = failure
        if machine.phase == .canceling, (failure as? URLError)?.code != .cancelled {
            failure = LoadFailure.cancelled(currentRequest?.url)
        }
        if rareDownload.exists { failure = download?.settle(failure) }
        if case .none = load {} else { spend(exchange(&load, with: .none)) }
        spend(reroutable.take())
        spend(cachePart.take())
        spend(handshake.take())
        defer {
            machine.complete()
            error = failure
            call = nil
            rareDownload = .none
            alarm = nil
            answerLimit = nil
            // Nothing of the program's goes with it under the lock: a task that ends quietly has no delegate.
            if quietly { takeLastHeld() }
        }
        return TaskResult(
            error: failure, response: response, call: call, session: session, kept: takeKept(),
            download: rareDownload, alarm: alarm, answerLimit: answerLimit,
            records: exchange(&records, with: []), spent: takeSpent())
    }

    /// Lets go of something that may be the program's; it ends when the lock is free.
    // Measured: generic, since an optional existential is copied and destroyed by way of its metadata, nil too.
    mutating func spend<Value: Sendable>(_ value: Value?) {
        guard let value else { return }
        spent = (spent ?? []) + [value]
    }

    /// What was let go of; the caller lets it end when the lock is free.
    mutating func takeSpent() -> [any Sendable]? { spent.take() }

    /// Lets go of what is needed up to the last message only; it is the caller's.
    @discardableResult
    mutating func takeLastHeld() -> LastHeld {
        defer { (delegate, delegateView, heldFace, session) = (nil, nil, TaskFace.none, nil) }
        return LastHeld(delegate: delegate, view: delegateView, face: heldFace, session: session)
    }

    /// What a task holds up to its last message.
    struct LastHeld: Sendable {
        fileprivate let delegate: (any URLSessionTaskDelegate)?
        fileprivate let view: DelegateView?
        fileprivate let face: TaskFace
        fileprivate let session: URLSession?
    }

    /// How far the task is, for its progress.
    var progressStage: ProgressUnits.Stage {
        if machine.phase == .completed, error == nil { return .complete }
        // What an earlier run has counted is known without a response.
        return response == nil && earlierCreation == nil ? .unanswered : .answered
    }

    /// Whether a cancellation or an end has been decided.
    var isOver: Bool { machine.isOver }
}

/// What the last message of a task is made of.
struct TaskResult: ~Copyable, Sendable {
    let error: (any Error)?
    let response: URLResponse?
    let call: WaitingCall?
    let session: URLSession?
    /// A connection that was kept for a request which does not come.
    let kept: RequestID?
    /// What a download leaves behind.
    let download: Rare<DownloadProgress>
    /// The alarms that are not needed any more.
    let alarm: Alarm?
    let answerLimit: Alarm?
    // What ends with the task, when the lock is free.
    fileprivate let records: [TransactionRecord]
    fileprivate let spent: [any Sendable]?
}

/// What carries the task's exchange.
enum TaskLoad: Sendable {
    case none
    /// A transaction of the engine.
    case transaction(TransactionHandle)
    /// Something else.
    case other(any LoadHandle)

    /// The transaction, if it is one.
    var transaction: TransactionHandle? { if case .transaction(let handle) = self { handle } else { nil } }

    /// Whatever it is.
    var handle: (any LoadHandle)? {
        switch self {
        case .none: nil
        case .transaction(let handle): handle
        case .other(let handle): handle
        }
    }
}

/// A sending of a hop's request that has failed, and after which there may be another with another stream for its body.
struct LostSending: Sendable {
    let error: URLError
    let again: SecondSending
}

/// What a program tells about a task that changes no result.
struct TaskHints: Sendable {
    var description: String?
    var earliestBeginDate: Date?
    var bytesToSend = NSURLSessionTransferSizeUnknown
    var bytesToReceive = NSURLSessionTransferSizeUnknown
    var prefersIncrementalDelivery = true
}

/// How far redirects have led.
struct RedirectProgress: Sendable {
    /// Redirects followed so far.
    var count = 0
    /// The request of the next hop, once it is certain.
    var next: URLRequest?
    /// What becomes of the body of a redirect or a refusal about which a delegate was asked;
    /// `nil` until that is answered.
    var deliversBody: Bool?
    /// Whether the next request goes without this one's body (B4.11).
    var dropsBody = false
    /// Whether the redirect's own body is kept for a cache, and so read to its end if that comes soon (B4.33, B4.34).
    var keepsOwnBody = false
}
