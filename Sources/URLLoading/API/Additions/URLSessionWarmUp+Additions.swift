// Connections that are open before the first request needs them. Ours: Apple's loader opens one when a task begins.

import Foundation
import URLLoadingPolicy

extension URLSession {
    /// Ours: opens connections to a URL's server, so that the next requests find them open. Nothing is sent on them.
    /// The result is how many were ready.
    ///
    /// So many connections are ready afterwards as `connections` says, with those that were there and idle already,
    /// but never more than `httpMaximumConnectionsPerHost` allows beside those in use, and one where the server
    /// speaks HTTP/2, which all requests share. Each is opened as for a load: by the session's proxies and resolver,
    /// with the same trust and client certificates, and the session's delegate is asked as about the task of a
    /// `data(for:)`, and hears of its making and its metrics, which have no request. The connection counts as idle
    /// from then on, and servers close idle connections as they like, so this is for moments when requests are about
    /// to come; docs/connections.md.
    ///
    /// The first is opened alone; where it cannot be, its error is thrown, and later ones that fail are not counted.
    /// Cancelling the surrounding task gives up what is being opened and throws `URLError.cancelled`. Zero where all
    /// connections that the host may have are in use, in a session with a mock, and for numbers below 1. URLs that are
    /// not http or https, and those that a class of the program's carries, throw `URLError.unsupportedURL`.
    @discardableResult
    public func warmUp(_ url: URL, connections: Int = 1) async throws -> Int {
        _ = try URLText(url).origin(of: url)
        let wanted = min(connections, max(1, core.settings.engine.maximumConnectionsPerHost))
        guard wanted > 0, core.protocols?.mock == nil else { return 0 }
        guard case .ready(let isShared) = try await warmth(of: url, wanted: 1) else { return 0 }
        if isShared || wanted == 1 { return 1 }
        let others = await withTaskGroup(of: Bool.self) { group in
            for number in 2...wanted {
                group.addTask {
                    if case .ready = try? await self.warmth(of: url, wanted: number) { true } else { false }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        if others == wanted - 1 {
            // They come to the pool in any order. One that comes behind the connection of a later one is content with
            // it, so that there are fewer than are wanted: then those that are missing are opened one by one.
            for _ in 2..<wanted {
                // One that cannot be opened is not counted, as above.
                guard case .ready = try? await warmth(of: url, wanted: wanted) else {
                    if Task.isCancelled { throw LoadFailure.cancelled(url) }
                    return others
                }
            }
        }
        if Task.isCancelled { throw LoadFailure.cancelled(url) }
        return 1 + others
    }

    /// Opens one connection, if fewer than so many are ready.
    private func warmth(of url: URL, wanted: Int) async throws -> PoolMachine.Warmth {
        try await run(awaited(NewTask(URLRequest(url: url), warmUp: WarmUp(wanted: wanted)))) { .warmth($0) }
    }
}
