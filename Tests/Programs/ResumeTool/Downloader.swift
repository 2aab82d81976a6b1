// One life of the process that downloads. It saves resume data once, right at the beginning, by cancelling and going
// on, and then only what a reset or a stall brings; after its death the next life begins with what was saved, and with
// what is in the file.

import Foundation
import Synchronization
import URLLoading
import URLLoadingTestSupport

/// Downloads one URL into `FOLDER/whole`.
final class Downloader: NSObject, URLSessionDownloadDelegate {
    fileprivate struct State: Sendable {
        var account: Account
        /// How far this task is; nil before its first byte.
        var written: Int64?
        /// Whether there are data by which the next life can go on, or they are being made.
        var isSaved: Bool
        var hasFinished = false
        var waiting: Handover<(any Error)?, Never>?
    }

    private let url: URL
    private let folder: LifeFolder
    private let deaths: [Int64]
    private let state: Mutex<State>

    init(url: URL, folder: LifeFolder, deaths: [Int64]) {
        self.url = url
        self.folder = folder
        self.deaths = deaths
        state = Mutex(State(account: folder.account, isSaved: folder.isSaved))
        super.init()
    }

    /// Loads to the end; false where that is not to be had.
    func run() async -> Bool {
        folder.noteLife()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 1
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let parent = getppid()
        var data = try? Data(contentsOf: URL(filePath: folder.saved))
        // More than any torment has cuts; what never ends is a failure too, and the process that started this one may
        // be dead itself.
        for _ in 0..<10_000 where getppid() == parent {
            let task = data.map { session.downloadTask(withResumeData: $0) } ?? session.downloadTask(with: url)
            state.withLock { $0.written = nil }
            let error = await withHandover { continuation in
                state.withLock { $0.waiting = continuation }
                task.resume()
            }
            if state.withLock({ $0.hasFinished }) { return true }
            guard let failure = error as? URLError else { return false }
            if let saved = failure.downloadTaskResumeData {
                data = saved
                guard (try? saved.write(to: URL(filePath: folder.saved), options: .atomic)) != nil else {
                    return false
                }
                state.withLock { $0.isSaved = true }
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
        folder.note(state.withLock { $0.begin(at: fileOffset) })
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        let (begun, saves) = state.withLock { state -> (Account?, Bool) in
            let begun = state.written == nil ? state.begin(at: totalBytesWritten - bytesWritten) : nil
            state.written = totalBytesWritten
            defer { state.isSaved = true }
            return (begun, !state.isSaved)
        }
        if let begun { folder.note(begun) }
        if let death = deaths.first(where: { !folder.has("death-\($0)") }), totalBytesWritten >= death {
            folder.note("dead", in: "death-\(death)")
            folder.noteMemory()
            folder.noteUnwritten(downloadTask.countOfBytesReceived)
            kill(getpid(), SIGKILL)
        }
        if saves { downloadTask.cancel(byProducingResumeData: { _ in }) }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let isMoved = rename(location.path, folder.whole) == 0
        state.withLock { $0.hasFinished = isMoved }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // What came behind the last call is in the file too, and in its data.
        let counted = (task as? URLSessionDownloadTask)?.countOfBytesReceived ?? 0
        let (waiting, account) = state.withLock { state in
            defer { state.waiting = nil }
            if state.written != nil || counted > 0 { state.account.reach(counted) }
            return (state.waiting, state.account)
        }
        folder.note(account)
        waiting?.resume(returning: error)
    }
}

extension Downloader.State {
    /// A task begins at this byte; what is to be noted of that.
    fileprivate mutating func begin(at offset: Int64) -> Account {
        written = written ?? offset
        account.place = offset
        return account
    }
}
