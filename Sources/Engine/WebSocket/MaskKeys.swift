// The numbers that frames are masked with: new for each frame, and not to be foreseen (RFC 6455 §5.3). One drawing from
// the system makes two.

import URLLoadingSystem
import URLLoadingWire

/// Masks for the frames of one loop.
struct MaskKeys {
    private var generator = Chance()
    private var spare: UInt32?

    /// The next one; never given out twice.
    mutating func next() -> WebSocketMask {
        if let key = spare.take() { return WebSocketMask(key) }
        let number: UInt64 = generator.next()
        spare = UInt32(truncatingIfNeeded: number >> 32)
        return WebSocketMask(UInt32(truncatingIfNeeded: number))
    }
}
