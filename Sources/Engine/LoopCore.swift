// Everything one engine keeps on its loop: transactions, pool, resolver, dialer, TLS state.
//
// It is plain and unshared: only commands that run on the loop reach it, so it has no lock. It outlives its
// `Engine` until the last transaction has ended, and then takes itself out of the reactor.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust

/// The loop's side of an `Engine`.
package final class LoopCore {
    // `@exclusivity(unchecked)`: as in `Transaction`.

    let reactor: Reactor
    let configuration: EngineConfiguration
    let trace: Trace?
    let dialer: any Dialer
    let resolver: any Resolver
    let buffers: LoopBuffers
    let tickets = TLSTicketStore()
    /// Where servers are judged when that needs files: two threads, so that one that hangs is not all of them.
    let judges = BlockingLane(pool: PendingJudgements.threads, width: 2)
    /// How sockets are set up.
    let dialOptions: DialOptions
    @exclusivity(unchecked) private(set) var transactions: [RequestID: Transaction] = [:]
    private(set) var ftpTransfers: [RequestID: FTPTransfer] = [:]
    /// What has a connection outside the pool (B16.3), by that one's number.
    @exclusivity(unchecked) private(set) var streams: [ConnectionID: StreamTransfer] = [:]
    private var streamsOpened = 0
    /// What was a connection of the pool until it switched, by its number there.
    @exclusivity(unchecked) private(set) var webSockets: [ConnectionID: WebSocketTransfer] = [:]
    /// What the frames of web sockets are masked with.
    @exclusivity(unchecked) var maskKeys = MaskKeys()
    let port: EnginePort
    private var tlsContexts: [TLSClientOptions: Result<TLSContext, TLSError>] = [:]
    private var isShutDown = false
    @exclusivity(unchecked) private var freeTimers: [DeadlineTimer] = []
    private lazy var poolDriver = PoolDriver(core: self)
    /// Made with the first request that waits for the network.
    private(set) lazy var connectivity = ConnectivityWaiters(
        monitor: configuration.makeConnectivityMonitor(reactor))

    convenience init(reactor: Reactor, configuration: EngineConfiguration, port: EnginePort) {
        self.init(
            reactor: reactor, configuration: configuration,
            dialer: Machine.simulated?.makeDialer(on: reactor) ?? SocketDialer(reactor: reactor),
            resolver: Machine.simulated?.makeResolver(on: reactor)
                ?? SystemResolver(
                    reactor: reactor, overrides: configuration.hostOverrides,
                    cacheLifetime: configuration.resolverCacheLifetime),
            port: port)
    }

    /// Makes an engine on a network of the caller's making, without an `Engine` in front of it.
    package convenience init(
        reactor: Reactor, configuration: EngineConfiguration, dialer: any Dialer, resolver: any Resolver
    ) {
        self.init(
            reactor: reactor, configuration: configuration, dialer: dialer, resolver: resolver,
            port: EnginePort(loop: reactor.loop))
    }

    private init(
        reactor: Reactor, configuration: EngineConfiguration, dialer: any Dialer, resolver: any Resolver,
        port: EnginePort
    ) {
        self.reactor = reactor
        self.configuration = configuration
        self.trace = configuration.trace.map { Trace($0) }
        self.dialOptions = DialOptions(
            localAddress: configuration.localAddress, interface: configuration.interface)
        self.dialer = dialer
        self.resolver = resolver
        self.port = port
        self.buffers = LoopBuffers.of(reactor)
        reactor.setResident(port.key, self)
    }

    /// Takes a request up from code that is on the loop already.
    package func submit(_ request: TransactionRequest, id: RequestID) -> TransactionHandle {
        let handle = TransactionHandle(id: id, request: request, port: port)
        start(handle)
        return handle
    }

    /// Opens a stream for code that is on the loop already.
    package func open(_ request: StreamRequest) -> StreamHandle {
        streamsOpened += 1
        let handle = StreamHandle(number: streamsOpened, request: request, port: port)
        start(handle)
        return handle
    }

    /// The connections of this engine.
    var pool: PoolDriver { poolDriver }

    /// Takes a submitted request up.
    func start(_ handle: TransactionHandle) {
        let receiver = handle.request.makeReceiver(handle, reactor)
        let transaction = Transaction(handle, receiver: receiver, core: self)
        guard !isShutDown else {
            transaction.cancel()
            return
        }
        transactions[handle.id] = transaction
        switch receiver.beginning {
        case .atOnce: transaction.start()
        case .suspended:
            transaction.suspend()
            transaction.start()
        case .cancelled: transaction.cancel()
        }
    }

    /// Takes an FTP transfer up from code that is on the loop already.
    package func submit(_ request: FTPRequest, id: RequestID) -> FTPHandle {
        let handle = FTPHandle(id: id, request: request, port: port)
        start(handle)
        return handle
    }

    /// Takes a submitted FTP transfer up.
    func start(_ handle: FTPHandle) {
        let receiver = handle.request.makeReceiver(handle, reactor)
        guard !isShutDown else { return receiver.finished(.cancelled) }
        let transfer = FTPTransfer(handle, receiver: receiver, core: self)
        ftpTransfers[handle.id] = transfer
        transfer.begin()
    }

    /// Forgets an FTP transfer that has ended.
    ///
    /// Order: it lives until the end of the turn, since its connections may still be on their way back into it.
    func ended(_ transfer: FTPTransfer) {
        ftpTransfers[transfer.handle.id] = nil
        reactor.later { withExtendedLifetime(transfer) {} }
        leaveIfDone()
    }

    /// A timer for a transaction's deadlines.
    func lendTimer() -> DeadlineTimer {
        freeTimers.popLast() ?? DeadlineTimer(reactor: reactor)
    }

    /// Takes a timer back that `lendTimer` gave.
    func takeBack(_ timer: DeadlineTimer) {
        timer.giveBack()
        // As many as a busy session needs again; a burst's are let go.
        if freeTimers.count < 256 { freeTimers.append(timer) }
    }

    /// Forgets a transaction that has ended.
    func ended(_ id: RequestID) {
        transactions[id] = nil
        // An unusual burst must not be remembered for ever.
        if transactions.isEmpty, transactions.capacity > 4_096 { transactions = [:] }
        leaveIfDone()
    }

    /// Takes a stream up.
    func start(_ handle: StreamHandle) {
        let receiver = handle.request.makeReceiver(handle, reactor)
        let transfer = StreamTransfer(handle, receiver: receiver, core: self)
        guard !isShutDown else { return transfer.cancel() }
        streams[handle.id] = transfer
        switch receiver.beginning {
        case .atOnce: transfer.start()
        case .suspended:
            transfer.suspend()
            transfer.start()
        case .cancelled: transfer.cancel()
        }
    }

    /// Goes on with a connection that has left HTTP, also while the engine only waits for its last transactions.
    func carry(_ connection: consuming DetachedConnection, _ request: StreamRequest, number: RequestID) {
        let handle = StreamHandle(number: number, request: request, port: port)
        let transfer = StreamTransfer(handle, receiver: request.makeReceiver(handle, reactor), core: self)
        streams[handle.id] = transfer
        transfer.start(on: connection)
    }

    /// Forgets a stream that has ended, or is somebody else's.
    func streamEnded(_ id: ConnectionID) {
        streams[id] = nil
        leaveIfDone()
    }

    /// Keeps a web socket until its end.
    func add(_ webSocket: WebSocketTransfer, _ id: ConnectionID) {
        webSockets[id] = webSocket
    }

    /// Forgets a web socket that has ended.
    func webSocketEnded(_ id: ConnectionID) {
        webSockets[id] = nil
        leaveIfDone()
    }

    /// An answer to a question has come, perhaps too late.
    func answered(_ id: ConnectionID, _ number: Int, _ answer: QuestionAnswer) {
        // Those of the pool count upwards from zero; streams and FTP transfers have one engine's numbers, made negative.
        guard id < 0 else { return pool.answered(id, number, answer) }
        streams[id]?.answered(number, answer)
        ftpTransfers[-id]?.answered(number, answer)
    }

    /// Whoever was asked has no say: the connection is the session's.
    func leftToSession(_ id: ConnectionID, _ number: Int) {
        if id >= 0 { pool.leftToSession(id, number) } else { streams[id]?.leftToSession(number) }
    }

    /// Closes every connection that carries no request, and forgets what later ones could resume: a session may hold who we
    /// were.
    package func closeIdleConnections() {
        pool.closeIdle()
        tickets.removeAll { ($0.base as? TicketKey)?.outlivesConnections ?? true }
    }

    /// Closes the connection that was kept for a request which does not come, if there is one.
    package func abandonKept(after request: RequestID) {
        pool.abandonKept(after: request)
        leaveIfDone()
    }

    /// Ends the engine, with every transaction or after the last.
    package func shutDown(immediately: Bool) {
        isShutDown = true
        if immediately {
            cancelWaiting()
            // In the order of submission, so that whoever listens sees the same order each time.
            for id in transactions.keys.sorted() { transactions[id]?.cancel() }
            for id in ftpTransfers.keys.sorted() { ftpTransfers[id]?.cancel() }
            for id in streams.keys.sorted(by: >) { streams[id]?.cancel() }
            for id in webSockets.keys.sorted() { webSockets[id]?.cancel() }
        }
        pool.shutDown(immediately: immediately)
        leaveIfDone()
    }

    /// Ends every request that waits for a connection: before the end of another makes room for it.
    package func cancelWaiting() {
        for id in transactions.keys.sorted() where transactions[id]?.isWaiting == true { transactions[id]?.cancel() }
    }

    /// What the pool holds.
    package var counts: PoolCounts { pool.counts }

    /// The engine's TLS settings for connections on which these protocols are offered, made at the first need.
    func clientTLSContext(for origin: Origin, offering protocols: ProtocolOffer) -> Result<TLSContext, TLSError> {
        var options = TLSClientOptions(
            minimum: configuration.minimumTLSVersion, maximum: configuration.maximumTLSVersion,
            alpn: protocols.alpn, keyLogFile: configuration.keyLogFile)
        configuration.transportSecurity?.restrict(&options, host: origin.matchingHost)
        if let made = tlsContexts[options] { return made }
        let made = Result { () throws(TLSError) in try TLSContext(client: options) }
        tlsContexts[options] = made
        return made
    }

    /// What a server is shown that accepts certificates of these issuers, when nobody else says.
    func identity(for origin: Origin, _ issuers: [[UInt8]]) -> Identity? {
        configuration.identity?.identity(
            for: HostName(origin.matchingHost), port: origin.port, acceptableIssuers: issuers)
    }

    /// Called whenever the last thing to wait for may have gone.
    ///
    /// Order: at the end of the turn, because whoever calls still works with objects that live as long as this one.
    func leaveIfDone() {
        guard isShutDown, isEmpty, pool.isDrained else { return }
        reactor.later { [self] in
            if isEmpty, pool.isDrained { reactor.setResident(port.key, nil) }
        }
    }

    /// Whether nothing is being loaded.
    private var isEmpty: Bool {
        transactions.isEmpty && ftpTransfers.isEmpty && streams.isEmpty && webSockets.isEmpty
    }
}

extension ProtocolOffer {
    /// What it is called in a handshake.
    fileprivate var alpn: [String] {
        switch self {
        case .http1: ["http/1.1"]
        case .http2OrHTTP1: ["h2", "http/1.1"]
        case .http2: ["h2"]
        }
    }
}
