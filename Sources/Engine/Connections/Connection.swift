// An established connection, whatever is spoken on it. A closed list of classes, so that calls stay direct.
//
// Must not know: what a protocol does, why the pool asks.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS

/// What the pool and transactions see of a connection.
enum Connection {
    case http1(HTTP1Connection)
    case http2(HTTP2Connection)

    var id: ConnectionID {
        switch self {
        case .http1(let connection): connection.id
        case .http2(let connection): connection.id
        }
    }

    /// How it came about, for timelines.
    var setup: ConnectionSetup {
        switch self {
        case .http1(let connection): connection.setup
        case .http2(let connection): connection.setup
        }
    }

    /// What TLS agreed on with the server.
    var negotiated: Negotiated? {
        switch self {
        case .http1(let connection): connection.setup.negotiated
        case .http2(let connection): connection.setup.negotiated
        }
    }

    /// How many exchanges it can carry at the same time.
    var capacity: Int {
        switch self {
        case .http1: 1
        case .http2(let connection): connection.capacity
        }
    }

    /// Whether it speaks HTTP/2.
    var isHTTP2: Bool { if case .http2 = self { true } else { false } }

    /// What carries it.
    var stream: any ByteStream {
        switch self {
        case .http1(let connection): connection.channel.stream
        case .http2(let connection): connection.channel.stream
        }
    }

    /// Whether it leads to or through a proxy.
    var isProxied: Bool {
        switch self {
        case .http1(let connection): connection.isProxied
        case .http2(let connection): connection.isProxied
        }
    }

    /// Whether it was there before its next exchange: another has been carried, or it was opened for none.
    var hasServed: Bool {
        switch self {
        case .http1(let connection): connection.hasServed
        case .http2(let connection): connection.hasServed
        }
    }

    /// It was opened without a request: for its first request it is one that was there before.
    func waitsForRequests() {
        switch self {
        case .http1(let connection): connection.waitsForRequests()
        case .http2(let connection): connection.waitsForRequests()
        }
    }

    /// Takes the stream over from the connector.
    func becomeReady() {
        switch self {
        case .http1(let connection): connection.becomeReady()
        case .http2(let connection): connection.becomeReady()
        }
    }

    /// Reads what came with the last message of the set-up: no event tells of it any more.
    func watchWhileIdle() {
        switch self {
        case .http1(let connection): connection.watchWhileIdle()
        case .http2(let connection): connection.pumpIfPending()
        }
    }

    /// Whether it may carry a request of this method: it is open, and nothing came that was not asked for.
    func isUsable(for method: String) -> Bool {
        switch self {
        case .http1(let connection): connection.isUsable(for: method)
        case .http2(let connection): connection.isUsable(for: method)
        }
    }

    /// The exchange that will carry a request. Nothing is sent until it begins.
    func makeExchange() -> Exchange {
        switch self {
        case .http1(let connection): .http1(connection.makeExchange())
        case .http2(let connection): .http2(HTTP2Stream(on: connection))
        }
    }

    /// Closes it and tells the pool.
    func close() {
        switch self {
        case .http1(let connection): connection.close()
        case .http2(let connection): connection.close()
        }
    }

    /// Whether these are the same.
    static func === (left: Connection, right: Connection) -> Bool {
        switch (left, right) {
        case (.http1(let left), .http1(let right)): left === right
        case (.http2(let left), .http2(let right)): left === right
        case (.http1, .http2), (.http2, .http1): false
        }
    }
}
