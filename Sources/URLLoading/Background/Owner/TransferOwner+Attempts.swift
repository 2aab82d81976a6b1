// Carrying transfers out: attempts are tasks of the owner's session, and what comes of them is written down and told.

import Dispatch
import Foundation
import URLLoadingPolicy

extension TransferOwner {
    // MARK: Beginning

    /// Begins an attempt, or lets one go on that stood still.
    func begin(_ number: UInt64) {
        guard let transfer = transfers[number] else { return schedule.ended(number) }
        if let attempt = transfer.attempt { return attempt.resume() }
        guard let task = currentSession.makeAttempt(at: transfer.record) else {
            let url = transfer.record.original.url
            return complete(number, TransferFailure(.badURL, "\(url) is no URL.", url: url))
        }
        task.priority = transfer.record.priority
        transfer.begin(task)
        attempts[ObjectIdentifier(task)] = number
        save(number)
        task.resume()
    }

    private var currentSession: URLSession {
        if let session { return session }
        var values = arrangement.configuration?.forTransfers ?? settings?.configuration ?? ConfigurationValues()
        values.downloadFolder = directory.filesPath
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let made = URLSession(
            configuration: URLSessionConfiguration(values), delegate: TransferDelegate(self), delegateQueue: queue)
        session = made
        return made
    }

    /// The transfer that a task of the session is an attempt at; nil for one that is none any more.
    func transfer(of task: URLSessionTask) -> (number: UInt64, transfer: LiveTransfer)? {
        guard let number = attempts[ObjectIdentifier(task)], let transfer = transfers[number], transfer.attempt === task
        else { return nil }
        return (number, transfer)
    }

    // MARK: On the way

    /// Gives the request to be made after a redirect, which differs in its cookies.
    func redirected(_ task: URLSessionTask, to next: URLRequest, after response: HTTPURLResponse) -> URLRequest {
        guard let (number, transfer) = transfer(of: task) else { return next }
        let first = transfer.record.original
        let request =
            first.flags & TransferRequest.followsCookies == 0
            ? next : transfer.cookies.followed(next, after: response, from: first)
        guard let current = TransferRequest(request) else { return request }
        transfer.record.current = current
        tell(.redirected(task: number, current))
        return request
    }

    /// An attempt waits for a network: another transfer may have its place.
    func waits(_ task: URLSessionTask) {
        guard let (number, _) = transfer(of: task) else { return }
        schedule.waits(number)
        settle()
    }

    /// Bytes of an attempt have moved. Where it had waited for a network, what was put off for want of one begins now.
    func progressed(_ number: UInt64) {
        if schedule.progressed(number) { settle() }
    }

    func responded(_ task: URLSessionTask, _ response: URLResponse) {
        guard let (number, transfer) = transfer(of: task) else { return }
        takeHead(of: response, task, number, transfer)
    }

    /// Notes the head of an attempt's first response, and tells a program that is there.
    private func takeHead(
        of response: URLResponse, _ task: URLSessionTask, _ number: UInt64, _ transfer: LiveTransfer
    ) {
        guard transfer.record.head == nil, let head = TransferHead(response) else { return }
        transfer.record.head = head
        // Not what the head says: some have no body, whatever length they tell.
        transfer.record.counts.expectedToReceive = task.countOfBytesExpectedToReceive
        tell(.responded(task: number, head))
        // No byte will come that would tell of it.
        if task.countOfBytesExpectedToReceive == 0 { tell(.progress(task: number, transfer.record.counts)) }
        guard program != nil else { return }
        transfer.toldHead = head
        transfer.record.measures.told(head)
    }

    func resumedAt(_ task: URLSessionTask, offset: Int64, total: Int64) {
        guard let (number, transfer) = transfer(of: task) else { return }
        if let response = task.response { responded(task, response) }
        transfer.namesFile = true
        transfer.record.counts.received = offset
        transfer.record.counts.expectedToReceive = total
        save(number)
        tell(.resumedAt(task: number, offset: offset, total: total))
    }

    func wrote(_ task: URLSessionTask, total: Int64, expected: Int64) {
        guard let (number, transfer) = transfer(of: task) else { return }
        if let response = task.response { responded(task, response) }
        transfer.record.counts.received = total
        transfer.record.counts.expectedToReceive = expected
        progressed(number)
        // The first bytes, and then now and then: from there on it goes on whatever happens.
        if !transfer.namesFile || total - transfer.checkpoint >= Self.checkpointDistance {
            if let point = task.core.download.checkpoint(written: total) {
                transfer.record.resumption = Array(point.encoded)
                transfer.checkpoint = total
                transfer.namesFile = true
                save(number)
            }
        }
        tell(.progress(task: number, transfer.record.counts))
    }

    func sent(_ task: URLSessionTask, total: Int64, expected: Int64) {
        guard let (number, transfer) = transfer(of: task) else { return }
        transfer.record.counts.sent = total
        transfer.record.counts.expectedToSend = expected
        progressed(number)
        noteResource(of: task, number, transfer)
        tell(.progress(task: number, transfer.record.counts))
    }

