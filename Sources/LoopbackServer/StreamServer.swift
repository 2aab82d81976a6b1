// A server without a socket: it serves the streams that it is given, on their loop, for what is played in memory. It
// speaks without TLS.

import URLLoadingSystem

/// Serves streams. Confined to its reactor's loop, which has to outlive it.
package final class StreamServer {
    private let core: ServerCore
    private let figures = ObservedStatistics()

    /// A server on a loop.
    package init(
        on reactor: Reactor, options: LoopbackServer.Options = LoopbackServer.Options(),
        router: @escaping LoopbackServer.Router
    ) {
        let key = ResidentKey<ServerCore>()
        core = ServerCore(
            key: key, reactor: reactor, loop: reactor.loop, options: options, context: nil, router: router,
            figures: figures
        )
        reactor.setResident(key, core)
    }

    /// Serves a client at the other end of a stream; the first has the number 1.
    package func serve(_ stream: any AbortiveStream) { core.serve(stream) }

    /// Closes every connection.
    package func closeConnections() { core.closeConnections() }

    /// What the server has seen until now.
    package var stats: ServerStatistics { figures.current }
}
