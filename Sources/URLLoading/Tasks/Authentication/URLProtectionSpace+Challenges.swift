// The protection spaces of what servers and proxies ask for over HTTP and SOCKS (B2.22, B2.23, B2.66).

import URLLoadingPolicy

extension URLProtectionSpace {
    /// The space of a challenge in an answer; `isTunnel` tells that a proxy was asked for a way to an https server.
    convenience init(_ space: AuthenticationSpace, isTunnel: Bool) {
        switch space.side {
        case .server(let origin, _):
            self.init(
                host: origin.host, port: origin.port, protocol: origin.scheme.name, realm: space.realm,
                authenticationMethod: space.method.constant)
        case .proxy(let proxy):
            self.init(
                proxyHost: proxy.host, port: proxy.port,
                type: isTunnel ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy, realm: space.realm,
                authenticationMethod: space.method.constant)
        }
    }

    /// The space of a SOCKS proxy that wants a user name and a password (B13.28).
    convenience init(socks proxy: ProxyServer) {
        self.init(
            proxyHost: proxy.host, port: proxy.port, type: NSURLProtectionSpaceSOCKSProxy, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodDefault)
    }

    /// Whether the session's delegate method is asked before the tasks' (B2.1, B2.101).
    var isSessionWide: Bool {
        switch authenticationMethod {
        case NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
            NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate:
            true
        default: false
        }
    }

    /// The space of this proxy for the other kind of URL. A credential that is stored for the one is meant for the
    /// other as well.
    var otherProxySpace: URLProtectionSpace? {
        let other: String? =
            switch proxyType {
            case NSURLProtectionSpaceHTTPProxy: NSURLProtectionSpaceHTTPSProxy
            case NSURLProtectionSpaceHTTPSProxy: NSURLProtectionSpaceHTTPProxy
            default: nil
            }
        return other.map {
            URLProtectionSpace(
                proxyHost: host, port: port, type: $0, realm: realm, authenticationMethod: authenticationMethod)
        }
    }
}

extension AuthenticationMethod {
    /// Apple's name.
    var constant: String {
        switch self {
        case .negotiate: NSURLAuthenticationMethodNegotiate
        case .ntlm: NSURLAuthenticationMethodNTLM
        case .digest: NSURLAuthenticationMethodHTTPDigest
        case .basic: NSURLAuthenticationMethodHTTPBasic
        }
    }
}
