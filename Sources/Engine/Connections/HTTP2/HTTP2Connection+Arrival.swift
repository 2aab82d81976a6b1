// How far what goes out has reached the peer: the request of one stream while others share its connection, and all of
// them together. The peer acknowledges what has come of all, in the order in which it went out.
//
// Positions count what the channel sends. With TLS they are behind by what encrypting adds to frames that wait, some
// hundred bytes at most.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension HTTP2Connection {
    /// What is known of one stream's way out.
    struct WayOut {
        let stream: HTTP2StreamID
        /// Where its last frame ends, or some place before.
        var end: Int
        /// How far of it the peer had acknowledged when that was asked last.
        var acknowledged: Int?
    }

    /// How everything was on its way at one moment.
    struct Look {
        let moment: Duration
        /// Up to where it had reached the peer.
        let arrived: Int
        /// Where it ended.
        let end: Int
    }

    /// Where what goes out ends, what still waits here included.
    private var outputEnd: Int {
        channel.bytesSent &+ (channel.tls?.outgoingCount ?? 0) &+ (output.count - outputSent)
    }

    /// A frame of a stream's body was put behind what is to be written.
    func noteWayOut(of id: HTTP2StreamID) {
        let end = outputEnd
        let slot = Int(id.slot)
        if waysOut.indices.contains(slot), waysOut[slot].stream == id {
            waysOut[slot].end = end
        } else {
            setWayOut(WayOut(stream: id, end: end))
        }
    }

    /// How far the request of a stream has reached the peer; nil also where the peer had all of it before this was ever
    /// asked: what moves then is others'.
    func arrival(of stream: HTTP2Stream) -> Arrival? {
        let slot = Int(stream.id.slot)
        guard streams.indices.contains(slot), streams[slot] === stream, let delivery = channel.stream.delivery() else {
            return nil
        }
        var way =
            waysOut.indices.contains(slot) && waysOut[slot].stream == stream.id
            ? waysOut[slot] : WayOut(stream: stream.id, end: stream.sentBefore)
        let before = way.acknowledged
        let left = way.end &- (channel.bytesSent &- delivery.unacknowledged)
        guard left > 0 || before != nil else { return nil }
        let position = way.end &- max(0, left)
        way.acknowledged = position
        setWayOut(way)
        return Arrival(position: position, before: before, age: delivery.age)
    }

    /// When something last reached the peer, whosever it was, where something has since this was asked before.
    func lastArrival() -> Duration? {
        guard let delivery = channel.stream.delivery() else { return nil }
        var position = channel.bytesSent &- delivery.unacknowledged
        let before = lastLook
        lastLook = Look(moment: now, arrived: position, end: outputEnd)
        // The peer's system takes requests also where its program reads none. So what went out behind the PING counts
        // only where it has been on its way for long.
        if let before, let ping = machine.pingSentAt, before.moment >= ping { position = min(position, before.end) }
        return position &- (before?.arrived ?? 0) > 0 ? now - delivery.age : nil
    }

    private func setWayOut(_ way: WayOut) {
        let slot = Int(way.stream.slot)
        while waysOut.count <= slot { waysOut.append(way) }
        waysOut[slot] = way
    }
}
