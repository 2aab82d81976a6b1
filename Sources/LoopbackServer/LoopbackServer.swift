// A server of HTTP/1.1 and HTTP/2 for tests, demonstrations and measurements: routes in code, and scripts for
// everything that no well-behaved server does. It runs in the process of the client on a loop thread of its own, and
// knows nothing of URLSession: what it shares with the client are the lower layers only. RFC 9110, RFC 9112, RFC 9113.

import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// A server on the loopback interface or a UNIX-domain socket.
package final class LoopbackServer: Sendable {
    /// Answers one request; called on the server's loop, so it must not wait for anything.
    package typealias Router = @Sendable (ServerRequest) -> ServerResponse

    private let scheme: String
    private let figures: ObservedStatistics
    private let thread: ServerThread<ServerCore>

    /// Starts a server; when this returns it accepts connections.
    package static func start(_ options: Options = Options(), router: @escaping Router) throws -> LoopbackServer {
        try LoopbackServer(options: options, router: router)
    }

    /// Starts a server; when this returns it accepts connections.
    package init(options: Options = Options(), router: @escaping Router) throws {
        let wanted = try options.binding.address()
        let context: TLSContext?
        do {
            context = try options.tls.map { try TLSContext(server: options.http2.offering($0)) }
        } catch let error as TLSError {
            throw StartError.tls(error)
        }
        let figures = ObservedStatistics()
        do {
            thread = try ServerThread(name: "loopback", at: wanted, backlog: options.backlog) { key, reactor, loop in
                ServerCore(
                    key: key, reactor: reactor, loop: loop, options: options, context: context, router: router,
                    figures: figures)
            }
        } catch {
            throw StartError.system(error)
        }
        scheme = context == nil ? "http" : "https"
        self.figures = figures
    }

    /// Closes the listener and every connection; when this returns nothing of the server is left, its thread included.
    package func stop() async {
        await thread.stop()
    }

    /// Closes every connection, as a server does that is restarted, and keeps accepting new ones.
    package func closeConnections() async {
        await thread.perform { $0.closeConnections() }
    }

    /// Where the server listens, with the port that it got.
    package var address: SocketAddress { thread.address }

    /// The port; 0 on a UNIX-domain socket.
    package var port: Int { address.port ?? 0 }

    /// The URL of a path of this server, by its address or by a name that the client is made to look up there.
    package func url(_ path: String = "/", host: String? = nil) -> String {
        let host = host ?? address.host
        let literal = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(scheme)://\(literal):\(port)\(path)"
    }

    /// What the server has seen until now.
    package var stats: ServerStatistics { figures.current }

    /// Waits until what the server has seen fulfils a condition; nil where the waiting task is cancelled before.
    @discardableResult
    package func wait(until condition: @escaping @Sendable (ServerStatistics) -> Bool) async -> ServerStatistics? {
        await figures.wait(until: condition)
    }
}
