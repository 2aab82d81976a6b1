// A page loaded with a completion handler, as programs have done it from the beginning.

import Foundation
import URLLoading

/// Loads text pages.
public final class PageLoader {
    /// What can be wrong with an answer that came.
    public enum Problem: Error, Equatable {
        case status(Int)
        case notText(String?)
    }

    private let session: URLSession

    /// Loads through a session, by default the shared one.
    public init(session: URLSession = .shared) {
        self.session = session
    }

    /// Calls back with the page's text.
    public func load(_ url: URL, then show: @escaping @Sendable (Result<String, any Error>) -> Void) {
        let task = session.dataTask(with: url) { data, response, error in
            if let error = error {
                show(.failure(error))
                return
            }
            guard let response = response as? HTTPURLResponse, (200...299).contains(response.statusCode) else {
                show(.failure(Problem.status((response as? HTTPURLResponse)?.statusCode ?? 0)))
                return
            }
            guard let mimeType = response.mimeType, mimeType == "text/html" || mimeType == "text/plain",
                let data = data, let text = String(data: data, encoding: .utf8)
            else {
                show(.failure(Problem.notText(response.mimeType)))
                return
            }
            show(.success(text))
        }
        task.resume()
    }
}
