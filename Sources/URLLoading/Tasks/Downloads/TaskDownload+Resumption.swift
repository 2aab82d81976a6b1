// Downloads that are taken up again: what was kept is opened, the rest is asked for, the answer is judged, and what has
// come of a load that fails is kept, with data that tell where (behaviour 9.2).
//
// Must not know: what makes an answer one that can be continued (`ResumeRules`), what the data
// look like (`ResumeData`).

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension TaskDownload {
    // MARK: Taking up

    /// Opens what was kept. Where it is gone, or another download uses it, everything is loaded again (B9.33, B9.38).
    /// Gives the task's error where it is there, for all that is known, and no descriptor is.
    func openPartial() -> URLError? {
        guard let source = task.state.withLock({ $0.download?.source }) else { return nil }
        let path = URL(fileURLWithPath: folder).appendingPathComponent(source.fileName, isDirectory: false).path
        // A process that went on with the same resume data and was killed has written more than the data tells: the
        // file knows.
        let found: (file: TemporaryFile, length: Int64)?
        do throws(SystemError) {
            found = try TemporaryFile.reopen(path, keeping: source.byteCount, atMost: source.total ?? .max)
        } catch {
            return ErrorMapping.urlError(.localResource(error), url: task.originalRequest?.url)
        }
        task.state.withLock { state in
            state.download?.held = found.map { PartialFile(file: $0.file, byteCount: $0.length) }
            if found == nil { state.download?.source = nil }
        }
        return nil
    }

    /// A hop's request as it asks for the rest, on every hop anew (B9.26, B9.35).
    func askingForRest(_ message: RequestBuilder.Message) -> RequestBuilder.Message {
        guard let asked = task.state.withLock({ $0.download?.asked }) else { return message }
        return message.replacing(ResumeRules.fields(from: asked.offset, asked.validator))
    }

    /// Whether only the rest is asked for.
    var asksForRest: Bool { task.state.withLock { $0.download?.asked != nil } }

    /// From where on the rest is asked for on an FTP server, and of which file.
    var partOnServer: (offset: Int64, file: FTPFileState)? {
        guard let asked = task.state.withLock({ $0.download?.asked }), case .file(let file) = asked.validator else {
            return nil
        }
        return (asked.offset, file)
    }

    /// What carries the hop brings wholes only. What there is stays where it is: another load may go on with it.
    func beginAtBeginning() {
        let held = task.state.withLock { $0.download?.letGo() }
        held?.file.letGo()
    }

    // MARK: The answer

    /// Notes the head of the answer that is the task's, and says what follows; on the loop.
    func meetRest(_ head: ResponseHead, _ response: HTTPURLResponse, _ request: URLRequest?) -> DownloadStep {
        let now = WallTime.now
        // Goes when the lock has been left.
        var dropped: PartialFile?
        defer { dropped?.file.remove() }
        return task.state.withLock { state -> DownloadStep in
            guard var download = state.download else { return .deliver }
            defer { state.download = download }
            let asked = download.asked
            download.validator = ResumeRules.validator(
                method: state.resumableMethod, isHTTP: true,
                request: asked == nil ? state.sentFields ?? Fields() : Fields(),
                status: head.status, fields: head.fields, time: now, known: asked?.validator)
            let length = response.expectedContentLength
            download.total = length >= 0 ? length : nil
            download.end = nil
            guard let asked else { return .deliver }
            let meaning = ResumeRules.meaning(
                ofStatus: head.status, fields: head.fields, length: length >= 0 ? length : nil, time: now,
                offset: asked.offset, total: download.source?.total, validator: asked.validator)
            switch meaning {
            case .continues(let end, let total):
                let rest = download.total
                download.end = end
                download.total = total ?? download.source?.total ?? rest.map { $0.addingSaturated(asked.offset) }
                return .resume(at: asked.offset, total: download.total ?? NSURLSessionTransferSizeUnknown)
            case .complete:
                download.total = asked.offset
                return .complete(Self.shown(response, request, asked.offset), asked.offset)
            case .whole:
                dropped = download.letGo()
                return .deliver
            case .startsOver:
                dropped = download.letGo()
                download.startsOver = true
                return .startOver
            case .result:
                download.leavePart()
                return .deliver
            }
        }
    }

    /// A refusal or a redirect, of which it was not decided at first what becomes of it, is the task's
    /// response: no part of the file.
    func meetOther(_ response: HTTPURLResponse) {
        task.state.withLock { state in
            state.download?.validator = nil
            state.download?.end = nil
            state.download?.total = response.expectedContentLength >= 0 ? response.expectedContentLength : nil
            state.download?.leavePart()
        }
    }

    /// Notes what an FTP server has said of a file, and from where on it comes; nil for its beginning.
    func meetFTP(_ head: FTPHead) -> Int64? {
        // Goes when the lock has been left.
        var dropped: PartialFile?
        defer { dropped?.file.remove() }
        return task.state.withLock { state -> Int64? in
            guard var download = state.download else { return nil }
            defer { state.download = download }
            download.validator = head.state.map { .file($0) }
            download.total = head.size
            guard let asked = download.asked else { return nil }
            if head.offset == asked.offset { return asked.offset }
            dropped = download.letGo()
            return nil
        }
    }

    /// What is shown in place of "there is nothing behind that": the part that there is (B9.30).
    private static func shown(_ response: HTTPURLResponse, _ request: URLRequest?, _ count: Int64) -> HTTPURLResponse {
        var fields = response.arrivedFields
        // Those of the page that explains the refusal.
        for name in ["Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding"] {
            fields.removeAll(name)
        }
        fields.replace(.contentRange, with: "bytes 0-\(count - 1)/\(count)")
        return HTTPURLResponse(url: request?.url, status: 206, fields: fields, expectedContentLength: count)
    }

    /// The rest goes behind so many bytes; all counters include them (B9.27). On the loop, once the response is noted.
    func resumed(at offset: Int64, total: Int64, on reactor: Reactor? = nil) {
        task.counters.expectedToReceive.store(total, ordering: .relaxed)
        task.counters.received.store(offset, ordering: .relaxed)
        task.state.withLock { $0.writtenTold = offset }
        task.counting.updateProgress()
        task.delivery.post(.resumed(at: offset, total: total), on: reactor)
    }

    // MARK: Keeping

    /// The task is about to be cancelled for a reason of its own: what was kept before stays, and its data
    /// come with the error (B9.20). Not where the program has cancelled the task plainly (B9.19), or the
    /// load has touched the file.
    func keepUntouched() {
        task.state.withLock { state in
            guard state.machine.phase != .canceling, state.download?.asked != nil else { return }
            state.download?.isWanted = true
        }
    }

    /// Ends the task like `cancel()`, and gives what is needed to go on, or nil, before its
    /// last message (B9.16, B9.17).
    func cancel(producing handler: @escaping @Sendable (Data?) -> Void) {
        enum Step { case cancel, wait, answer(Data?) }
        let session = task.session
        let step = task.state.withLock { state -> Step in
            guard state.machine.phase != .completed else {
                return .answer((state.error as? URLError)?.downloadTaskResumeData)
            }
            guard session != nil, state.download != nil else { return .answer(nil) }
            state.download?.waiting.append(handler)
            // B9.19: a plain cancellation that came before is one.
            guard state.machine.phase != .canceling else { return .wait }
            state.download?.isWanted = true
            return .cancel
        }
        switch step {
        case .cancel: task.driver.cancel()
        case .wait: break
        case .answer(let data): if let session { session.relay.run { handler(data) } } else { handler(data) }
        }
    }

    /// The hop has failed: it ends when what has come is kept, or nothing is left of it (B9.5, B9.20).
    func endHop(_ end: HopEnd, without sink: FileSink) {
        let keeps = task.state.withLock { $0.keepsPart(after: end) }
        guard keeps else { return sink.discard { task.hops.ended(end)?.resume() } }
        sink.keep { part in
            if let part { keep(part) }
            task.hops.ended(end)?.resume()
        }
    }

    /// The last byte came, and the cancellation before the program heard of it: nothing is left to ask for but whether
    /// it is still right (B9.16, B9.30).
    func keepWhole(_ file: TemporaryFile) {
        let count = task.counters.received.load(ordering: .relaxed)
        let keeps = task.state.withLock { $0.download.map { $0.isWanted && $0.validator != nil } ?? false }
        let naming = FileNaming.downloads
        guard keeps, count > 0, file.rename(prefix: naming.prefix, suffix: naming.partialSuffix) == nil else { return }
        keep(PartialFile(file: file, byteCount: count))
    }

    private func keep(_ part: PartialFile) {
        let (request, validator, total) = task.state.withLock {
            ($0.originalRequest, $0.download?.validator, $0.download?.total)
        }
        guard let request, let validator,
            let data = ResumeData(
                request: request, byteCount: part.byteCount, total: total, validator: validator,
                fileName: part.file.url.lastPathComponent)
        else { return part.file.remove() }
        task.state.withLock { state in
            state.download?.kept = part
            state.download?.data = data.encoded
        }
    }

    /// The task has ended: what belongs to resume data stays, everything else is removed.
    func settle(_ download: DownloadProgress) {
        if download.data == nil { download.kept?.file.remove() } else { download.kept?.file.letGo() }
        download.held?.file.remove()
        download.stored?.remove()
        guard !download.waiting.isEmpty else { return }
        let answer = { @Sendable in for handler in download.waiting { handler(download.data) } }
        if task.usesRelay { answer() } else { task.session?.relay.run(answer) }
    }
}

extension TaskState {
    /// GET, if it has been nothing else on the way (B9.21).
    fileprivate var resumableMethod: String {
        guard originalRequest?.values.method == "GET", let method = currentRequest?.values.method else { return "" }
        return method
    }

    /// Whether what has come of a hop that failed can be of use: a network's failure, or a disk's that is full.
    fileprivate func keepsPart(after end: HopEnd) -> Bool {
        guard let download, download.validator != nil, machine.phase != .canceling || download.isWanted else {
            return false
        }
        if let ownFailure { return ownFailure.code == .cannotWriteToFile || ownFailure.code == .timedOut }
        // B14.20: what carries FTP has its errors made already.
        if let foreign = end.foreignError { return (foreign as? URLError)?.isOfNetwork ?? false }
        return end.failure?.leavesPart ?? false
    }
}

extension URLError {
    /// Whether a way was lost, and not what lies at its end.
    fileprivate var isOfNetwork: Bool {
        switch code {
        case .networkConnectionLost, .timedOut, .cannotConnectToHost, .cannotFindHost, .notConnectedToInternet,
            .dnsLookupFailed, .secureConnectionFailed, .resourceUnavailable:
            true
        default: false
        }
    }
}
