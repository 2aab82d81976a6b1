// Downloads a file, and keeps what is needed to go on: archive URL FILE

import Foundation
import Synchronization
import URLLoading

/// Hears of the download, moves the file to its place, and keeps what the next run needs.
final class Keeper: NSObject, URLSessionDownloadDelegate {
    private let destination: URL
    private let saved: URL
    private let exitCode = Mutex<Int32>(1)

    init(destination: URL, saved: URL) {
        self.destination = destination
        self.saved = saved
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
        if let error { keep(error) }
        exit(exitCode.withLock { $0 })
    }

    /// Writes what is needed to go on to a file.
    private func keep(_ error: any Error) {
        print(error.localizedDescription)
        guard let data = (error as? URLError)?.downloadTaskResumeData else { return }
        do {
            try data.write(to: saved, options: .atomic)
            exitCode.withLock { $0 = 75 }
        } catch {
            print("\(saved.path): \(error.localizedDescription)")
        }
    }
}

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else {
    print("usage: archive URL FILE")
    exit(64)
}
let destination = URL(filePath: CommandLine.arguments[2])
let saved = destination.appendingPathExtension("resume")

// What this program writes is for its user only.
umask(0o077)

let keeper = Keeper(destination: destination, saved: saved)
let session = URLSession(configuration: .default, delegate: keeper, delegateQueue: nil)
let task = session.downloadTask(with: url)

// Control-C stops the download. How it ends is told to the keeper.
signal(SIGINT, SIG_IGN)
let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
interrupts.setEventHandler { task.cancel(byProducingResumeData: { _ in }) }
interrupts.resume()

task.resume()
dispatchMain()
