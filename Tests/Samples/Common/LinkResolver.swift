// Where a short link leads: a delegate for one task only, in the async form, that stops at the first redirect.

import Foundation
import URLLoading

/// Finds out where links lead without going there.
public final class LinkResolver: NSObject, URLSessionTaskDelegate {
    /// The URL a link redirects to, if it does.
    public func target(of link: URL) async throws -> URL? {
        var request = URLRequest(url: link)
        request.httpMethod = "HEAD"
        let (_, response) = try await URLSession.shared.data(for: request, delegate: self)
        guard let location = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Location") else { return nil }
        return URL(string: location, relativeTo: response.url)?.absoluteURL
    }

    /// Decides about a redirect.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        nil
    }
}
