// One HTTP/1.1 connection: its socket, and whether it can be used again. It carries one exchange at a time (RFC
// 9112 §9), which is an object of its own; between two of them nothing may come (+Unasked).
//
// The connection is back in the pool before the exchange's owner hears of the end, so that a
// quick next request finds it.
//
// Must not know: how messages are read and written, which requests wait, which task asked.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// An established connection, idle or carrying one exchange.
final class HTTP1Connection: ByteStreamObserver {
    // `@exclusivity(unchecked)`: measured, the checks cost a small request 91 calls into the runtime. The compiler
    // keeps this object on its loop, and no other object is called while a property is being changed.
    let id: ConnectionID
    let key: PoolKey
    let setup: ConnectionSetup
    let channel: SecureChannel
    /// Whether it leads to or through a proxy.
    let isProxied: Bool
    /// Whether requests on it name their origins: they are for a proxy that forwards them (RFC 9112 §3.2.2).
    let isForwarding: Bool
    // Owner: the core, which the exchange holds; its pool lets go of every connection that is closed.
    private let pool: PoolDriver
    // Its own: measured, what is reached by way of the core is counted at each use, two atomic operations.
    private let reactor: Reactor
    private let buffers: BodyBuffers
    /// The one exchange, which serves one request after the other, so that none of them has an object made for it.
    let exchange: HTTP1Exchange

    /// Whether an exchange has been carried before this one, or it was opened for none.
    @exclusivity(unchecked) private(set) var hasServed = false
    @exclusivity(unchecked) private(set) var isClosed = false
    /// In nanoseconds of the loops' clock.
    private let readyAt: Int64
    /// Since when it is free.
    @exclusivity(unchecked) private var idle: IdleTime
    @exclusivity(unchecked) private(set) var isReading = false
    /// Read once although no readiness was reported: a write has just failed and the peer may have said why.
    @exclusivity(unchecked) var mustRead = false
    /// How the input of a large body is gathered, while there is one.
    @exclusivity(unchecked) private var gathering: BodyGathering?

    init(id: ConnectionID, key: PoolKey, setup: ConnectionSetup, channel: SecureChannel, core: LoopCore) {
        self.id = id
        self.key = key
        self.setup = setup
        self.channel = channel
        isProxied = key.route.proxy != nil
        isForwarding = key.isForwarding
        pool = core.pool
        reactor = core.reactor
        buffers = core.buffers.received
        exchange = HTTP1Exchange(channel: channel, core: core)
        self.readyAt = reactor.nanoseconds
        idle = IdleTime(reactor)
    }

    /// It was opened without a request.
    func waitsForRequests() { hasServed = true }

    /// Takes the stream over from the connector.
    func becomeReady() {
        channel.stream.observer = self
    }

    /// Notices what has already come to a connection that was not needed at once.
    func watchWhileIdle() {
        guard !exchange.isUnderWay else { return }
        sendOutgoing()
        pump()
    }

    /// Sends what TLS has to say by itself.
    private func sendOutgoing() { if case .failed? = channel.sendOutgoing() { close(politely: false) } }

    // MARK: Questions

    /// Whether an idle connection may carry this request: it is open, and nothing came that was not asked for.
    ///
    /// B16.70: the loop has told what came up to its last wait, which usually was a moment ago. Otherwise the socket is
    /// looked at; and so it is for a request that could not be sent again, since a close that came within that moment
    /// would be its caller's error.
    func isUsable(for method: String) -> Bool {
        guard !isClosed, !exchange.isUnderWay else { return false }
        // B6.28: what is wrong with a fresh connection is its request's error, else a server that drops every
        // connection would be dialled for ever.
        if isFresh { return true }
        pumpIfPending()
        guard !isClosed, !idle.hasOutlastedAddress(of: channel.stream, now: reactor) else { return false }
        let isKnown = reactor.hasSeenAll(since: idle.mark) && ReplayRules.isIdempotent(method)
        if !isKnown, hasUnasked() { return false }
        // The rest of a record would pass for something that came behind the request, and that of a message hold it up.
        guard let tls = channel.tls else { return true }
        return !tls.holdsPartOfRecord && !tls.isHeldUp
    }

    /// Just opened: it has carried nothing and has not waited in the pool.
    var isFresh: Bool { !hasServed && readyAt == reactor.nanoseconds }

    // MARK: One exchange

    /// The exchange, which is to begin at once and holds this connection until it ends.
    func makeExchange() -> HTTP1Exchange {
        exchange.take(self)
        return exchange
    }

