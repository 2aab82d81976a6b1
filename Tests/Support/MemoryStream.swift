// A ByteStream without a socket: two of them share two bounded pipes. Behaves as SocketStream does towards its
// observer: edges only, reported at the end of the turn, and its answers after an end, a reset or a close. Also
// plays the peer's kernel: a close with unread input resets, a write to a closed peer is swallowed once and then
// refused.

import URLLoadingSystem

/// One end of an in-memory connection.
package final class MemoryStream: AbortiveStream {
    /// The observer that is told of readiness.
    ///
    /// Held weakly.
    package weak var observer: (any ByteStreamObserver)?
    /// No read returns more than this: a peer whose segments are small.
    package var readLimit = Int.max
    /// Reads and writes so far, for tests that count "system calls".
    package private(set) var readCount = 0
    /// Writes so far, for tests that count "system calls".
    package private(set) var writeCount = 0
    /// True until `close()`.
    package private(set) var isOpen = true
    /// True once `shutdownWrite()` or `close()` was called.
    package private(set) var hasFinishedWriting = false

    /// Our end.
    package let localAddress: SocketAddress?
    /// The peer's end.
    package let remoteAddress: SocketAddress?

    /// Whether the other end's machine has another address by now.
    package var isForsaken = false

    /// What the other end is told of how its bytes reach this one; nil when its system does not tell.
    package var told: Delivery?

    private let reactor: Reactor
    private let incoming: MemoryPipe
    private let outgoing: MemoryPipe
    private let counter: OpenCounter?
    private weak var peer: MemoryStream?
    private var hasReadEnd = false
    /// Fewer bytes are not reported, without an end behind them.
    private var leastInput = 1
    private var isBlockedWriting = false
    private var owesReadable = false
    private var owesWritable = false
    private var hasWrittenToClosedPeer = false

    private init(
        reactor: Reactor, incoming: MemoryPipe, outgoing: MemoryPipe, local: SocketAddress?, remote: SocketAddress?,
        counter: OpenCounter?
    ) {
        self.reactor = reactor
        self.incoming = incoming
        self.outgoing = outgoing
        self.counter = counter
        localAddress = local
        remoteAddress = remote
        incoming.reader = self
        outgoing.writer = self
        counter?.opened()
    }

    deinit {
        close()
    }

    /// Whether the other end is not to be reached any more from here.
    package func hasLostItsAddress() -> Bool { peer?.isForsaken ?? false }

    /// Two connected ends.
    ///
    /// `capacity` bounds what each direction holds; more makes writes block.
    package static func pair(
        on reactor: Reactor, capacity: Int = 64 << 10, first: SocketAddress? = nil, second: SocketAddress? = nil,
        counter: OpenCounter? = nil
    ) -> (MemoryStream, MemoryStream) {
        let there = MemoryPipe(capacity: capacity)
        let back = MemoryPipe(capacity: capacity)
        let left = MemoryStream(
            reactor: reactor, incoming: back, outgoing: there, local: first, remote: second, counter: counter)
        let right = MemoryStream(
            reactor: reactor, incoming: there, outgoing: back, local: second, remote: first, counter: counter)
        left.peer = right
        right.peer = left
        return (left, right)
    }

    // MARK: ByteStream

    /// Reads what is there.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        guard isOpen else { return .failed(SystemError(errno: EBADF, call: "recv")) }
        readCount += 1
        guard buffer.count > 0 else { return .bytes(0) }
        if incoming.count > 0 {
            let moved = incoming.take(into: buffer, limit: max(1, readLimit))
            incoming.writer?.roomAppeared()
            return .bytes(moved)
        }
        if let failure = incoming.failure {
            hasReadEnd = true
            return .failed(failure)
        }
        if incoming.isFinished {
            hasReadEnd = true
            return .endOfStream
        }
        return .wouldBlock
    }

    /// Writes as much as the pipe has room for.
    package func write(_ bytes: UnsafeRawBufferPointer) -> IOResult {
        guard isOpen else { return .failed(SystemError(errno: EBADF, call: "send")) }
        writeCount += 1
        guard bytes.count > 0 else { return .bytes(0) }
        if let failure = writeFailure() {
            return .failed(failure)
        }
        if peer?.isOpen != true {
            // The peer's kernel answers this with a reset, which the next write meets.
            hasWrittenToClosedPeer = true
            return .bytes(bytes.count)
        }
        let moved = outgoing.put(bytes)
        isBlockedWriting = moved < bytes.count
        if moved == 0 {
            return .wouldBlock
        }
        outgoing.reader?.inputAppeared()
        return .bytes(moved)
    }

    /// Writes two buffers in a row.
    package func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> IOResult {
        let both = [UInt8](first) + [UInt8](second)
        return both.withUnsafeBytes { write($0) }
    }

    /// Writes a part of a file.
    package func write(_ file: OpenFile, at offset: Int64, count: Int) -> FileWriteResult {
        var bytes = [UInt8](repeating: 0, count: min(count, 64 << 10))
        return bytes.withUnsafeMutableBytes { buffer in
            switch file.read(at: offset, into: buffer) {
            case .success(let count): .stream(write(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
            case .failure(let failure): .file(failure)
            }
        }
    }

    /// What the test says at the other end.
    package func delivery() -> Delivery? { peer?.told }

    /// Finishes our direction.
    package func shutdownWrite() {
        guard isOpen, !hasFinishedWriting else { return }
        hasFinishedWriting = true
        outgoing.isFinished = true
        outgoing.reader?.inputAppeared()
    }

    /// Closes our end.
    ///
    /// With input unread the peer sees a reset, as it does with TCP.
    package func close() {
        close(resetting: incoming.count > 0)
    }

    /// Closes our end so that the peer sees a reset.
    package func reset() {
        close(resetting: true)
    }

    /// True when there may be unread input, an unread end or an unread error.
    package var hasPendingInput: Bool { isOpen && hasNews }

    /// Waits for so many bytes, or for as many as the pipe has room for, before it reports input.
    package func reportInput(from count: Int) { leastInput = count }

    /// True when the connection stands and holds no input.
    package func isQuiet() -> Bool { isOpen && !hasNews && !hasReadEnd }

    // MARK: Events

    fileprivate func inputAppeared() {
        guard isOpen, !owesReadable else { return }
        owesReadable = true
        reactor.later { [weak self] in
            guard let self else { return }
            owesReadable = false
            if hasPendingInput, incoming.count >= min(leastInput, incoming.capacity) || incoming.isOver {
                observer?.streamBecameReadable(self)
            }
        }
    }

    fileprivate func roomAppeared() {
        guard isOpen, isBlockedWriting, !owesWritable else { return }
        owesWritable = true
        reactor.later { [weak self] in
            guard let self else { return }
            owesWritable = false
            guard isOpen, isBlockedWriting else { return }
            isBlockedWriting = false
            observer?.streamBecameWritable(self)
        }
    }

    private var hasNews: Bool {
        incoming.count > 0 || (!hasReadEnd && (incoming.isFinished || incoming.failure != nil))
    }

    private func writeFailure() -> SystemError? {
        if hasFinishedWriting || hasWrittenToClosedPeer {
            return SystemError(errno: EPIPE, call: "send")
        }
        return outgoing.failure
    }

    private func close(resetting: Bool) {
        guard isOpen else { return }
        isOpen = false
        hasFinishedWriting = true
        observer = nil
        counter?.closed()
        if resetting {
            let failure = SystemError(errno: ECONNRESET, call: "recv")
            outgoing.failure = failure
            incoming.failure = SystemError(errno: ECONNRESET, call: "send")
        } else {
            outgoing.isFinished = true
        }
        outgoing.reader?.inputAppeared()
        incoming.writer?.roomAppeared()
    }
}

/// Counts what is open, for leak checks at the end of a test.
package final class OpenCounter {
    /// Streams that are open now.
    package private(set) var open = 0
    /// Streams that were ever opened.
    package private(set) var total = 0

    /// Starts at zero.
    package init() {}

    func opened() {
        open += 1
        total += 1
    }

    func closed() {
        open -= 1
    }
}
