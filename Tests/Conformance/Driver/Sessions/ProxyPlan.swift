// The value of `proxy`, as the package's settings. Without one nothing goes through a proxy: the environment's do not
// count. Driver protocol, section 3.

import Foundation
import URLLoading

/// The proxy of a session.
struct ProxyPlan {
    private enum Kind {
        case http
        case socks5
    }

    private let kind: Kind
    private let host: String
    private let port: Int
    private let user: String?
    private let password: String?
    private let schemes: Set<String>
    private let bypass: [String]

    /// Reads the value.
    init(_ members: consuming Members) throws(Refusal) {
        var members = members
        guard let kind = try members.word("kind", Self.kinds) else { throw .badCommand("proxy: kind is missing") }
        self.kind = kind
        host = try members.requiredString("host")
        if host.isEmpty { throw .badCommand("proxy: host is empty") }
        guard let port = try members.integer("port"), (1...65_535).contains(port) else {
            throw .badCommand("proxy: port is not the number of one")
        }
        self.port = Int(port)
        user = try members.string("user")
        let password = try members.string("password")
        if user == nil, password != nil { throw .badCommand("proxy: there is a password without a user") }
        // The package takes neither or both.
        self.password = user.map { _ in password ?? "" }
        let schemes = try members.strings("schemes") ?? ["http", "https"]
        guard Set(schemes).isSubset(of: ["http", "https"]) else {
            throw .badCommand("proxy: schemes are not of http and https")
        }
        self.schemes = Set(schemes)
        bypass = try members.strings("bypass") ?? []
        try members.finish()
        // The package's settings have no SOCKS proxy for one scheme alone.
        if kind == .socks5, self.schemes.count == 1 { throw .unsupported("proxy: socks5 for one scheme") }
    }

    /// The value of `connectionProxyDictionary`.
    var dictionary: [AnyHashable: Any] {
        var dictionary: [AnyHashable: Any] = [kCFNetworkProxiesExceptionsList: bypass]
        switch kind {
        case .http:
            if schemes.contains("http") {
                dictionary[kCFNetworkProxiesHTTPEnable] = 1
                dictionary[kCFNetworkProxiesHTTPProxy] = host
                dictionary[kCFNetworkProxiesHTTPPort] = port
            }
            if schemes.contains("https") {
                dictionary[kCFNetworkProxiesHTTPSEnable] = 1
                dictionary[kCFNetworkProxiesHTTPSProxy] = host
                dictionary[kCFNetworkProxiesHTTPSPort] = port
            }
            dictionary[kCFProxyUsernameKey] = user
            dictionary[kCFProxyPasswordKey] = password
        case .socks5:
            guard !schemes.isEmpty else { break }
            dictionary[kCFNetworkProxiesSOCKSEnable] = 1
            dictionary[kCFNetworkProxiesSOCKSProxy] = host
            dictionary[kCFNetworkProxiesSOCKSPort] = port
            dictionary[kCFStreamPropertySOCKSUser] = user
            dictionary[kCFStreamPropertySOCKSPassword] = password
        }
        return dictionary
    }

    private static let kinds: [String: Kind] = ["http": .http, "socks5": .socks5]
}
