// One request and its answer on an HTTP/1.1 connection. Reading is in +Reading, writing in +Writing and +Bodies.
//
// The object belongs to its connection and serves one request after the other. While an exchange is under way it holds
// the connection, and lets go of it at the end, whatever the end is.
//
// Must not know: the pool, retries, redirects, users: those are the owner's.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// An exchange that is under way, or waits for the connection's next request.
final class HTTP1Exchange {
    // `@exclusivity(unchecked)`: as in `HTTP1Connection`.
    let core: LoopCore
    let channel: SecureChannel
    /// The course of the connection's exchanges, which says whether another may follow.
    @exclusivity(unchecked) var course = ExchangeMachine()
    @exclusivity(unchecked) private(set) var owner: (any ExchangeOwner)?
    // Measured: the stream refers to it weakly, so that each look at it costs twice forty instructions. What moves
    // bytes does without.
    @exclusivity(unchecked) private(set) var connection: HTTP1Connection?

    @exclusivity(unchecked) var reading = Reading.awaiting(isEarly: false)
    @exclusivity(unchecked) var decoder = ResponseDecoder()
    /// Bytes that came while the owner could take no more, or before the request; none where the decoder was left in
    /// the middle and owes something without them.
    @exclusivity(unchecked) var undecoded: [UInt8]?

    @exclusivity(unchecked) var writing = Writing.bytes
    @exclusivity(unchecked) var output = PendingOutput()
    /// How much more of the body may go out before others have their turn.
    @exclusivity(unchecked) var turnsLeft = 0
    /// What the channel had sent when the exchange began.
    @exclusivity(unchecked) private var sentBefore = 0
    /// For which request it was asked last how far it has reached the peer, and what the answer was.
    @exclusivity(unchecked) private var lastArrival: (request: RequestID, position: Int)?
    /// The exchange was the first thing to happen on its connection.
    @exclusivity(unchecked) private var wasFresh = false

    /// How far the answer has come.
    enum Reading {
        /// Not a byte. `isEarly`: the server spoke before it was asked anything (B16.29).
        case awaiting(isEarly: Bool)
        /// Its first bytes are here, early or not; and the length of its body, once a head has told it.
        case receiving(isEarly: Bool, expected: Int64?)
        /// It is whole, and its last bytes are still being looked at, or the request's body is still going out.
        case ended(hasLeftover: Bool)
    }

    /// How far the request has come.
    enum Writing {
        /// What waits in `output` is all that is left of it.
        case bytes
        /// More comes from here.
        case feed(BodyFeed)
        /// The body waits for the server's permission, no longer than the timer runs (B5.40).
        case permission(BodyFeed?, LoopTimer)
        /// A write failed, and nothing more goes out; the answer, if one comes, still counts (B11.17).
        case failed(SystemError)
    }

    init(channel: SecureChannel, core: LoopCore) {
        self.channel = channel
        self.core = core
    }

    // MARK: Questions

    var isUnderWay: Bool { owner != nil }

    var isReadPaused: Bool { owner?.isReadPaused == true }

    /// Whether the decoder has something to do without anything being read.
    var hasUndecoded: Bool {
        if case .ended = reading { return true }
        return undecoded != nil
    }

    /// How much of the answer's body is still to come, where its head has told; else none.
    var bodyLeft: Int64 {
        if case .receiving(_, let expected?) = reading { expected - decoder.bodyBytesReceived } else { 0 }
    }

    /// Whether nothing more goes out.
    var hasFailedToSend: Bool { if case .failed = writing { true } else { false } }

    /// Whether bytes of the request are left that will never be sent.
    var hasUnsent: Bool { hasFailedToSend || !output.isEmpty }

    /// Whether the answer is complete and the connection only waits for the end of the request's body.
    var isOnlySending: Bool {
        guard case .ended = reading, isUnderWay, course.isSendingBody else { return false }
        return feed != nil || !output.isEmpty
    }

    /// Whether the answer's head was the last thing that was decoded.
    var isAtHead: Bool {
        guard let connection, !connection.isClosed, !connection.isReading, decoder.wireBodyBytes == 0 else {
            return false
        }
        if case .ended = reading { return false }
        return true
    }

    /// How far the request has reached the peer. Nothing but it goes out meanwhile.
    func arrival() -> Arrival? {
        guard let owner, let delivery = channel.stream.delivery() else { return nil }
        let position = channel.bytesSent &- delivery.unacknowledged
        defer { lastArrival = (owner.id, position) }
        let before = lastArrival?.request == owner.id ? lastArrival?.position : nil
        return Arrival(position: position, before: before, age: delivery.age)
    }

    private var responseBegan: Bool { if case .awaiting = reading { false } else { true } }

    // MARK: The course

    func byteMoved() { owner?.byteMoved() }

    /// Holds the connection, before it begins.
    func take(_ connection: HTTP1Connection) { self.connection = connection }

