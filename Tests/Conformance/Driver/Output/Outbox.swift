// Standard output: one writer, one line at a time, each written before the next. Whoever answers does not wait for the
// runner to read. A runner that has closed the pipe loses the answers and nothing else. Driver protocol, section 1.

import Foundation
import Synchronization

/// Writes lines to a descriptor, in the order in which they were given.
final class Outbox: Sendable {
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "output")
    private let isBroken = Atomic<Bool>(false)

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes a line, some time.
    func send(_ line: Data) {
        queue.async { [self] in
            var line = line
            line.append(0x0A)
            write(line)
        }
    }

    /// Waits until everything given so far is written, or until the time is over.
    func flush(within interval: DispatchTimeInterval) {
        let written = DispatchSemaphore(value: 0)
        queue.async { written.signal() }
        _ = written.wait(timeout: .now() + interval)
    }

    /// Runs on the queue. Nothing is kept back in a buffer of ours, so there is nothing to flush.
    private func write(_ line: Data) {
        guard !isBroken.load(ordering: .relaxed) else { return }
        line.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = Foundation.write(descriptor, part.baseAddress, part.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count == 0 || errno != EINTR {
                    isBroken.store(true, ordering: .relaxed)
                    return
                }
            }
        }
    }
}
