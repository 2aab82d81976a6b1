// The only door into the engine that may be used from any thread.
//
// An engine belongs to one session. It has shards, one unless more are wanted, each pinned to one loop, and every host
// belongs to one of them: its connections, transactions and TLS tickets live there and are reachable from nowhere else,
// so none of them needs a lock. What crosses the threads is a `TransactionRequest` on the way in and whatever the
// request's receiver passes on at the way out. Handles know their shard; what concerns the whole engine is told to all.
//
// Must not know: URLSession, delegates, Foundation.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTrust

/// Carries out the requests of one session.
package final class Engine: Sendable {
    /// The ways to its shards.
    private let ports: [EnginePort]

    /// Makes an engine on loops of the process's; nothing is opened before the first request.
    package convenience init(configuration: EngineConfiguration) {
        self.init(configuration: configuration, loops: LoopGroup.shared.next(configuration.shards))
    }

    /// Makes an engine on these loops, at least one; where there are fewer than shards, some share one.
    package init(configuration: EngineConfiguration, loops: [Loop]) {
        ports = (0..<configuration.shards).map {
            EnginePort(shard: $0, loop: loops[$0 % loops.count], configuration: configuration)
        }
        #if DEBUG
            // Trust does not know loops.
            FileWatch.listener.withLock { $0 = { LoopWatch.note($0) } }
        #endif
    }

    deinit {
        shutDown(immediately: false)
    }

    /// The loop of the first shard, on which everything of an engine with one shard happens.
    package var loop: Loop { ports[0].loop }

    /// Whether the calling thread is a loop's of this engine.
    package var isOnLoop: Bool { ports.contains { $0.loop.isCurrent } }

    // MARK: Loads

    /// Starts a request; everything that comes of it reaches the request's receiver.
    @discardableResult
    package func submit(_ request: consuming TransactionRequest) -> TransactionHandle {
        // Where there is one shard, nothing is reckoned.
        let port =
            ports.count == 1
            ? ports[0] : port(toReach: request.origin, by: request.route, continuing: request.continues)
        let handle = TransactionHandle(request, port: port)
        port.submit(handle)
        return handle
    }

    /// Starts an FTP transfer; everything that comes of it reaches the request's receiver.
    @discardableResult
    package func submit(ftp request: consuming FTPRequest) -> FTPHandle {
        let port = port(of: request.server)
        let handle = FTPHandle(request, port: port)
        port.submit(handle)
        return handle
    }

    /// Opens a connection outside the pool and carries a stream over it.
    @discardableResult
    package func open(_ request: StreamRequest) -> StreamHandle {
        let port = port(of: request.origin)
        let handle = StreamHandle(request, port: port)
        port.submit(handle)
        return handle
    }

    /// The shard with the pool that may have a connection for a request. Where it continues another and goes another
    /// way, the one that was kept for it elsewhere does not wait for it.
    private func port(toReach origin: Origin, by route: Route, continuing before: RequestID?) -> EnginePort {
        let shard = ShardRules.shard(toReach: origin, by: route, among: ports.count)
        if let before, ShardRules.shard(of: before) != shard { abandonKept(after: before) }
        return ports[shard]
    }

    /// The shard of what has a connection of its own.
    private func port(of place: Origin) -> EnginePort { ports[ShardRules.shard(of: place, among: ports.count)] }

    // MARK: The whole

    /// Closes the connection that was kept for a request which does not come, if there is one.
    package func abandonKept(after request: RequestID) {
        let shard = ShardRules.shard(of: request)
        if ports.indices.contains(shard) { ports[shard].tell { $0.abandonKept(after: request) } }
    }

    /// What it is busy with, and what it has done. Shards are asked one after the other, each on its loop.
    package func gauges() async -> EngineGauges {
        var gauges = EngineGauges()
        for port in ports {
            if let (counts, http2) = await port.look({ ($0.counts, $0.http2Connections) }) {
                gauges.add(counts, http2: http2)
            }
            gauges.add(port.totals)
        }
        return gauges
    }

    /// Lets later requests open new connections: those that carry no request are closed at once, the
    /// others after their last one.
    package func renewConnections() {
        for port in ports { port.tell { $0.renewConnections() } }
    }

    /// Ends every request that waits for a connection.
    package func cancelWaiting() {
        for port in ports { port.tell { $0.cancelWaiting() } }
    }

    /// Ends the engine: at once, with every request cancelled, or when the last request has ended.
    package func shutDown(immediately: Bool) {
        for port in ports { port.shutDown(immediately: immediately) }
    }
}
