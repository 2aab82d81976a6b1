// A file downloaded with progress, and kept where the program wants it.

import Foundation
import URLLoading

/// Downloads one file at a time into a folder.
public final class FileFetcher: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
    // Touched on the session's delegate queue only, which is serial.
    private var kept: URL?
    private var problem: (any Error)?
    private let folder: URL
    private let onProgress: @Sendable (Double) -> Void
    private let onEnd: @Sendable (Result<URL, any Error>) -> Void
    private lazy var session = URLSession(configuration: .default, delegate: self, delegateQueue: nil)

    /// Downloads into a folder.
    public init(
        folder: URL, onProgress: @escaping @Sendable (Double) -> Void,
        onEnd: @escaping @Sendable (Result<URL, any Error>) -> Void
    ) {
        self.folder = folder
        self.onProgress = onProgress
        self.onEnd = onEnd
    }

    /// Begins a download.
    public func fetch(_ url: URL) {
        session.downloadTask(with: url).resume()
    }

    /// Ends when the downloads have.
    public func stop() {
        session.finishTasksAndInvalidate()
    }

    /// Tells how far it is.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        guard totalBytesExpectedToWrite != NSURLSessionTransferSizeUnknown else { return }
        onProgress(Double(totalBytesWritten) / Double(totalBytesExpectedToWrite))
    }

    /// Moves the file before it is removed.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let response = downloadTask.response as? HTTPURLResponse, (200...299).contains(response.statusCode)
        else {
            problem = URLError(.badServerResponse)
            return
        }
        do {
            let name = downloadTask.response?.suggestedFilename ?? location.lastPathComponent
            let saved = folder.appendingPathComponent(name)
            try FileManager.default.moveItem(at: location, to: saved)
            kept = saved
        } catch {
            problem = error
        }
    }

    /// Tells how it went.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        if let error = error ?? problem {
            onEnd(.failure(error))
        } else if let kept = kept {
            onEnd(.success(kept))
        }
    }
}

/// Downloads a file and reads it before it is gone.
public func download(_ url: URL, then finish: @escaping @Sendable (Data?, Error?) -> Void) {
    let task = URLSession.shared.downloadTask(with: url) { location, response, error in
        guard let location = location, (response as? HTTPURLResponse)?.statusCode == 200 else {
            finish(nil, error)
            return
        }
        finish(try? Data(contentsOf: location), nil)
    }
    task.resume()
}
