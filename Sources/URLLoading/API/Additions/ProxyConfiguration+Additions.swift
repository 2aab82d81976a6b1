// What `ProxyConfiguration` can do here beside what Apple's can: every kind of proxy by its URL, lists in the words of
// configuration scripts, and a description without secrets.

import URLLoadingPolicy

extension ProxyConfiguration {
    /// Ours: a proxy by its URL, as it is written in `http_proxy`: `http://`, `https://` (TLS with the proxy),
    /// `socks4://`, `socks4a://`, `socks5://` (names are looked up here), `socks5h://` (by the proxy), `unix:/path`, or
    /// without a scheme, which is http; user information is credentials. Nil for what is no such URL.
    ///
    /// Requests for http are sent to an HTTP proxy as they are, without a tunnel.
    public init?(url: String) {
        do throws(ProxyFault) {
            self.init(.success(try ProxyServer.read(url, source: "A ProxyConfiguration of the session")))
        } catch {
            return nil
        }
    }
}

extension ProxyConfiguration: CustomStringConvertible, CustomReflectable {
    /// The proxy as a URL, without credentials.
    public var description: String {
        switch server {
        case .success(let proxy): "\(proxy)"
        case .failure: "no proxy"
        }
    }

    /// What `dump` prints: the description, without a password.
    public var customMirror: Mirror {
        Mirror(self, children: ["proxy": description], displayStyle: .struct)
    }
}

/// Ours: one way to a server.
public enum ProxyRoute: Sendable {
    /// Without a proxy.
    case direct
    /// Through this proxy, whatever its domains say.
    case proxy(ProxyConfiguration)

    /// Ours: reads what the function of a configuration script returns, such as `"PROXY a:8080; SOCKS b; DIRECT"`; nil
    /// for what is no such list. `SOCKS` is version 5, as on Apple's platforms.
    public static func list(scriptAnswer: String) -> [ProxyRoute]? {
        let routes = try? Route.list(answer: scriptAnswer, source: "The answer")
        return routes?.map { route in
            switch route {
            case .direct: .direct
            case .proxied(let proxy): .proxy(ProxyConfiguration(.success(proxy)))
            }
        }
    }
}
