// What a download is beside other tasks: a file, where it is made, when it is whole, and what is told of it (behaviour
// 9.1). How far it has come is its `DownloadProgress`, in the task's state.

import Foundation
import URLLoadingEngine
import URLLoadingSystem

/// A task as a download.
struct TaskDownload: Sendable {
    let task: TaskCore

    // MARK: The file

    /// A sink for the body of a hop.
    func makeSink(for plan: HopPlan) -> FileSink {
        let (partial, total, own) = task.state.withLock { state -> (PartialFile?, Int64?, DelegateView?) in
            let (held, total) = (state.download?.held, state.download?.total)
            // From the first byte on what there was is not as it was.
            if held != nil { state.download?.letGo() }
            return (held, total, state.delegateView)
        }
        let delegates = TaskDelegates(own: own, session: task.usesRelay ? task.session : nil).among(audience)
        let tells = delegates.contains { $0.download != nil }
        note(writing: partial?.file)
        return FileSink(expecting: total, continuing: partial, create: createFile) { event in
            switch event {
            case .written(let total):
                if tells { task.delivery.post(.written(total)) }
            case .room:
                task.hops.resumeReading()
            case .failed(let failure):
                task.hops.willFail(LoadFailure.unwritableFile(plan.request?.url, in: folder, failure))
                task.hops.cancel()
            }
        }
    }

    /// B9.4: the directory is that of `TMPDIR` at this moment, or the session's.
    func createFile() -> Result<TemporaryFile, SystemError> {
        let naming = FileNaming.downloads
        let made = TemporaryFile.create(in: folder, prefix: naming.prefix, suffix: naming.suffix)
        if case .success(let file) = made { note(writing: file) }
        return made
    }

    /// Remembers which file is written to, in sessions whose downloads are looked after from outside.
    private func note(writing file: TemporaryFile?) {
        guard let file, task.session?.settings.tracksDownloads ?? false else { return }
        task.state.withLock { $0.download?.writing = file }
    }

    /// Where files are made, and are found again.
    var folder: String { task.session?.settings.downloadFolder ?? FileManager.default.temporaryDirectory.path }

    // MARK: The end of a hop

    /// The hop's body has ended well: the hop ends when its last byte is in the file. The rest of a file must have come
    /// up to the end of its range, and no further (B9.28).
    func endHop(_ end: HopEnd, withFileOf sink: FileSink) {
        let received = task.counters.received.load(ordering: .relaxed)
        if let expected = task.state.withLock({ $0.download?.end }), received != expected {
            var end = end
            if received < expected {
                end.failure = .wire(.closedInBody(received: received, expected: expected))
            } else {
                task.hops.willFail(
                    LoadFailure.make(.cannotParseResponse, end.url, "The rest of the file is longer than its range."))
            }
            return endHop(end, without: sink)
        }
        sink.finish { result in
            var end = end
            switch result {
            case .success(let file):
                end.file = file
                task.hops.ended(end)?.resume()
            case .failure(let failure):
                task.hops.willFail(LoadFailure.unwritableFile(end.url, in: folder, failure))
                endHop(end, without: sink)
            }
        }
    }

    // MARK: Telling

    /// Which delegates hear how far it is.
    private var audience: Audience { task.outlet.file?.audience ?? .noDelegate }

    /// B9.8: what is new since the last call, which may be more than one write.
    func tellWritten(_ total: Int64) {
        // Totals of another process, told or in its journal, may be any numbers.
        let total = max(total, 0)
        let before = task.state.withLock { state in
            defer { state.writtenTold = total }
            // One that begins anew in another process goes back to its beginning.
            return total < state.writtenTold ? 0 : max(state.writtenTold, 0)
        }
        guard total > 0 else { return }
        let expected = task.counters.expectedToReceive.load(ordering: .relaxed)
        tell(.writeData) {
            $0.urlSession(
                $1, downloadTask: $2, didWriteData: total - before, totalBytesWritten: total,
                totalBytesExpectedToWrite: expected)
        }
    }

    /// The download goes on where it was; said once, to the delegate that hears of progress.
    func tellResumed(at offset: Int64, total: Int64) {
        tell(.resumeAtOffset) {
            $0.urlSession($1, downloadTask: $2, didResumeAtOffset: offset, expectedTotalBytes: total)
        }
    }

    private func tell(
        _ method: DelegateMethod,
        _ call: (any URLSessionDownloadDelegate, URLSession, URLSessionDownloadTask) -> Void
    ) {
        guard let shown = task.face as? URLSessionDownloadTask else { return }
        task.telling.tellFirst(method, \.download, among: audience) { call($0, $1, shown) }
    }

    /// Lends the file to the delegate and removes it afterwards (B9.2); handlers and async calls get it at the end.
    func tellFinished(_ file: TemporaryFile) {
        guard case .file(.delegate) = task.outlet else { return }
        defer { file.remove() }
        let (isOver, own, urlSession) = task.state.withLock { ($0.isOver, $0.delegateView, $0.session) }
        guard !isOver, let urlSession, let shown = task.face as? URLSessionDownloadTask else { return }
        let delegates = TaskDelegates(own: own, session: task.session)
        guard let delegate = delegates.first(where: { $0.download != nil })?.download else { return }
        delegate.urlSession(urlSession, downloadTask: shown, didFinishDownloadingTo: file.url)
    }
}

extension TaskCore {
    /// The task as a download.
    var download: TaskDownload { TaskDownload(task: self) }
}

extension TemporaryFile {
    /// Where it is.
    var url: URL { URL(fileURLWithPath: path, isDirectory: false) }
}
