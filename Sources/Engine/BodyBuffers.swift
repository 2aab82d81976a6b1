// Memory in which the bytes of bodies arrive, made so that they need not be copied on their way up.
//
// A loop reads into one buffer after the other. Code that wants bytes for longer than a call keeps them where they are,
// and the loop goes on behind them; a buffer of which nothing is kept is used again. So a body that streams
// through takes turns in a few buffers that stay in the processor's cache, and idle connections own none.
//
// Must not know: sockets, TLS, what the bytes mean.

import Synchronization

/// The buffers of one loop for one stage on the way of a body.
package final class BodyBuffers {
    private var buffers: [BodyBuffer] = []
    private var current: BodyBuffer
    /// From where on nothing is kept in the current buffer.
    private var start = 0
    /// Whether memory is lent.
    private var isLent = false
    // `@exclusivity(unchecked)`: as in `Transaction`.

    /// The buffers of loans within which there is another, and from where on nothing is kept in them.
    @exclusivity(unchecked) private var outer: [(buffer: BodyBuffer, start: Int)] = []

    /// Buffers of which no page is touched before it is needed.
    package init() {
        current = BodyBuffer()
        buffers.append(current)
    }

    /// Lends free memory of at least so many bytes, at most a buffer's, for a read and all that its bytes lead to. That
    /// may be a read from another connection, which gets other memory.
    ///
    /// Each loan is taken back, the latest first.
    package func lend(atLeast wanted: Int) -> UnsafeMutableRawBufferPointer {
        if isLent {
            outer.append((buffer: current, start: start))
            current = BodyBuffer()
            start = 0
        }
        isLent = true
        return space(atLeast: wanted)
    }

    /// The bytes that were read into the memory lent last have been looked at.
    package func takeBack() {
        guard let loan = outer.popLast() else { return isLent = false }
        current = loan.buffer
        start = loan.start
    }

    /// Free memory of at least so many bytes, at most a buffer's; its content is valid until the next call, or longer
    /// where it was kept.
    package func space(atLeast wanted: Int) -> UnsafeMutableRawBufferPointer {
        if start > 0 {
            if !current.isHeld {
                start = 0
            } else if BodyBuffer.size - start < wanted {
                takeAnother()
            }
        }
        return UnsafeMutableRawBufferPointer(rebasing: current.memory[start...])
    }

    /// Keeps bytes that lie in the space given out last; `nil` if they lie elsewhere, or are so few that copying them
    /// is better than holding a whole buffer for them.
    fileprivate func keep(_ bytes: UnsafeRawBufferPointer) -> KeptBytes? {
        guard bytes.count >= Self.leastKept, let from = bytes.baseAddress, let base = current.memory.baseAddress,
            from >= UnsafeRawPointer(base) + start
        else { return nil }
        let offset = from - UnsafeRawPointer(base)
        guard offset + bytes.count <= BodyBuffer.size else { return nil }
        // Not rounded up to a cache line: what lies close behind may be kept next.
        start = offset + bytes.count
        return KeptBytes(current, offset..<(offset + bytes.count))
    }

    /// The first that is free, so that the same few are used over and over.
    private func takeAnother() {
        start = 0
        if let free = buffers.first(where: { !$0.isHeld }) {
            current = free
            return
        }
        current = BodyBuffer()
        // Those beyond go with their last holder.
        if buffers.count < Self.mostBuffers { buffers.append(current) }
    }

    /// Picked by feel: a copy of this much costs as much as the bookkeeping.
    private static let leastKept = 16 * 1024
    /// As many as a task's back-log needs twice.
    private static let mostBuffers = 8
}

/// A piece of a body; its bytes are valid for the duration of the call that brings it.
package struct BodyPiece {
    /// The bytes.
    package let bytes: UnsafeRawBufferPointer
    private let buffers: BodyBuffers?
    private let kept: KeptBytes?

    /// A piece that may lie in memory of `buffers`.
    package init(_ bytes: UnsafeRawBufferPointer, in buffers: BodyBuffers) {
        self.bytes = bytes
        self.buffers = buffers
        kept = nil
    }

    /// A piece that has waited.
    fileprivate init(_ bytes: UnsafeRawBufferPointer, kept: KeptBytes?) {
        self.bytes = bytes
        self.kept = kept
        buffers = nil
    }

    /// The bytes to keep without a copy; `nil` where copying them is better.
    package func keep() -> KeptBytes? { kept ?? buffers?.keep(bytes) }
}

extension BodyChunk {
    /// Lends itself as a piece, which need not be copied where it was not.
    func withPiece(_ body: (BodyPiece) -> Void) {
        let kept: KeptBytes? = if case .kept(let kept) = self { kept } else { nil }
        withBytes { body(BodyPiece($0, kept: kept)) }
    }
}

/// Bytes of a body that stay where they arrived until this object is released, on any thread.
package final class KeptBytes: Sendable {
    private let buffer: BodyBuffer
    private let range: Range<Int>

    fileprivate init(_ buffer: BodyBuffer, _ range: Range<Int>) {
        self.buffer = buffer
        self.range = range
        buffer.hold()
    }

    deinit {
        buffer.release()
    }

    /// The bytes; no longer valid than this object.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer.memory[range]) }
}

/// One buffer and the number of keepers that have a part of it.
private final class BodyBuffer: Sendable {
    /// Picked by measurement, see docs/performance-diary.md: larger ones save no more system calls and leave the cache.
    static let size = 512 * 1024

    // The one place below the API target that the compiler is told not to check, since no type of the library says what
    // holds here: a part belongs to the loop until it is kept and to its keeper from then on, which only reads it; the
    // loop writes there again when `isHeld` has said that none are kept. The pointer itself never changes.
    nonisolated(unsafe) let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
    private let holders = Atomic<Int>(0)

    deinit {
        memory.deallocate()
    }

    /// Order: what holders did with the memory comes before what the loop does next.
    var isHeld: Bool { holders.load(ordering: .acquiring) > 0 }

    func hold() { holders.wrappingAdd(1, ordering: .relaxed) }

    func release() { holders.wrappingSubtract(1, ordering: .releasing) }
}
