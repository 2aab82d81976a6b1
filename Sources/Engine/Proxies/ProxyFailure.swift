// Why a proxy was of no use, told so that the error names the proxy and not the server behind it (B13.17 to B13.19,
// B13.27). Never with credentials.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// A proxy that did not open the way.
package struct ProxyFailure: Error, Sendable {
    /// Which proxy.
    package let proxy: ProxyServer
    /// What went wrong with it.
    package let reason: Reason

    /// What can go wrong with a proxy.
    package enum Reason: Error, Sendable {
        /// Its name could not be looked up.
        case lookup(ResolverFailure)
        /// None of its addresses accepted a connection, or it has none.
        case unreachable([EngineError.ConnectFailure])
        /// TLS with it failed, or it was not believed.
        case tls(TLSError)
        /// TLS with it broke while it forwarded a request.
        case tlsBroken(TLSError)
        /// It answered CONNECT with something other than 2xx and 407 (B13.17).
        case refused(ResponseHead)
        /// It answered CONNECT with 407, and there are no credentials, or no further ones, for it (B2.102).
        case authentication(ResponseHead)
        /// It answered CONNECT with something that is no HTTP.
        case garbage(WireError)
        /// It ended the connection in place of an answer (B13.19).
        case closed(SystemError?)
        /// It speaks SOCKS and said no (B13.22 to B13.25).
        case socks(SOCKSFailure)
        /// What was to be sent to it cannot be sent.
        case unsendable(WireError)
    }

    /// A failure.
    package init(_ proxy: ProxyServer, _ reason: Reason) {
        self.proxy = proxy
        self.reason = reason
    }
}

extension ProxyFailure: CustomStringConvertible {
    /// One sentence for a person.
    package var description: String {
        switch reason {
        case .lookup(let failure):
            return "The address of the proxy \(proxy) was not found. \(failure)"
        case .unreachable(let failures):
            return EngineError.unconnected("the proxy \(proxy)", isName: !proxy.host.contains(":"), failures)
        case .tls(let error), .tlsBroken(let error):
            return "TLS with the proxy \(proxy) failed: \(error)"
        case .refused(let head):
            return "The proxy \(proxy) did not open a tunnel: it answered with status \(head.status)."
        case .authentication:
            return "The proxy \(proxy) wants credentials, and was given none that it accepts."
        case .garbage(let error):
            return "The proxy \(proxy) does not answer as an HTTP proxy: \(error)"
        case .closed(let error):
            return "The proxy \(proxy) closed the connection in place of an answer\(error.map { " (\($0))" } ?? "")."
        case .socks(let failure):
            return "The proxy \(proxy) did not open a tunnel: \(failure)"
        case .unsendable(let error):
            return "The proxy \(proxy) cannot be asked: \(error)"
        }
    }
}
