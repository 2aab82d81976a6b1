// Standard output: one writer, one line at a time, each written before the next. A command that answers does not wait
// for the runner to read. A runner that has closed the pipe loses the answers and nothing else. Driver protocol,
// section 1.

import Foundation
import Synchronization

/// Writes lines to a descriptor, in the order in which they were given.
package final class Outbox: Sendable {
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "output")
    private let isBroken = Atomic<Bool>(false)
    /// How much was taken from us, to see whether anything moves.
    private let writtenBytes = Atomic<Int>(0)

    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes a line, some time.
    package func send(_ line: Data) {
        queue.async { [self] in
            var line = line
            line.append(0x0A)
            write(line)
        }
    }

    /// Waits until everything given so far is written; whether it is.
    ///
    /// Gives up at the first time where the reader takes nothing, and later when it has taken nothing for a second; at
    /// the latest at the second time. While there is room for more the reader is not what we wait for.
    @discardableResult
    package func flush(untilStuckAt firstTime: DispatchTime, latest: DispatchTime) -> Bool {
        let written = DispatchSemaphore(value: 0)
        queue.async { written.signal() }
        var end = firstTime
        var before = writtenBytes.load(ordering: .relaxed)
        while written.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
            let (now, count) = (DispatchTime.now(), writtenBytes.load(ordering: .relaxed))
            if count != before || hasRoom { end = max(end, now + .seconds(1)) }
            before = count
            if now >= min(end, latest) { return false }
        }
        return true
    }

    private var hasRoom: Bool { awaitRoom(milliseconds: 0) }

    private func awaitRoom(milliseconds: Int32) -> Bool {
        var query = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&query, 1, milliseconds) > 0
    }

    /// Runs on the queue. Nothing is kept back in a buffer of ours. Written in pieces, as a call for the whole of a
    /// long line would return at its end only, and until then it would look like a standstill.
    private func write(_ line: Data) {
        guard !isBroken.load(ordering: .relaxed) else { return }
        line.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceLength))
                let count = Foundation.write(descriptor, part.baseAddress, part.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                    writtenBytes.add(count, ordering: .relaxed)
                } else if count == 0 || errno != EINTR && errno != EAGAIN {
                    isBroken.store(true, ordering: .relaxed)
                    return
                } else if errno == EAGAIN {
                    // A descriptor that the runner has given to us may not wait by itself.
                    _ = awaitRoom(milliseconds: -1)
                }
            }
        }
    }

    /// A quarter of what a pipe holds.
    private static let pieceLength = 16 * 1024
}
