// Code from before Sendable: plain mutable state in a delegate, captured variables changed in a handler.

import Foundation
import URLLoading

/// Loads a page into its own properties.
public class OldStyleLoader: NSObject, URLSessionDataDelegate {
    /// What has come.
    public var responseData = Data()
    /// How the load ended.
    public var lastError: Error?
    /// Every status on the way.
    public var statusCodes: [Int] = []
    /// Called at the end.
    public var whenDone: (() -> Void)?
    private lazy var session = URLSession(
        configuration: .ephemeral, delegate: self, delegateQueue: OperationQueue())

    /// Begins to load a page.
    public func get(_ address: String) {
        guard let url = URL(string: address) else { return }
        session.dataTask(with: url).resume()
    }

    /// Decides about a redirect.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        statusCodes.append(response.statusCode)
        completionHandler(request)
    }

    /// Looks at the response.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse { statusCodes.append(response.statusCode) }
        completionHandler(.allow)
    }

    /// Keeps a piece of the body.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        responseData.append(data)
    }

    /// Tells how it went.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        lastError = error
        whenDone?()
        session.finishTasksAndInvalidate()
    }
}

/// Waits for a page on the calling thread.
public func loadSynchronously(_ request: URLRequest) -> (Data?, URLResponse?, Error?) {
    var result: (Data?, URLResponse?, Error?) = (nil, nil, nil)
    let semaphore = DispatchSemaphore(value: 0)
    URLSession.shared.dataTask(with: request) { data, response, error in
        result = (data, response, error)
        semaphore.signal()
    }.resume()
    semaphore.wait()
    return result
}

/// Builds a request by way of the reference types.
public func legacyRequest(_ url: URL) -> URLRequest {
    let request = NSMutableURLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
    request.httpBody = "hello".data(using: .utf8)
    return request as URLRequest
}
