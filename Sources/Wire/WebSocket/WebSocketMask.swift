// The mask over a client's frames: every byte XOR one of four, in turn (RFC 6455 §5.3). It is there against confused
// middle boxes and hides nothing. Where the four bytes come from is not known here; they must be new for each frame.

/// Four bytes that are laid over a payload, and how far in them we are.
package struct WebSocketMask: Sendable, Equatable {
    /// The four bytes as they lie in memory, the one for the next byte of payload first.
    private var next: UInt32

    /// Makes a mask of a number that cannot be foreseen.
    package init(_ key: UInt32) { next = key }

    /// Makes a mask of the four bytes of a header.
    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        next = UInt32(littleEndian: bytes.part(offset, offset + 4).loadUnaligned(as: UInt32.self))
    }

    /// The four bytes in the order of the wire.
    var bytes: (UInt8, UInt8, UInt8, UInt8) {
        (
            UInt8(truncatingIfNeeded: next), UInt8(truncatingIfNeeded: next >> 8),
            UInt8(truncatingIfNeeded: next >> 16), UInt8(truncatingIfNeeded: next >> 24)
        )
    }

    /// The mask for the payload behind so many bytes.
    package func advanced(by count: Int) -> WebSocketMask {
        let bits = UInt32(truncatingIfNeeded: count & 3) * 8
        return bits == 0 ? self : WebSocketMask(next >> bits | next << (32 - bits))
    }

    /// Masks or unmasks bytes where they lie, and moves on behind them.
    package mutating func apply(to memory: UnsafeMutableRawBufferPointer) {
        copy(UnsafeRawBufferPointer(memory), to: memory)
    }

    /// Masks or unmasks bytes into other memory, as many as fit, and moves on behind them.
    package mutating func copy(_ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer) {
        let count = min(source.count, target.count)
        guard let from = source.baseAddress, let to = target.baseAddress else { return }
        // Measured: the compiler makes whole registers of the words of this loop.
        let word = UInt64(next) | UInt64(next) << 32
        let wide = word.littleEndian
        var offset = 0
        while offset &+ 32 <= count {
            let (a, b) = (
                from.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ wide,
                from.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self) ^ wide
            )
            let (c, d) = (
                from.loadUnaligned(fromByteOffset: offset &+ 16, as: UInt64.self) ^ wide,
                from.loadUnaligned(fromByteOffset: offset &+ 24, as: UInt64.self) ^ wide
            )
            to.storeBytes(of: a, toByteOffset: offset, as: UInt64.self)
            to.storeBytes(of: b, toByteOffset: offset &+ 8, as: UInt64.self)
            to.storeBytes(of: c, toByteOffset: offset &+ 16, as: UInt64.self)
            to.storeBytes(of: d, toByteOffset: offset &+ 24, as: UInt64.self)
            offset &+= 32
        }
        while offset &+ 8 <= count {
            let masked = from.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ wide
            to.storeBytes(of: masked, toByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        while offset < count {
            let mask = UInt8(truncatingIfNeeded: word >> (UInt64(offset & 7) * 8))
            let byte = from.load(fromByteOffset: offset, as: UInt8.self)
            to.storeBytes(of: byte ^ mask, toByteOffset: offset, as: UInt8.self)
            offset &+= 1
        }
        self = advanced(by: count)
    }
}

extension [UInt8] {
    /// Appends bytes under a mask, or as they are, and moves the mask on.
    mutating func append(_ bytes: UnsafeRawBufferPointer, mask: inout WebSocketMask?) {
        guard mask != nil else { return append(contentsOf: bytes) }
        append(addingCapacity: bytes.count) { span in
            span.withUnsafeMutableBufferPointer { buffer, initializedCount in
                mask?.copy(bytes, to: UnsafeMutableRawBufferPointer(buffer))
                initializedCount = bytes.count
            }
        }
    }
}
