// Cuts a descriptor's bytes into lines. A line beyond the protocol's limit is skipped to its end and told as such, so
// that the next one is read in its right place.
//
// Must not know: what lines mean. Driver protocol, section 1.

import Foundation

/// Reads lines from a descriptor, one at a time, waiting for them.
package struct LineReader {
    /// What came next.
    package enum Line: Equatable {
        /// A line without its end.
        case bytes([UInt8])
        /// A line beyond the limit, whose bytes are gone.
        case tooLong
        /// The descriptor has ended, or cannot be read any more.
        case end
    }

    private let descriptor: Int32
    private let limit: Int
    private var buffer: [UInt8] = []
    /// Up to where the buffer has been given out, and up to where it is known to hold no line end.
    private var start = 0
    private var searched = 0
    private var hasEnded = false

    /// Reads from a descriptor, which stays open.
    package init(descriptor: Int32, limit: Int = 64 << 20) {
        self.descriptor = descriptor
        self.limit = limit
    }

    /// Waits for the next line. A last line without a line end counts.
    package mutating func next() -> Line {
        var isSkipping = false
        while true {
            if let end = lineEnd() {
                let line = buffer[start..<end]
                start = end + 1
                searched = start
                return isSkipping || line.count > limit ? .tooLong : .bytes(Array(line))
            }
            if hasEnded {
                let rest = buffer[start...]
                guard !rest.isEmpty || isSkipping else { return .end }
                start = buffer.count
                searched = start
                return isSkipping ? .tooLong : .bytes(Array(rest))
            }
            if buffer.count - start > limit {
                isSkipping = true
                buffer.removeAll(keepingCapacity: false)
                start = 0
                searched = 0
            }
            fill()
        }
    }

    private mutating func lineEnd() -> Int? {
        let from = searched
        let found = buffer.withUnsafeBytes { bytes -> Int? in
            guard let base = bytes.baseAddress, from < bytes.count else { return nil }
            guard let hit = memchr(base + from, 0x0A, bytes.count - from) else { return nil }
            return base.distance(to: UnsafeRawPointer(hit))
        }
        searched = found ?? buffer.count
        return found
    }

    private mutating func fill() {
        if start > 0 {
            buffer.removeFirst(start)
            searched -= start
            start = 0
        }
        var count = 0
        let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { space, length in
            repeat {
                count = read(descriptor, space.baseAddress, space.count)
            } while count < 0 && (errno == EINTR || errno == EAGAIN && awaitsBytes)
            length = max(count, 0)
        }
        if count <= 0 { hasEnded = true }
        buffer += piece
    }

    /// Waits until there is something to read. A descriptor that the runner has given to us may not wait by itself.
    private var awaitsBytes: Bool {
        var query = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&query, 1, -1) > 0 || errno == EINTR
    }

    /// Large enough that a 64 MiB line takes a few hundred reads.
    private static let pieceLength = 256 * 1024
}
