// Which server or proxy asks, in which way and for which of its realms. Behaviour B2.22, B2.23, B2.31, B2.100. It must
// not know credentials, storages or delegates.

import URLLoadingWire

/// A way to authenticate over HTTP that this package speaks; the strongest first (B2.31).
package enum AuthenticationMethod: Sendable, Hashable, CaseIterable {
    /// RFC 4559: Kerberos through the system's library.
    case negotiate
    /// MS-NLMP, version 2 only.
    case ntlm
    /// RFC 7616.
    case digest
    /// RFC 7617.
    case basic

    /// The scheme's name in fields.
    package var scheme: String {
        switch self {
        case .negotiate: "Negotiate"
        case .ntlm: "NTLM"
        case .digest: "Digest"
        case .basic: "Basic"
        }
    }

    /// Whether what is proven holds for the connection and nothing else (B2.93).
    package var bindsConnection: Bool {
        switch self {
        case .negotiate, .ntlm: true
        case .digest, .basic: false
        }
    }
}

/// The side that asks: a server, or a proxy on the way to it.
package enum AuthenticationSide: Sendable, Hashable {
    /// A server, by 401. Behind a socket of this path another one answers to the same name than in the network.
    case server(Origin, socket: String? = nil)
    /// A proxy, by 407 (B2.100).
    case proxy(ProxyServer)

    /// A proxy, whatever it is used for: tunnels and requests that it forwards are refused by the same
    /// one, for the same users.
    package init(_ proxy: ProxyServer) {
        var proxy = proxy
        proxy.tunnelsAlways = false
        self = .proxy(proxy)
    }

    package static func == (left: AuthenticationSide, right: AuthenticationSide) -> Bool {
        switch (left, right) {
        case (.server(let left, let socket), .server(let right, let other)):
            // To a file system other bytes are another socket.
            left == right && socket.hasSameBytes(as: other)
        case (.proxy(let left), .proxy(let right)): left == right
        case (.server, _), (.proxy, _): false
        }
    }

    /// The status that refuses a request.
    package var refusal: Int {
        switch self {
        case .server: 401
        case .proxy: 407
        }
    }

    /// The field that holds its challenges.
    package var challengeField: FieldName {
        switch self {
        case .server: .wwwAuthenticate
        case .proxy: .proxyAuthenticate
        }
    }

    /// The field that answers them.
    package var authorizationField: FieldName {
        switch self {
        case .server: .authorization
        case .proxy: .proxyAuthorization
        }
    }

    /// The field that tells more after a success.
    package var infoField: FieldName {
        switch self {
        case .server: .authenticationInfo
        case .proxy: .proxyAuthenticationInfo
        }
    }

    /// Its host, as it names the service to Kerberos and NTLM.
    package var host: String {
        switch self {
        case .server(let origin, _): origin.matchingHost
        case .proxy(let proxy): proxy.host
        }
    }
}

/// A realm of a server or proxy and a way to authenticate in it (B2.22): what one credential is good for.
package struct AuthenticationSpace: Sendable, Hashable {
    /// The side that asks.
    package let side: AuthenticationSide
    /// The realm; nil for methods that have none.
    package let realm: String?
    /// The way.
    package let method: AuthenticationMethod

    // A realm is compared byte for byte, as servers do.
    package static func == (left: AuthenticationSpace, right: AuthenticationSpace) -> Bool {
        left.method == right.method && left.realm.hasSameBytes(as: right.realm) && left.side == right.side
    }

    /// Makes a space.
    package init(side: AuthenticationSide, realm: String?, method: AuthenticationMethod) {
        self.side = side
        self.realm = realm
        self.method = method
    }
}
