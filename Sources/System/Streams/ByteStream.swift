// What a connection is to all layers above: two directions of bytes that are ready or not. Implemented by sockets here
// and by in-memory pipes in tests. Must not know what the bytes mean.

/// The result of one read or write.
package enum IOResult: Sendable, Equatable {
    /// So many bytes were moved; more than 0 unless the buffer given was empty.
    case bytes(Int)
    /// Nothing can be moved now; the observer is told when that changes.
    case wouldBlock
    /// The peer has finished sending.
    case endOfStream
    /// The connection is broken. The same answer comes again.
    case failed(SystemError)
}

/// The result of writing a part of a file.
package enum FileWriteResult: Sendable, Equatable {
    /// What a write of bytes would have answered.
    case stream(IOResult)
    /// The file cannot give what was asked for.
    case file(FileReadFailure)
}

/// How what was written to a stream reaches the peer.
package struct Delivery: Sendable, Equatable {
    /// How many bytes the peer has not acknowledged. Some of them may not have left this machine.
    package var unacknowledged: Int
    /// How long ago the peer acknowledged anything, if only the same once more; where all is acknowledged, how long ago
    /// the last of it left.
    package let age: Duration

    /// Takes what is known.
    package init(unacknowledged: Int, age: Duration) {
        self.unacknowledged = unacknowledged
        self.age = age
    }
}

/// A bidirectional, non-blocking stream of bytes that belongs to one loop.
///
/// Edges, not levels: after `streamBecameReadable`, read until the result is not `bytes`, or until `hasPendingInput` is
/// false. A reader that stops earlier, for back-pressure, is not told again: it reads when it likes, and
/// `hasPendingInput` stays true until then. The same holds for writing: after `wouldBlock` or a short write the
/// observer is told once when there is room again. An observer that comes late looks at `hasPendingInput` first.
package protocol ByteStream: AnyObject {
    /// The observer that is told of readiness. Held weakly.
    var observer: (any ByteStreamObserver)? { get set }

    /// Reads what is there, at most the buffer's size.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult

    /// Writes as much as fits.
    func write(_ bytes: UnsafeRawBufferPointer) -> IOResult

    /// Writes as much as fits of two buffers in a row, with one system call. The count is of both together.
    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> IOResult

    /// Writes as much as fits of a file's bytes, without taking them through this process where the system can.
    func write(_ file: OpenFile, at offset: Int64, count: Int) -> FileWriteResult

    /// Tells the peer that nothing more will be sent; reading goes on.
    func shutdownWrite()

    /// Lets go of the connection. The observer is not told anything afterwards. Idempotent.
    func close()

    /// True when there may be unread input, an unread end or an unread error. No system call.
    var hasPendingInput: Bool { get }

    /// True when the connection stands and nothing is there to read: it is safe to be used again. One system call,
    /// which also finds what no edge has told yet; `hasPendingInput` is true from then on.
    func isQuiet() -> Bool

    /// True when this machine does not have the address any more that the stream speaks from, so that nothing of the
    /// peer arrives. Some system calls.
    func hasLostItsAddress() -> Bool

    /// Input is from now on reported once so many bytes are there, or the end or an error behind fewer; or as soon as
    /// there are any, by a stream that cannot tell. What is there already may be enough where it was not before, and is
    /// not reported: a caller that asks for less than before looks at `hasPendingInput`.
    func reportInput(from count: Int)

    /// How what was written reaches the peer; nil when the system does not tell. Two system calls.
    func delivery() -> Delivery?

    /// Our end; nil when the system does not tell.
    var localAddress: SocketAddress? { get }

    /// The peer's end; nil when the system does not tell.
    var remoteAddress: SocketAddress? { get }
}

extension ByteStream {
    /// Closes, and still knows both addresses: the system tells those of an open socket only.
    package func closeKnowingAddresses() {
        _ = localAddress
        close()
    }
}

/// A stream that can be ended so that the peer notices.
package protocol AbortiveStream: ByteStream {
    /// Closes, and the peer sees a reset instead of an end.
    func reset()
}

extension ByteStream {
    /// Keeps its address.
    package func hasLostItsAddress() -> Bool { false }

    /// Reports input as it comes.
    package func reportInput(from count: Int) {}

    /// Writes a part of a file through memory, for streams and files between which the kernel cannot move pages.
    package func copy(_ file: OpenFile, at offset: Int64, count: Int) -> FileWriteResult {
        withUnsafeTemporaryAllocation(byteCount: min(count, 64 << 10), alignment: 16) { buffer in
            switch file.read(at: offset, into: buffer) {
            case .success(let count): .stream(write(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
            case .failure(let failure): .file(failure)
            }
        }
    }
}

/// An object that is told when a stream is ready.
///
/// Every call is on the stream's loop.
package protocol ByteStreamObserver: AnyObject {
    /// There are bytes, an end or an error to read.
    func streamBecameReadable(_ stream: any ByteStream)

    /// A write that found no room may be tried again.
    func streamBecameWritable(_ stream: any ByteStream)
}
