// How long a connection may take, how old it may become, and when its peer is asked whether it is there. Ours:
// Apple's loader has none of it.

import Foundation

extension URLSessionConfiguration {
    /// Ours: for how many seconds a connection gets new requests, counted from its opening; nil, the default,
    /// for as long as it is used.
    ///
    /// A connection that is always busy stays with the server that it was opened to, although the name leads elsewhere
    /// by now: a load balancer has got another machine, or has lost one. A greatest age makes the session look the name
    /// up again. What a connection that old carries goes on to its end: over HTTP/1.1 it is closed after its exchange,
    /// over HTTP/2 after all that it carries, while a new one serves what comes. Zero, and numbers below, give each
    /// connection only the requests it was opened for; not-a-number and infinity are no limit. Web sockets and stream
    /// tasks have connections of their own, which live as long as they do. A background session that has it carries its
    /// transfers in the program itself.
    public var maximumConnectionLifetime: TimeInterval? {
        get { value(\.maximumConnectionLifetime) }
        set { assign(\.maximumConnectionLifetime, newValue) }
    }

    /// Ours: how many seconds a connection may take, from the look-up of the host's name to the end of its handshake;
    /// nil, the default, as long as the request's time-out allows.
    ///
    /// A request that waits for an answer may need minutes where a connection never takes more than a moment: this
    /// limit lets the load fail, with `URLError.timedOut`, as soon as it is clear that there is no server. It counts
    /// for each connection by itself, with the dialogue with a proxy, and where there are several ways
    /// (`proxyConfigurations`) for each of them. While a delegate is asked about the connection the time stands
    /// still. Zero, numbers below and not-a-number are no limit. A background session that has it carries its
    /// transfers in the program itself.
    public var timeoutIntervalForConnection: TimeInterval? {
        get { value(\.timeoutIntervalForConnection) }
        set { assign(\.timeoutIntervalForConnection, newValue) }
    }

    /// Ours: after how many seconds of silence the system asks a connection's other end whether it is still there
    /// (TCP keep-alive), and how long it waits before it asks again; nil, the default, as the system is set,
    /// which usually is two hours.
    ///
    /// This notices a server that has vanished under a load that waits for a long time, such as server-sent events, and
    /// keeps routers on the way from forgetting the connection. After nine questions without an answer (Linux's number)
    /// the connection is lost. So it is where bytes that were sent are not acknowledged, or none are taken, for ten
    /// times as many seconds. Whole seconds from 1 to 32,767; what is between is rounded up. Zero, numbers below and
    /// not-a-number are as nil. A background session that has it carries its transfers in the program itself.
    public var connectionProbeInterval: TimeInterval? {
        get { value(\.connectionProbeInterval) }
        set { assign(\.connectionProbeInterval, newValue) }
    }
}
