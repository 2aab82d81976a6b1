// A data task that goes on as a download task (B1.68, B9.14) or as a stream task (B1.70): one task, whose face, and whose
// body's way, change while its response waits for the delegate's answer. Must not know what is written where, nor how a
// connection leaves HTTP.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension TaskCore {
    /// Turns the task into a download; the delegate is told before anything else is.
    func becomeDownload() {
        guard case .delegate = outlet, let before = face as? URLSessionDataTask else {
            return end(unsupported: "Only a task that delivers to the session's delegate can become a download task.")
        }
        let after = URLSessionDownloadTask(core: self)
        let isWanted = state.withLock { state in
            guard !state.isOver else { return false }
            state.face = after
            state.beginDownload()
            become(.download())
            return true
        }
        guard isWanted else { return }
        mailbox.withLock { $0.putFirst(.becameDownload(before, after)) }
        resumeReading()
    }

    /// Asks for the connection behind the response that waits for its answer (B1.70). It comes unless something of the
    /// request is still to be sent; then the task fails with what the engine says.
    func becomeStream() {
        guard case .delegate = outlet, case .data = kind, face is URLSessionDataTask else {
            let text = "Only a data task that delivers to the session's delegate can become a stream task."
            return end(unsupported: text)
        }
        let (isOver, transaction) = state.withLock { ($0.isOver, $0.isAnswerStored ? nil : $0.load.transaction) }
        if isOver { return }
        guard let transaction else {
            let text = "The response came over no connection of HTTP, so there is none to become a stream task."
            return end(unsupported: text)
        }
        transaction.detach()
    }

    /// Takes the connection, on the loop, unless the task was cancelled meanwhile; the delegate is told before anything
    /// else is.
    func becomeStream(
        on connection: consuming DetachedConnection, _ records: [TransactionRecord], _ reactor: Reactor
    ) -> Bool {
        guard let before = face as? URLSessionDataTask else { return false }
        let after = URLSessionStreamTask(core: self)
        let calls = StreamCalls(host: connection.facts.origin.host, port: connection.facts.origin.port)
        let (isWanted, deadline) = state.withLock { state -> (Bool, Duration?) in
            guard state.machine.submit(priority: state.priority) else { return (false, nil) }
            state.load = .none
            state.face = after
            state.records += records
            become(.stream(calls))
            return (true, state.resourceDeadline)
        }
        guard isWanted else { return false }
        post(.becameStream(before, after), on: reactor)
        let facts = connection.facts
        let secured = Origin(scheme: .https, host: facts.origin.host, port: facts.origin.port) ?? facts.origin
        connection.carryStream(judge: judge(ofConnectionTo: secured, by: facts.route), resourceDeadline: deadline) {
            [self] in takeUp($0, calls, on: $1)
        }
        return true
    }

    /// Saves a body that a cache had; on the delegate queue.
    func save(stored body: Data) {
        let url = currentRequest?.url
        switch createFile() {
        case .failure(let error): willFail(LoadFailure.unwritableFile(url, FileFailure(.create, error)))
        case .success(let file):
            if let error = body.withUnsafeBytes({ file.append($0) }) ?? file.close() {
                return willFail(LoadFailure.unwritableFile(url, FileFailure(.write, error)))
            }
            state.withLock { $0.download.stored = file }
            if !body.isEmpty { tellWritten(Int64(body.count)) }
        }
    }

    /// The file of such a body, once.
    func takeStored() -> TemporaryFile? {
        state.withLock { state in
            guard state.isDownload, let file = state.download.stored else { return nil }
            state.download.stored = nil
            return file
        }
    }
}

extension TaskState {
    /// Notes the response that is there already like that of any download.
    fileprivate mutating func beginDownload() {
        var progress = DownloadProgress()
        if let response = response as? HTTPURLResponse, originalRequest?.values.method == "GET" {
            let length = response.expectedContentLength
            progress.total = length >= 0 ? length : nil
            progress.validator = ResumeRules.validator(
                method: currentRequest?.values.method ?? "", isHTTP: true, request: sentFields ?? .init(),
                status: response.statusCode, fields: response.arrivedFields, time: .now)
        }
        download = progress
    }
}
