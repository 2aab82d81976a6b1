// An HTTP/1.1 server for tests, demonstrations and measurements: routes in code, and scripts for everything that no
// well-behaved server does. It runs in the process of the client on a loop thread of its own, and knows nothing of
// URLSession: what it shares with the client are the lower layers only. RFC 9110, RFC 9112.

import HTTPWire
import Sockets
import TLS

/// A server on the loopback interface or a UNIX-domain socket.
package final class LoopbackServer: Sendable {
    /// Answers one request; called on the server's loop, so it must not wait for anything.
    package typealias Router = @Sendable (ServerRequest) -> ServerResponse

    /// Where the server listens, with the port that it got.
    package let address: SocketAddress
    private let scheme: String
    private let board: StatisticsBoard
    private let loops: LoopGroup
    private let loop: Loop
    private let key: ResidentKey<ServerCore>

    /// Starts a server; when this returns it accepts connections.
    package static func start(_ options: Options = Options(), router: @escaping Router) throws -> LoopbackServer {
        try LoopbackServer(options: options, router: router)
    }

    /// Starts a server; when this returns it accepts connections.
    package init(options: Options = Options(), router: @escaping Router) throws {
        let wanted = try options.binding.address()
        let context: TLSContext?
        do {
            context = try options.tls.map { try TLSContext(server: $0) }
        } catch let error as TLSError {
            throw StartError.tls(error)
        }
        let board = StatisticsBoard()
        let loops = LoopGroup(count: 1, name: "loopback")
        let loop = loops.next()
        let key = ResidentKey<ServerCore>()

        // The listener belongs to the loop's thread; this one waits for it, which takes microseconds.
        let started = Handover<Result<SocketAddress, SystemError>>()
        loop.run { reactor in
            let core = ServerCore(
                key: key, reactor: reactor, loop: loop, options: options, context: context, router: router,
                board: board)
            reactor.setResident(key, core)
            started.complete(core.listen(at: wanted))
        }
        switch started.wait() {
        case .success(let address): self.address = address
        case .failure(let error): throw StartError.system(error)
        }
        scheme = context == nil ? "http" : "https"
        self.board = board
        self.loops = loops
        self.loop = loop
        self.key = key
    }

    deinit {
        loop.run { [key] reactor in reactor.resident(key)?.stop() }
        // Waits for the thread, which cannot wait for itself.
        if !loop.isCurrent { loops.stop() }
    }

    /// Closes the listener and every connection; when this returns nothing of the server is left, its thread included.
    package func stop() async {
        loop.run { [key] reactor in reactor.resident(key)?.stop() }
        await withUnsafeContinuation { continuation in
            BlockingPool.shared.run { [loops] in
                loops.stop()
                continuation.resume()
            }
        }
    }

    /// Closes every connection, as a server does that is restarted, and keeps accepting new ones.
    package func closeConnections() async {
        await withUnsafeContinuation { continuation in
            loop.run { [key] reactor in
                reactor.resident(key)?.closeConnections()
                continuation.resume()
            }
        }
    }

    /// The port; 0 on a UNIX-domain socket.
    package var port: Int { address.port ?? 0 }

    /// The URL of a path of this server, by its address or by a name that the client is made to look up there.
    package func url(_ path: String = "/", host: String? = nil) -> String {
        let host = host ?? address.host
        let literal = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(scheme)://\(literal):\(port)\(path)"
    }

    /// What the server has seen until now.
    package var stats: ServerStatistics { board.current }

    /// Waits until what the server has seen fulfils a condition; nil where the waiting task is cancelled before.
    @discardableResult
    package func wait(until condition: @escaping @Sendable (ServerStatistics) -> Bool) async -> ServerStatistics? {
        await board.wait(until: condition)
    }
}
