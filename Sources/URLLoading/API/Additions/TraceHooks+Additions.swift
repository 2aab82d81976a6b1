// Closures of the program's that are called at each step of a session's loads. Ours; Apple's loader has
// metrics, which come at the end.
//
// Must not know: tasks, the engine (`TaskTrace` and `ConnectionTeller` call them).

import Foundation

extension URLSession {
    /// Ours: closures that are called at each step of a load, of a session (`URLSessionConfiguration.traceHooks`) or of
    /// one request (`URLRequest.traceHooks`), for logs, spans and counters.
    ///
    /// ```swift
    /// var hooks = URLSession.TraceHooks()
    /// hooks.loadFinished = { load, response, error in
    ///     print(load.taskIdentifier, (response as? HTTPURLResponse)?.statusCode ?? 0, error ?? "done")
    /// }
    /// configuration.traceHooks = [hooks]
    /// ```
    ///
    /// A load is what a task does. It comes to one exchange for each request that goes to a server: redirects,
    /// challenges and attempts after the first are exchanges of their own. A hook that is nil costs nothing. The
    /// closures are called where the step happens: those of exchanges and connections on the thread that sends and
    /// receives for the session, `exchangeStarted` mostly on the one that calls `resume()`. They must be quick and must
    /// not wait. What they are told holds URLs and fields as they are, with everything secret in them.
    public struct TraceHooks: Sendable {
        // MARK: Loads

        /// A task begins to load. Not called for tasks that are cancelled before they come to that, and for `warmUp`.
        public var loadStarted: (@Sendable (_ load: Load) -> Void)?
        /// A load is answered out of the cache. Where the server was asked first and has confirmed it, an exchange with
        /// the status 304 has come before.
        public var loadAnsweredFromCache: (@Sendable (_ load: Load) -> Void)?
        /// Another attempt follows an answer or an error, after so many seconds (`URLSession.RetryPolicy`).
        public var loadRetrying:
            (@Sendable (_ load: Load, _ failure: RetryPolicy.Failure, _ pause: TimeInterval) -> Void)?
        /// A load is over, with what its task has come to: called once for each load that was started, before the
        /// program has the result. A status of 400 and above is no error.
        public var loadFinished: (@Sendable (_ load: Load, _ response: URLResponse?, _ error: (any Error)?) -> Void)?

        // MARK: Exchanges

        /// A request is ready, and gets a connection as soon as there is one. Only HTTP has exchanges: not
        /// called for `file`, `data` and `ftp`, for what a `URLProtocol` carries or a mock answers, and for
        /// answers out of the cache.
        public var exchangeStarted: (@Sendable (_ exchange: Exchange) -> Void)?
        /// A request has got its connection. Called again where it is replayed.
        public var connectionAssigned: (@Sendable (_ exchange: Exchange, _ assignment: Assignment) -> Void)?
        /// The last byte of a request was written. Not called where the server has answered before and wants no more.
        public var requestSent: (@Sendable (_ exchange: Exchange) -> Void)?
        /// The head of the response was read, of whatever status from 200 on, and 101 where that was asked for.
        public var responseReceived: (@Sendable (_ exchange: Exchange, _ statusCode: Int) -> Void)?
        /// A request is sent again because a kept connection has turned out to be dead, its server has not looked at
        /// it, or has answered its `Expect` with 417.
        public var exchangeReplayed: (@Sendable (_ exchange: Exchange) -> Void)?
        /// An exchange is over: the response was read to its end, the request has failed, or its answer was not wanted
        /// any more. Of a web socket it is the handshake.
        public var exchangeFinished: (@Sendable (_ exchange: Exchange, _ error: (any Error)?) -> Void)?

        // MARK: Connections

        // A connection may be begun for one request and serve another. So these are called for sessions only: in the
        // hooks of a request they are never called.

