// The code of the articles on uploads and downloads, and of docs/downloads.md and docs/uploads.md; SampleTests looks for it
// here block by block.

import Foundation
import URLLoading

/// What the articles show, as members, because some of it belongs into delegates.
public enum TransfersGuide {
    /// A file from a server, under a name of its own.
    public static func save(_ url: URL, as destination: URL) async throws {
        func keep(_ url: URL, as destination: URL) async throws {
            let (file, response) = try await URLSession.shared.download(from: url)
            defer { try? FileManager.default.removeItem(at: file) }
            guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
            try FileManager.default.moveItem(at: file, to: destination)
        }
        try await keep(url, as: destination)
    }

    /// A download that is gone on with where it broke off.
    public static func download(_ url: URL, attempts: Int) async throws -> URL {
        func downloadPatiently(_ url: URL, attempts: Int) async throws -> URL {
            var saved: Data?
            for _ in 1..<max(attempts, 2) {
                do {
                    if let data = saved { return try await URLSession.shared.download(resumeFrom: data).0 }
                    return try await URLSession.shared.download(from: url).0
                } catch let error as URLError {
                    guard let data = error.downloadTaskResumeData else { throw error }
                    saved = data
                }
            }
            guard let data = saved else { throw URLError(.unknown) }
            return try await URLSession.shared.download(resumeFrom: data).0
        }
        return try await downloadPatiently(url, attempts: attempts)
    }

    /// The status with which a file was met.
    public static func upload(_ file: URL, to url: URL) async throws -> Int {
        func send(_ file: URL, to url: URL) async throws -> Int {
            var request = URLRequest(url: url)
            request.httpMethod = "PUT"
            let (_, response) = try await URLSession.shared.upload(for: request, fromFile: file)
            return (response as? HTTPURLResponse)?.statusCode ?? 0
        }
        return try await send(file, to: url)
    }

    /// An upload that is gone on with.
    public static func uploadPatiently(_ request: URLRequest, file: URL, in session: URLSession) async throws {
        func sendPatiently(_ request: URLRequest, file: URL, in session: URLSession) async throws {
            do {
                _ = try await session.upload(for: request, fromFile: file)
            } catch let error as URLError {
                guard let resumeData = error.uploadTaskResumeData else { throw error }
                // Later, perhaps in another process:
                _ = try await session.upload(resumeFrom: resumeData)
            }
        }
        try await sendPatiently(request, file: file, in: session)
    }

    /// The shortest upload of a file.
    static func upload(_ request: URLRequest, file: URL) async throws -> (Data, URLResponse) {
        let (data, response) = try await URLSession.shared.upload(for: request, fromFile: file)
        return (data, response)
    }

    /// A delegate that keeps what comes, and what is needed to go on.
    final class Keeper: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
        // Touched on the session's delegate queue only, which is serial.
        private var saved: Data?
        private var hasSaved = false
        private let destination: URL

        init(destination: URL) { self.destination = destination }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            try? FileManager.default.moveItem(at: location, to: destination)
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            if !hasSaved {
                hasSaved = true
                downloadTask.cancel(byProducingResumeData: { data in self.save(data) })  // and resume it
            }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            saved = (error as? URLError)?.downloadTaskResumeData ?? saved
        }

        private func save(_ data: Data?) { saved = data }

        func stop(_ task: URLSessionDownloadTask) {
            // Or: await task.cancelByProducingResumeData()
            task.cancel(byProducingResumeData: { data in self.save(data) })
        }

        func goOn(in session: URLSession) {
            guard let data = saved else { return }
            // Or: try await session.download(resumeFrom: data)
            session.downloadTask(withResumeData: data).resume()
        }
    }
}