    /// The exchange has ended as messages do; `mayReuse` says whether it has left the connection clean, and is asked
    /// only where that matters.
    func ended(for owner: any ExchangeOwner, mayReuse: @autoclosure () -> Bool, hasUnsent: Bool) {
        exchange.course.responseEnded()
        if gathering != nil { stopGathering() }
        hasServed = true
        idle = IdleTime(reactor)
        guard exchange.course.canReuse, !hasUnsent, mayReuse() else { return close(politely: !hasUnsent) }
        if owner.keepsConnection {
            pool.kept(id, after: owner.id)
        } else {
            pool.released(id, idleLimit: exchange.course.keepAliveTimeout)
        }
    }

    /// Closes the connection and tells the pool.
    func close() { close(politely: true) }

    /// Closes it; `politely` where nothing of a request is left unsent.
    func close(politely: Bool) {
        guard !isClosed else { return }
        isClosed = true
        channel.close(politely: politely)
        pool.closed(.http1(self))
    }

    /// Forgets the stream, which was handed over.
    func letGo() {
        isClosed = true
        channel.stream.observer = nil
        pool.detached(.http1(self))
    }

    // MARK: Reading

    /// Reads until the socket is empty, the exchange's owner can take no more, or its turn is over.
    ///
    /// Back-pressure is simply not reading: the socket is left alone, so TCP slows the sender down.
    func pump() {
        guard !isReading, canRead else { return }
        isReading = true
        defer { isReading = false }
        exchange.takeHeld()
        if canRead, !channel.holdsInput { exchange.completeIfEnded() }
        var turn = ReadingTurn()
        while canRead, channel.hasPendingInput || mustRead {
            guard !turn.isOver else {
                reactor.later { [weak self] in self?.pump() }
                return
            }
            mustRead = false
            let buffer = buffers.lend(atLeast: ReadingTurn.leastRead)
            defer { buffers.takeBack() }
            switch channel.read(into: buffer) {
            case .bytes(let count):
                turn.noteRead(max(count, channel.readPrice))
                // B6.40: a part of a record is a part of data, as far as can be known; a whole
                // message of TLS itself is none.
                if count > 0 || channel.tls?.holdsPartOfRecord == true { exchange.byteMoved() }
                if count > 0 { received(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
                if gathering != nil || BodyGathering.isWorthwhile(left: exchange.bodyLeft) { gather(count) }
            case .wouldBlock: break
            case .end(let isWhole): return inputEnded(nil, isWhole: isWhole)
            case .failed(let error): return inputEnded(error, isWhole: false)
            case .broken(let error):
                return exchange.isUnderWay ? exchange.tlsBroken(error) : close()
            }
            // Order: only when everything has been looked at that came with the last byte. A connection
            // handed on while bytes are still undecrypted would let a server answer the next request before
            // it was sent (B16.5, B16.39).
            if !channel.holdsInput { exchange.completeIfEnded() }
        }
    }

    /// Pumps if there may be something to read: requests ask before and after they are sent, and
    /// mostly there is nothing.
    func pumpIfPending() {
        if exchange.hasUndecoded || mustRead || channel.hasPendingInput { pump() }
    }

    /// So many bytes have been read of a large body, or of its end.
    private func gather(_ count: Int) {
        guard BodyGathering.isWorthwhile(left: exchange.bodyLeft) else {
            return stopGathering()
        }
        let gathering =
            gathering ?? BodyGathering(channel.stream, reactor: reactor) { [unowned self] in pump() }
        self.gathering = gathering
        gathering.noteRead(count, isDry: !channel.hasPendingInput)
    }

    private func stopGathering() {
        gathering?.stop()
        gathering = nil
    }

    private var canRead: Bool { !isClosed && !exchange.isReadPaused }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        // B16.9: nothing was asked for.
        if exchange.isUnderWay { exchange.received(bytes) } else { close() }
    }

    /// No more bytes will come: a FIN, TLS's close_notify, or an error.
    private func inputEnded(_ error: SystemError?, isWhole: Bool) {
        if exchange.isUnderWay { exchange.inputEnded(error, isWhole: isWhole) } else { close() }
    }

    // MARK: Readiness

    func streamBecameReadable(_ stream: any ByteStream) { pump() }

    func streamBecameWritable(_ stream: any ByteStream) {
        if exchange.isUnderWay { exchange.flush() } else { sendOutgoing() }
    }
}
