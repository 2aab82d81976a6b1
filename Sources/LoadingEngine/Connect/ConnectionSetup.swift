// When each step of opening a connection happened; the first exchange's timeline takes it over.

import Sockets
import TLS

/// The record of how a connection came to be.
struct ConnectionSetup {
    var lookupStart: ContinuousClock.Instant?
    var lookupEnd: ContinuousClock.Instant?
    var connectStart: ContinuousClock.Instant?
    var secureStart: ContinuousClock.Instant?
    var secureEnd: ContinuousClock.Instant?
    var connectEnd: ContinuousClock.Instant?
    var localAddress: SocketAddress?
    var remoteAddress: SocketAddress?
    var negotiated: Negotiated?

    /// Notes the steps in a timeline, none earlier than the time the exchange was asked for: with late binding a
    /// connection may have been begun for another request (B12.15).
    func record(in timeline: inout Timeline) {
        let earliest = timeline.fetchStart
        func clamped(_ instant: ContinuousClock.Instant?) -> ContinuousClock.Instant? {
            instant.map { max($0, earliest) }
        }
        timeline.lookupStart = clamped(lookupStart)
        timeline.lookupEnd = clamped(lookupEnd)
        timeline.connectStart = clamped(connectStart)
        timeline.secureStart = clamped(secureStart)
        timeline.secureEnd = clamped(secureEnd)
        timeline.connectEnd = clamped(connectEnd)
    }
}
