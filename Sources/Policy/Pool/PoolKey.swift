// What two requests must have in common to share a connection (B16.2).

/// Names a request; chosen by the pool's driver.
package typealias RequestID = Int

/// Names a connection from its dial to its end; chosen by `PoolMachine`, never given out twice.
package typealias ConnectionID = Int

/// Requests with equal keys may use each other's connections.
package struct PoolKey: Sendable {
    /// Scheme, host and port of the server.
    package let origin: Origin
    /// The way to the server.
    package let route: Route
    /// Whose judgement the connection stands by. A session's TLS settings are the same for all its
    /// connections to an origin.
    package let judge: ConnectionJudge
    /// Which protocols it may speak.
    package let protocols: ProtocolOffer

    /// Whether the requests on its connections name their origins themselves: plain http through an HTTP proxy. The
    /// origin is then the proxy's `endpoint`, so that all of them share connections (B13.13, B13.33).
    package var isForwarding: Bool {
        switch route {
        case .direct: false
        case .proxied(let proxy): proxy.forwards(origin.scheme)
        }
    }

    /// The key of requests to an origin on a route, whose connections have this judge. Where nothing is judged on the
    /// way the judge does not count; and where no protocol can be agreed on it is HTTP/1.1.
    package init(
        toReach origin: Origin, by route: Route, judge: ConnectionJudge = .session, protocols: ProtocolOffer = .http1
    ) {
        let judge = Self.isJudged(origin, by: route) ? judge : .session
        let protocols = Self.possible(protocols, origin, by: route)
        self.init(
            origin: Self.end(ofWayTo: origin, by: route), route: route, judge: judge, protocols: protocols)
    }

    /// Where connections lead that serve an origin by a route: to a proxy that forwards, else to the origin.
    package static func end(ofWayTo origin: Origin, by route: Route) -> Origin {
        switch route {
        case .proxied(let proxy) where proxy.forwards(origin.scheme): proxy.endpoint
        case .direct, .proxied: origin
        }
    }

    /// H1.3, H1.4, H1.8: what is plain speaks HTTP/2 by prior knowledge only, and never to a
    /// proxy; what is under TLS asks.
    private static func possible(_ protocols: ProtocolOffer, _ origin: Origin, by route: Route) -> ProtocolOffer {
        switch (origin.scheme, protocols) {
        case (_, .http1): return .http1
        case (_, .nothing): return .nothing
        case (.https, .http2OrHTTP1), (.https, .http2): return .http2OrHTTP1
        case (.http, .http2OrHTTP1): return .http1
        case (.http, .http2):
            if case .proxied(let proxy) = route, proxy.forwards(.http) { return .http1 }
            return .http2
        }
    }

    /// Whether certificates are shown on the way to an origin: its own, or those of a proxy
    /// that is spoken to under TLS.
    package static func isJudged(_ origin: Origin, by route: Route) -> Bool {
        switch (origin.scheme, route) {
        case (.https, _): true
        case (.http, .direct): false
        case (.http, .proxied(let proxy)): proxy.kind == .https
        }
    }

    /// The key of connections that are the same but for the judge, which is the session.
    package var judgedBySession: PoolKey { PoolKey(origin: origin, route: route, protocols: protocols) }

    /// The key of connections that are the same but speak HTTP/1.1.
    package var speakingHTTP1: PoolKey { PoolKey(origin: origin, route: route, judge: judge, protocols: .http1) }

    /// Makes a key.
    package init(
        origin: Origin, route: Route = .direct(), judge: ConnectionJudge = .session, protocols: ProtocolOffer = .http1
    ) {
        self.origin = origin
        self.route = route
        self.judge = judge
        self.protocols = protocols
    }
}

extension PoolKey: Hashable {
    // Measured: as a function that the compiler writes, it is called with copies of both.
    /// Whether requests of the one may use connections of the other.
    @inline(__always)
    package static func == (left: PoolKey, right: PoolKey) -> Bool {
        left.judge == right.judge && left.protocols == right.protocols && left.origin == right.origin
            && left.route == right.route
    }

    /// Hashes origin and judge; the routes and protocols of one origin are too few to be told apart by it.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(judge)
    }
}
