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
