// How old connections may become. Ours: Apple's loader keeps one for as long as it is used.

import Foundation

extension URLSessionConfiguration {
    /// Ours: for how many seconds a connection gets new requests, counted from its opening; nil, the default, for as long as it is used.
    ///
    /// A connection that is always busy stays with the server that it was opened to, although the name leads elsewhere by now: a load
    /// balancer has got another machine, or has lost one. A greatest age makes the session look the name up again. What a connection
    /// that old carries goes on to its end: over HTTP/1.1 it is closed after its exchange, over HTTP/2 after all that it carries, while
    /// a new one serves what comes. Zero, and numbers below, give each connection only the requests it was opened for; not-a-number and
    /// infinity are no limit. Web sockets and stream tasks have connections of their own, which live as long as they do. Background
    /// sessions do not know this setting.
    public var maximumConnectionLifetime: TimeInterval? {
        get { value(\.maximumConnectionLifetime) }
        set { assign(\.maximumConnectionLifetime, newValue) }
    }
}
