// A request as authentication sees it: which server or proxy may refuse it, and what of it a proof covers.

import URLLoadingPolicy
import URLLoadingWire

extension TransactionRequest {
    /// The sides that may refuse the request by a status: the server and, where the request itself goes to one, the
    /// proxy. A proxy that opens tunnels refuses the connection instead (`ProxyQuestion`).
    package var sides: [AuthenticationSide] {
        switch route {
        case .direct(let path): [.server(origin, socket: path)]
        case .proxied(let proxy) where proxy.forwards(origin.scheme): [.server(origin), AuthenticationSide(proxy)]
        case .proxied: [.server(origin)]
        }
    }

    /// The parts that a proof to a side depends on, as it sees them (B2.85): a proxy that forwards the request gets an
    /// absolute URL, and makes origin form of it for the server (RFC 9112 §3.2.1).
    package func authenticated(for side: AuthenticationSide) -> AuthenticatedRequest {
        let isForwarded = route.proxy?.forwards(origin.scheme) ?? false
        let seen =
            switch side {
            case .proxy where isForwarded: wireHead(withoutExpectation: false, absoluteTarget: true)
            case .proxy, .server: head
            }
        return AuthenticatedRequest(method: seen.method, target: seen.target, body: authenticatedBody)
    }

    private var authenticatedBody: AuthenticatedRequest.Body {
        switch body {
        case .none: .empty
        case .bytes, .file, .section: .replayable
        case .stream: .unrepeatable
        }
    }
}

extension TransactionHandle {
    /// The side that refuses this request by such a status; nil for a 407 from where no proxy answers requests.
    package func side(refusingWith status: Int) -> AuthenticationSide? {
        request.sides.first { $0.refusal == status }
    }

    /// The parts of the request that a proof to a side depends on.
    package func authenticated(for side: AuthenticationSide) -> AuthenticatedRequest {
        request.authenticated(for: side)
    }
}
