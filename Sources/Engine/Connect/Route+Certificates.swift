// What asks for our certificate on the way to an origin.

import URLLoadingPolicy
import URLLoadingTrust

extension Route {
    /// What a handshake is with: the proxy on the way, or the server at its end.
    func certificateSeeker(isProxy: Bool) -> CertificateSeeker {
        switch self {
        case .direct(nil): .server
        case .direct: .socket
        case .proxied(let proxy):
            if isProxy { proxy.path == nil ? .proxy : .socket } else { .server }
        }
    }
}
