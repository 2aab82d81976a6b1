// A proxy for tests: forwards plain http, opens tunnels by CONNECT and by SOCKS 4, 4A and 5, with TLS to itself if
// wanted, for clients that show the right credentials, or answers as a script says. It connects to loopback only: every
// name, and every address elsewhere, is 127.0.0.1 to it. Runs in the process of the client on a loop thread of its own;
// knows nothing of the client.

import Synchronization
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// A proxy on the loopback interface or a UNIX-domain socket.
package final class LoopbackProxy: Sendable {
    /// Where the proxy listens and which clients it serves.
    package struct Options: Sendable {
        /// Where to listen.
        package var binding = LoopbackServer.Binding.tcp(host: "127.0.0.1", port: 0)
        /// TLS with the clients, or none.
        package var tls: ServerTLS?
        /// The only value of Proxy-Authorization that is accepted; nil asks for none.
        package var authorization: String?
        /// What a 407 says in Proxy-Authenticate.
        package var challenge = "Basic realm=\"proxy\""
        /// Fields of the answer that opens a tunnel, each with its line's end.
        package var openingFields: @Sendable (RequestHead) -> String = { _ in "" }
        /// The only user and password that are accepted by SOCKS; SOCKS4 knows the user only. Nil asks for none.
        package var socksCredentials: (user: String, password: String)?
        /// Asked about each request; nil does the usual.
        package var script: (@Sendable (Ask) -> Answer?)?

        /// On any free port of 127.0.0.1, without credentials.
        package init() {}
    }

    /// One request to the proxy.
    package struct Ask: Sendable {
        /// What it came by.
        package enum Kind: Sendable, Hashable {
            case connect, forward, socks4, socks5
        }

        /// What it came by.
        package let kind: Kind
        /// Counts the connections.
        package let connection: Int
        /// Counts the requests of this connection.
        package let number: Int
        /// As it was said: "host:port", or a URL to forward to.
        package let target: String
        /// What came by HTTP.
        package let head: RequestHead?
    }

    /// What is done about a request.
    package enum Answer: Sendable {
        /// What was asked for.
        case relay
        /// These bytes are sent, and the connection goes on or ends.
        case send([UInt8], thenClose: Bool = false)
        /// Nothing at all.
        case silence

        /// Sends text.
        package static func text(_ text: String, thenClose: Bool = false) -> Answer {
            .send(Array(text.utf8), thenClose: thenClose)
        }

        /// Ends the connection.
        package static var close: Answer { .send([], thenClose: true) }
    }

    private let log: ProxyLog
    private let figures: ObservedStatistics
    private let thread: ServerThread<ProxyCore>

    /// Starts a proxy; when this returns it accepts connections.
    package static func start(_ change: (inout Options) -> Void = { _ in }) throws -> LoopbackProxy {
        var options = Options()
        change(&options)
        return try LoopbackProxy(options)
    }

    private init(_ options: Options) throws {
        let wanted = try options.binding.address()
        let context = try options.tls.map { try TLSContext(server: $0) }
        let (figures, log) = (ObservedStatistics(), ProxyLog())
        thread = try ServerThread(name: "loopback-proxy", at: wanted) { key, reactor, _ in
            ProxyCore(key: key, reactor: reactor, options: options, context: context, figures: figures, log: log)
        }
        self.figures = figures
        self.log = log
    }

    /// Closes the listener and every connection; when this returns nothing of the proxy is left, its thread included.
    package func stop() async {
        await thread.stop()
    }

    /// Where it listens, with the port that it got.
    package var address: SocketAddress { thread.address }

    /// The port; 0 on a UNIX-domain socket.
    package var port: Int { address.port ?? 0 }

    /// What it was asked, in order.
    package var asks: [Ask] { log.asks }

    /// Connections and handshakes until now.
    package var stats: ServerStatistics { figures.current }

    /// Waits until what the proxy has seen fulfils a condition; nil where the waiting task is cancelled before.
    @discardableResult
    package func wait(until condition: @escaping @Sendable (ServerStatistics) -> Bool) async -> ServerStatistics? {
        await figures.wait(until: condition)
    }
}

/// What a proxy was asked, written on its loop and read from anywhere.
final class ProxyLog: Sendable {
    private let entries = Mutex<[LoopbackProxy.Ask]>([])

    var asks: [LoopbackProxy.Ask] { entries.withLock(\.self) }

    func note(_ ask: LoopbackProxy.Ask) { entries.withLock { $0.append(ask) } }
}