        /// A name is looked up. Not called for addresses.
        public var lookupStarted: (@Sendable (_ host: String) -> Void)?
        /// A name was looked up; nil in place of its addresses where that has failed. What is known
        /// already is found at once.
        public var lookupFinished: (@Sendable (_ host: String, _ addresses: [String]?) -> Void)?
        /// An address is connected to; several at once where a host has several (RFC 8305).
        public var connectStarted: (@Sendable (_ connection: ConnectionID, _ address: String) -> Void)?
        /// An address was connected to, or could not be. Not called for what was given up because
        /// another address was faster.
        public var connectFinished:
            (@Sendable (_ connection: ConnectionID, _ address: String, _ error: (any Error)?) -> Void)?
        /// A proxy has opened a tunnel, or is of no use. Not called where a proxy forwards requests
        /// without a tunnel and works.
        public var tunnelFinished:
            (@Sendable (_ connection: ConnectionID, _ proxy: String, _ error: (any Error)?) -> Void)?
        /// TLS was set up with a server, or with a proxy that wants it; or it could not be.
        public var handshakeFinished:
            (@Sendable (_ connection: ConnectionID, _ result: Result<Handshake, any Error>) -> Void)?
        /// A connection is ready for requests, by the protocol's name in
        /// `URLSessionTaskTransactionMetrics`. Web sockets begin with such a connection; stream tasks and
        /// FTP have connections of which only the steps before are told.
        public var connectionOpened: (@Sendable (_ connection: ConnectionID, _ networkProtocolName: String) -> Void)?
        /// A connection that was opened is closed, for whatever reason. Not called where a web
        /// socket has taken it over.
        public var connectionClosed: (@Sendable (_ connection: ConnectionID) -> Void)?

        /// No hooks.
        public init() {}

        // MARK: What they are told

        /// A task that loads.
        public struct Load: Sendable {
            /// The task's `taskIdentifier`.
            public let taskIdentifier: Int
            /// What it was made with; nil for a stream task.
            public let originalRequest: URLRequest?
        }

        /// A request on its way to a server, and its answer.
        public struct Exchange: Sendable {
            /// Whose request it is.
            public let load: Load
            /// Tells it from all other exchanges of the process.
            public let number: Int
            /// The request, after a redirect that of the new place. Fields that the session adds are not in it.
            public let request: URLRequest
        }

        /// Names a connection from its opening to its end.
        public struct ConnectionID: Sendable, Hashable, CustomStringConvertible {
            /// A short text that no other connection of the session has.
            public let description: String
        }

        /// The connection that a request has got.
        public struct Assignment: Sendable, Hashable {
            /// The connection's name.
            public let connection: ConnectionID
            /// Whether it has carried a request before.
            public let isReused: Bool
            /// What is spoken on it, as in `URLSessionTaskTransactionMetrics`.
            public let networkProtocolName: String
            /// Address and port of the other end: the server's or the proxy's.
            public let remoteAddress: String?
        }

        /// What TLS has agreed on.
        public struct Handshake: Sendable, Hashable {
            /// The version of TLS.
            public let version: tls_protocol_version_t?
            /// The cipher suite's registered name.
            public let cipherSuite: String
            /// The protocol above, such as "h2"; nil where the other end has not chosen.
            public let applicationProtocol: String?
            /// Whether an earlier session was resumed.
            public let isResumed: Bool
        }
    }
}

extension URLSessionConfiguration {
    /// Ours: what is called at each step of the session's loads, one after the other. Background sessions, whose loads
    /// another process carries, do not know this setting.
    public var traceHooks: [URLSession.TraceHooks] {
        get { value(\.traceHooks)?.all ?? [] }
        set { assign(\.traceHooks, SharedHooks(newValue)) }
    }
}

extension URLRequest {
    /// Ours: what is called at each step of this request's load, behind what the session's hooks are told. Requests
    /// that differ only in this are equal. Background sessions do not know it.
    public var traceHooks: [URLSession.TraceHooks] {
        get { values.traceHooks?.all ?? [] }
        set { values.traceHooks = SharedHooks(newValue) }
    }
}

/// Hooks behind a reference: sessions and requests that have none pay for a pointer.
final class SharedHooks: Sendable {
    let each: [HeldHooks]

    /// Nil where there is nothing to call.
    init?(_ all: [URLSession.TraceHooks]) {
        guard !all.isEmpty else { return nil }
        each = all.map { HeldHooks($0) }
    }

    var all: [URLSession.TraceHooks] { each.map(\.hooks) }
}

/// The hooks of a session or of a request. A class: a step reads one closure, and out of an array it would
/// count references to all.
final class HeldHooks: Sendable {
    let hooks: URLSession.TraceHooks

    init(_ hooks: URLSession.TraceHooks) { self.hooks = hooks }
}
