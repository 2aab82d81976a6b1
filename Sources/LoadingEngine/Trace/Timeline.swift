// When each step of one exchange happened, and how much moved.
//
// `URLSessionTaskMetrics` and `TraceHooks` are fed from the same points, so they cannot disagree.
//
// Measured: the steps are kept as nanoseconds since the start, because every ContinuousClock.Instant is handled through
// its metadata, and ten optional ones made a timeline the dearest thing to copy in a small request.

import Sockets
import TLS

/// The record of one exchange: one request on one connection and its answer.
package struct Timeline: Sendable {
    /// When the engine took the exchange up; always set (B12.8).
    package let fetchStart: ContinuousClock.Instant
    private var steps = Steps()

    /// Whether the connection had carried an exchange before (B12.12).
    package var reused = false
    /// Whether the server spoke HTTP/1.0 (B12.16).
    package var isOldProtocol = false
    /// This end of the connection.
    package var localAddress: SocketAddress?
    /// The other end.
    package var remoteAddress: SocketAddress?
    /// What TLS agreed on.
    package var tls: Negotiated?
    /// The final response's status; 0 where none came.
    package var status = 0

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

    /// Begins the record of an exchange.
    package init(fetchStart: ContinuousClock.Instant) {
        self.fetchStart = fetchStart
    }

    /// The steps' times since the start, in nanoseconds; negative where a step did not happen.
    private struct Steps: Sendable {
        var lookupStart: Int64 = -1
        var lookupEnd: Int64 = -1
        var connectStart: Int64 = -1
        var secureStart: Int64 = -1
        var secureEnd: Int64 = -1
        var connectEnd: Int64 = -1
        var requestStart: Int64 = -1
        var requestEnd: Int64 = -1
        var responseStart: Int64 = -1
        var responseEnd: Int64 = -1
    }
}

extension Timeline {
    /// Name look-up; absent on reused connections and for IP literals (B12.9, B12.12).
    package var lookupStart: ContinuousClock.Instant? { instant(steps.lookupStart) }

    /// End of the name look-up.
    package var lookupEnd: ContinuousClock.Instant? { instant(steps.lookupEnd) }

    /// Before the first TCP connect (B12.10).
    package var connectStart: ContinuousClock.Instant? { instant(steps.connectStart) }

    /// Before the TLS handshake (B12.11).
    package var secureStart: ContinuousClock.Instant? { instant(steps.secureStart) }

    /// After the TLS handshake.
    package var secureEnd: ContinuousClock.Instant? { instant(steps.secureEnd) }

    /// When the connection was usable, TLS included (B12.10).
    package var connectEnd: ContinuousClock.Instant? { instant(steps.connectEnd) }

    /// Before the first byte of the request (B12.13).
    package var requestStart: ContinuousClock.Instant? {
        get { instant(steps.requestStart) }
        set { steps.requestStart = offset(newValue, notBefore: steps.connectEnd) }
    }

    /// After its last byte.
    package var requestEnd: ContinuousClock.Instant? {
        get { instant(steps.requestEnd) }
        set { steps.requestEnd = offset(newValue, notBefore: steps.requestStart) }
    }

    /// The first byte of the final response (B12.14).
    package var responseStart: ContinuousClock.Instant? {
        get { instant(steps.responseStart) }
        set { steps.responseStart = offset(newValue, notBefore: steps.requestStart) }
    }

    /// After its last byte.
    package var responseEnd: ContinuousClock.Instant? {
        get { instant(steps.responseEnd) }
        set { steps.responseEnd = offset(newValue, notBefore: steps.responseStart) }
    }

    /// Notes how the connection came to be; no step is earlier than the exchange, because with late binding a connection
    /// may have been begun for another request (B12.15).
    mutating func record(_ setup: ConnectionSetup, now: ContinuousClock.Instant, elapsed: Duration) {
        // The exchange's start as connections count time.
        let start = elapsed - fetchStart.duration(to: now)
        func offset(_ time: Duration?) -> Int64 { time.map { Self.nanoseconds($0 - start) } ?? -1 }
        steps.lookupStart = offset(setup.lookup.start)
        steps.lookupEnd = offset(setup.lookup.end)
        steps.connectStart = offset(setup.connect.start)
        steps.secureStart = offset(setup.secure.start)
        steps.secureEnd = offset(setup.secure.end)
        steps.connectEnd = offset(setup.connect.end)
    }

    /// `http/1.1` or `http/1.0`; absent where no response came (B12.16).
    package var protocolName: String? {
        guard status != 0 else { return nil }
        return isOldProtocol ? "http/1.0" : "http/1.1"
    }

    /// Whether the last byte of the request is out.
    var isRequestSent: Bool { steps.requestEnd >= 0 }

    private func instant(_ offset: Int64) -> ContinuousClock.Instant? {
        offset < 0 ? nil : fetchStart.advanced(by: .nanoseconds(offset))
    }

    /// B12.15: in order, whatever the clock did.
    private func offset(_ instant: ContinuousClock.Instant?, notBefore earlier: Int64) -> Int64 {
        guard let instant else { return -1 }
        return max(earlier, Self.nanoseconds(fetchStart.duration(to: instant)))
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return max(0, seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
    }
}
