// Everything one shard of an engine keeps on its loop: transactions, pool, resolver, dialer, TLS state.
//
// It is plain and unshared: only commands that run on the loop reach it, so it has no lock. It outlives its
// `Engine` until the last transaction has ended, and then takes itself out of the reactor.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust

/// The loop's side of one shard of an `Engine`.
package final class LoopCore {
    // `@exclusivity(unchecked)`: as in `Transaction`.

    let reactor: Reactor
    let configuration: EngineConfiguration
    /// The observer that follows connections, behind a reference.
    let trace: ConnectionTrace?
    let dialer: any Dialer
    let resolver: any Resolver
    let buffers: LoopBuffers
    let ticketStore = TicketStore()
    /// Where servers are judged when that needs files: two threads, so that one that hangs is not all of them.
    let judges = BlockingLane(pool: PendingJudgements.threads, width: 2)
    /// Where the program's own code is asked for certificates, likewise.
    private(set) lazy var choosers = BlockingLane(pool: .authentication, width: 2)
    /// How sockets are set up.
    let dialOptions: DialOptions
    @exclusivity(unchecked) private(set) var loads = NumberedTable<Load>()
    /// What the frames of web sockets are masked with.
    @exclusivity(unchecked) var maskKeys = MaskKeys()
    let port: EnginePort
    // Its own, because every request counts.
    let totals: EngineTotals
    private var tlsContexts: [TLSClientOptions: Result<TLSContext, TLSError>] = [:]
    private var isShutDown = false
    @exclusivity(unchecked) private var freeTimers: [DeadlineTimer] = []
    private lazy var poolDriver = PoolDriver(core: self)
    /// What waits for the network; nil before the first that does.
    private var waiters: ConnectivityWaiters?

    convenience init(reactor: Reactor, configuration: EngineConfiguration, port: EnginePort) {
        let network = configuration.makeNetwork?(reactor)
        self.init(
            reactor: reactor, configuration: configuration,
            dialer: network?.dialer ?? Machine.simulated?.makeDialer(on: reactor) ?? SocketDialer(reactor: reactor),
            resolver: network?.resolver ?? Self.simulatedResolver(reactor, configuration)
                ?? SystemResolver(
                    reactor: reactor, overrides: configuration.hostOverrides,
                    cacheLifetime: configuration.resolverCacheLifetime, names: configuration.names),
            port: port)
    }

    /// The simulated machine's, unless the program answers for names itself.
    private static func simulatedResolver(
        _ reactor: Reactor, _ configuration: EngineConfiguration
    ) -> (any Resolver)? {
        configuration.names == nil ? Machine.simulated?.makeResolver(on: reactor) : nil
    }

    /// Makes an engine on a network of the caller's making, without an `Engine` in front of it.
    package convenience init(
        reactor: Reactor, configuration: EngineConfiguration, dialer: any Dialer, resolver: any Resolver
    ) {
        self.init(
            reactor: reactor, configuration: configuration, dialer: dialer, resolver: resolver,
            port: EnginePort(loop: reactor.loop, configuration: configuration))
    }

    private init(
        reactor: Reactor, configuration: EngineConfiguration, dialer: any Dialer, resolver: any Resolver,
        port: EnginePort
    ) {
        self.reactor = reactor
        self.configuration = configuration
        self.trace = configuration.connectionObserver.map { ConnectionTrace(shard: port.shard, $0) }
        self.totals = port.totals
        self.dialOptions = DialOptions(
            probeInterval: configuration.connectionProbeInterval, localAddress: configuration.localAddress,
            interface: configuration.interface)
        self.dialer = dialer
        self.resolver = resolver
        self.port = port
        self.buffers = LoopBuffers.of(reactor)
        port.made(self, on: reactor)
    }

    /// The connections of this engine.
    var pool: PoolDriver { poolDriver }

    /// What waits for the network.
    var connectivity: ConnectivityWaiters {
        if let waiters { return waiters }
        let made = ConnectivityWaiters(monitor: configuration.makeConnectivityMonitor(reactor), reactor: reactor)
        waiters = made
        return made
    }

    /// A connection stands: what waits for a way to the same place goes on.
    func reached(_ origin: Origin, by route: Route) {
        waiters?.reached(Destination(origin: origin, route: route))
    }

    // MARK: Loads

    /// Takes a request up from code that is on the loop already.
    package func submit(_ request: TransactionRequest) -> TransactionHandle {
        let handle = TransactionHandle(request, port: port)
        start(handle)
        return handle
    }

    /// Takes an FTP transfer up from code that is on the loop already.
    package func submit(ftp request: FTPRequest) -> FTPHandle {
        let handle = FTPHandle(request, port: port)
        start(ftp: handle)
        return handle
    }

    /// Opens a stream for code that is on the loop already.
    package func open(_ request: StreamRequest) -> StreamHandle {
        let handle = StreamHandle(request, port: port)
        start(stream: handle)
        return handle
    }

    /// Takes a submitted request up.
    func start(_ handle: TransactionHandle) {
        let receiver = handle.request.makeReceiver(handle, reactor)
        let transaction = Transaction(handle, receiver: receiver, core: self)
        guard !isShutDown else {
            transaction.cancel()
            return
        }
        loads[handle.id] = .transaction(transaction)
        transaction.begin(receiver.beginning) { transaction.start() }
    }

    /// Takes a submitted FTP transfer up.
    func start(ftp handle: FTPHandle) {
        let receiver = handle.request.makeReceiver(handle, reactor)
        guard !isShutDown else { return receiver.finished(.cancelled) }
        let transfer = FTPTransfer(handle, receiver: receiver, core: self)
        loads[handle.id] = .ftp(transfer)
        transfer.begin()
    }

    /// Takes a stream up.
    func start(stream handle: StreamHandle) {
        let receiver = handle.request.makeReceiver(handle, reactor)
        let transfer = StreamTransfer(handle, receiver: receiver, core: self)
        guard !isShutDown else { return transfer.cancel() }
        loads[handle.id] = .stream(transfer)
        transfer.begin(receiver.beginning) { transfer.start() }
    }

    /// Goes on with a connection that has left HTTP, also while the engine only waits for its last transactions.
    func carry(_ connection: consuming DetachedConnection, _ request: StreamRequest) {
        let handle = StreamHandle(request, port: port)
        let transfer = StreamTransfer(handle, receiver: request.makeReceiver(handle, reactor), core: self)
        loads[handle.id] = .stream(transfer)
        transfer.start(on: connection)
    }

    /// Carries a web socket on a stream that has switched to it, for code that is on the loop already; the caller has
    /// the handle before anything is told. `unread` is what was read of the stream already.
    package func carry(
        _ stream: any ByteStream, unread: [UInt8] = [], as settings: WebSocketSettings,
        makeReceiver: (WebSocketHandle) -> any WebSocketReceiver
    ) -> WebSocketHandle {
        let handle = WebSocketHandle(port: port)
        let transfer = WebSocketTransfer(
            handle, on: stream, unread: unread, settings: settings, receiver: makeReceiver(handle), core: self)
        loads[handle.id] = .webSocket(transfer)
        transfer.begin()
        return handle
    }

    /// A transaction that has not ended.
    func transaction(_ id: LoadID) -> Transaction? {
        if case .transaction(let transaction)? = loads[id] { transaction } else { nil }
    }

    /// Forgets a load that has ended, or that has been handed over.
    func ended(_ id: LoadID) {
        loads[id] = nil
        leaveIfDone()
    }

    /// Forgets a load that has ended and had a connection of its own.
    ///
    /// Order: it lives until the end of the turn, since they may still be on their way back into it.
    func ended(_ id: LoadID, keeping load: some SteeredLoad) {
        reactor.later { withExtendedLifetime(load) {} }
        ended(id)
    }

    // MARK: What loads need

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

    /// An answer to a question has come, perhaps too late.
    func answered(_ connection: ConnectionName, _ number: Int, _ answer: QuestionAnswer) {
        switch connection {
        case .pooled(let id): pool.answered(id, number, answer)
        case .load(let id): loads[id]?.steered.answered(number, answer)
        }
    }

    /// The delegate that was asked has no method for the question: the connection is the session's.
    func leftToSession(_ connection: ConnectionName, _ number: Int) {
        switch connection {
        case .pooled(let id): pool.leftToSession(id, number)
        case .load(let id): loads[id]?.steered.leftToSession(number)
        }
    }

    /// Lets later requests open new connections, and forgets what these could resume: a TLS session may hold the client
    /// certificate of before.
    package func renewConnections() {
        pool.renew()
        ticketStore.removeAll()
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
            // In the order of submission, so that receivers see the same order each time.
            for id in loads.numbers { loads[id]?.steered.cancel() }
        }
        pool.shutDown(immediately: immediately)
        leaveIfDone()
    }

    /// Ends every request that waits for a connection, or for the network: before the end of another makes room for it.
    package func cancelWaiting() {
        // Order: the end of one that tries to connect has those without a network try, too (B6.41).
        cancel(where: \.isOffline)
        cancel(where: \.isWaiting)
    }

    private func cancel(where isMeant: (Transaction) -> Bool) {
        for id in loads.numbers {
            if let transaction = transaction(id), isMeant(transaction) { transaction.cancel() }
        }
    }

    /// What the pool holds that speaks HTTP/2.
    var http2Connections: Int { pool.http2Connections }

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

    /// Called whenever the last thing to wait for may have gone.
    ///
    /// Order: at the end of the turn, because the caller still works with objects that live as long as this one.
    func leaveIfDone() {
        guard isShutDown, loads.isEmpty, pool.isDrained else { return }
        reactor.later { [self] in
            if loads.isEmpty, pool.isDrained { port.ended(on: reactor) }
        }
    }
}

extension ProtocolOffer {
    /// What it is called in a handshake.
    fileprivate var alpn: [String] {
        switch self {
        case .http1: ["http/1.1"]
        case .http2OrHTTP1: ["h2", "http/1.1"]
        case .http2: ["h2"]
        case .nothing: []
        }
    }
}
