// A page received piece by piece by a delegate, which looks at the response before it lets the body come.

import Foundation
import URLLoading

/// Loads one page and keeps what has come of it.
public final class PageReceiver: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Touched on the session's delegate queue only, which is serial.
    private var received = Data()
    private var finish: ((Result<Data, any Error>) -> Void)?

    private lazy var session: URLSession = {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 30
        return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    }()

    /// Begins to load a page.
    public func start(_ url: URL, finish: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        received = Data()
        self.finish = finish
        let task = session.dataTask(with: url)
        task.taskDescription = "page"
        task.resume()
    }

    /// Ends when the page has come.
    public func stop() {
        session.finishTasksAndInvalidate()
    }

    /// Looks at the response.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        guard let response = response as? HTTPURLResponse, (200...299).contains(response.statusCode),
            response.mimeType == "text/html"
        else {
            completionHandler(.cancel)
            return
        }
        completionHandler(.allow)
    }

    /// Keeps a piece of the body.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        received.append(data)
    }

    /// Tells how it went.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        if let error = error {
            finish?(.failure(error))
        } else {
            finish?(.success(received))
        }
        finish = nil
    }
}
