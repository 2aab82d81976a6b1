// The fault proxy on its loop: the listener and the connections that it has accepted. Confined to the loop's thread;
// the door is FaultProxy.

import URLLoadingSystem

/// What lives on the fault proxy's loop.
final class FaultCore: ListeningCore {
    unowned let reactor: Reactor
    let target: SocketAddress
    let books: FaultBooks
    let dialer: SocketDialer

    let key: ResidentKey<FaultCore>
    var listener: Listener?
    private let options: FaultProxy.Options
    private var connections: [Int: FaultConnection] = [:]
    private var lastNumber = 0

    init(
        key: ResidentKey<FaultCore>, reactor: Reactor, target: SocketAddress, options: FaultProxy.Options,
        books: FaultBooks
    ) {
        self.key = key
        self.reactor = reactor
        self.target = target
        self.options = options
        self.books = books
        dialer = SocketDialer(reactor: reactor)
    }

    func closeConnections() {
        for connection in connections.values { connection.close() }
    }

    func closed(_ connection: FaultConnection) {
        connections[connection.number] = nil
        books.closed(number: connection.number)
    }

    func accepted(_ stream: SocketStream) {
        lastNumber += 1
        let plan = options.plan(lastNumber)
        let kept = options.keepsOnlyChanged && !plan.changesBytes ? 0 : options.keptBytes
        books.opened(port: stream.remoteAddress?.port ?? 0, number: lastNumber, keptBytes: kept)
        let connection = FaultConnection(number: lastNumber, client: stream, plan: plan, core: self)
        connections[lastNumber] = connection
        connection.begin()
    }
}
