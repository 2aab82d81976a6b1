// One HTTP/2 connection: runs `HTTP2ConnectionMachine` over a channel. Reading is in +Reading, writing in +Writing,
// what the machine wants done in +Actions; the stored properties are theirs, too. It carries many exchanges at once,
// each an `HTTP2Stream`.
//
// What is written in a turn of the loop leaves together at its end: preface and first request, requests that begin at
// the same time, frames of several streams. The socket is always read; a receiver that does not take its body withholds
// the window of its own stream only.
//
// Must not know: which requests wait, what a stream's owner makes of an answer.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// An established connection that requests share.
final class HTTP2Connection: ByteStreamObserver {
    // `@exclusivity(unchecked)`: as in `HTTP1Connection`; the machine and the tables of fields call nothing.
    let id: ConnectionID
    let key: PoolKey
    let setup: ConnectionSetup
    let channel: SecureChannel
    /// Whether it leads to or through a proxy.
    let isProxied: Bool
    // Owner: the core; its pool lets go of every connection that is closed.
    let pool: PoolDriver
    // Its own: measured, what is reached by way of the core is counted at each use, two atomic operations.
    let reactor: Reactor
    let buffers: LoopBuffers
    // The pool and what else the loop has for connections live as long as it does.
    private let core: LoopCore
    /// The origin as requests name it.
    let authority: String

    @exclusivity(unchecked) var machine: HTTP2ConnectionMachine
    @exclusivity(unchecked) var encoder = HPACKEncoder()
    @exclusivity(unchecked) var decoder = HPACKDecoder(limits: HPACKLimits())
    /// Streams by their places.
    @exclusivity(unchecked) var streams: [HTTP2Stream?] = []
    /// Streams whose places have been given away before their ends were told.
    @exclusivity(unchecked) var leaving: [HTTP2StreamID: HTTP2Stream] = [:]
    /// Trailers that wait for what is held of the bodies before them. Here, since hardly any stream has such.
    @exclusivity(unchecked) var heldTrailers: [HTTP2StreamID: Fields] = [:]
    /// Streams whose bodies, of unknown length, may be over.
    @exclusivity(unchecked) var nearEnd: [HTTP2StreamID] = []

    /// What is being read; empty between two reads.
    @exclusivity(unchecked) var input = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// What has come of a body in this read, and was not given on.
    @exclusivity(unchecked) var run: BodyRun?
    @exclusivity(unchecked) var block = IncomingBlock.none
    @exclusivity(unchecked) var isReading = false
    /// Read once although no readiness was reported.
    @exclusivity(unchecked) var mustRead = false
    /// Since when it has no stream.
    @exclusivity(unchecked) var idle: IdleTime
    @exclusivity(unchecked) var isCarryingOut = false

    /// What is to be written, and how much of it is out.
    @exclusivity(unchecked) var output: [UInt8] = []
    @exclusivity(unchecked) var outputSent = 0
    /// How much of it waited when what was out was dropped last.
    @exclusivity(unchecked) var outputMark = 0
    /// What is known of the ways out of streams, by their places (+Arrival). Of most streams nothing is.
    @exclusivity(unchecked) var waysOut: [WayOut] = []
    /// How everything was on its way when the timer fired last (+Arrival).
    @exclusivity(unchecked) var lastLook: Look?
    @exclusivity(unchecked) var isFlushPlanned = false
    /// Whether it is closed when what waits is written, or cannot be.
    @exclusivity(unchecked) var closesWhenWritten = false

    /// Whether an exchange has been carried before, or it was opened for none.
    @exclusivity(unchecked) private(set) var hasServed = false
    @exclusivity(unchecked) private(set) var isClosed = false
    private lazy var timer = reactor.makeTimer { [weak self] in self?.timerFired() }

    /// By what the connection was lost, where it was not its peer's orderly end.
    @exclusivity(unchecked) private(set) var loss: Loss?

    /// By what a connection can be lost.
    enum Loss {
        case system(SystemError)
        case tls(TLSError)
    }

