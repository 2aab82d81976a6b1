// What a screen shows of a load: state that belongs to the main actor, and a delegate that is called elsewhere.

import Foundation
import URLLoading

/// Loads on behalf of a screen.
@MainActor
public final class LoadModel: NSObject, URLSessionTaskDelegate {
    /// What the screen says.
    public private(set) var status = "nothing yet"
    /// How often the load was redirected.
    public private(set) var redirects = 0

    /// Loads, and says how it went.
    public func load(_ url: URL) async {
        status = "loading"
        do {
            let (data, response) = try await URLSession.shared.data(from: url, delegate: self)
            status = "\(data.count) bytes, \((response as? HTTPURLResponse)?.statusCode ?? 0)"
        } catch let error as URLError where error.code == .cancelled {
            status = "cancelled"
        } catch {
            status = error.localizedDescription
        }
    }

    /// Counts a redirect and follows it.
    nonisolated public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        await MainActor.run { redirects += 1 }
        return request
    }
}
