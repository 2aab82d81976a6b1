// The code of docs/background.md and of the article on background sessions; SampleTests looks for it here block by block.

import Foundation
import URLLoading

/// What the guide to background sessions shows, as members, because a delegate is a type.
public enum BackgroundGuide {
    final class Downloads: NSObject, URLSessionDownloadDelegate {
        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            // The file is there until this method returns: move it away.
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            // Everything has been told that happened while the program was not there.
        }
    }

    /// The task goes on when the program has ended.
    public static func begin(_ url: URL) -> URLSessionTask {
        let configuration = URLSessionConfiguration.background(withIdentifier: "com.example.downloads")
        let session = URLSession(configuration: configuration, delegate: Downloads(), delegateQueue: nil)
        let task = session.downloadTask(with: url)
        task.taskDescription = "the archive"
        task.resume()
        return task
    }

    /// Puts what was downloaded into a folder, by the tasks' descriptions.
    public final class Keeper: NSObject, URLSessionDownloadDelegate {
        private let folder: URL
        private let ended: @Sendable (URLSessionTask, (any Error)?) -> Void

        /// `ended` hears of each task's end.
        public init(folder: URL, ended: @escaping @Sendable (URLSessionTask, (any Error)?) -> Void) {
            self.folder = folder
            self.ended = ended
        }

        /// The file is there until this method returns.
        public func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            let name = downloadTask.taskDescription ?? location.lastPathComponent
            try? FileManager.default.moveItem(at: location, to: folder.appendingPathComponent(name))
        }

        /// Comes last.
        public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ended(task, error)
        }
    }

    /// Makes the session, and begins the download unless an earlier run has done so.
    public static func meet(
        _ url: URL, configuration: URLSessionConfiguration, delegate: any URLSessionDownloadDelegate
    ) async -> URLSession {
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let known = await session.allTasks
        if !known.contains(where: { $0.originalRequest?.url == url }) {
            let task = session.downloadTask(with: url)
            task.taskDescription = "archive.tar"
            task.resume()
        }
        return session
    }

    /// Has the program started when something waits for it.
    public static func wake(by configuration: URLSessionConfiguration) {
        configuration.backgroundEventHook = ["/usr/local/bin/archiver", "--catch-up"]
    }

    /// What the program does then.
    public static func catchUp(delegate: any URLSessionDownloadDelegate) -> [URLSession] {
        let sessions = URLSession.backgroundIdentifiersWithEvents().map { identifier in
            URLSession(
                configuration: .background(withIdentifier: identifier), delegate: delegate, delegateQueue: nil)
        }
        return sessions
    }
}
