// One transfer of fetch: the body goes to standard output while it arrives. The delegate queue waits where the output
// is slow, and the library then stops reading: nothing is collected in memory.

import Foundation
import Synchronization
import URLLoading

/// Runs one request and reports on it.
final class Transfer: NSObject, URLSessionDataDelegate {
    private struct State {
        var outcome = ExitCode.success
        var metrics: URLSessionTaskMetrics?
        var isDone: UnsafeContinuation<ExitCode, Never>?
    }

    private let options: FetchOptions
    private let state = Mutex(State())

    init(_ options: FetchOptions) {
        self.options = options
    }

    func run(_ request: URLRequest, _ configuration: URLSessionConfiguration) async -> ExitCode {
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        let code = await withUnsafeContinuation { continuation in
            state.withLock { $0.isDone = continuation }
            session.dataTask(with: request).resume()
        }
        if options.usesCache { await session.flush() }
        session.finishTasksAndInvalidate()
        return code
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let response = response as? HTTPURLResponse else { return completionHandler(.allow) }
        if options.showsHead { write(Data(head(of: response).utf8), for: dataTask) }
        guard options.failsOnErrorStatus, response.statusCode >= 400 else { return completionHandler(.allow) }
        Terminal.complain("the server answered with status \(response.statusCode)")
        state.withLock { $0.outcome = .errorStatus }
        completionHandler(.cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        write(data, for: dataTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        state.withLock { $0.metrics = metrics }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (outcome, metrics, isDone) = state.withLock { state in
            defer { state.isDone = nil }
            return (state.outcome, state.metrics, state.isDone)
        }
        if options.usesCache, let metrics { Terminal.note("* cache: \(Self.cacheUse(metrics))") }
        if options.isVerbose, let metrics { TimeReport(metrics).lines.forEach { Terminal.note("* \($0)") } }
        // What was reported already is the reason; the error is then only the cancellation that followed.
        guard outcome == .success, let error else { return isDone?.resume(returning: outcome) ?? () }
        Terminal.complain((error as NSError).localizedDescription)
        if options.isVerbose, let advice = (error as NSError).localizedRecoverySuggestion {
            Terminal.note("* \(advice)")
        }
        isDone?.resume(returning: (error as? URLError).map { ExitCode($0) } ?? .other)
    }

    private func write(_ data: Data, for task: URLSessionTask) {
        guard state.withLock({ $0.outcome == .success }), !Terminal.write(data) else { return }
        Terminal.complain("standard output cannot be written")
        state.withLock { $0.outcome = .cannotWrite }
        task.cancel()
    }

    /// What the cache had to do with the last exchange.
    private static func cacheUse(_ metrics: URLSessionTaskMetrics) -> String {
        guard let last = metrics.transactionMetrics.last, last.resourceFetchType == .localCache else { return "miss" }
        return last.networkProtocolName == nil ? "hit" : "revalidated"
    }

    private func head(of response: HTTPURLResponse) -> String {
        let fields = response.allHeaderFields.map { "\($0.key): \($0.value)" }.sorted()
        let reason = HTTPURLResponse.localizedString(forStatusCode: response.statusCode)
        return (["HTTP \(response.statusCode) (\(reason))"] + fields + ["", ""]).joined(separator: "\n")
    }
}
