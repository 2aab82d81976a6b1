// The receiving side of a window of flow control: what the peer may still send us, and when it is told that it may send
// more. It does not know whether it is a stream's window or the connection's. RFC 9113 §5.2, §6.9.

/// What the peer may still send, and when it is told that it may send more.
///
/// Every byte of the window is at one of three places: the peer has it to use, it has arrived and was not taken, or
/// it was taken and the peer does not know yet. It is told when half of the window has gathered there (H5.6): later it
/// might have to wait, sooner there would be a frame for every frame.
package struct HTTP2ReceiveWindow: Sendable, Equatable {
    /// How large the window is.
    package private(set) var size: Int
    /// What the peer has to use.
    package private(set) var available: Int
    /// What has arrived and was not taken.
    package private(set) var held = 0
    /// What was taken and not announced.
    private var taken = 0

    /// Makes a window; `lawful` is what the peer may use of it, where that is more than its size.
    package init(size: UInt32, lawful: UInt32 = 0) {
        self.size = Int(size)
        available = Int(max(size, lawful))
    }

    /// Bytes have arrived; false, and nothing is changed, if the peer was not allowed to send them (H5.7).
    package mutating func receive(_ count: Int) -> Bool {
        guard count >= 0, count <= available else { return false }
        available -= count
        held += count
        return true
    }

    /// Bytes that had arrived have been taken; answers by how much the peer's window is to be opened, 0 for not yet.
    package mutating func take(_ count: Int) -> UInt32 {
        let count = min(max(count, 0), held)
        held -= count
        taken += count
        return taken >= max(1, size / 2) ? announce() : 0
    }

    /// Whether what arrives is taken soon. Where much of it lies untaken, a larger window would only hold more.
    package var isTakenSoon: Bool { held <= size / 4 }

    /// Makes the window larger; answers by how much the peer's is to be opened, 0 if it was as large before.
    package mutating func grow(to newSize: Int) -> UInt32 {
        let newSize = min(newSize, Int(HTTP2FlowWindow.largest))
        guard newSize > size else { return 0 }
        taken += newSize - size
        size = newSize
        return announce()
    }

    /// The peer has acknowledged a setting, and has less to use from now on; below zero where it has used that already.
    package mutating func shrinkAvailable(by count: Int) { available -= max(count, 0) }

    private mutating func announce() -> UInt32 {
        // The peer's window is never above the largest, whatever it was allowed before it acknowledged our settings.
        let count = min(taken, Int(HTTP2FlowWindow.largest) - max(available, 0))
        available += count
        taken -= count
        return UInt32(clamping: count)
    }
}
