// One HTTP/1.1 connection: moves bytes between a stream, an optional TLS session and the wire codecs.
//
// It knows how one exchange goes (RFC 9112 §9) and nothing of retries, redirects or users: those are the
// transaction's. Reading is in +Reading, writing in +Writing. The connection is back in the pool before its
// transaction hears of the end, so that a quick next request finds it.
//
// Must not know: which requests wait, why they wait, who asked.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// An established connection, idle or carrying one exchange.
final class HTTP1Connection: ByteStreamObserver {
    // `@exclusivity(unchecked)`: measured, the checks cost a small request 91 calls into the runtime. The compiler keeps
    // this object on its loop, and no other object is called while a property is being changed.
    let id: ConnectionID
    let key: PoolKey
    let setup: ConnectionSetup
    let stream: any ByteStream
    let tls: TLSSession?
    /// Whether it leads to or through a proxy.
    let isProxied: Bool
    /// Whether requests on it name their origins: they are for a proxy that forwards them (RFC 9112 §3.2.2).
    let isForwarding: Bool
    // Owner: the core; its pool lets go of every connection that is closed.
    let core: LoopCore

    /// The exchange under way.
    @exclusivity(unchecked) private(set) var transaction: Transaction?
    /// Whether an exchange has been carried before this one.
    @exclusivity(unchecked) private(set) var hasServed = false
    @exclusivity(unchecked) private(set) var isClosed = false
    /// The exchange under way was the first thing to happen on this connection.
    @exclusivity(unchecked) private var wasFresh = false
    /// In nanoseconds of the loops' clock.
    private let readyAt: Int64
    /// The loop's last wait for events when it became free.
    @exclusivity(unchecked) private var idleSince: Int

    @exclusivity(unchecked) var exchange = ExchangeMachine()
    @exclusivity(unchecked) var decoder = ResponseDecoder()
    @exclusivity(unchecked) var framing = BodyFraming.none

    // Reading (+Reading)
    /// Decrypted bytes that came while the receiver could take no more.
    @exclusivity(unchecked) var heldPlaintext: [UInt8] = []
    /// Encrypted bytes likewise.
    @exclusivity(unchecked) var heldCiphertext: [UInt8] = []
    /// The decoder was left in the middle, with or without held bytes.
    @exclusivity(unchecked) var hasUndecoded = false
    /// TLS may still hold records that came while the receiver could take no more.
    @exclusivity(unchecked) var hasUndecrypted = false
    @exclusivity(unchecked) var isReading = false
    /// Read once although no readiness was reported: a write has just failed and the peer may have said why.
    @exclusivity(unchecked) var mustRead = false
    @exclusivity(unchecked) var responseEnd = ResponseEnd.open
    /// The peer said in TLS that nothing follows.
    @exclusivity(unchecked) var hasCloseNotify = false
    @exclusivity(unchecked) var responseBytesSeen = false
    /// The server spoke before it was asked anything (B16.29).
    @exclusivity(unchecked) var hasEarlyBytes = false

    // Writing (+Writing)
    @exclusivity(unchecked) var output = PendingOutput()
    /// A write failed; the response, if one comes, still counts (B11.17).
    @exclusivity(unchecked) var writeError: SystemError?
    @exclusivity(unchecked) var requestBytesWritten = false

    // Bodies that do not leave together with their head (+Bodies)
    /// What is still to come of the request's body, after what waits in `output`.
    @exclusivity(unchecked) var feed: BodyFeed?
    /// How much more of it may go out before others have their turn.
    @exclusivity(unchecked) var turnsLeft = 0
    /// Runs while the body waits for the server's permission (B5.40).
    @exclusivity(unchecked) var continueTimer: LoopTimer?

    init(
        id: ConnectionID, key: PoolKey, setup: ConnectionSetup, stream: any ByteStream, tls: TLSSession?,
        heldCiphertext: [UInt8], core: LoopCore
    ) {
        self.id = id
        self.key = key
        self.setup = setup
        self.stream = stream
        self.tls = tls
        isProxied = key.route.proxy != nil
        isForwarding = key.isForwarding
        self.heldCiphertext = heldCiphertext
        self.core = core
        self.readyAt = core.reactor.nanoseconds
        idleSince = core.reactor.pollMark
    }

    /// Takes the stream over from whoever set it up.
    func becomeReady() {
        stream.observer = self
    }

    /// Notices what has already come to a connection that nobody needed at once.
    func watchWhileIdle() {
        guard transaction == nil else { return }
        if tls?.hasOutgoing == true { flush() }
        pump()
    }

    // MARK: Questions

    /// How the server was accepted. What a proxy has shown does not count: the answer is the server's.
    var acceptance: ServerAcceptance {
        guard let tls else { return .plain }
        return tls.peer?.isVouchedFor ?? true ? .vouchedFor : .evaluated
    }

