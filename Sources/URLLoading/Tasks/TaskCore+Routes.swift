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

/// What is known of the resolver that is being asked.
struct RouteQuestion: Sendable {
    /// The call, and who looks at the clock meanwhile.
    var asking: Task<Void, Never>?
    var watch: Alarm?

    /// Ends both.
    mutating func stop() {
        asking?.cancel()
        watch?.cancel()
        asking = nil
        watch = nil
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
    /// Asks the session's resolver; the task can be cancelled meanwhile. The stage is `betweenHops`.
    func askForRoutes(of hop: Hop) {
        guard let session, let url = hop.request.url else { return }
        guard let resolver = session.settings.proxies.resolver else {
            return endUnloaded(
                LoadFailure.noWay(
                    url,
                    "Proxies are to be found by a configuration script, which nothing here can run; the session's "
                        + "configuration has no proxyResolver in its place."),
                from: .betweenHops)
        }
        let (wait, deadline) = state.withLock { ($0.beginWait(), $0.resourceDeadline) }
        guard let wait else {
            endUnloaded(LoadFailure.cancelled(url), from: .betweenHops)
            return
        }
        let asking = Task { [weak self] in
            do {
                let routes = try await resolver(SessionProxies.subject(url))
                self?.received(.success(routes), to: wait, for: hop)
            } catch {
                self?.received(.failure(error), to: wait, for: hop)
            }
        }
        let idle = LoopClock.elapsed + session.settings.idleTimeout(hop.request)
        let watch = Alarm(at: min(idle, deadline ?? idle)) { [weak self] in self?.routesTookTooLong(wait, url) }
        let isLate = state.withLock { state in
            guard state.isWaiting(for: wait) else { return true }
            state.routeQuestion.asking = asking
            state.routeQuestion.watch = watch
            return false
        }
        guard isLate else { return }
        asking.cancel()
        watch.cancel()
    }

    /// Nobody waits for the resolver any more.
    func stopAskingForRoutes() {
        state.withLock { $0.routeQuestion.stop() }
    }

    private func received(_ answer: Result<[ProxyRoute], any Error>, to wait: WaitNumber, for hop: Hop) {
        let isWanted = state.withLock { state in
            guard state.endWait(wait) else { return false }
            state.routeQuestion.stop()
            return true
        }
        guard isWanted else { return }
        let url = hop.request.url
        do {
            let routes = try answer.get().map { try $0.route() }
            guard !routes.isEmpty else {
                return endUnloaded(
                    LoadFailure.noWay(url, "The session's proxyResolver has named no way to the server."),
                    from: .betweenHops)
            }
            send(hop, by: routes[...])
        } catch {
            endUnloaded(
                LoadFailure.noWay(url, "The session's proxyResolver has failed: \(error)", cause: error),
                from: .betweenHops)
        }
    }

    private func routesTookTooLong(_ wait: WaitNumber, _ url: URL) {
        let isWanted = state.withLock { state in
            guard state.isWaiting(for: wait) else { return false }
            state.routeQuestion.stop()
            state.stage = .ended
            return true
        }
        guard isWanted else { return }
        endUnloaded(LoadFailure.make(.timedOut, url, "The session's proxyResolver did not answer in time."))
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
