// Downloads a file: archive URL FILE

import Foundation
import Synchronization
import URLLoading

/// Hears of the download, and moves the file to its place.
final class Keeper: NSObject, URLSessionDownloadDelegate {
    private let destination: URL
    private let exitCode = Mutex<Int32>(1)

    init(destination: URL) {
        self.destination = destination
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else {
            return print("there is no file: the server answers \(status)")
        }
        do {
            try? FileManager.default.removeItem(at: destination)
            try FileManager.default.moveItem(at: location, to: destination)
            exitCode.withLock { $0 = 0 }
        } catch {
            print("\(destination.path): \(error.localizedDescription)")
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        if let error { print(error.localizedDescription) }
        exit(exitCode.withLock { $0 })
    }
}

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else {
    print("usage: archive URL FILE")
    exit(64)
}
let destination = URL(filePath: CommandLine.arguments[2])

let keeper = Keeper(destination: destination)
let session = URLSession(configuration: .default, delegate: keeper, delegateQueue: nil)
let task = session.downloadTask(with: url)

task.resume()
dispatchMain()
