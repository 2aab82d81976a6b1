// The code of README.md's section on use, which SampleTests looks for here block by block.

import Foundation
import URLLoading

/// A body as it comes, and a task without a delegate class.
public func readmeStreams(_ url: URL, in session: URLSession, by configuration: URLSessionConfiguration) async throws {
    let (bytes, _) = try await session.bytes(from: url)
    for try await line in bytes.lines { print(line) }

    let handlers = URLSession.EventHandlers()
    handlers.didReceiveData = { _, task, data in print(task.taskIdentifier, data.count) }
    handlers.didComplete = { _, task, error in print(task.taskIdentifier, error.map { "\($0)" } ?? "done") }
    let closures = URLSession(configuration: configuration, delegate: handlers, delegateQueue: nil)
    closures.dataTask(with: url).resume()
}

/// Servers below one's own authority, one of them with a pinned key.
public func readmeTrust(
    _ current: String, reserve: String, in configuration: URLSessionConfiguration
) throws {
    let authority = try String(contentsOfFile: "authority.pem", encoding: .utf8)
    configuration.serverTrustEvaluation = .perHost(
        [
            "*.corp.example": .anchors(pem: authority),
            "api.corp.example": .pinnedKeys([current, reserve], besides: .anchors(pem: authority)),
        ], otherwise: .system)
}
