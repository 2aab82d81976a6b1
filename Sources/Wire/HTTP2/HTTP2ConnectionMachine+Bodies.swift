// Bodies that are sent: which stream may send how much now, and where its message ends. The bytes themselves never come
// here: the machine writes a frame's header, and the driver puts the body behind it. RFC 9113 §5.2, §6.1.

/// How much of a body may be sent now.
package struct HTTP2Piece: Sendable, Equatable {
    /// The stream whose turn it is.
    package let stream: HTTP2StreamID
    /// The most that one frame of it may carry now; above 0.
    package let limit: Int
}

extension HTTP2ConnectionMachine {
    /// The driver has bytes of a stream's body, or knows that they are over.
    package mutating func bodyReady(_ id: HTTP2StreamID) {
        guard isOpen(id), streams[id.slot].machine.sending == .body else { return }
        streams[id.slot].wantsToSend = true
        queueIfAble(id.slot)
    }

    /// The driver has no bytes of it at the moment.
    package mutating func bodyPaused(_ id: HTTP2StreamID) {
        guard isOpen(id) else { return }
        streams[id.slot].wantsToSend = false
        turns.remove(id.slot, in: &streams)
    }

    /// Whether a stream has to wait for a window before more of its body can be sent.
    package func lacksWindow(_ id: HTTP2StreamID) -> Bool {
        isOpen(id) && min(sendWindow.available, streams[id.slot].sendWindow.available) <= 0
    }

    /// The stream whose turn it is and how much it may send in one frame, where there is room for so many bytes of
    /// body; nil if no stream can send. It stays its turn until `writePiece`, `bodyPaused` or its end.
    package func nextPiece(room: Int) -> HTTP2Piece? {
        let slot = turns.current
        guard phase == .running, slot != HTTP2StreamTable.none else { return nil }
        let limit = min(
            room, sendWindow.available, streams[slot].sendWindow.available, Int(peerSettings.maximumFrameSize),
            streams[slot].toSend.limit)
        return limit > 0 ? HTTP2Piece(stream: streams.id(of: slot), limit: limit) : nil
    }

    /// Appends, behind all that is to be written, the header of a DATA frame; exactly `count` bytes of the stream's
    /// body are to follow it at once. `isLast` says that the source has no more; a declared length says so by itself.
    ///
    /// An empty last frame needs no window, and may be written out of turn. Answers whether the frame is to be written.
    /// It isn't if the stream is gone, or has no window for it; nor if the source ends before its declared length,
    /// which resets the stream (H3.5).
    package mutating func writePiece(
        of id: HTTP2StreamID, count: Int, isLast: Bool, into out: inout [UInt8]
    ) -> Bool {
        guard isOpen(id), streams[id.slot].machine.sending == .body else { return false }
        let slot = id.slot
        guard count > 0 || count == 0 && isLast else { return false }
        guard count == 0 || count <= min(sendWindow.available, streams[slot].sendWindow.available),
            count <= Int(peerSettings.maximumFrameSize), count <= streams[slot].toSend.limit
        else { return false }
        _ = streams[slot].toSend.take(count)
        let isReached = streams[slot].toSend.isReached
        if isLast, !streams[slot].toSend.mayEnd {
            end(id, .bodyTooShort, .cancel)
            return false
        }
        takeOutput(into: &out)
        let endsStream = isLast || isReached
        HTTP2FrameEncoder.encodeDataHeader(stream: id.number, byteCount: count, endsStream: endsStream, into: &out)
        sendWindow.use(count)
        streams[slot].sendWindow.use(count)
        if count > 0 { budget.bodyMoved(count) }
        turns.tookTurn(slot, in: streams)
        if endsStream {
            sendingEnded(slot)
        } else if streams[slot].sendWindow.available <= 0 {
            turns.remove(slot, in: &streams)
        }
        return true
    }

    /// Lets a stream take turns that has bytes and a window.
    mutating func queueIfAble(_ slot: Int32) {
        guard streams[slot].wantsToSend, streams[slot].sendWindow.available > 0 else { return }
        turns.add(slot, in: &streams)
    }
}
