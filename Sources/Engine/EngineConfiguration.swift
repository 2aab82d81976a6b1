// What a session tells its engine once, at its making.
//
// Must not know: URLSessionConfiguration, delegates, Foundation.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust

/// The settings of one engine; they never change after the engine is made.
package struct EngineConfiguration: Sendable {
    /// Most simultaneous connections per host (B16.1); values below 1 count as 1.
    package var maximumConnectionsPerHost = 6

    /// Which protocols servers are offered; what is plain and not known to speak HTTP/2 speaks HTTP/1.1.
    package var protocols = ProtocolOffer.http1

    /// How many shards the hosts are spread over; a number that cannot be counts as the nearest that can (B16.71).
    package var shards = 1 { didSet { shards = ShardRules.count(wanted: shards) } }

    /// Most connections that a shard keeps unused, over all its hosts; nil for what the process's limit
    /// of descriptors suggests.
    package var maximumIdleConnections: Int?

    /// How long an unused connection is kept (B16.6); a server's `Keep-Alive: timeout=` may shorten it.
    package var idleConnectionTimeout: Duration = .seconds(60)

    /// How old a connection is when it gets no new request; nil for no limit (B16.77).
    package var maximumConnectionLifetime: Duration?

    /// The lowest TLS version offered (B3.7).
    package var minimumTLSVersion: TLSVersion = .v12

    /// The highest TLS version offered (B3.7).
    package var maximumTLSVersion: TLSVersion = .v13

    /// Where TLS secrets are logged for a packet analyser; `nil` means never.
    package var keyLogFile: String?

    /// The evaluator that judges a server's certificates, at once on the loop, unless the receiver of a request answers
    /// questions.
    package var trust: any TrustEvaluator = SystemRootsEvaluator()

    /// The chooser of the client certificate that is shown to a server that asks for one, at once on
    /// the loop; `nil` for none.
    package var identity: (any IdentityChooser)?

    /// What connections must be like, whatever delegates answer (B3.77); `nil` demands nothing.
    package var transportSecurity: TransportSecurity?

    /// Where hosts are, in place of what a look-up says (`HostOverrides`).
    package var hostOverrides: [String: String] = [:]

    /// The address of ours from which connections are made, its port 0 unless it must be a certain one; `nil` leaves
    /// it to the system. Only addresses of the same family are connected to then; UNIX-domain sockets have none.
    package var localAddress: SocketAddress?

    /// The network interface over which connections are made, by its name; `nil` leaves it to the system.
    package var interface: String?

    /// For how long a connection may be on its way, from its look-up to its handshake's end; `nil` is no limit.
    package var connectionTimeout: Duration?

    /// After which silence, and how often then, the system asks whether a connection's peer is still there; `nil`
    /// leaves it to the system.
    package var connectionProbeInterval: Duration?

    /// Whether receivers that answer questions are asked about the certificates of servers, too.
    package var asksAboutServers = true

    /// What a CONNECT to a proxy says in User-Agent (B13.15); `nil` leaves the field out.
    package var connectUserAgent: String?

    /// What the first CONNECT on a connection to a proxy proves itself with, before that asks for it; called on the
    /// loop with CONNECT's target. Not called for requests that are forwarded: their proof is among their fields.
    package var tunnelProof: (@Sendable (ProxyServer, _ connectTarget: String) -> TunnelProof?)?

    /// What is known about names, and which service is asked; nil for the process's table and the system.
    package var names: LookupTable?

    /// How long a looked-up address is used again without asking, where the answer does not say
    /// for how long it is good.
    package var resolverCacheLifetime: Duration = .seconds(30)

    /// Makes what connects and what looks names up, on the loop, for each shard; `nil` for the system's.
    package var makeNetwork: (@Sendable (Reactor) -> (dialer: any Dialer, resolver: any Resolver))?

    /// Makes the watcher of the machine's network, on the loop, when the first request has to wait for it.
    package var makeConnectivityMonitor: @Sendable (Reactor) -> any ConnectivityMonitor = {
        SystemConnectivityMonitor(reactor: $0)
    }

    /// Is told of each step of a connection, on the loop, with the number of its shard.
    package typealias ConnectionObserver = @Sendable (_ shard: Int, _ step: ConnectionStep) -> Void

    /// The observer that follows connections; `nil` costs nothing.
    package var connectionObserver: ConnectionObserver?

    /// The settings that Apple documents as defaults (B1.9).
    package init() {}
}
