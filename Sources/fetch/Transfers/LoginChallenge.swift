// Whom the user's password is for: scheme, host and port of the URL that was named, and nobody that it leads to.

import Foundation
import URLLoading

extension Options {
    /// Who we are at a URL of the command line, and only there.
    func loginUsed(at url: URL) -> Login? { login ?? logins?.login(for: url) }
}

extension Login {
    /// What answers a challenge; nil where it is not this login's business, or was refused already.
    func credential(for challenge: URLAuthenticationChallenge, at url: URL) -> URLCredential? {
        guard challenge.previousFailureCount == 0, Self.isAsked(by: challenge.protectionSpace, at: url) else {
            return nil
        }
        return URLCredential(user: name, password: password ?? "", persistence: .forSession)
    }

    /// Whether a server asks that is the URL's own. Another scheme is another server: what was meant for TLS must not be
    /// sent in clear.
    package static func isAsked(by space: URLProtectionSpace, at url: URL) -> Bool {
        space.asksForPassword && !space.isProxy() && space.host.lowercased() == url.host()?.lowercased()
            && space.port == url.usualPort && space.protocol?.lowercased() == url.challengeScheme
    }
}

extension URLProtectionSpace {
    fileprivate var asksForPassword: Bool {
        [
            NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
            NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
        ].contains(authenticationMethod)
    }
}

extension URL {
    /// The port, or the scheme's own.
    fileprivate var usualPort: Int {
        port ?? ["http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "ftps": 990][scheme?.lowercased() ?? ""]
            ?? 0
    }

    /// The scheme as challenges name it: a web socket begins as a request of HTTP.
    fileprivate var challengeScheme: String? {
        let scheme = scheme?.lowercased()
        return ["ws": "http", "wss": "https"][scheme ?? ""] ?? scheme
    }
}
