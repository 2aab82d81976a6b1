// Tasks of background sessions: how they are handed to the owner of their transfers, and what
// they make of what it tells.
//
// Must not know: which process the owner is.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// A task as a transfer that its owner carries out.
struct TaskTransfer: Sendable {
    let task: TaskCore

    private var kind: TransferKind { task.savesFile ? .download : task.isUpload ? .upload : .data }

    // MARK: Handing over

    /// The first `resume()` in a background session.
    func start(in background: BackgroundSession, of session: SessionCore) {
        let (request, body) = task.state.withLock { ($0.originalRequest, $0.body) }
        if task.kindName == .stream { return task.driver.endUnloaded(BackgroundRefusal.stream.error(nil)) }
        let hasDelegate = session.delegate != nil
        if let refusal = BackgroundRefusal(request, body: body, outlet: task.outlet, hasDelegate: hasDelegate) {
            return task.driver.endUnloaded(refusal.error(request?.url))
        }
        guard let date = task.settings.hints.earliestBeginDate, date.timeIntervalSinceNow > 0, asksBeforeBeginning
        else {
            return handOver(to: background)
        }
        // The owner knows no delegate: the task waits here until its date, and there as long as this program lives.
        findCookies(for: request) { cookies in
            guard var order = order(for: request, cookies) else { return handOver(to: background) }
            order.awaitsDelegate = true
            if let error = background.begin(order, task, BackgroundLoad(background, task)) {
                giveBackPart()
                return task.driver.endUnloaded(error)
            }
            task.delay.begin(until: date)
        }
    }

    /// Whether a delegate of this run may want to be asked when the date of a task has come that an
    /// earlier run has begun (B6.23).
    func asksAtDate(of record: TransferRecord) -> Bool {
        record.awaitsDelegate && record.state != .over && record.earliestBegin != nil && asksBeforeBeginning
    }

    private var asksBeforeBeginning: Bool { task.delegates.contains { $0.mayImplement(.delayed) } }

    /// Makes the task the owner's.
    func handOver(to background: BackgroundSession) {
        let request = task.currentRequest
        findCookies(for: request) { handOver(request, with: $0, to: background) }
    }

    private func handOver(_ request: URLRequest?, with cookies: [HTTPCookie], to background: BackgroundSession) {
        let load = background.load(of: task)
        var isSuspended = false
        let begun = task.driver.beginExchange { state in
            // Order: the order says it, since the owner may begin with that; whatever changes
            // meanwhile is told behind it.
            isSuspended = state.machine.tell() ?? false
            return load
        }
        guard begun != nil else { return task.driver.endUnloaded(LoadFailure.cancelled(request?.url)) }
        guard let request else { return task.driver.endUnloaded(LoadFailure.unreadableResumeData) }
        guard let order = order(for: request, cookies) else {
            return task.driver.endUnloaded(
                LoadFailure.unsupportedURL(request.url, "The task has no request that could be written down."))
        }
        if let error = background.begin(order, task, load) {
            giveBackPart()
            return task.driver.endUnloaded(error)
        }
        if isSuspended { task.state.withLock { $0.machine.told() } }
        task.driver.tellExchangeOfSuspension()
        // Cancelled in between: the owner hears of both.
        if task.state.withLock({ $0.machine.phase == .canceling }) { load.cancel() }
    }

