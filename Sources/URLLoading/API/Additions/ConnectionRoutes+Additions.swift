// Settings of ours about the way to a server: whose word counts about proxies, and sockets, addresses and interfaces.

import Foundation

extension URLSessionConfiguration {
    /// Ours: whether the proxy variables of the environment count (B13.3) where `connectionProxyDictionary` is nil and
    /// there are no other settings about proxies; true unless set. They are read when the session is made.
    public var usesProxyEnvironment: Bool {
        get { value(\.usesProxyEnvironment) }
        set { assign(\.usesProxyEnvironment, newValue) }
    }

    /// Ours: answers with the ways to a URL, best first (B13.31).
    public typealias ProxyResolver = @Sendable (URL) async throws -> [ProxyRoute]

    /// Ours: the closure that is asked for the way to each URL, in place of a configuration script, which nothing here
    /// can run.
    ///
    /// It is asked for every hop of every load, except about hosts that `ExceptionsList` or `ExcludeSimpleHostnames` of
    /// the dictionary leave out, and wins over all other settings about proxies. It sees scheme, host and port, and of
    /// http URLs path and query, never user information. The ways are tried in order until one leads to the server. A
    /// resolver that throws or answers with none makes the load fail with `CFNetworkErrors.cfErrorPACFileError` as the
    /// underlying error, one that takes longer than the request's time-out with `URLError.timedOut`. It is not asked
    /// about FTP, which then fails.
    public var proxyResolver: ProxyResolver? {
        get { value(\.proxyResolver) }
        set { assign(\.proxyResolver, newValue) }
    }

    /// Ours: the UNIX-domain socket to which all connections go, whatever the URLs' hosts and whatever is set about
    /// proxies; nil, the default, for none. Host field, SNI and certificates stay the URL's.
    public var unixSocketPath: String? {
        get { value(\.unixSocketPath) }
        set { assign(\.unixSocketPath, newValue) }
    }

    /// Ours: the numeric address of this machine from which connections are made; nil, the default, leaves it to the
    /// system. Only servers with an address of the same family can then be reached; a text that is no address makes
    /// all loads fail.
    public var localAddress: String? {
        get { value(\.localAddress) }
        set { assign(\.localAddress, newValue) }
    }

    /// Ours: the name of the network interface over which connections are made, such as `eth0`; nil, the default,
    /// leaves it to the system.
    public var networkInterface: String? {
        get { value(\.networkInterface) }
        set { assign(\.networkInterface, newValue) }
    }
}

extension URLRequest {
    /// Ours: the UNIX-domain socket to which this request goes, in place of its URL's host and whatever is set about
    /// proxies; nil, the default, for none. A redirect to another scheme, host or port leaves it.
    /// Caches and the storage of credentials have no part in such a request, and its cookies are kept apart.
    public var unixSocketPath: String? {
        get { values.unixSocketPath }
        set { values.unixSocketPath = newValue }
    }
}
