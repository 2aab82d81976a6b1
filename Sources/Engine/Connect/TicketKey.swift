// By what TLS tickets are kept. To the server a resumed session has the client's certificate of the first one, so a
// ticket serves only requests that could have used the connection that brought it: same place, same way, same judge.

import URLLoadingPolicy

/// The server that a ticket is for, and the connections that may use it.
enum TicketKey: Hashable {
    /// An origin, by a way, for a judge.
    case origin(PoolKey)
    /// A proxy, on the way to whichever origin, for a judge.
    case proxy(ProxyServer, ConnectionJudge)
}
