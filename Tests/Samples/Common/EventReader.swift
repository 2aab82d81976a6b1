// Lines read as they arrive.

import Foundation
import URLLoading

/// Reads the data of a stream of server-sent events.
public struct EventReader: Sendable {
    private let url: URL

    /// Reads from a URL.
    public init(url: URL) {
        self.url = url
    }

    /// Hands every event on as it comes.
    public func read(_ handle: @Sendable (String) async -> Void) async throws {
        let (bytes, response) = try await URLSession.shared.bytes(from: url)
        guard let response = response as? HTTPURLResponse, response.statusCode == 200 else {
            throw URLError(.badServerResponse)
        }
        for try await line in bytes.lines where line.hasPrefix("data: ") {
            await handle(String(line.dropFirst(6)))
        }
    }
}
