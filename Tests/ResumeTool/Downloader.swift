// One life of the process that downloads. It saves resume data every now and then, by cancelling and going on, and goes on
// by itself after resets and stalls; after its death the next life begins with what was saved.

import Foundation
import Synchronization
import TestSupport
import URLLoading

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Downloads one URL into `FOLDER/whole`.
final class Downloader: NSObject, URLSessionDownloadDelegate {
    private struct State: Sendable {
        /// Where this task began, and how far it is.
        var start: Int64 = 0
        var written: Int64 = 0
        /// All bytes that were written in all lives.
        var fetched: Int64 = 0
        var isSaving = false
        var hasFinished = false
        var waiting: Handover<(any Error)?, Never>?
    }

    private let url: URL
    private let folder: String
    private let interval: Int64
    private let deaths: [Int64]
    private let state = Mutex(State())

    init(url: URL, folder: String, interval: Int64, deaths: [Int64]) {
        self.url = url
        self.folder = folder
        self.interval = interval
        self.deaths = deaths
        super.init()
        let counted = (try? String(contentsOfFile: folder + "/fetched", encoding: .utf8)) ?? ""
        state.withLock { $0.fetched = Int64(counted) ?? 0 }
    }

    /// Loads to the end; false where that is not to be had.
    func run() async -> Bool {
        note("\(getpid())", in: "life")
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 1
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        var data = try? Data(contentsOf: URL(filePath: folder + "/saved"))
        // More than any torment has cuts and savings; what never ends is a failure too.
        for _ in 0..<100_000 {
            let task = data.map { session.downloadTask(withResumeData: $0) } ?? session.downloadTask(with: url)
            state.withLock { ($0.start, $0.written, $0.isSaving) = (0, 0, false) }
            let error = await withHandover { continuation in
                state.withLock { $0.waiting = continuation }
                task.resume()
            }
            if state.withLock({ $0.hasFinished }) { return true }
            guard let failure = error as? URLError else { return false }
            if let saved = failure.downloadTaskResumeData {
                data = saved
                guard (try? saved.write(to: URL(filePath: folder + "/saved"), options: .atomic)) != nil else {
                    return false
                }
            } else if failure.code != .networkConnectionLost && failure.code != .timedOut {
                FileHandle.standardError.write(Data("\(failure)\n".utf8))
                return false
            }
        }
        return false
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        state.withLock { $0.start = fileOffset }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        let (fetched, saves) = state.withLock { state -> (Int64, Bool) in
            state.fetched += bytesWritten
            state.written = totalBytesWritten
            let saves = !state.isSaving && totalBytesWritten - state.start >= interval
            if saves { state.isSaving = true }
            return (state.fetched, saves)
        }
        note("\(fetched)", in: "fetched")
        if let death = deaths.first(where: { !hasDied(at: $0) }), totalBytesWritten >= death {
            note("dead", in: "death-\(death)")
            note("\(max(peakBefore, Lives.peak(of: "self")))", in: "peak")
            kill(getpid(), SIGKILL)
        }
        if saves { downloadTask.cancel(byProducingResumeData: { _ in }) }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let isMoved = rename(location.path, folder + "/whole") == 0
        state.withLock { $0.hasFinished = isMoved }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // What came behind the last call is in the file too, and in its data.
        let counted = (task as? URLSessionDownloadTask)?.countOfBytesReceived ?? 0
        let (waiting, fetched) = state.withLock { state in
            defer { state.waiting = nil }
            let known = max(state.written, state.start)
            if counted > known { state.fetched += counted - known }
            return (state.waiting, state.fetched)
        }
        note("\(fetched)", in: "fetched")
        waiting?.resume(returning: error)
    }

    /// The highest memory of the lives before.
    private var peakBefore: Int {
        (try? String(contentsOfFile: folder + "/peak", encoding: .utf8)).flatMap { Int($0) } ?? 0
    }

    private func hasDied(at offset: Int64) -> Bool {
        access(folder + "/death-\(offset)", F_OK) == 0
    }

    /// By one call of the system, which a death does not tear: nothing it writes grows shorter.
    private func note(_ text: String, in name: String) {
        let file = open(folder + "/" + name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
        close(file)
    }
}
