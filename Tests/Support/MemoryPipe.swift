// One direction of an in-memory connection: a bounded queue of bytes with an end. Plays the kernel's socket buffer.

import URLLoadingSystem

/// Bytes on their way from a writer to a reader.
final class MemoryPipe {
    let capacity: Int
    private var bytes: [UInt8] = []
    private var head = 0
    /// The writer has finished: what is in the pipe is the last.
    var isFinished = false
    /// The connection was reset: what is in the pipe may still be read, then this is met.
    var failure: SystemError?
    weak var reader: MemoryStream?
    weak var writer: MemoryStream?

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var count: Int { bytes.count - head }
    var isOver: Bool { isFinished || failure != nil }
    var room: Int { max(0, capacity - count) }

    func put(_ source: UnsafeRawBufferPointer) -> Int {
        let moved = min(room, source.count)
        bytes.append(contentsOf: source.prefix(moved))
        return moved
    }

    func take(into target: UnsafeMutableRawBufferPointer, limit: Int) -> Int {
        let moved = min(count, target.count, limit)
        target.copyBytes(from: bytes[head..<head + moved])
        head += moved
        if head == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            head = 0
        }
        return moved
    }
}
