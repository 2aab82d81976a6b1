// What an upload is beside other tasks: it goes on after a loss. The machine of `URLLoadingPolicy` says what follows,
// here it is done. The requests that ask and go on are hops of the task like all others: they pass the same storages,
// proxies, questions and time-outs, but neither delegates nor handlers see anything of them (B11.34).
//
// Must not know: the fields' meaning, the form of resume data.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// A task as an upload.
struct TaskUpload: Sendable {
    let task: TaskCore

    // MARK: The first request

    /// The request with what makes it the beginning of an upload that can be resumed (B11.24), where that is wanted
    /// (B11.39) and the program does not speak the protocol itself.
    func upgraded(
        _ message: RequestBuilder.Message, of request: URLRequest, _ content: HopContent
    ) -> RequestBuilder.Message {
        guard let session = task.session, let url = request.url else { return message }
        let isUpgradable =
            session.settings.resumableUploads.includes(content) && message.framing.hasContent
            && !request.values.fields.fields.contains { UploadFields.isSpokenBy(program: $0.name) }
        let (isUpgraded, old) = task.state.withLock { state -> (Bool, UploadClaim?) in
            // A request of the upload's own is written already.
            if case .part = state.body { return (false, nil) }
            let old = state.takeClaim()
            // Of a body that its request holds there is no part.
            let hasParts = if case .request = state.body { false } else { true }
            guard isUpgradable, hasParts else {
                state.upload = nil
                return (false, old)
            }
            let length: Int64? = if case .length(let length) = message.framing { length } else { nil }
            state.upload = UploadProgress(
                machine: ResumableUploadMachine(
                    target: url.absoluteString, length: length, isDivisible: content.isDivisible,
                    patience: session.settings.uploadPatience),
                request: request, body: state.body)
            return (true, old)
        }
        old?.release()
        return isUpgraded ? message.adding(UploadFields.creation) : message
    }

    // MARK: On the loop

    /// An informational answer has come; whether the exchange is to be broken off.
    func informed(_ head: ResponseHead) -> Bool {
        guard head.status == 104 else { return false }
        let sent = task.counters.sent.load(ordering: .relaxed)
        let (breaks, new) = task.state.withLock { state -> (Bool, String?) in
            guard var progress = state.upload else { return (false, nil) }
            let breaks = progress.machine.informed(head, sent: sent)
            progress.isBroken = breaks
            state.upload = progress
            return (breaks, progress.claim == nil ? progress.machine.resource : nil)
        }
        if let new { claim(new) }
        return breaks
    }

    /// An upload resource that another task is at work on, or whose URL is none, is not used.
    private func claim(_ resource: String) {
        let claim = URL(string: resource) == nil ? nil : UploadClaim.take(resource)
        task.state.withLock { state in
            if let claim { state.upload?.claim = claim } else { state.upload?.machine.forgetResource() }
        }
    }

    /// The final answer to an exchange has come; whether it is the answer to the upload.
    func answered(_ head: ResponseHead) -> Bool {
        let (isAnswer, whole) = task.state.withLock { state -> (Bool, Int64?) in
            guard var progress = state.upload else { return (true, nil) }
            progress.answer = head
            state.upload = progress
            return (progress.machine.isAnswer(head), progress.machine.wholeCount(by: head))
        }
        // The server has had everything: nothing was left to count.
        if let whole { task.counters.sent.store(whole, ordering: .relaxed) }
        return isAnswer
    }

    /// Whether the answer to the hop under way is not for the program's eyes.
    var hidesAnswer: Bool {
        task.state.withLock { state in
            guard let progress = state.upload, progress.isHelper, let answer = progress.answer else { return false }
            return !progress.machine.isAnswer(answer)
        }
    }

    // MARK: Between two hops

    /// Does what the machine has said.
    func goOn(with step: ResumableUploadMachine.Step) -> EndedCall? {
        if case .fail(let failure) = step { return task.completion.begin(error(of: failure)) }
        guard claimMoved() else { return task.completion.begin(LoadFailure.uploadInUse(task.originalRequest?.url)) }
        if case .append = step, case .opened(let file, let known?) = task.state.withLock({ $0.upload?.body }) {
            lookAt(file, known, before: step)
            return nil
        }
        return carryOut(step).flatMap { task.completion.begin($0) }
    }

    /// Where the file was written to since its upload began the rest would be another file's (B11.29). This is a loop's
    /// thread or the delegate queue, and a file on a network may let its callers wait: it is looked at elsewhere. The
    /// task can be cancelled meanwhile.
    private func lookAt(_ file: OpenFile, _ known: UploadedFile, before step: ResumableUploadMachine.Step) {
        guard let wait = task.driver.beginWait(for: .file) else { return }
        let work = { @Sendable in
            let isRewritten = known.isRewritten(file)
            guard task.driver.endWait(wait), let error = isRewritten ? errorOfOtherFile() : carryOut(step) else {
                return
            }
            // Order: by the delegate queue, as the task has nothing under way that would come by there.
            task.driver.endUnloaded(error)
        }
        // Without a thread late is better than never.
        if !BlockingPool.files.run(work) { work() }
    }

    private func errorOfOtherFile() -> URLError {
        task.state.withLock { $0.upload?.isLost = true }
        return LoadFailure.changedFile(task.originalRequest?.url)
    }

