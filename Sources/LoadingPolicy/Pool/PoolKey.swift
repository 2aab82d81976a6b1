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
    /// Identity of the TLS settings the connection was made with.
    package let tlsSettings: Int

    /// Whether the requests on its connections name their origins themselves: plain http through an HTTP proxy. The
    /// origin is then the proxy's `endpoint`, so that all of them share connections (B13.13, B13.33).
    package var isForwarding: Bool {
        switch route {
        case .direct: false
        case .proxied(let proxy): proxy.forwards(origin.scheme)
        }
    }

    /// The key of requests to an origin on a route.
    package init(toReach origin: Origin, by route: Route) {
        switch route {
        case .proxied(let proxy) where proxy.forwards(origin.scheme): self.init(origin: proxy.endpoint, route: route)
        case .direct, .proxied: self.init(origin: origin, route: route)
        }
    }

    /// Makes a key.
    package init(origin: Origin, route: Route = .direct(), tlsSettings: Int = 0) {
        self.origin = origin
        self.route = route
        self.tlsSettings = tlsSettings
    }
}

extension PoolKey: Hashable {
    // Measured: as a function that the compiler writes, it is called with copies of both.
    /// Whether requests of the one may use connections of the other.
    @inline(__always)
    package static func == (left: PoolKey, right: PoolKey) -> Bool {
        left.tlsSettings == right.tlsSettings && left.origin == right.origin && left.route == right.route
    }

    /// Hashes origin and settings; the routes to one origin are too few to be told apart by it.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(tlsSettings)
    }
}
