// When each step of one exchange happened, and how much moved.
//
// `URLSessionTaskMetrics` and `TraceHooks` are fed from the same points, so they cannot disagree.
//
// Measured: the steps are kept as nanoseconds of the loops' clock, because every ContinuousClock.Instant is handled
// through its metadata, and ten optional ones made a timeline the dearest thing to copy in a small request.

import URLLoadingSystem
import URLLoadingTLS

/// The record of one exchange: one request on one connection and its answer.
package struct Timeline: Sendable {
    /// When the engine took the exchange up; always set (B12.8).
    package var fetchStart: ContinuousClock.Instant { LoopClock.instant(start) }
    private let start: Int64
    private var steps = Steps()

    /// Whether the connection had carried an exchange before (B12.12).
    package var reused = false
    /// Whether the connection led to or through a proxy (B12.17); the other end is then the proxy's (B12.20).
    package var usesProxy = false
    /// What the server spoke.
    package var spoken = SpokenProtocol.http11
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
    /// Bytes of the request's body by themselves.
    package var requestBodyBytesBeforeEncoding: Int64 = 0
    /// Bytes of status line and fields.
    package var responseHeadBytes: Int64 = 0
    /// Bytes of the response's body as they came, framing and coding included.
    package var responseBodyBytes: Int64 = 0
    /// Bytes of the response's body without framing and still coded, where it is then decoded; 0 where
    /// it is delivered as it is.
    package var responseBodyBytesCoded: Int64 = 0
    /// Bytes of the response's body as delivered.
    package var responseBodyBytesDecoded: Int64 = 0

    /// Begins the record of an exchange, at a time of the loop's clock.
    init(start: Int64) {
        self.start = start
    }

    /// The record of an answer that was at hand: no connection, and all steps at one moment (B12.12, B12.13).
    package static func atHand(bodyBytes: Int64) -> Timeline {
        let now = LoopClock.elapsed.wholeNanoseconds
        var timeline = Timeline(start: now)
        timeline.requestStarted(now)
        timeline.requestEnded(now)
        timeline.responseStarted(now)
        timeline.responseEnded(now)
        timeline.responseBodyBytesDecoded = bodyBytes
        return timeline
    }

    /// The record of a load that used no connection: when it began, when its response and its end came (B14.55).
    package static func elsewhere(start: Duration, response: Duration?, end: Duration, bodyBytes: Int64) -> Timeline {
        var timeline = Timeline(start: start.wholeNanoseconds)
        guard let response else { return timeline }
        timeline.responseStarted(response.wholeNanoseconds)
        timeline.responseEnded(end.wholeNanoseconds)
        timeline.responseBodyBytesDecoded = bodyBytes
        return timeline
    }

    /// The steps' times, in nanoseconds of the loops' clock; negative where a step did not happen.
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
    package var requestStart: ContinuousClock.Instant? { instant(steps.requestStart) }

    /// After its last byte.
    package var requestEnd: ContinuousClock.Instant? { instant(steps.requestEnd) }

    /// The first byte of the final response (B12.14).
    package var responseStart: ContinuousClock.Instant? { instant(steps.responseStart) }

    /// After its last byte.
    package var responseEnd: ContinuousClock.Instant? { instant(steps.responseEnd) }

    /// Notes how the connection came to be; no step is earlier than the exchange, because with late binding a
    /// connection may have been begun for another request (B12.15).
    mutating func record(_ setup: ConnectionSetup) {
        func time(_ step: Int64) -> Int64 { step < 0 ? -1 : max(start, step) }
        steps.lookupStart = time(setup.lookup.start)
        steps.lookupEnd = time(setup.lookup.end)
        steps.connectStart = time(setup.connect.start)
        steps.secureStart = time(setup.secure.start)
        steps.secureEnd = time(setup.secure.end)
        steps.connectEnd = time(setup.connect.end)
    }

    /// The name of what was spoken; absent where no response came (B12.16).
    package var protocolName: String? { status == 0 ? nil : spoken.name }

    /// Whether the last byte of the request is out.
    var isRequestSent: Bool { steps.requestEnd >= 0 }

    // B12.15: in order, whatever the clock did.

    /// The request is about to be written.
    mutating func requestStarted(_ now: Int64) { steps.requestStart = max(now, steps.connectEnd) }

    /// Its last byte is out.
    mutating func requestEnded(_ now: Int64) { steps.requestEnd = max(now, steps.requestStart) }

    /// The final response begins.
    mutating func responseStarted(_ now: Int64) { steps.responseStart = max(now, steps.requestStart) }

    /// Its last byte has come.
    mutating func responseEnded(_ now: Int64) { steps.responseEnd = max(now, steps.responseStart) }

    private func instant(_ time: Int64) -> ContinuousClock.Instant? {
        time < 0 ? nil : LoopClock.instant(time)
    }
}
