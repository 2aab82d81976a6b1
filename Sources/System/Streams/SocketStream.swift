// A connected TCP or UNIX-domain socket. Registered with epoll once, edge-triggered, for its whole life: a request
// costs no epoll_ctl. Must not know how it came to be connected, nor what the bytes mean.
//
// The stream remembers what the edges said. `isReadable` is cleared by EAGAIN and, to save that call, by a read that
// did not fill its buffer: epoll(7) allows this for stream sockets, as later input makes a new edge. It is not done
// - once the peer's end, an error or urgent data was reported (there may be no further edge), or
// - for UNIX-domain sockets, where a read also stops at a boundary between ancillary data.

/// A connected stream socket of one loop.
package final class SocketStream: AbortiveStream, PollTarget {
    // Weak, and not a strong reference cleared by close(): a forgotten close() must not keep a connection and its
    // descriptor for ever. Measured: weak costs 2 % of a loopback echo's time, of which system calls take 85 %.
    /// The observer that is told of readiness.
    ///
    /// Held weakly.
    @exclusivity(unchecked) package weak var observer: (any ByteStreamObserver)?

    private let reactor: Reactor
    // As in `Reactor`: nothing else runs while it is lent to a system call.
    @exclusivity(unchecked) private var descriptor: Descriptor
    @exclusivity(unchecked) private var token: Poller.Token?
    // Unowned: the attempt owns the stream until it takes itself out of here. A weak reference would cost the attempt
    // an allocation.
    @exclusivity(unchecked) private unowned var attempt: SocketDialAttempt?
    @exclusivity(unchecked) private var knownLocalAddress: SocketAddress?
    private let knownRemoteAddress: SocketAddress?

    private let isInternet: Bool
    @exclusivity(unchecked) private var isReadable = false
    @exclusivity(unchecked) private var isWritable: Bool
    /// No further edge is certain: short reads do not mean "drained" any more.
    @exclusivity(unchecked) private var sawUnusualEvent = false
    @exclusivity(unchecked) private var hasEnded = false
    @exclusivity(unchecked) private var failure: SystemError?
    /// A write has met the failure; it takes the place of the end of the input, and what is before that can be read.
    @exclusivity(unchecked) private var isFailureBehindInput = false

    /// Takes a connected socket, for instance an accepted one.
    package init(
        connected descriptor: consuming Descriptor, remote: SocketAddress?, reactor: Reactor
    ) throws(SystemError) {
        self.reactor = reactor
        self.descriptor = descriptor
        knownRemoteAddress = remote
        // Only UNIX-domain peers have no address.
        isInternet = remote.map { $0.family != .unix } ?? false
        isWritable = true
        try register()
    }

    /// Takes a socket on which `connect` is under way; `attempt` is told when that is over, and kept alive until then.
    init(
        connecting descriptor: consuming Descriptor, remote: SocketAddress, attempt: SocketDialAttempt, reactor: Reactor
    ) throws(SystemError) {
        self.reactor = reactor
        self.descriptor = descriptor
        self.attempt = attempt
        knownRemoteAddress = remote
        isInternet = remote.family != .unix
        isWritable = false
        try register()
        if let token { reactor.poller?.keep(attempt, with: token) }
    }

    deinit {
        close()
    }

    /// Two connected sockets, one for each end.
    package static func pair(on reactor: Reactor) throws(SystemError) -> (SocketStream, SocketStream) {
        let (first, second) = try Platform.socketPair()
        let left = Descriptor(owning: first)
        let right = Descriptor(owning: second)
        return (
            try SocketStream(connected: left, remote: nil, reactor: reactor),
            try SocketStream(connected: right, remote: nil, reactor: reactor)
        )
    }

    // MARK: Reading

    /// Reads with at most one system call, and none when nothing can be there.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        guard descriptor.isOpen else { return .failed(closedError("recv")) }
        guard buffer.count > 0 else { return .bytes(0) }
        guard isReadable else { return restingReadResult }
        let outcome = Platform.receive(descriptor.raw, buffer)
        if outcome.value > 0 {
            if outcome.value < buffer.count && isInternet && !sawUnusualEvent {
                isReadable = false
            }
            return .bytes(outcome.value)
        }
        isReadable = false
        if outcome.value == 0 {
            isFailureBehindInput = false
            hasEnded = failure == nil
        } else if !Platform.isTemporarilyBlocked(outcome.error) {
            failure = SystemError(errno: outcome.error, call: "recv")
            isFailureBehindInput = false
        } else {
            // All input that came before a failed write has been read.
            isFailureBehindInput = false
        }
        return restingReadResult
    }

    /// What a read answers when there is nothing to ask the system for.
    private var restingReadResult: IOResult {
        if let failure, !isFailureBehindInput {
            return .failed(failure)
        }
        return hasEnded ? .endOfStream : .wouldBlock
    }

    private var hasReadFailure: Bool { failure != nil && !isFailureBehindInput }

    /// True when a read may bring something new.
    package var hasPendingInput: Bool { isReadable && descriptor.isOpen }

    /// True when the connection stands and holds no input: one look without taking anything.
    package func isQuiet() -> Bool {
        guard descriptor.isOpen, !hasEnded, !hasReadFailure else { return false }
        let outcome = Platform.peek(descriptor.raw)
        if outcome.failed, Platform.isTemporarilyBlocked(outcome.error) { return true }
        // The edge that tells of it may still be on its way.
        isReadable = true
        return false
    }

    /// Has the system wait for so many bytes before it reports input: one system call.
    package func reportInput(from count: Int) {
        guard descriptor.isOpen, isInternet else { return }
        _ = Platform.set(
            descriptor.raw, level: Platform.levelSocket, option: Platform.receiveLowWater, to: Int32(clamping: count))
        // Older kernels do not report what has become enough by this.
        isReadable = !hasEnded && !hasReadFailure
    }

    // MARK: Writing

    /// Writes with at most one system call, and none when there was no room and none has been reported since.
    package func write(_ bytes: UnsafeRawBufferPointer) -> IOResult {
        guard descriptor.isOpen else { return .failed(closedError("send")) }
        guard bytes.count > 0 else { return .bytes(0) }
        guard isWritable else { return .wouldBlock }
        return written(Platform.send(descriptor.raw, bytes), of: bytes.count, call: "send")
    }

    /// Writes two buffers in a row with at most one system call.
    package func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> IOResult {
        guard descriptor.isOpen else { return .failed(closedError("sendmsg")) }
        let count = first.count + second.count
        guard count > 0 else { return .bytes(0) }
        guard isWritable else { return .wouldBlock }
        return written(Platform.send(descriptor.raw, first, second), of: count, call: "sendmsg")
    }

    /// Writes a part of a file with `sendfile`; where that is impossible for this file, through memory.
    package func write(_ file: OpenFile, at offset: Int64, count: Int) -> FileWriteResult {
        guard descriptor.isOpen else { return .stream(.failed(closedError("sendfile"))) }
        guard count > 0 else { return .stream(.bytes(0)) }
        guard isWritable else { return .stream(.wouldBlock) }
        let outcome = Platform.send(descriptor.raw, file: file.raw, offset: offset, count: count)
        // Short without an error means a full socket or a file's end: only the next call tells which.
        if outcome.value > 0 { return .stream(.bytes(outcome.value)) }
        if outcome.value == 0 { return .file(.ended) }
        switch outcome.error {
        case EIO: return .file(.failed(SystemError(errno: outcome.error, call: "sendfile")))
        case EAGAIN, EPIPE, ECONNRESET, ECONNABORTED, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN, ENOBUFS:
            return .stream(written(outcome, of: count, call: "sendfile"))
        // The file's or the socket's: the calls that copy tell which.
        default: return copy(file, at: offset, count: count)
        }
    }

    private func written(_ outcome: Platform.Outcome<Int>, of count: Int, call: String) -> IOResult {
        if !outcome.failed {
            // Less than everything means that the buffer is full, and that the system owes an edge.
            isWritable = outcome.value == count
            return .bytes(outcome.value)
        }
        if Platform.isTemporarilyBlocked(outcome.error) {
            isWritable = false
            return .wouldBlock
        }
        let error = SystemError(errno: outcome.error, call: call)
        // A failed send takes the error off the socket, and a later recv would answer "end of stream" for a
        // connection that was reset. EPIPE is different: there the peer's end came before its reset, or we finished
        // ourselves, and what can still be read is whole. Input that arrived before the failure stays readable.
        if outcome.error != EPIPE && !hasEnded && !hasReadFailure {
            failure = error
            isFailureBehindInput = true
            isReadable = true
            // The system reports nothing where it has refused a write to a connection that stands.
            sawUnusualEvent = true
            reactor.later { [weak self] in
                guard let self, hasPendingInput else { return }
                observer?.streamBecameReadable(self)
            }
        }
        return .failed(error)
    }

    /// Asks the system what the peer has acknowledged, which peers of UNIX-domain sockets do not.
    package func delivery() -> Delivery? {
        guard descriptor.isOpen, isInternet else { return nil }
        return Platform.delivery(descriptor.raw)
    }

    /// Finishes our direction.
    package func shutdownWrite() {
        guard descriptor.isOpen else { return }
        // It fails only when the connection is already gone, which the next read tells.
        _ = Platform.shutdownWriting(descriptor.raw)
    }

    // MARK: Addresses and options

    /// Our end of the connection.
    package var localAddress: SocketAddress? {
        if knownLocalAddress == nil && descriptor.isOpen {
            knownLocalAddress = SocketAddress.local(of: descriptor.raw)
        }
        return knownLocalAddress
    }

    /// Whether the machine's network has changed so that our end is no place any more.
    package func hasLostItsAddress() -> Bool {
        guard isInternet, let localAddress else { return false }
        return NetworkPresence.lacks(localAddress)
    }

    /// The peer's end of the connection.
    package var remoteAddress: SocketAddress? { knownRemoteAddress }

    /// Asks the system for buffers of about this size (it keeps room for its own bookkeeping).
    package func setBufferSizes(send: Int32? = nil, receive: Int32? = nil) {
        guard descriptor.isOpen else { return }
        if let send {
            _ = Platform.set(descriptor.raw, level: Platform.levelSocket, option: Platform.sendBuffer, to: send)
        }
        if let receive {
            _ = Platform.set(descriptor.raw, level: Platform.levelSocket, option: Platform.receiveBuffer, to: receive)
        }
    }

    /// Lends the descriptor's number, for options this type does not know; nil when it is closed.
    package func withDescriptor<Result>(_ body: (Int32) -> Result) -> Result? {
        descriptor.isOpen ? body(descriptor.raw) : nil
    }

    // MARK: Closing

    /// Closes the socket; nothing is reported afterwards.
    package func close() {
        guard descriptor.isOpen else { return }
        // Order: the registration first. A number that is closed may be given to another file at once.
        if let token {
            reactor.poller?.remove(token)
        }
        token = nil
        descriptor.close()
        isReadable = false
        isWritable = false
        observer = nil
    }

    /// Closes so that the peer sees a reset instead of an end.
    package func reset() {
        guard descriptor.isOpen else { return }
        Platform.makeCloseAbortive(descriptor.raw)
        close()
    }

    // MARK: Events

    func pollReported(_ events: PollEvents) {
        if let attempt {
            guard !events.isDisjoint(with: [.output, .error, .hangUp]) else { return }
            self.attempt = nil
            if let token { reactor.poller?.release(token) }
            note(events)
            // A socket that has an error says so, and only then is it asked which.
            let hasFailed = !events.isDisjoint(with: [.error, .hangUp])
            attempt.connectEnded(error: hasFailed ? Platform.pendingError(descriptor.raw) : 0)
            return
        }
        let news = note(events)
        if news.readable {
            observer?.streamBecameReadable(self)
        }
        // The observer may have closed the stream, or have been replaced, in between.
        if news.writable && descriptor.isOpen {
            observer?.streamBecameWritable(self)
        }
    }

    /// Remembers what an event says; the answer is what is new in it.
    @discardableResult
    private func note(_ events: PollEvents) -> (readable: Bool, writable: Bool) {
        var news = (readable: false, writable: false)
        let isUnusual = !events.isDisjoint(with: [.peerFinished, .hangUp, .error, .urgent])
        if isUnusual || events.contains(.input) {
            let isDone = hasEnded || hasReadFailure
            news.readable = !isDone && (!isReadable || (isUnusual && !sawUnusualEvent))
            isReadable = !isDone
            sawUnusualEvent = sawUnusualEvent || isUnusual
        }
        if !isWritable && !events.isDisjoint(with: [.output, .hangUp, .error]) {
            isWritable = true
            news.writable = true
        }
        return news
    }

    private func register() throws(SystemError) {
        guard let poller = reactor.poller else {
            throw SystemError(errno: ENOTSUP, call: "epoll_ctl")
        }
        token = try poller.add(self, descriptor: descriptor.raw, events: .stream)
    }

    private func closedError(_ call: String) -> SystemError {
        SystemError(errno: EBADF, call: call)
    }
}