    /// Whether an idle connection may carry this request: it is open, and nothing came that nobody asked for.
    ///
    /// B16.70: the loop has told what came up to its last wait, which usually was a moment ago. Otherwise the socket is
    /// looked at; and so it is for a request that could not be sent again, since a close that came within that moment
    /// would be its caller's error.
    func isUsable(for method: String) -> Bool {
        guard !isClosed, transaction == nil else { return false }
        // B6.28: what is wrong with a fresh connection is its request's error, else a server that drops every
        // connection would be dialled for ever.
        if isFresh { return true }
        pumpIfPending()
        guard !isClosed else { return false }
        let isKnown = core.reactor.hasSeenAll(since: idleSince) && ReplayRules.isIdempotent(method)
        if !isKnown, hasUnasked() { return false }
        // The rest of a record would pass for something that came behind the request.
        return tls?.holdsPartOfRecord != true
    }

    /// Just opened: it has carried nothing and has not waited in the pool.
    private var isFresh: Bool { !hasServed && readyAt == core.reactor.nanoseconds }

    // MARK: One exchange

    /// Sends a transaction's request; what comes back is reported to it.
    func begin(_ transaction: Transaction) {
        self.transaction = transaction
        responseBytesSeen = false
        requestBytesWritten = false
        writeError = nil
        framing = .none
        responseEnd = .open
        wasFresh = isFresh
        hasEarlyBytes = wasFresh && hasUnasked()
        if hasServed { exchange.nextExchange() }
        let handle = transaction.handle
        do {
            let headBytes = try queue(transaction)
            exchange.requestHeadSent(keepAliveAllowed: !handle.request.head.fields.askToClose)
            let method = handle.request.head.method
            decoder.begin(handle.request.isUpgrade ? .toUpgrade : ExpectedResponse(method: method))
            transaction.requestStarted(headBytes: headBytes)
        } catch {
            // Nothing was written: the connection is as good as before.
            self.transaction = nil
            core.pool.released(self, idleLimit: nil)
            transaction.exchangeFailed(
                .invalidRequest(error),
                facts: ExchangeFacts(reusedConnection: !wasFresh, bytesWritten: false, responseBytes: false))
            return
        }
        flush()
        pumpIfPending()
    }

    /// Gives the exchange up: its answer is of no use any more (B16.5).
    func abandon() {
        noteWireBodyBytes()
        transaction = nil
        dropBody()
        close()
    }

    /// The response is complete; `leftover` tells that bytes followed it (B16.39), and is asked only where that matters.
    func responseEnded(leftover: @autoclosure () -> Bool) {
        responseEnd = .open
        guard let transaction else { return }
        exchange.responseEnded()
        self.transaction = nil
        dropBody()
        hasServed = true
        idleSince = core.reactor.pollMark
        if exchange.canReuse, output.isEmpty, writeError == nil, !hasCloseNotify, !leftover() {
            // Order: the pool first, the user second.
            if transaction.keepsConnection {
                core.pool.kept(self, after: transaction)
            } else {
                core.pool.released(self, idleLimit: exchange.keepAliveTimeout)
            }
        } else {
            close()
        }
        transaction.responseEnded()
    }

    /// The exchange cannot go on; the connection is of no further use.
    func fail(_ error: EngineError) {
        let failed = transaction
        let facts = ExchangeFacts(
            reusedConnection: !wasFresh, bytesWritten: requestBytesWritten, responseBytes: responseBytesSeen)
        noteWireBodyBytes()
        transaction = nil
        dropBody()
        close()
        failed?.exchangeFailed(error, facts: facts)
    }

    /// B12.19: also of an answer that does not come to its end.
    private func noteWireBodyBytes() {
        if responseBytesSeen { transaction?.noteWireBodyBytes(decoder.wireBodyBytes) }
    }

    /// Closes the connection and tells the pool.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if let tls, output.isEmpty, writeError == nil, tls.peer != nil {
            tls.close()
            _ = tls.withOutgoing { stream.write($0) }
        }
        stream.observer = nil
        stream.close()
        core.pool.closed(self)
    }

    /// Forgets the stream, which is somebody else's now.
    func letGo() {
        isClosed = true
        transaction = nil
        dropBody()
        stream.observer = nil
        core.pool.detached(self)
    }

    // MARK: Readiness

    func streamBecameReadable(_ stream: any ByteStream) { pump() }

    func streamBecameWritable(_ stream: any ByteStream) { flush() }
}

/// Whether the response has ended while its last bytes are still being looked at.
enum ResponseEnd {
    case open, ended, endedWithLeftover
}

/// What a retry rule must know about an exchange that failed.
struct ExchangeFacts {
    let reusedConnection: Bool
    let bytesWritten: Bool
    let responseBytes: Bool
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