    /// `lastCapacity` is how many exchanges the server let an earlier connection carry at once, where that is known.
    init(
        id: ConnectionID, key: PoolKey, setup: ConnectionSetup, channel: SecureChannel, lastCapacity: Int?,
        core: LoopCore
    ) {
        machine = HTTP2ConnectionMachine(role: .client, settings: .client, lastCapacity: lastCapacity)
        self.id = id
        self.key = key
        self.setup = setup
        self.channel = channel
        self.core = core
        pool = core.pool
        reactor = core.reactor
        idle = IdleTime(core.reactor)
        buffers = core.buffers
        isProxied = key.route.proxy != nil
        authority = key.origin.hostField
    }

    /// It was opened without a request.
    func waitsForRequests() { hasServed = true }

    /// Takes the stream over from the connector, and greets the server.
    func becomeReady() {
        channel.stream.observer = self
        machine.start(now: now)
        carryOut()
    }

    // MARK: Questions

    var now: Duration { reactor.elapsed }

    /// How many exchanges it can carry at the same time.
    var capacity: Int { machine.capacity }

    /// Whether it may carry a request of this method. What came while it was idle is looked at
    /// first: it may be a goodbye.
    func isUsable(for method: String) -> Bool {
        // In the midst of what has been read it is looked at already.
        if hasServed, !isClosed, !isCarryingOut, machine.openStreams == 0 {
            // B16.70
            let isKnown = reactor.hasSeenAll(since: idle.mark) && ReplayRules.isIdempotent(method)
            if !isKnown, !channel.isQuiet() { mustRead = true }
            pumpIfPending()
            if !isClosed, idle.hasOutlastedAddress(of: channel.stream, now: reactor) { close() }
        }
        return !isClosed && machine.openStreams < machine.capacity
    }

    // MARK: Streams

    /// Notes a stream that was opened.
    func add(_ stream: HTTP2Stream, as id: HTTP2StreamID) {
        hasServed = true
        let slot = Int(id.slot)
        while streams.count <= slot { streams.append(nil) }
        if let before = streams[slot] { leaving[before.id] = before }
        streams[slot] = stream
    }

    /// A stream that is not over.
    func stream(_ id: HTTP2StreamID) -> HTTP2Stream? {
        let slot = Int(id.slot)
        guard streams.indices.contains(slot), let stream = streams[slot], stream.id == id else { return leaving[id] }
        return stream
    }

    /// Forgets a stream and hands it out.
    func remove(_ id: HTTP2StreamID) -> HTTP2Stream? {
        let slot = Int(id.slot)
        guard streams.indices.contains(slot), let stream = streams[slot], stream.id == id else {
            return leaving.removeValue(forKey: id)
        }
        streams[slot] = nil
        return stream
    }

    // MARK: Ends

    /// Says goodbye and closes it; every stream ends.
    func close() {
        guard !isClosed else { return }
        machine.goodbye()
        carryOut()
        flush()
        finishClosing()
    }

    /// Notes what has gone wrong; the first counts.
    func lost(by loss: Loss) { if self.loss == nil { self.loss = loss } }

    /// Closes it; every stream that is not over ends.
    func finishClosing() {
        guard !isClosed else { return }
        isClosed = true
        machine.connectionEnded()
        channel.close(politely: output.isEmpty)
        timer.clear()
        // Order: the pool first, so that a receiver that is told of a loss does not find this connection again.
        pool.closed(.http2(self))
        carryOut()
    }

    // MARK: Time

    func setTimer(_ deadline: Duration?) {
        if let deadline { timer.set(elapsed: deadline) } else { timer.clear() }
    }

    private func timerFired() {
        // H6.5: also what the system took before, and sends by and by.
        if let moved = lastArrival() { machine.outputMoved(now: moved) }
        machine.timerFired(now: now)
        carryOut()
    }

    // MARK: Readiness

    func streamBecameReadable(_ stream: any ByteStream) { pump() }

    func streamBecameWritable(_ stream: any ByteStream) {
        machine.outputMoved(now: now)
        flush()
    }
}
