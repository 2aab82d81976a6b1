// The file of a download task: where it is made, what is told about it, and when it goes (behaviour 9.1).

import Foundation
import URLLoadingEngine
import URLLoadingSystem

extension TaskCore {
    /// A sink for the body of a hop.
    func makeSink(for plan: HopPlan) -> FileSink {
        let sessionView = tellingView
        let (partial, total, taskView) = state.withLock { state -> (PartialFile?, Int64?, DelegateView?) in
            var download = state.download
            let held = download.held
            // From the first byte on what there was is not as it was.
            if held != nil { (download.held, download.source) = (nil, nil) }
            state.download = download
            return (held, download.total, state.delegateView)
        }
        let tells = tellsWritten(taskView, sessionView)
        note(writing: partial?.file)
        return FileSink(expecting: total, continuing: partial, create: createFile) { [self] event in
            switch event {
            case .written(let total):
                if tells { post(.written(total)) }
            case .room:
                state.withLock { $0.load.handle }?.resumeReading()
            case .failed(let failure):
                willFail(LoadFailure.unwritableFile(plan.request?.url, failure))
                cancelHop()
            }
        }
    }

    /// B9.4: the directory is that of `TMPDIR` at this moment, or the session's.
    func createFile() -> Result<TemporaryFile, SystemError> {
        let naming = FileNaming.downloads
        let folder = session?.settings.downloadFolder ?? FileManager.default.temporaryDirectory.path
        let made = TemporaryFile.create(in: folder, prefix: naming.prefix, suffix: naming.suffix)
        if case .success(let file) = made { note(writing: file) }
        return made
    }

    /// Remembers which file is written to, in sessions whose downloads are looked after from outside.
    private func note(writing file: TemporaryFile?) {
        guard let file, session?.settings.tracksDownloads ?? false else { return }
        state.withLock { if $0.isDownload { $0.download.writing = file } }
    }

    /// The hop's body is whole: the hop ends when its last byte is in the file.
    func hopEnded(_ end: HopEnd, withFileOf sink: FileSink) {
        sink.finish { [self] result in
            var end = end
            switch result {
            case .success(let file):
                end.file = file
                hopEnded(end)?.resume()
            case .failure(let failure):
                willFail(LoadFailure.unwritableFile(end.url, failure))
                hopEnded(end, without: sink)
            }
        }
    }

    // MARK: On the delegate queue

    /// Whether anybody hears of what is written (B9.10, B1.93).
    func tellsWritten(_ taskView: DelegateView?, _ sessionView: DelegateView?) -> Bool {
        switch outlet {
        case .delegate, .handler, .awaiting, .stream, .file(.handler): false
        case .file(.delegate): taskView?.download != nil || sessionView?.download != nil
        case .file(.awaiting): taskView?.download != nil
        }
    }

    /// B9.8: what is new since the last call, which may be more than one write.
    func tellWritten(_ total: Int64) {
        let (before, view, urlSession) = state.withLock { state in
            defer { state.writtenTold = total }
            return (state.writtenTold, state.delegateView, state.session)
        }
        guard let urlSession, let task = face as? URLSessionDownloadTask else { return }
        let expected = counters.expectedToReceive.load(ordering: .relaxed)
        let call = { (delegate: any URLSessionDownloadDelegate) in
            self.probe.arm(.writeData)
            delegate.urlSession(
                urlSession, downloadTask: task, didWriteData: total - before, totalBytesWritten: total,
                totalBytesExpectedToWrite: expected)
            return self.probe.disarm()
        }
        if let delegate = view?.download, call(delegate) { return }
        if case .file(.delegate) = outlet, let delegate = session?.delegateView?.download { _ = call(delegate) }
    }

    /// Lends the file to the delegate and removes it afterwards (B9.2); handlers and async calls get it at the end.
    func tellFinished(_ file: TemporaryFile) {
        guard case .file(.delegate) = outlet else { return }
        defer { file.remove() }
        let (isOver, view, urlSession) = state.withLock { ($0.isOver, $0.delegateView, $0.session) }
        guard !isOver, let urlSession, let task = face as? URLSessionDownloadTask,
            let delegate = view?.download ?? session?.delegateView?.download
        else { return }
        delegate.urlSession(urlSession, downloadTask: task, didFinishDownloadingTo: file.url)
    }
}

extension TemporaryFile {
    /// Where it is.
    var url: URL { URL(fileURLWithPath: path, isDirectory: false) }
}
