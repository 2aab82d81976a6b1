// Whose turn it is to send: a ring of the streams that have bytes and a window for them. Each sends a frame, then the
// next one does, so that none starves (H5.3). It knows no bytes. RFC 9113 §5.3, §10.5.

/// The ring of the streams that can send; its links are in the table's rows.
struct HTTP2SendTurns {
    /// The stream whose turn it is; `none` if no stream can send.
    private(set) var current = HTTP2StreamTable.none

    /// Puts a stream in at the end: before the one whose turn it is.
    mutating func add(_ slot: Int32, in streams: inout HTTP2StreamTable) {
        guard streams[slot].next == HTTP2StreamTable.none else { return }
        guard current != HTTP2StreamTable.none else {
            streams[slot].next = slot
            streams[slot].previous = slot
            current = slot
            return
        }
        let last = streams[current].previous
        streams[slot].previous = last
        streams[slot].next = current
        streams[last].next = slot
        streams[current].previous = slot
    }

    /// Takes a stream out, if it is in.
    mutating func remove(_ slot: Int32, in streams: inout HTTP2StreamTable) {
        let (next, previous) = (streams[slot].next, streams[slot].previous)
        guard next != HTTP2StreamTable.none else { return }
        streams[previous].next = next
        streams[next].previous = previous
        streams[slot].next = HTTP2StreamTable.none
        streams[slot].previous = HTTP2StreamTable.none
        if current == slot { current = next == slot ? HTTP2StreamTable.none : next }
    }

    /// The stream has sent a frame; it is the next one's turn.
    mutating func tookTurn(_ slot: Int32, in streams: borrowing HTTP2StreamTable) {
        if current == slot { current = streams[slot].next }
    }
}
