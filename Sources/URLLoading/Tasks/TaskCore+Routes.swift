// A resolver of the session's is asked for the ways to a server (B13.31), for hops and for stream tasks.
//
// Must not know: what is set about proxies, how proxies are spoken to.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension TaskCore {
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
