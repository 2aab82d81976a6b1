// A data task that goes on as a download task (B1.68, B9.14): one task, whose face, and whose body's way, change while
// its response waits for the delegate's answer. Must not know what is written where.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension TaskDownload {
    /// Turns the task into a download; the delegate is told before anything else is.
    func takeOver() {
        guard case .delegate = task.outlet, let before = task.face as? URLSessionDataTask else {
            return task.hops.end(
                unsupported: "Only a task that delivers to the session's delegate can become a download task.")
        }
        let after = URLSessionDownloadTask(core: task)
        let isWanted = task.state.withLock { state in
            guard !state.isOver else { return false }
            state.face = after
            state.beginDownload()
            task.become(.download())
            return true
        }
        guard isWanted else { return }
        task.mailbox.withLock { $0.putFirst(.becameDownload(before, after)) }
        task.hops.resumeReading()
    }

    /// Saves a body that a cache had; on the delegate queue.
    func save(stored body: Data) {
        let url = task.currentRequest?.url
        switch createFile() {
        case .failure(let error):
            task.hops.willFail(LoadFailure.unwritableFile(url, in: folder, FileFailure(.create, error)))
        case .success(let file):
            if let error = body.withUnsafeBytes({ file.append($0) }) ?? file.close() {
                return task.hops.willFail(LoadFailure.unwritableFile(url, in: folder, FileFailure(.write, error)))
            }
            task.state.withLock { $0.download?.stored = file }
            if !body.isEmpty { tellWritten(Int64(body.count)) }
        }
    }

    /// The file of such a body, once.
    func takeStored() -> TemporaryFile? {
        task.state.withLock { $0.download?.stored.take() }
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
