// The ways of a task's hops: a resolver is asked for them (B13.31), and where one leads nowhere the next is tried.
//
// Must not know: what is set about proxies, how proxies are spoken to.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// A request that may be sent by more than one way, and what it is made of.
struct Hop: Sendable {
    let request: URLRequest
    let message: RequestBuilder.Message
    let content: HopContent
}

/// The ways that a hop has left. A class, because every task has room for one, and hardly any has one.
final class Detour: Sendable {
    let hop: Hop
    let routes: ArraySlice<Route>

    init(of hop: Hop, by routes: ArraySlice<Route>) {
        self.hop = hop
        self.routes = routes
    }
}

extension TaskState {
    /// The ways that are left after this failure; nil where there are none, or where another way would not help.
    mutating func takeDetour(after failure: EngineError) -> Detour? {
        defer { self.detour = nil }
        guard let detour, failure.isOfTheWay, detour.hop.content.isUntouched else { return nil }
        return detour
    }
}

extension TaskCore {
    /// Asks the session's resolver for the ways of a hop.
    func askForRoutes(of hop: Hop) {
        guard let session, let url = hop.request.url else { return }
        let limit = LoopClock.elapsed + session.settings.idleTimeout(hop.request)
        askForRoutes(to: SessionProxies.subject(url), for: url, until: limit) { $0.send(hop, by: $1[...]) }
    }

    /// Asks the session's resolver for the ways to `subject`, of which there is one at least; errors name `url`. The task can be
    /// cancelled meanwhile.
    func askForRoutes(
        to subject: URL, for url: URL?, until limit: Duration? = nil,
        then goOn: @escaping @Sendable (TaskCore, [Route]) -> Void
    ) {
        guard let session else { return }
        guard let resolver = session.settings.proxies.resolver else {
            return endUnloaded(
                LoadFailure.noWay(
                    url,
                    "Proxies are to be found by a configuration script, which nothing here can run; the session's "
                        + "configuration has no proxyResolver in its place."))
        }
        guard let wait = beginWait(for: .routes, until: limit) else { return }
        let asking = Task { [weak self] in
            let answer: Result<[Route], any Error>
            do { answer = .success(try await resolver(subject).map { try $0.route() }) } catch {
                answer = .failure(error)
            }
            guard let self, endWait(wait) else { return }
            switch answer {
            case .success(let routes) where !routes.isEmpty: goOn(self, routes)
            case .success:
                endUnloaded(
                    LoadFailure.noWay(url, "The session's proxyResolver has named no way to the server."))
            case .failure(let error):
                endUnloaded(
                    LoadFailure.noWay(url, "The session's proxyResolver has failed: \(error)", cause: error))
            }
        }
        let isWanted = state.withLock { state in
            guard state.machine.isWaiting(for: wait) else { return false }
            state.asking = asking
            return true
        }
        if !isWanted { asking.cancel() }
    }

    /// Nobody waits for the resolver any more.
    func stopAskingForRoutes() {
        let asking = state.withLock { state in
            defer { state.asking = nil }
            return state.asking
        }
        asking?.cancel()
    }
}

extension ProxyRoute {
    /// The way as the engine takes it.
    func route() throws(ProxyFault) -> Route {
        switch self {
        case .direct: .direct()
        case .proxy(let configuration): .proxied(try configuration.server.get())
        }
    }
}

extension HopContent {
    /// Whether it can be sent from its beginning.
    fileprivate var isUntouched: Bool {
        switch self {
        case .none, .data, .file, .section: true
        case .stream(let source): source.isUntouched
        }
    }
}
