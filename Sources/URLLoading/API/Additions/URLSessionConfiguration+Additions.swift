// Settings that Apple's API does not have. They are ours, and documented as such.

import Foundation

extension URLSessionConfiguration {
    /// Ours: where hosts are, in place of what a look-up says: `["api.example.com": "127.0.0.1"]`.
    ///
    /// The name stays in the Host field and in what the server's certificate must show. Several addresses stand in one
    /// text with commas, and are tried in their order as those of a look-up are. With a port (`"127.0.0.1:8443"`,
    /// `"[::1]:8443"`) the connection is made to that port. In place of addresses there may be one other name, with a
    /// port or without, which is then looked up, or a port alone (`":8443"`). `"api.example.com:443"` is for one port
    /// of the URL alone and comes first; `"*:443"` and `"*"` are for all names that have nothing of their own. With
    /// `requiresDNSSECValidation` only addresses count as known.
    public var hostOverrides: [String: String] {
        get { value(\.hostOverrides) }
        set { assign(\.hostOverrides, newValue) }
    }

    /// Ours: how the certificates of servers are judged.
    public var serverTrustEvaluation: ServerTrustEvaluation {
        get { value(\.serverTrustEvaluation) }
        set { assign(\.serverTrustEvaluation, newValue) }
    }

    /// Ours: whether delegates are asked about the certificates of servers (`NSURLAuthenticationMethodServerTrust`), as
    /// on Apple's platforms. Without, `serverTrustEvaluation` alone decides. Delegates are still asked for passwords,
    /// and the session's for client certificates; a connection then serves all tasks, whatever delegates they have. It
    /// also decides what the cache may give to a session whose delegate has a method for challenges: while that one may
    /// have another opinion of a server, only what the session itself has stored (docs/caching.md).
    public var asksDelegatesAboutServers: Bool {
        get { value(\.asksDelegatesAboutServers) }
        set { assign(\.asksDelegatesAboutServers, newValue) }
    }

    /// Ours: the certificates for servers that ask for one, where no delegate is asked or a delegate leaves it to
    /// default handling. Comes before what `urlCredentialStorage` has for a server.
    public var clientIdentities: ClientIdentities {
        get { value(\.clientIdentities) }
        set { assign(\.clientIdentities, newValue) }
    }

    /// Ours: what connections must be like, in the words of App Transport Security; nil, the default, demands nothing
    /// beyond the rest of the configuration (B3.85).
    public var appTransportSecurity: AppTransportSecurity? {
        get { value(\.appTransportSecurity) }
        set { assign(\.appTransportSecurity, newValue) }
    }

    /// Ours: the hosts to which the user's Kerberos ticket is shown without a question where they ask for
    /// Negotiate, over http too: `"intranet.example"` is this host, and `"*.corp.example"` every host below that
    /// domain, but not the domain itself. Empty, the default, names no host, and so does an entry that is no
    /// host, such as one with a scheme or a port. A server that is not named is shown the ticket only if a
    /// delegate says so, with `URLCredential.kerberosTicket`; default handling never does. Proxies that the
    /// configuration itself names (`proxyConfigurations`, `connectionProxyDictionary`, `proxyResolver`) count as
    /// named here; those of the environment do not.
    public var negotiateHosts: Set<String> {
        get { value(\.negotiateHosts) }
        set { assign(\.negotiateHosts, newValue) }
    }

    /// Ours: the file to which the secrets of TLS connections are appended, so that a packet analyser can read the
    /// traffic; `nil`, the default, means never. Where it does not exist it is made, for its owner alone. What is
    /// no regular file, such as a pipe or a terminal, is not written to: as with one that cannot be opened, https
    /// fails with `secureConnectionFailed`.
    public var tlsKeyLogFile: URL? {
        get { value(\.tlsKeyLogFile) }
        set { assign(\.tlsKeyLogFile, newValue) }
    }

    /// Ours: over how many threads the hosts are spread that a session speaks to. 1, the default, is one thread
    /// for all that it sends and receives. More are for programs that load so much from many hosts that one
    /// processor is too busy with it.
    ///
    /// A host belongs to one of the threads with all its connections, so that `httpMaximumConnectionsPerHost` and the
    /// order of requests are what they are with one thread, and a program that loads from one host gains nothing; what
    /// a proxy forwards without a tunnel belongs to the proxy's host. A thread starts when it first has something to
    /// do. Numbers below 1 count as 1 and those above 64 as 64 (B16.71); more threads than processors gain nothing.
    /// `URLSession.taskExecutor` is the first of them. Background sessions do not know this setting.
    public var engineShards: Int {
        get { value(\.engineShards) }
        set { assign(\.engineShards, newValue) }
    }

    /// Ours: whether tasks of these sessions wait for their `earliestBeginDate`. Apple's documents say that the date
    /// has an effect in background sessions only, so this is off unless set.
    public var honorsEarliestBeginDate: Bool {
        get { value(\.honorsEarliestBeginDate) }
        set { assign(\.honorsEarliestBeginDate, newValue) }
    }

    /// Ours: whether web sockets offer to compress messages (permessage-deflate, RFC 7692), which a server
    /// may take up or not. Apple's do not, so this is off unless set (B15.10). A web socket that compresses
    /// holds some 300 KB for it.
    public var compressesWebSocketMessages: Bool {
        get { value(\.compressesWebSocketMessages) }
        set { assign(\.compressesWebSocketMessages, newValue) }
    }
}
