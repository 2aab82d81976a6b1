// A library that cannot be edited: it was written for Apple's platforms and for Linux.

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One report.
public struct Report: Codable, Equatable {
    /// Where.
    public var city: String
    /// Celsius.
    public var degrees: Int
}

/// Asks a server about the weather.
public final class WeatherService: NSObject, URLSessionDataDelegate {
    private let base: URL
    private lazy var session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)

    /// A service at this address.
    public init(base: URL) {
        self.base = base
    }

    /// By a completion handler.
    public func report(for city: String, completionHandler: @escaping (Result<Report, Error>) -> Void) {
        var request = URLRequest(url: base.appendingPathComponent(city))
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let task = session.dataTask(with: request) { data, response, error in
            completionHandler(
                Result {
                    if let error = error { throw error }
                    guard (response as? HTTPURLResponse)?.statusCode == 200 else {
                        throw URLError(.badServerResponse)
                    }
                    return try JSONDecoder().decode(Report.self, from: data ?? Data())
                })
        }
        task.resume()
    }

    /// With `await`.
    public func report(for city: String) async throws -> Report {
        let (data, _) = try await session.data(from: base.appendingPathComponent(city))
        return try JSONDecoder().decode(Report.self, from: data)
    }

    /// Ends the session once its tasks have.
    public func close() { session.finishTasksAndInvalidate() }
}
