// Whom the user's password is for: the host and port of the URL that was named, and nobody that it leads to.

import Foundation
import URLLoading

extension Options {
    /// Who we are at a URL of the command line, and only there.
    func loginUsed(at url: URL) -> Login? { login ?? logins?.login(for: url) }
}

extension Login {
    /// What answers a challenge; nil where it is not this login's business, or was refused already.
    func credential(for challenge: URLAuthenticationChallenge, at url: URL) -> URLCredential? {
        let space = challenge.protectionSpace
        guard space.asksForPassword, !space.isProxy(), challenge.previousFailureCount == 0,
            space.host.lowercased() == url.host()?.lowercased(), space.port == url.usualPort
        else { return nil }
        return URLCredential(user: name, password: password ?? "", persistence: .forSession)
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
}