    /// What the owner is told of the task; nil where that cannot be written down.
    private func order(for request: URLRequest?, _ cookies: [HTTPCookie]) -> TransferOrder? {
        let (body, priority, source) = task.state.withLock {
            ($0.body, $0.priority, $0.download?.source)
        }
        guard let request, var current = self.request(request, with: cookies) else { return nil }
        let isResumed = if case .resuming = body { true } else { source != nil }
        if isResumed { current.flags |= TransferRequest.beginsWithPart }
        var order = TransferOrder(task: UInt64(task.identifier), kind: kind, request: current)
        switch body {
        case .file(let url): order.source = url.path
        case .resuming(let resumed):
            order.resumption = resumed.usableData.map { Array($0) }
            if case .file(let file) = resumed.content { order.source = file.path }
        case .request, .data, .opened, .delegate, .part: break
        }
        if let source {
            order.resumption = Array(source.encoded)
            task.session?.background?.takeIn(partOf: source)
        }
        let hints = task.settings.hints
        order.label = hints.description
        order.earliestBegin = hints.earliestBeginDate.map { Self.milliseconds($0) }
        order.expectedBySender = hints.bytesToSend
        order.expectedByReceiver = hints.bytesToReceive
        order.priority = TaskSettings.usable(priority)
        return order
    }

    /// As journals count time; dates that cannot be are brought back.
    fileprivate static func milliseconds(_ date: Date) -> Int64 {
        let seconds = date.timeIntervalSince1970
        return Int64((seconds.isNaN ? 0 : min(max(seconds, -1e11), 1e11)) * 1000)
    }

    // MARK: What the owner tells

    /// Takes a task up as its journal has it.
    func takeUp(_ record: TransferRecord, _ load: BackgroundLoad) {
        task.counters.store(record.counts)
        task.driver.takeUpAgain(load, isSuspended: record.isSuspended) { state in
            state.noteUserBeforeRedirect()
            state.currentRequest = record.current.programsRequest(after: record.original) ?? state.currentRequest
            state.priority = record.priority
            state.hints.description = record.label
            state.hints.earliestBeginDate = record.earliestBegin.map {
                Date(timeIntervalSince1970: TimeInterval($0) / 1000)
            }
            state.hints.bytesToSend = record.expectedBySender
            state.hints.bytesToReceive = record.expectedByReceiver
            state.response = record.head?.response
            state.earlierCreation = Date(timeIntervalSince1970: TimeInterval(record.created) / 1000)
            // B10.16: progress is not told again.
            state.writtenTold = record.counts.received
            state.sentTold = record.counts.sent
        }
        if asksAtDate(of: record), let date = task.settings.hints.earliestBeginDate { task.delay.begin(until: date) }
    }

    /// The owner has begun the task at its date, when no program was there: its delegate is asked no more.
    func begunUnasked(_ load: BackgroundLoad) {
        guard task.driver.leaveWait(for: load) else { return }
        task.driver.stopAsking()
        task.driver.tellExchangeOfSuspension()
    }

    func progressed(_ counts: TransferCounts) {
        let received = task.counters.received.load(ordering: .relaxed)
        let sent = task.counters.sent.load(ordering: .relaxed)
        task.counters.store(counts)
        task.counting.updateProgress()
        if counts.sent != sent { task.delivery.post(.sent(counts.sent)) }
        if counts.received != received, task.savesFile { task.delivery.post(.written(counts.received)) }
    }

    func redirected(to request: TransferRequest, from first: TransferRequest) {
        guard let request = request.programsRequest(after: first) else { return }
        task.state.withLock { state in
            state.noteUserBeforeRedirect()
            state.currentRequest = request
        }
    }

    func responded(_ head: TransferHead) {
        guard let response = head.response else { return }
        task.state.withLock { $0.response = response }
        task.counting.updateProgress()
    }

    /// Takes what the owner has left of a task that failed, if anything.
    private func takeResumeData(_ data: [UInt8]?) {
        if let data, task.savesFile, let source = ResumeData(Data(data)) {
            task.session?.background?.giveOut(partOf: source)
        }
        task.state.withLock { state in
            state.download?.data = data.map { Data($0) }
            state.download?.source = nil
            if task.isUpload { state.ownersResumeData = data.map { Data($0) } }
        }
    }

    /// What the program has resume data of, and was not used up, goes back to where these are good for every session
    /// (B9.31).
    private func giveBackPart() {
        guard let source = task.state.withLock({ $0.download?.source }) else { return }
        task.session?.background?.giveBack(partOf: source, of: UInt64(task.identifier))
    }

