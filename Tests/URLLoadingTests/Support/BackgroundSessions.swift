// Background sessions in tests: a directory for their state, a delegate that writes down what it hears, and a look at
// what is left of processes and files.

import Foundation
import Testing
import URLLoading
import URLLoadingTestSupport

/// A directory for the state of background sessions, gone with its object, and with the processes
/// that were started for it.
final class BackgroundFolder: Sendable {
    let url: URL

    init() {
        url = FileManager.default.temporaryDirectory.appending(
            path: "urlloading-background-\(UUID().uuidString)", directoryHint: .isDirectory)
        try? FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        endProcesses(naming: path)
        try? FileManager.default.removeItem(at: url)
    }

    var path: String { url.path }

    /// A configuration whose transfers this process carries out, or a helper if `helper` is set.
    func configuration(_ identifier: String = "test", helper: Bool = false) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        configuration.backgroundStateDirectory = url
        configuration.usesBackgroundHelper = helper
        // A helper that survives a killed test run ends within this time.
        if helper { configuration.timeoutIntervalForResource = 120 }
        return configuration
    }

    /// Everything below the directory that is a file or a socket, by its last name.
    var names: [String] {
        let all = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return all.filter { name in
            var about = stat()
            return lstat(path + "/" + name, &about) == 0 && about.st_mode & S_IFMT != S_IFDIR
        }.map { String($0.split(separator: "/").last ?? "") }.sorted()
    }

    /// The journals of tasks.
    var journals: [String] { names.filter { $0.hasPrefix("task-") } }

    /// The processes that were started with a path in this directory.
    var processes: [pid_t] { URLLoadingTestSupport.processes(naming: path) }

    /// The helpers among these processes.
    var helpers: [pid_t] { URLLoadingTestSupport.processes(naming: path, "urlloading-transfers") }
}

/// Writes down what a background session tells its delegate.
final class BackgroundScribe: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate {
    let transcript = Transcript()
    /// A task has ended, with or without an error.
    let ended = Signal()
    let events = Signal()
    let errors = Guarded<[URLError]>([])
    let written = Signal()
    let metrics = Guarded<[URLSessionTaskMetrics]>([])

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let text = (try? String(contentsOf: location, encoding: .utf8)) ?? "nothing"
        transcript.note("file \(downloadTask.taskIdentifier) \(text)")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        written.fire()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note("data \(dataTask.taskIdentifier) \(String(decoding: data, as: UTF8.self))")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transcript.note("response \(dataTask.taskIdentifier)")
        completionHandler(.allow)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        transcript.note("caching")
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        transcript.note("redirect")
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        self.metrics.change { $0.append(metrics) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("end \(task.taskIdentifier) \(Transcript.text(error))")
        if let error = error as? URLError { errors.change { $0.append(error) } }
        ended.fire()
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        transcript.note("events")
        events.fire()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        transcript.note("invalid")
        transcript.invalidated.fire()
    }
}

/// Runs `body` with a background session, and waits until nothing of it is left.
func withBackgroundSession(
    _ configuration: URLSessionConfiguration, _ body: (URLSession, BackgroundScribe) async throws -> Void
) async throws {
    let scribe = BackgroundScribe()
    let session = URLSession(configuration: configuration, delegate: scribe, delegateQueue: nil)
    do {
        try await body(session, scribe)
    } catch {
        session.invalidateAndCancel()
        await scribe.transcript.invalidated.wait()
        throw error
    }
    session.invalidateAndCancel()
    await scribe.transcript.invalidated.wait()
}
