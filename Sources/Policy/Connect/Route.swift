// The way to an origin. RFC 9110 §3.7 names the ways through others.

import URLLoadingWire

/// How connections to an origin are made.
package enum Route: Sendable, Hashable {
    /// Straight to the origin; a path replaces name and port by a UNIX-domain socket.
    case direct(overridePath: String? = nil)
    // Indirect, so that requests that need no proxy do not carry the room for one.
    /// Through a proxy.
    indirect case proxied(ProxyServer)

    package static func == (left: Route, right: Route) -> Bool {
        // Most ways are this one, and a pool compares them all the time.
        if case .direct(nil) = left {
            if case .direct(nil) = right { true } else { false }
        } else {
            isSame(left, right)
        }
    }

    private static func isSame(_ left: Route, _ right: Route) -> Bool {
        switch (left, right) {
        // To a file system other bytes are another socket.
        case (.direct(let left), .direct(let right)): left.hasSameBytes(as: right)
        case (.proxied(let left), .proxied(let right)): left == right
        case (.direct, _), (.proxied, _): false
        }
    }

    /// The proxy on the way, if there is one.
    package var proxy: ProxyServer? {
        switch self {
        case .direct: nil
        case .proxied(let proxy): proxy
        }
    }
}
