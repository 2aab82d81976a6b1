// What the server has seen, counted where it happens and read from any thread. Knows nothing of how a test uses it.

/// One consistent reading of the server's counters.
package struct ServerStatistics: Sendable, Equatable {
    /// Connections accepted so far.
    package var connectionsAccepted = 0
    /// Connections that are open now.
    package var connectionsOpen = 0
    /// Connections that the client closed or reset while the server still had something to do on them.
    package var connectionsLost = 0
    /// Requests whose head has arrived.
    package var requestsBegun = 0
    /// Requests that have arrived whole.
    package var requests = 0
    /// Answers that have been handed to the kernel whole.
    package var responses = 0
    /// TLS handshakes completed, resumed ones included.
    package var handshakes = 0
    /// TLS handshakes that resumed an earlier session.
    package var resumedHandshakes = 0
    /// TLS handshakes that failed, or that the client left.
    package var failedHandshakes = 0
    /// Bytes of HTTP received, of HTTP/2 with its frames; under TLS these are decrypted ones.
    package var bytesReceived: Int64 = 0
    /// Bytes of HTTP that the kernel has taken, or under TLS that have been encrypted for it.
    package var bytesWritten: Int64 = 0
    /// Connections with something to write that the kernel does not take at present, or the
    /// client's windows do not allow.
    package var blockedWriters = 0
    /// Messages that were not HTTP, and over HTTP/2 whatever else a client did against the rules.
    package var malformedRequests = 0
    /// Connections on which HTTP/2 was spoken.
    package var http2Connections = 0
    /// The most streams that were open at once on one connection of HTTP/2.
    package var mostStreamsAtOnce = 0
    /// Streams that the client has reset.
    package var streamsReset = 0
    /// Answers that the client has given up: with their connections, or over HTTP/2 by resetting their streams.
    package var givenUp: Int { connectionsLost + streamsReset }
    /// Web sockets that were opened.
    package var webSockets = 0
    /// Web sockets that are open now.
    package var webSocketsOpen = 0
    /// Messages that came on web sockets.
    package var webSocketMessages = 0
    /// Web sockets on which both sides have said goodbye.
    package var webSocketsClosed = 0
    /// Web sockets whose client has broken a rule, or did not do what a script expected.
    package var webSocketsFailed = 0
}

/// The server's counters.
typealias ObservedStatistics = ObservedValue<ServerStatistics>

extension ObservedValue where Value == ServerStatistics {
    convenience init() { self.init(ServerStatistics()) }
}
