// The ways of a hop: those that are set, or those that the session's resolver names (B13.31).
//
// Must not know: what is set about proxies, how proxies are spoken to.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension HopPreparation {
    /// Finds the ways by which the hop may be sent.
    func findWay(of hop: Hop) -> Step? {
        switch hop.message.ways {
        case .direct: return .submission(hop, by: .direct(), otherwise: [])
        case .routes(let routes): return send(hop, byFirstOf: routes[...])
        case .automatic: return askForRoutes(of: hop)
        case .unusable(let fault): return end(LoadFailure.unusableProxy(request.url, fault))
        }
    }

    private func askForRoutes(of hop: Hop) -> Step? {
        guard let url = request.url else { return end(LoadFailure.unsupportedURL(nil, "The request has no URL.")) }
        let limit = LoopClock.elapsed + session.settings.idleTimeout(request)
        // A resolver may never answer: what it would answer to does not hold the task.
        task.askForRoutes(to: SessionProxies.subject(url), for: url, until: limit) { [request] task, routes in
            task.load(by: Detour(of: request, hop, by: routes[...]))
        }
        return nil
    }

    /// By the first of these ways; the others are for when that does not lead anywhere.
    fileprivate func send(_ hop: Hop, byFirstOf routes: ArraySlice<Route>) -> Step? {
        guard let route = routes.first else {
            return end(LoadFailure.noWay(request.url, "There is no way to the server."))
        }
        return .submission(hop, by: route, otherwise: routes.dropFirst())
    }
}

extension TaskCore {
    /// Sends a hop by the ways that there are, or are left after one has led nowhere.
    func load(by detour: Detour) {
        guard let preparation = preparation(of: detour.request),
            let step = preparation.send(detour.hop, byFirstOf: detour.routes)
        else { return }
        preparation.go(from: step)
    }
}