    /// The server has said something in between: it may have named the place where an upload can go on.
    func informed(_ task: URLSessionTask) {
        guard let (number, transfer) = transfer(of: task) else { return }
        noteResource(of: task, number, transfer)
    }

    /// Writes down where an upload can go on, as soon as the server has named the place, and when it is another one:
    /// from there on it goes on whatever happens. How much the server has by then is the server's to say.
    private func noteResource(of task: URLSessionTask, _ number: UInt64, _ transfer: LiveTransfer) {
        let progress = task.core.state.withLock { $0.upload }
        let resource = progress?.machine.resource
        guard resource != transfer.resource else { return }
        transfer.resource = resource
        transfer.record.resumption = progress.flatMap { ResumedUpload.data(of: $0) }.map { Array($0) }
        save(number)
    }

    /// Picked by feel: what is loaded once more at worst when the machine itself stops.
    private static let checkpointDistance: Int64 = 32 << 20

    func measured(_ task: URLSessionTask, _ metrics: URLSessionTaskMetrics) {
        guard let (_, transfer) = transfer(of: task) else { return }
        transfer.record.measures.add(
            metrics.transactionMetrics.compactMap { TransferExchange($0) },
            redirects: UInt32(clamping: metrics.redirectCount))
        if let head = transfer.toldHead { transfer.record.measures.told(head) }
    }

    // MARK: The end

    /// An attempt is over. Order: what is wanted from this side counts first, unless everything is there, then what
    /// went wrong with files, and last the attempt's own error.
    func ended(_ task: URLSessionTask, _ error: (any Error)?) {
        guard let (number, transfer) = transfer(of: task) else { return }
        attempts[ObjectIdentifier(task)] = nil
        transfer.attempt = nil
        let question = transfer.question
        withdrawQuestion(of: number)
        defer {
            settle()
            transfer.stopping?.leave()
            transfer.stopping = nil
        }
        // An end from this side may come when everything is there already.
        let isWhole = transfer.fileFailure == nil && (error == nil || transfer.downloaded != nil)
        switch transfer.intent {
        case .cancel:
            if let path = transfer.downloaded { directory.removeFile(at: path) }
            return fail(
                number, with: error.map { TransferFailure($0, keepsResumeData: true) } ?? cancelled(transfer),
                after: task)
        case .expire where !isWhole:
            var failure = expired(transfer)
            failure.resumeData = error.flatMap { TransferFailure($0, keepsResumeData: true).resumeData }
            return fail(number, with: failure, after: task)
        case .halt where !isWhole:
            keepForLater(error, transfer)
            // It still wants a program (B10.35). Servers are judged without one.
            if let question, !question.original.isAboutServer { transfer.record.state = .asking(question.challenge) }
            save(number)
            return
        case .expire, .halt, .postpone, .none: break
        }
        if let failure = transfer.fileFailure {
            return fail(
                number, with: TransferFailure(directory: failure, url: transfer.record.current.url), after: task)
        }
        guard let error, !isWhole else { return succeeded(number, transfer, task) }
        let isPostponed = if case .postpone = transfer.intent { true } else { false }
        let code =
            if isPostponed {
                TransferSchedule.noNetwork
            } else if transfer.goesOnUpload, Self.isLostUpload(error) {
                Int64(URLError.networkConnectionLost.rawValue)
            } else {
                FailureCode.of(error)
            }
        switch schedule.failed(number, code: code, random: UInt32.random(in: 0...UInt32.max), now: now) {
        case .end:
            fail(
                number, with: isPostponed ? expired(transfer) : TransferFailure(error, keepsResumeData: true),
                after: task)
        case .retry(let attempt, let delay):
            keepForLater(error, transfer)
            transfer.record.failures = attempt
            transfer.record.state = .retrying(attempt: attempt, delay: delay)
            save(number)
        }
    }

    /// Whether the server has no use for the rest of an upload: its resource may be gone. Where only an earlier attempt
    /// knew of it, losing it is as good as losing the connection, and the upload begins anew.
    private static func isLostUpload(_ error: any Error) -> Bool {
        guard let error = error as? URLError else { return false }
        return error.code == .badServerResponse && error.uploadTaskResumeData == nil
    }

    /// The transfer has failed, with its last attempt. What came of an answer is told, also where the program does not
    /// know of it yet: a download tells of the head with its first bytes.
    private func fail(_ number: UInt64, with failure: TransferFailure, after task: URLSessionTask) {
        if let transfer = transfers[number], let response = task.response {
            takeHead(of: response, task, number, transfer)
            transfer.record.counts.received = task.countOfBytesReceived
            transfer.record.counts.expectedToReceive = task.countOfBytesExpectedToReceive
            tell(.progress(task: number, transfer.record.counts))
        }
        complete(number, failure)
    }

