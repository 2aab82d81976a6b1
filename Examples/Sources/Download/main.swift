// A download that is interrupted and goes on where it stopped: Download http://127.0.0.1:40123/ FILE

import Foundation
import Synchronization
import URLLoading

/// Interrupts a download as soon as something has come, and keeps what is needed to go on.
final class Interrupter: NSObject, URLSessionDownloadDelegate {
    private let waiting: Mutex<CheckedContinuation<Data?, Never>?>

    init(_ waiting: CheckedContinuation<Data?, Never>) {
        self.waiting = Mutex(waiting)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        print("\(totalBytesWritten > 0 ? "something" : "nothing") has come of \(totalBytesExpectedToWrite) bytes")
        downloadTask.cancel(byProducingResumeData: { self.go(on: $0) })
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        go(on: nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        go(on: (error as? URLError)?.downloadTaskResumeData)
    }

    /// Only the first call counts.
    private func go(on data: Data?) {
        waiting.withLock { waiting in
            waiting?.resume(returning: data)
            waiting = nil
        }
    }
}

guard CommandLine.arguments.count == 3, let site = URL(string: CommandLine.arguments[1]) else {
    print("usage: Download URL FILE")
    exit(64)
}
let destination = URL(filePath: CommandLine.arguments[2])

let saved = await withCheckedContinuation { waiting in
    let session = URLSession(configuration: .ephemeral, delegate: Interrupter(waiting), delegateQueue: nil)
    session.downloadTask(with: site.appending(path: "large")).resume()
    session.finishTasksAndInvalidate()
}
guard let saved else {
    print("the download was over, or cannot be continued")
    exit(1)
}

// This may be later, and in another process: keep the data in a file.
let (location, response) = try await URLSession(configuration: .ephemeral).download(resumeFrom: saved)
guard (response as? HTTPURLResponse)?.statusCode == 206 else {
    print("the server began anew")
    exit(1)
}
try? FileManager.default.removeItem(at: destination)
try FileManager.default.moveItem(at: location, to: destination)
let size = try FileManager.default.attributesOfItem(atPath: destination.path)[.size] as? Int ?? 0
print("whole: \(size) bytes")
