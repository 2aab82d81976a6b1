// The pair of streams that a stream task becomes (B15.51): bound streams, of which the other ends are the connection.
// They live as long as the program holds them, whatever became of task and session.
//
// Must not know: tasks, delegates, TLS.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingSystem

/// What is between a connection and its two streams.
final class CapturedStreams: StreamConduit {
    private let input = BoundedBuffer(capacity: CapturedStreams.capacity)
    private let output = BoundedBuffer(capacity: CapturedStreams.capacity)

    /// Takes a connection over; called on its loop.
    init(_ connection: CapturedConnection) {
        let changed = connection.begin(self)
        input.observeWriting(changed)
        output.observeReading(changed)
    }

    /// The streams, not opened; to be made once.
    func pair() -> (InputStream, OutputStream) { (BoundInputStream(input), BoundOutputStream(output)) }

    /// Closes both: they are not wanted.
    func close() {
        input.closeReading()
        output.closeWriting()
    }

    // MARK: The connection's side

    func accept(_ bytes: UnsafeRawBufferPointer) -> Int { max(0, input.offer(bytes) ?? 0) }

    func inputEnded(_ error: SystemError?) { input.finishWriting(error.map(UnderlyingError.system)) }

    var isReaderGone: Bool { input.isReaderClosed }

    func next(into buffer: UnsafeMutableRawBufferPointer) -> ConduitOutput {
        guard let count = output.poll(into: buffer) else { return .none }
        return count > 0 ? .bytes(count) : .end
    }

    func outputFailed(_ error: SystemError?) { output.refuseReading(error.map(UnderlyingError.system)) }

    private static let capacity = 64 << 10
}
