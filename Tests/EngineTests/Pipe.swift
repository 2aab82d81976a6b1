// A pipe in place of a file: what is written to it hangs until the test reads.

import Testing
import URLLoadingSystem
import URLLoadingTestSupport

/// A pipe, which takes 64 KiB and then waits for its reader.
struct Pipe {
    let read: Int32
    let write: Int32

    init() throws {
        let pipe = try OwnPipe()
        (read, write) = (pipe.read, pipe.write)
    }

    /// A lane of its own: what hangs here must not hold up the downloads of other tests.
    let lane = BlockingLane(pool: BlockingPool(limit: 2, idleTime: .seconds(1), name: "test-files"), width: 2)

    /// Counts what comes until the writer closes, and closes the reading end; on a thread that may block.
    func readAll() async -> Int {
        await withHandover { continuation in
            let isRunning = Self.readers.run { continuation.resume(returning: count()) }
            if !isRunning { continuation.resume(returning: 0) }
        }
    }

    private static let readers = BlockingPool(limit: 2, idleTime: .seconds(1), name: "test-readers")

    private func count() -> Int {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var total = 0
        while true {
            let count = take(from: read, into: &buffer)
            if count <= 0 { break }
            total += count
        }
        close(read)
        return total
    }

    private func take(from descriptor: Int32, into buffer: inout [UInt8]) -> Int {
        #if canImport(Glibc)
            Glibc.read(descriptor, &buffer, buffer.count)
        #elseif canImport(Musl)
            Musl.read(descriptor, &buffer, buffer.count)
        #endif
    }
}
