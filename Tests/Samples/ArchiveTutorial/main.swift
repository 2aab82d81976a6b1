// Downloads a file, and goes on where an earlier run has stopped: archive URL FILE

import Foundation
import Synchronization
import URLLoading

/// Hears of the download, moves the file to its place, and keeps what the next run needs.
final class Keeper: NSObject, URLSessionDownloadDelegate {
    private let destination: URL
    private let saved: URL
    private let isGoingOn: Bool
    private let exitCode = Mutex<Int32>(1)

    init(destination: URL, saved: URL, isGoingOn: Bool) {
        self.destination = destination
        self.saved = saved
        self.isGoingOn = isGoingOn
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64
    ) {
        print("goes on behind \(fileOffset) of \(expectedTotalBytes) bytes")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0
        guard [200, 206].contains(status) else {
            return print("there is no file: the server answers \(status)")
        }
        if isGoingOn, status == 200 {
            print("loaded anew: the file has changed, or what there was is gone")
        }
        do {
            try? FileManager.default.removeItem(at: destination)
            try FileManager.default.moveItem(at: location, to: destination)
            try? FileManager.default.removeItem(at: saved)
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

    /// Writes what is needed to go on to a file; without it the next run begins anew.
    private func keep(_ error: any Error) {
        print(error.localizedDescription)
        guard let data = (error as? URLError)?.downloadTaskResumeData else {
            try? FileManager.default.removeItem(at: saved)
            return
        }
        do {
            try data.write(to: saved, options: .atomic)
            print("run again to go on")
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
let data = try? Data(contentsOf: saved)

// What this program writes is for its user only.
umask(0o077)

let keeper = Keeper(destination: destination, saved: saved, isGoingOn: data != nil)
let session = URLSession(configuration: .default, delegate: keeper, delegateQueue: nil)
let task = data.map { session.downloadTask(withResumeData: $0) } ?? session.downloadTask(with: url)

// Control-C stops the download. How it ends is told to the keeper.
signal(SIGINT, SIG_IGN)
let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
interrupts.setEventHandler { task.cancel(byProducingResumeData: { _ in }) }
interrupts.resume()

task.resume()
dispatchMain()
