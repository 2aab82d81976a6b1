// The ways of a hop: those that are set, or those that the session's resolver names (B13.31).
//
// Must not know: what is set about proxies, how proxies are spoken to.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension HopPreparation {
    /// Finds the ways by which the hop may be sent.
    mutating func findWay() -> Step? {
        switch hop.message?.ways {
        case .direct: return .submission
        case .routes(let routes): return choose(among: routes[...])
        case .automatic: return askForRoutes()
        case .unusable(let fault): return end(LoadFailure.unusableProxy(request.url, fault))
        // Nothing was written down.
        case nil: return end(LoadFailure.cancelled(request.url))
        }
    }

    private func askForRoutes() -> Step? {
        guard let url = request.url else { return end(LoadFailure.unsupportedURL(nil, "The request has no URL.")) }
        let limit = LoopClock.elapsed + session.settings.idleTimeout(request)
        // A resolver may never answer: what it would answer to does not hold the task.
        RouteInquiry(task: task, subject: SessionProxies.subject(url), url: url).begin(until: limit) {
            [hop] task, routes in
            guard var preparation = task.hops.preparation(of: hop), let step = preparation.choose(among: routes[...])
            else {
                return
            }
            preparation.go(from: step)
        }
        return nil
    }

    /// The first of these ways is taken; the others are for when that does not lead anywhere.
    private mutating func choose(among routes: ArraySlice<Route>) -> Step? {
        guard let route = routes.first else {
            return end(LoadFailure.noWay(request.url, "There is no way to the server."))
        }
        hop.route = route
        hop.otherRoutes = routes.dropFirst()
        return .submission
    }

    /// Goes by the ways that are left, after one has led nowhere.
    fileprivate mutating func goRound() {
        // B15.11: a web socket's URL is of another scheme, too, and its handshake is a request of HTTP.
        let isByFTP = hop.webSocket == nil && isOfAnotherScheme
        if let step = isByFTP ? goRoundByFTP() : choose(among: hop.otherRoutes) { go(from: step) }
    }
}

extension TaskHops {
    /// Sends a hop by the ways that are left, after one has led nowhere.
    func goRound(by reroutable: ReroutableHop) {
        var preparation = preparation(of: reroutable.hop)
        preparation?.goRound()
    }
}
