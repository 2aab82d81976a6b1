// When each step of one exchange happened, and how much moved.
//
// `URLSessionTaskMetrics` and `TraceHooks` are fed from the same points, so they cannot disagree.

import Sockets
import TLS

/// The record of one exchange: one request on one connection and its answer.
package struct Timeline: Sendable {
    /// When the engine took the exchange up; always set (B12.8).
    package var fetchStart: ContinuousClock.Instant
    /// Name look-up; absent on reused connections and for IP literals (B12.9, B12.12).
    package var lookupStart: ContinuousClock.Instant?
    /// End of the name look-up.
    package var lookupEnd: ContinuousClock.Instant?
    /// Before the first TCP connect (B12.10).
    package var connectStart: ContinuousClock.Instant?
    /// Before the TLS handshake (B12.11).
    package var secureStart: ContinuousClock.Instant?
    /// After the TLS handshake.
    package var secureEnd: ContinuousClock.Instant?
    /// When the connection was usable, TLS included (B12.10).
    package var connectEnd: ContinuousClock.Instant?
    /// Before the first byte of the request (B12.13).
    package var requestStart: ContinuousClock.Instant?
    /// After its last byte.
    package var requestEnd: ContinuousClock.Instant?
    /// The first byte of the final response (B12.14).
    package var responseStart: ContinuousClock.Instant?
    /// After its last byte.
    package var responseEnd: ContinuousClock.Instant?

    /// Whether the connection had carried an exchange before (B12.12).
    package var reused = false
    /// `http/1.1` or `http/1.0` (B12.16).
    package var protocolName: String?
    /// This end of the connection.
    package var localAddress: SocketAddress?
    /// The other end.
    package var remoteAddress: SocketAddress?
    /// What TLS agreed on.
    package var tls: Negotiated?
    /// The final response's status, where one came.
    package var status: Int?

    /// Bytes of request line and fields (B12.19).
    package var requestHeadBytes: Int64 = 0
    /// Bytes of the request's body, framing included.
    package var requestBodyBytes: Int64 = 0
    /// Bytes of status line and fields.
    package var responseHeadBytes: Int64 = 0
    /// Bytes of the response's body as they came, framing and coding included.
    package var responseBodyBytes: Int64 = 0
    /// Bytes of the response's body as delivered.
    package var responseBodyBytesDecoded: Int64 = 0
}