    /// What metrics will tell, and what came behind the body of the response.
    func take(_ measures: TransferMeasures) {
        takeMissedCookies(of: measures.exchanges)
        if let response = task.response as? HTTPURLResponse { measures.exchanges.last?.head?.end(response) }
        let records = measures.exchanges.compactMap { TransactionRecord($0) }
        task.state.withLock { state in
            state.records = records
            state.redirect.count = Int(measures.redirects)
        }
    }

    // MARK: The end

    /// The owner is done with the task. Its answer, if it has one, is in a file that is the owner's until it is told
    /// that the delegate has had it.
    func end(_ failure: TransferFailure?, file path: String?, load: BackgroundLoad) {
        if let failure {
            takeResumeData(failure.resumeData)
            return fail(with: failure.error(of: kind))
        }
        if kind == .download { return end(downloadAt: path) }
        // B10.27.
        if kind == .data, let response = task.response { task.delivery.post(.response(response)) }
        guard let path else { return endHop(nil) }
        load.tell(answerAt: path) { error in endHop(error) }
    }

    private func end(downloadAt path: String?) {
        giveBackPart()
        guard let path else { return endHop(nil) }
        switch TemporaryFile.borrow(path) {
        case .success(let file): endHop(nil, file: file)
        // A delegate has had it, and could not say so any more.
        case .failure(let error) where error.isMissing: endHop(nil)
        case .failure(let error):
            fail(
                with: LoadFailure.make(
                    .cannotOpenFile, task.originalRequest?.url, "The download cannot be used: \(error)"))
        }
    }

    /// Ends the task with an error, wherever it stands.
    func fail(with error: any Error) {
        if task.state.withLock({ $0.machine.isWaiting }), let error = error as? URLError {
            task.driver.endUnloaded(error)
        } else {
            endHop(error)
        }
    }

    private func endHop(_ error: (any Error)?, file: TemporaryFile? = nil) {
        task.hops.ended(
            HopEnd(
                failure: nil, url: task.currentRequest?.url, body: nil, records: [], file: file,
                foreignError: error)
        )?.resume()
    }
}

extension TaskCore {
    /// The task as a transfer.
    var transfer: TaskTransfer { TaskTransfer(task: self) }
}

extension TaskCounters {
    fileprivate func store(_ counts: TransferCounts) {
        received.store(counts.received, ordering: .relaxed)
        expectedToReceive.store(counts.expectedToReceive, ordering: .relaxed)
        sent.store(counts.sent, ordering: .relaxed)
        expectedToSend.store(counts.expectedToSend, ordering: .relaxed)
    }
}

extension TransferRequest {
    /// The request as the program has it, of a task that began with `first`: without cookies of its storage, which are
    /// for one server and as old as the order that they are in. Tasks of other sessions do not show them either.
    func programsRequest(after first: TransferRequest) -> URLRequest? {
        var result = urlRequest
        if first.flags & TransferRequest.followsCookies != 0 { result?.setValue(nil, forHTTPHeaderField: "Cookie") }
        return result
    }
}

extension TransferOrder {
    /// Puts the beginning off to a later date that the program has given since, of a task that still
    /// waits. Whether there is one.
    @discardableResult
    mutating func wait(until date: Date?) -> Bool {
        guard let date = date.map({ TaskTransfer.milliseconds($0) }), let first = earliestBegin, date > first,
            awaitsDelegate || first > TransferInstant.now.wall
        else { return false }
        earliestBegin = date
        return true
    }

    /// What a task was begun with, as its journal has it.
    init(of record: TransferRecord) {
        self.init(task: record.task, kind: record.kind, request: record.current, source: record.source)
        original = record.original
        label = record.label
        earliestBegin = record.earliestBegin
        expectedBySender = record.expectedBySender
        expectedByReceiver = record.expectedByReceiver
        priority = record.priority
        resumption = record.resumption
        awaitsDelegate = record.awaitsDelegate
    }
}