    /// Sends the owner's request; what comes back is told to the owner.
    func begin(for owner: any ExchangeOwner) {
        guard let connection else { return }
        self.owner = owner
        let handle = owner.handle
        writing = .bytes
        sentBefore = channel.bytesSent
        wasFresh = connection.isFresh
        reading = .awaiting(isEarly: wasFresh && connection.hasUnasked())
        if connection.hasServed { course.nextExchange() }
        do {
            let headBytes = try queue(owner, isForwarding: connection.isForwarding)
            course.requestHeadSent(keepAliveAllowed: !handle.request.head.fields.askToClose)
            let method = handle.request.head.method
            decoder.begin(handle.request.isUpgrade ? .toUpgrade : ExpectedResponse(method: method))
            owner.requestStarted(headBytes: headBytes)
        } catch {
            // Nothing was written: the connection is as good as before.
            letGo()
            core.pool.released(connection.id, idleLimit: nil)
            owner.exchangeFailed(
                .invalidRequest(error),
                facts: ExchangeFacts(reusedConnection: !wasFresh, bytesWritten: false, responseBytes: false))
            return
        }
        flush()
        connection.pumpIfPending()
    }

    /// Gives the exchange up: its answer is of no use any more (B16.5). `isTimedOut` says that the server
    /// did not answer in time, which makes connections that were idle beside this one suspect, too, where
    /// not one byte has come (B16.6).
    func abandon(isTimedOut: Bool) {
        let connection = connection
        // Order: before this one makes room for a request that waits.
        if isTimedOut, !responseBegan, let connection, connection.hasServed { core.pool.fellSilent(connection.id) }
        noteWireBodyBytes()
        letGo()
        connection?.close(politely: !hasUnsent)
    }

    /// Ends where only the request's body is still going out.
    func endIfAnswered() -> Bool {
        guard isOnlySending else { return false }
        end(hasLeftover: true)
        return true
    }

    /// The response is complete; `hasLeftover` tells that bytes followed it (B16.39), and is asked
    /// only where that matters.
    func end(hasLeftover: @autoclosure () -> Bool) {
        guard let owner, let connection else { return }
        letGo()
        // Order: the pool first, the user second.
        connection.ended(for: owner, mayReuse: !hasLeftover(), hasUnsent: hasUnsent)
        owner.responseEnded()
    }

    /// The exchange cannot go on; the connection is of no further use.
    func fail(_ error: EngineError) {
        guard let owner, let connection else { return }
        let facts = ExchangeFacts(
            reusedConnection: !wasFresh, bytesWritten: channel.bytesSent != sentBefore,
            responseBytes: responseBegan)
        noteWireBodyBytes()
        letGo()
        connection.close(politely: !hasUnsent)
        owner.exchangeFailed(error, facts: facts)
    }

    /// TLS has broken: with the server, or with a proxy that forwards.
    func tlsBroken(_ error: TLSError) {
        guard let key = connection?.key else { return }
        guard key.isForwarding, let proxy = key.route.proxy else { return fail(.tls(error, host: key.origin.host)) }
        // A proxy that does not take our certificate says so behind the handshake, and has not looked at the request.
        let isRefusal = !responseBegan && [.clientCertificateRequired, .clientCertificateRejected].contains(error)
        fail(.proxy(ProxyFailure(proxy, isRefusal ? .tls(error) : .tlsBroken(error))))
    }

    /// Gives the connection away, and what was read of it behind the head.
    func detach() -> DetachedConnection? {
        guard let owner, let connection else { return nil }
        let facts = DetachedConnection.Facts(
            origin: owner.handle.request.origin, route: connection.key.route,
            localAddress: channel.stream.localAddress, remoteAddress: channel.stream.remoteAddress,
            tls: connection.setup.negotiated, isReused: connection.hasServed, isProxied: connection.isProxied)
        let unread = undecoded ?? []
        undecoded = nil
        letGo()
        connection.letGo()
        guard channel.tls != nil else {
            return DetachedConnection(channel.stream, unread: unread, facts: facts, core: core)
        }
        // A proxy that forwards is spoken to by its own TLS.
        let secure = TLSStream(channel, isOfProxy: facts.tls == nil)
        // The end of the request may still wait there.
        secure.flushOutput()
        return DetachedConnection(secure, unread: unread, facts: facts, core: core)
    }

    /// B12.19: also of an answer that does not come to its end.
    private func noteWireBodyBytes() {
        if responseBegan { owner?.noteWireBodyBytes(decoder.wireBodyBytes) }
    }

    /// Lets go of the owner, the connection, and what was still to come of the body.
    private func letGo() {
        owner = nil
        connection = nil
        reading = .awaiting(isEarly: false)
        dropBody()
    }
}

extension ExpectedResponse {
    fileprivate init(method: String) {
        switch method {
        case "HEAD": self = .toHEAD
        case "CONNECT": self = .toCONNECT
        default: self = .toOther
        }
    }
}
