// What a stream task does next: its reads and writes in order, the ends of both directions, TLS in the middle of it,
// and the hand-over of the connection (behaviour 15.4). It counts bytes and never sees one; its driver keeps them.
//
// Reads and writes stand in two lines (B15.43). What concerns both, TLS and the hand-over, stands in both lines as a
// barrier, and its turn has come when it is the first in both (B15.45, B15.51).
//
// It must not know: clocks, sockets, TLS, handlers, which caller waits for an answer.

/// The order of one stream task's calls.
package struct StreamMachine: Sendable {
    /// What has come and was not read yet, in bytes.
    package private(set) var buffered = 0
    /// Whether TLS is on.
    package private(set) var isSecure = false

    private var phase = Phase.connecting
    private var reads: ArraySlice<ReadStep> = []
    private var writes: ArraySlice<WriteStep> = []
    /// Our direction: the write that the driver has been given.
    private var current: StreamCall?
    private var input = Side()
    private var output = Side()
    /// The peer has finished its side (B15.50).
    package private(set) var hasEnded = false
    /// The connection has failed, and what has come before is still to be read.
    private var isBroken = false
    private var hasToldReadClosed = false
    private var isHandedOver = false
    private var readClock = StreamCallClock()
    private var writeClock = StreamCallClock()
    private var holds = 0
    private let resourceDeadline: Duration?
    private let readAhead: Int

    private enum Phase { case connecting, open, securing, over }

    /// One direction.
    private struct Side {
        /// Whether its end has been asked for: nothing can be asked of it behind that.
        var isEnding = false
        /// Whether it has been ended by us.
        var isClosed = false
        var fault: StreamFault?

        var isOver: Bool { isClosed || fault != nil }
    }

    private enum ReadStep {
        case read(StreamCall, least: Int, most: Int, timeout: Duration?)
        case close
        case barrier(Barrier)
    }

    private enum WriteStep {
        case write(StreamCall, left: Int, timeout: Duration?)
        case close
        case barrier(Barrier)
    }

    private enum Barrier { case secure, capture }

    /// A stream whose connection is being opened; at most `readAhead` bytes are read before they are asked for.
    package init(resourceDeadline: Duration? = nil, readAhead: Int = 64 << 10) {
        self.resourceDeadline = resourceDeadline
        self.readAhead = max(1, readAhead)
    }

    // MARK: What is asked

    /// At least `least` bytes are wanted, at most `most` (B15.40); without any, one is waited for.
    package mutating func read(
        _ call: StreamCall, least: Int, most: Int, timeout: Duration?, now: Duration
    ) -> [StreamAction] {
        if let fault = refusal(of: input, closed: .readingClosed) { return [.failed(call, fault)] }
        let most = max(0, most)
        reads.append(.read(call, least: min(max(1, least), most), most: most, timeout: timeout))
        return goOn(now)
    }

    /// So many bytes are to be sent.
    package mutating func write(
        _ call: StreamCall, count: Int, timeout: Duration?, now: Duration
    ) -> [StreamAction] {
        if let fault = refusal(of: output, closed: .writingClosed) { return [.failed(call, fault)] }
        writes.append(.write(call, left: max(0, count), timeout: timeout))
        return goOn(now)
    }

    /// Nothing is to be read behind the reads that wait (B15.49).
    package mutating func closeRead(now: Duration) -> [StreamAction] {
        guard phase != .over, !isHandedOver, !input.isEnding else { return [] }
        input.isEnding = true
        reads.append(.close)
        return goOn(now)
    }

    /// Nothing is to be written behind the writes that wait (B15.48).
    package mutating func closeWrite(now: Duration) -> [StreamAction] {
        guard phase != .over, !isHandedOver, !output.isEnding else { return [] }
        output.isEnding = true
        writes.append(.close)
        return goOn(now)
    }

    /// What is asked from here on is asked inside TLS (B15.45).
    package mutating func startSecure(now: Duration) -> [StreamAction] {
        guard phase != .over, !isHandedOver else { return [] }
        return add(.secure, now)
    }

    /// The connection is to be handed over as it is behind all that waits (B15.51).
    package mutating func capture(now: Duration) -> [StreamAction] {
        guard phase != .over, !isHandedOver else { return [] }
        defer { isHandedOver = true }
        return add(.capture, now)
    }

    private mutating func add(_ barrier: Barrier, _ now: Duration) -> [StreamAction] {
        reads.append(.barrier(barrier))
        writes.append(.barrier(barrier))
        return goOn(now)
    }

    private func refusal(of side: Side, closed: StreamFault) -> StreamFault? {
        if let fault = side.fault { return fault }
        if isHandedOver { return .captured }
        return side.isEnding || phase == .over ? closed : nil
    }

    // MARK: What the driver reports

    /// The connection stands; one that another task has used before may be inside TLS, and have brought bytes that were
    /// not read (B1.70).
    package mutating func connected(isSecure: Bool = false, unread: Int = 0, now: Duration) -> [StreamAction] {
        guard phase == .connecting else { return [] }
        phase = .open
        self.isSecure = isSecure
        buffered = max(0, unread)
        return goOn(now)
    }

    /// How many bytes may be read from the connection now.
    package var room: Int {
        guard phase == .open, holds == 0, !hasEnded, !isBroken, input.fault == nil else { return 0 }
        if input.isClosed { return readAhead }
        var wanted = readAhead
        if case .read(_, let least, _, _)? = reads.first { wanted = max(wanted, least) }
        return max(0, wanted - buffered)
    }

    /// Whether what comes is of no interest: it is read only to learn of the end, and so that the peer is not stopped.
    package var discardsInput: Bool { input.isOver }

    /// Whether our direction was finished in good order: what was written last is to reach the peer.
    package var hasFinishedWriting: Bool { output.isClosed && output.fault == nil }

    /// So many bytes have come, never more than `room` was.
    package mutating func arrived(_ count: Int, now: Duration) -> [StreamAction] {
        guard phase != .over, !input.isOver else { return [] }
        guard phase == .open else { return fail(.plaintextBeforeTLS) }
        buffered += max(0, count)
        return goOn(now)
    }

    /// The peer has finished its side; what has come before can still be read (B15.50).
    package mutating func ended(now: Duration) -> [StreamAction] {
        guard phase == .open, !hasEnded else { return [] }
        hasEnded = true
        return goOn(now)
    }

    /// So many bytes of the present write have been taken by the system.
    package mutating func wrote(_ count: Int, now: Duration) -> [StreamAction] {
        guard case .write(let call, let left, let timeout)? = writes.first, call == current else { return [] }
        writes[writes.startIndex] = .write(call, left: max(0, left - max(0, count)), timeout: timeout)
        return goOn(now)
    }

    /// The present write cannot be carried on, and none after it; what comes can still be read.
    package mutating func writeFailed(now: Duration) -> [StreamAction] {
        guard phase == .open, output.fault == nil else { return [] }
        return failWrites(.lost) + goOn(now)
    }

    /// TLS stands.
    package mutating func secured(now: Duration) -> [StreamAction] {
        guard phase == .securing else { return [] }
        phase = .open
        isSecure = true
        popBarrier()
        return goOn(now)
    }

    /// Nothing more comes, since the connection has failed. What has come before can still be read, and everything is
    /// over when that is done, or with the first read for which it is too little (B15.40, B15.44).
    package mutating func readFailed(now: Duration) -> [StreamAction] {
        guard phase == .open, buffered > 0, !input.isOver else { return fail(.lost) }
        isBroken = true
        return failWrites(.lost) + goOn(now)
    }

    /// Everything is over, for a reason that the driver knows (B15.44).
    package mutating func lost() -> [StreamAction] { fail(.lost) }

    /// The stream is not wanted any more (B15.44).
    package mutating func cancel() -> [StreamAction] { fail(.cancelled) }

    // MARK: Time

    /// Time stands still for the calls, nothing is read, and neither our end nor the beginning of TLS is sent: the task
    /// is suspended, or a question is open.
    package mutating func hold(now: Duration) {
        holds += 1
        guard holds == 1 else { return }
        readClock.hold(now)
        writeClock.hold(now)
    }

    /// Undoes one `hold`.
    package mutating func release(now: Duration) -> [StreamAction] {
        guard holds > 0 else { return [] }
        holds -= 1
        guard holds == 0 else { return [] }
        readClock.release(now)
        writeClock.release(now)
        return goOn(now)
    }

    /// Whether bytes may go out.
    package var maySend: Bool { phase == .open && holds == 0 }

    /// When to ask `expired` next; nil when no time is running.
    package var deadline: Duration? {
        guard phase != .over else { return nil }
        return [resourceDeadline, readClock.deadline, writeClock.deadline].compactMap(\.self).min()
    }

    /// A deadline may have passed: a call's ends its direction (B15.41), the resource's ends all (B15.53).
    package mutating func expired(now: Duration) -> [StreamAction] {
        guard phase != .over else { return [] }
        if let resourceDeadline, resourceDeadline <= now { return fail(.tookTooLong) }
        var actions: [StreamAction] = []
        if let deadline = readClock.deadline, deadline <= now { actions += failReads(.timedOut) }
        if let deadline = writeClock.deadline, deadline <= now { actions += failWrites(.timedOut) }
        return actions + goOn(now)
    }

    // MARK: Going on

    private mutating func goOn(_ now: Duration) -> [StreamAction] {
        var actions: [StreamAction] = []
        while phase == .open, goOnReading(&actions) || goOnWriting(&actions) || passBarrier(&actions) {}
        if isBroken, buffered == 0 || wantsInput { actions += fail(.lost) }
        tellEnd(&actions)
        if phase == .open, input.isOver || hasEnded && buffered == 0, output.isOver, reads.isEmpty, writes.isEmpty {
            // B15.41: what went wrong with one direction is told when the other is over too.
            phase = .over
            actions.append(.ended(output.fault ?? input.fault))
        }
        // B15.41: nothing is left that could wait for the connection, or for TLS.
        if phase == .connecting || phase == .securing, let fault = output.fault, isPastReads {
            actions += fail(fault)
        }
        setClocks(now)
        return actions
    }

    private mutating func goOnReading(_ actions: inout [StreamAction]) -> Bool {
        switch reads.first {
        case .read(let call, let least, let most, _)?:
            guard buffered >= least || hasEnded else { return false }
            let count = min(buffered, most)
            reads.removeFirst()
            buffered -= count
            actions.append(.deliver(call, count: count, isAtEnd: hasEnded && buffered == 0))
        case .close?:
            reads.removeFirst()
            input.isClosed = true
            buffered = 0
            actions.append(.discardInput)
            tellReadClosed(&actions)
        case .barrier?, nil:
            return false
        }
        return true
    }

    /// Whether a read waits for what comes.
    private var wantsInput: Bool {
        if case .read? = reads.first { true } else { false }
    }

    /// Whether no read waits, and none can come.
    private var isPastReads: Bool {
        guard input.fault != nil || input.isEnding else { return false }
        return !reads.contains { if case .read = $0 { true } else { false } }
    }

    private mutating func goOnWriting(_ actions: inout [StreamAction]) -> Bool {
        switch writes.first {
        case .write(let call, let left, _)?:
            guard left > 0 else {
                writes.removeFirst()
                current = nil
                actions.append(.written(call))
                return true
            }
            guard current != call else { return false }
            current = call
            actions.append(.send(call))
        case .close?:
            // B1.39: our end is sent, where anything can be.
            guard holds == 0 || output.fault != nil else { return false }
            writes.removeFirst()
            output.isClosed = true
            if output.fault == nil { actions += [.finishWriting, .writeClosed] }
        case .barrier?, nil:
            return false
        }
        return true
    }

    private mutating func passBarrier(_ actions: inout [StreamAction]) -> Bool {
        guard case .barrier(let barrier)? = reads.first, case .barrier? = writes.first else { return false }
        // B15.51: what has come before the connection failed goes with it.
        let isGivenBroken = isBroken && barrier == .capture && buffered > 0 && output.fault == .lost
        if !isGivenBroken, let fault = input.fault ?? output.fault {
            actions += fail(fault)
            return false
        }
        switch barrier {
        case .secure where isSecure:
            popBarrier()
            return true
        case .secure:
            // B15.46: these bytes were not protected, and must not pass for such as were.
            if buffered > 0 {
                actions += fail(.plaintextBeforeTLS)
            } else if hasEnded || input.isClosed || output.isClosed {
                actions += fail(.closedBeforeTLS)
            } else if holds == 0 {
                phase = .securing
                actions.append(.startTLS)
            }
            return false
        case .capture:
            phase = .over
            actions.append(
                .handOver(
                    isReadClosed: input.isClosed, isWriteClosed: output.isOver, hasEnded: hasEnded || isBroken))
            reads = []
            writes = []
            return false
        }
    }

    private mutating func popBarrier() {
        reads.removeFirst()
        writes.removeFirst()
    }

    /// B15.50: behind the reads that have got the end.
    private mutating func tellEnd(_ actions: inout [StreamAction]) {
        if phase == .open, hasEnded { tellReadClosed(&actions) }
    }

    private mutating func tellReadClosed(_ actions: inout [StreamAction]) {
        guard !hasToldReadClosed else { return }
        hasToldReadClosed = true
        actions.append(.readClosed)
    }

    private mutating func setClocks(_ now: Duration) {
        let isRunning = phase != .over
        var read: (StreamCall, Duration?)?
        var write: (StreamCall, Duration?)?
        if isRunning {
            // Hardly ever more than a barrier stands before the first.
            for case .read(let call, _, _, let timeout) in reads {
                read = (call, timeout)
                break
            }
            for case .write(let call, _, let timeout) in writes {
                write = (call, timeout)
                break
            }
        }
        readClock.run(for: read?.0, read?.1, isHeld: holds > 0, now)
        writeClock.run(for: write?.0, write?.1, isHeld: holds > 0, now)
    }

    // MARK: Failing

    private mutating func fail(_ fault: StreamFault) -> [StreamAction] {
        guard phase != .over else { return [] }
        let actions = failReads(fault) + failWrites(fault) + [.ended(fault)]
        phase = .over
        reads = []
        writes = []
        return actions
    }

    /// B15.41: the reads that wait fail, and so will those that come.
    private mutating func failReads(_ fault: StreamFault) -> [StreamAction] {
        input.fault = input.fault ?? fault
        buffered = 0
        var actions: [StreamAction] = []
        reads =
            reads.filter { step in
                switch step {
                case .read(let call, _, _, _): actions.append(.failed(call, fault))
                case .close: break
                case .barrier: return true
                }
                return false
            }[...]
        return actions + [.discardInput]
    }

    /// B15.42: what of the first has gone out is gone.
    private mutating func failWrites(_ fault: StreamFault) -> [StreamAction] {
        output.fault = output.fault ?? fault
        current = nil
        var actions: [StreamAction] = []
        writes =
            writes.filter { step in
                switch step {
                case .write(let call, _, _): actions.append(.failed(call, fault))
                case .close: break
                case .barrier: return true
                }
                return false
            }[...]
        return actions
    }
}
