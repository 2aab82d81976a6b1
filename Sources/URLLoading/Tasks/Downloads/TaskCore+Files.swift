// The file of a download task: where it is made, and when it is whole (behaviour 9.1).

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
}

extension TemporaryFile {
    /// Where it is.
    var url: URL { URL(fileURLWithPath: path, isDirectory: false) }
}