    /// Begins what comes next; gives the task's error where nothing can.
    private func carryOut(_ step: ResumableUploadMachine.Step) -> URLError? {
        let next = task.state.withLock { $0.begin(step) }
        guard let (request, body) = next else { return error(of: .unknownOffset) }
        switch step {
        case .append(let offset, _, _): task.counters.sent.store(offset, ordering: .relaxed)
        case .query(let pause) where pause > .zero:
            task.driver.pause(for: pause) { $0.hops.load(request, body: body) }
            return nil
        case .query, .remove, .deliver, .fail: break
        }
        task.hops.load(request, body: body)
        return nil
    }

    /// Where the resource has moved, the claim goes with it (B11.35); false where another task
    /// is at work there (B11.38).
    private func claimMoved() -> Bool {
        let new = task.state.withLock { state -> String? in
            guard let progress = state.upload, let claim = progress.claim, let resource = progress.machine.resource,
                resource != claim.resource
            else { return nil }
            return resource
        }
        guard let new else { return true }
        guard let claim = UploadClaim.take(new) else { return false }
        let old = task.state.withLock { state -> UploadClaim? in
            let old = state.takeClaim()
            // A task that is over meanwhile has none, and gets none.
            if old != nil { state.upload?.claim = claim }
            return old
        }
        old?.release()
        return true
    }

    /// The task's error, which is noted.
    private func error(of failure: UploadFailure) -> URLError {
        let (url, last) = task.state.withLock { state in
            state.upload?.isLost = !failure.mayPass
            return (state.ownRequest?.url, state.upload?.lastError)
        }
        // Where one attempt after the other was lost, that is the reason.
        if case .noProgress = failure, let last { return last }
        return LoadFailure.upload(url, failure)
    }

    // MARK: An upload that was begun before

    /// Takes up what resume data say.
    func takeUp(_ resumed: ResumedUpload, _ request: URLRequest) {
        guard let session = task.session else { return }
        let body: TaskBody
        let length: Int64?
        do throws(URLError) {
            (body, length) = try resumed.content.body(at: request.url)
        } catch {
            return task.driver.endUnloaded(error)
        }
        let isDivisible = if case .delegate = body { false } else { true }
        guard let target = request.url?.absoluteString,
            var machine = ResumableUploadMachine(
                resuming: resumed.resource, target: target, length: length, isDivisible: isDivisible,
                patience: session.settings.uploadPatience), let resource = machine.resource
        else {
            return task.driver.endUnloaded(
                LoadFailure.unsupportedURL(request.url, ResumedUpload.unusableText))
        }
        guard let claim = UploadClaim.take(resource) else {
            return task.driver.endUnloaded(LoadFailure.uploadInUse(request.url))
        }
        let step = machine.begin()
        task.counters.expectedToSend.store(length ?? NSURLSessionTransferSizeUnknown, ordering: .relaxed)
        task.state.withLock { state in
            var progress = UploadProgress(machine: machine, request: request, body: body)
            progress.claim = claim
            state.upload = progress
        }
        goOn(with: step)?.resume()
    }
}

extension TaskCore {
    /// The task as an upload.
    var upload: TaskUpload { TaskUpload(task: self) }
}

extension ResumedUpload.Content {
    /// What the upload to a URL goes on with, and how long that is as a whole.
    fileprivate func body(at url: URL?) throws(URLError) -> (TaskBody, length: Int64?) {
        switch self {
        case .unusable(let text): throw LoadFailure.unsupportedURL(url, text)
        case .file(let known):
            switch known.open() {
            case .success(let file): return (.opened(file, known), known.byteCount)
            case .failure(.unreadable(let error)):
                throw ErrorMapping.unreadableFile(URL(fileURLWithPath: known.path), of: url, error)
            case .failure(.changed): throw LoadFailure.changedFile(url)
            }
        case .data(let data): return (.data(data), Int64(data.count))
        case .stream(let announced): return (.delegate, announced)
        }
    }
}

extension HopContent {
    /// Whether any part of it can be had.
    fileprivate var isDivisible: Bool {
        switch self {
        case .none, .data, .file, .section: true
        case .stream: false
        }
    }
}

extension BodyFraming {
    fileprivate var hasContent: Bool {
        switch self {
        case .none, .length(0): false
        case .length, .chunked, .untilClose: true
        }
    }
}

extension URLSessionConfiguration.ResumableUploads {
    /// Whether uploads of this content are meant.
    fileprivate func includes(_ content: HopContent) -> Bool {
        switch (self, content) {
        case (.never, _), (_, .none), (_, .section), (.ofFiles, .data), (.ofFiles, .stream): false
        case (.ofFiles, .file), (.always, .data), (.always, .file), (.always, .stream): true
        }
    }
}

extension LoadFailure {
    /// The server and the upload do not come together (B11.33, B11.35, B11.36).
    static func upload(_ url: URL?, _ failure: UploadFailure) -> URLError {
        let code: URLError.Code =
            switch failure {
            case .tooLarge, .tooSmall: .dataLengthExceedsMaximum
            case .refused, .gone, .unknownOffset, .offsetTooLarge, .offsetDecreased, .completeTooEarly, .movedElsewhere,
                .unusableParts, .noProgress:
                .badServerResponse
            }
        return make(code, url, ErrorText.naming(failure.description, hostOf: url))
    }

    /// The file is not the one of which a part is with the server (B11.29).
    static func changedFile(_ url: URL?) -> URLError {
        make(.cannotOpenFile, url, "The file to upload has changed since its upload began, so it cannot go on.")
    }

    /// Another task is at work on the upload (B11.38).
    static func uploadInUse(_ url: URL?) -> URLError {
        make(.cannotConnectToHost, url, "Another task is going on with this upload already.")
    }
}
