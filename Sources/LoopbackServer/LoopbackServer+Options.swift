// What a server can be told when it starts, and why it may not start. Values.

import URLLoadingSystem
import URLLoadingTLS

extension LoopbackServer {
    /// Where the server listens and how it behaves beneath the routes.
    package struct Options: Sendable {
        /// Where to listen.
        package var binding: Binding = .tcp(host: "127.0.0.1", port: 0)
        /// TLS on every connection, or none.
        package var tls: ServerTLS?
        /// How many connections the kernel keeps before they are accepted.
        package var backlog = 511
        /// How much the kernel keeps for a client that does not read; nil leaves it to the kernel (megabytes).
        package var sendBufferBytes: Int32?
        /// How much of a request's body a route gets to see; more is counted and thrown away.
        package var keptBodyBytes = 16 << 20
        /// Steps to play as soon as a connection (and its TLS) stands, before any request; nil serves as usual.
        package var greeting: (@Sendable (_ connection: Int) -> [ScriptStep]?)?
        /// Asked as soon as a head is there: an answer here does not wait for the request's body.
        package var earlyRouter: (@Sendable (ServerRequest) -> ServerResponse?)?

        /// Asked as soon as a head is there: while the gate is closed the request's body stays unread, and over HTTP/2
        /// its window is not opened again.
        package var bodyGate: (@Sendable (ServerRequest) -> ServerGate?)?
        /// Whether HTTP/2 is spoken, and how.
        package var http2 = ServerHTTP2.ofEnvironment

        /// Takes the requests of resumable uploads, whose bodies routes do not see.
        package var uploads: UploadStore?

        /// Listening on an address literal, by default on any free port of 127.0.0.1, with TLS if wanted.
        package init(host: String = "127.0.0.1", port: Int = 0, tls: ServerTLS? = nil) {
            binding = .tcp(host: host, port: port)
            self.tls = tls
        }

        /// Listening on a UNIX-domain socket.
        package init(unixPath: String, tls: ServerTLS? = nil) {
            binding = .unix(path: unixPath)
            self.tls = tls
        }
    }

    /// A place to listen at.
    package enum Binding: Sendable {
        /// An address literal and a port; 0 takes any free one.
        case tcp(host: String, port: Int)
        /// A path in the file system; there must be no file yet, and the server removes its own when it stops.
        case unix(path: String)

        func address() throws(StartError) -> SocketAddress {
            switch self {
            case .tcp(let host, let port):
                guard let address = SocketAddress(literal: host, port: port) else { throw .badAddress(host) }
                return address
            case .unix(let path):
                guard let address = SocketAddress.unix(path) else { throw .badAddress(path) }
                return address
            }
        }
    }

    /// Why a server could not start.
    package enum StartError: Error, Sendable, CustomStringConvertible {
        /// The address is not a literal, or the path is too long for a socket.
        case badAddress(String)
        /// The kernel refused.
        case system(SystemError)
        /// The identity or the versions do not make a usable TLS configuration.
        case tls(TLSError)

        /// A sentence about it.
        package var description: String {
            switch self {
            case .badAddress(let text): "\(text) is neither the literal of an address nor the path of a socket"
            case .system(let error): "the server could not listen: \(error)"
            case .tls(let error): "the server's TLS could not be set up: \(error)"
            }
        }
    }
}
