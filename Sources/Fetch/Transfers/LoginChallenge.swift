// Which servers the user's password and ticket are for: scheme, host and port of the URL that was named,
// and none that it leads to.

import Foundation
import URLLoading

extension Options {
    /// The login for a URL of the command line, and only there.
    func loginUsed(at url: URL) -> Login? { login ?? logins?.login(for: url) }

    /// What is done about a challenge on the way to a URL of the command line. Of several ways that a server offers
    /// those are refused that the user does not want, so that the next one is asked about.
    func answer(
        to challenge: URLAuthenticationChallenge, at url: URL
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let space = challenge.protectionSpace
        if let loginMethod, Login.isAsked(by: space, at: url), !loginMethod.answers(space) {
            return (.rejectProtectionSpace, nil)
        }
        guard let credential = credential(for: challenge, at: url) else { return (.performDefaultHandling, nil) }
        return (.useCredential, credential)
    }

    /// What answers a challenge on the way to a URL of the command line; nil for default
    /// handling, which shows no ticket.
    package func credential(for challenge: URLAuthenticationChallenge, at url: URL) -> URLCredential? {
        guard usesTicket, challenge.protectionSpace.asksForTicket else {
            return loginUsed(at: url)?.credential(for: challenge, at: url)
        }
        // The user has chosen the proxies too, on the command line or by the environment.
        let isMeant = challenge.protectionSpace.isProxy() || challenge.protectionSpace.isOwn(of: url)
        return isMeant ? .kerberosTicket : nil
    }
}

extension LoginMethod {
    /// Whether a password is shown in the way that is asked for.
    fileprivate func answers(_ space: URLProtectionSpace) -> Bool {
        switch self {
        case .asked: true
        case .basic: space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
        case .digest: space.authenticationMethod == NSURLAuthenticationMethodHTTPDigest
        case .ntlm: space.authenticationMethod == NSURLAuthenticationMethodNTLM
        }
    }
}

extension Login {
    /// What answers a challenge; nil where it is not this login's business, or was refused already.
    func credential(for challenge: URLAuthenticationChallenge, at url: URL) -> URLCredential? {
        guard challenge.previousFailureCount == 0, Self.isAsked(by: challenge.protectionSpace, at: url) else {
            return nil
        }
        return URLCredential(user: name, password: password ?? "", persistence: .forSession)
    }

    /// Whether a server asks that is the URL's own. Another scheme is another server: what was meant for TLS must not
    /// be sent in clear.
    package static func isAsked(by space: URLProtectionSpace, at url: URL) -> Bool {
        space.asksForPassword && space.isOwn(of: url)
    }
}

extension URLProtectionSpace {
    fileprivate var asksForPassword: Bool {
        [
            NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
            NSURLAuthenticationMethodNTLM,
        ].contains(authenticationMethod)
    }

    fileprivate var asksForTicket: Bool { authenticationMethod == NSURLAuthenticationMethodNegotiate }

    /// Whether it is the server's that a URL names.
    fileprivate func isOwn(of url: URL) -> Bool {
        !isProxy() && host.lowercased() == url.host()?.lowercased() && port == url.usualPort
            && self.protocol?.lowercased() == url.challengeScheme
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