    private func succeeded(_ number: UInt64, _ transfer: LiveTransfer, _ task: URLSessionTask) {
        if let response = task.response { takeHead(of: response, task, number, transfer) }
        switch transfer.record.kind {
        case .download:
            if let path = transfer.downloaded { transfer.record.add(.downloaded(path: path)) }
        case .upload, .data:
            do throws(BackgroundDirectoryFailure) {
                if let path = try keepAnswer(transfer) { transfer.record.add(.answered(path: path)) }
            } catch {
                return complete(number, TransferFailure(directory: error, url: transfer.record.current.url))
            }
        }
        complete(number, nil)
    }

    /// What an attempt that failed has left is where the next one goes on.
    private func keepForLater(_ error: (any Error)?, _ transfer: LiveTransfer) {
        transfer.answer = nil
        transfer.record.state = .waiting
        transfer.record.current = transfer.record.original
        let userInfo = (error as NSError?)?.userInfo ?? [:]
        let key =
            transfer.record.kind == .upload ? NSURLSessionUploadTaskResumeData : NSURLSessionDownloadTaskResumeData
        transfer.record.resumption = (userInfo[key] as? Data).map { Array($0) }
        if transfer.record.kind != .download { transfer.record.counts.sent = 0 }
        transfer.record.counts.received =
            transfer.record.kind == .download
            ? transfer.record.resumption.flatMap { ResumeData(Data($0)) }?.byteCount ?? 0 : 0
    }

    /// The task is over: that is written down, and told.
    func complete(_ number: UInt64, _ failure: TransferFailure?) {
        guard let transfer = transfers[number], transfer.record.state != .over else { return }
        schedule.ended(number)
        transfer.answer = nil
        transfer.record.state = .over
        // Where an answer came in place of the rest, what the program has resume data of stays (B9.31), and no more.
        let keepsPart =
            failure.map { $0.resumeData != nil }
            ?? (transfer.record.original.flags & TransferRequest.beginsWithPart != 0)
        if !keepsPart, let data = transfer.record.resumption.flatMap({ ResumeData(Data($0)) }) {
            directory.removeFile(at: directory.file(data.fileName))
        }
        transfer.record.resumption = nil
        // Proofs are removed as soon as they are not needed (B10.38).
        transfer.record.end(failure)
        save(number)
        for news in transfer.record.events { tell(.news(task: number, news)) }
        settle()
    }

    // MARK: From this side

    func cancel(_ number: UInt64, wantsResumeData: Bool) {
        guard let transfer = transfers[number], transfer.record.state != .over else { return }
        if case .cancel = transfer.intent { return }
        guard let attempt = transfer.attempt else {
            let data = wantsResumeData ? transfer.record.resumption : nil
            if wantsResumeData { tell(.resumeData(task: number, data)) }
            var failure = cancelled(transfer)
            failure.resumeData = data
            return complete(number, failure)
        }
        transfer.intent = .cancel
        guard wantsResumeData else { return attempt.cancel() }
        end(attempt) { [weak self] data in
            self?.later { $0.tell(.resumeData(task: number, data.map { Array($0) })) }
        }
    }

    func expire(_ number: UInt64) {
        guard let transfer = transfers[number] else { return }
        guard let attempt = transfer.attempt else {
            var failure = expired(transfer)
            failure.resumeData = transfer.record.resumption
            return complete(number, failure)
        }
        transfer.intent = .expire
        end(attempt) { _ in }
    }

    /// Another transfer has got the place of one that waits for a network.
    func postpone(_ number: UInt64) {
        guard let transfer = transfers[number], let attempt = transfer.attempt, case .none = transfer.intent else {
            return
        }
        transfer.intent = .postpone
        end(attempt) { _ in }
    }

    /// Stops an attempt where it can go on.
    func halt(_ number: UInt64, _ group: DispatchGroup) {
        guard let transfer = transfers[number] else { return }
        guard let attempt = transfer.attempt else {
            save(number)
            return
        }
        group.enter()
        transfer.stopping = group
        // What is being cancelled is waited for: no other owner shall carry it out again.
        guard case .none = transfer.intent else { return }
        transfer.intent = .halt
        end(attempt) { _ in }
    }

    /// Ends an attempt; its error has what is needed to go on.
    private func end(_ attempt: URLSessionTask, _ handler: @escaping @Sendable (Data?) -> Void) {
        switch attempt {
        case let download as URLSessionDownloadTask: download.cancel(byProducingResumeData: handler)
        case let upload as URLSessionUploadTask: upload.cancel(byProducingResumeData: handler)
        default:
            attempt.cancel()
            handler(nil)
        }
    }

    private func cancelled(_ transfer: LiveTransfer) -> TransferFailure {
        TransferFailure(.cancelled, "cancelled", url: transfer.record.original.url)
    }

    /// B10.22, B10.41.
    private func expired(_ transfer: LiveTransfer) -> TransferFailure {
        TransferFailure(
            .timedOut, "The transfer was not over within the time that the session allows for a resource.",
            url: transfer.record.original.url)
    }
}
