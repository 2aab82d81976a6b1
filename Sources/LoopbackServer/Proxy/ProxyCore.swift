// The proxy on its loop: the listener and the connections that it has accepted. Confined to the loop's thread; the door
// is LoopbackProxy. Knows nothing of what is said.

import URLLoadingSystem
import URLLoadingTLS

/// What lives on the proxy's loop.
final class ProxyCore: ListeningCore {
    unowned let reactor: Reactor
    let options: LoopbackProxy.Options
    let log: ProxyLog
    let dialer: SocketDialer
    let figures: ObservedStatistics
    /// Plaintext of the connection that is being read, valid during one callback.
    let plaintext = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    let key: ResidentKey<ProxyCore>
    var listener: Listener?
    private let context: TLSContext?
    private var sessions: [Int: ProxySession] = [:]
    private var lastNumber = 0

    init(
        key: ResidentKey<ProxyCore>, reactor: Reactor, options: LoopbackProxy.Options, context: TLSContext?,
        figures: ObservedStatistics, log: ProxyLog
    ) {
        self.key = key
        self.reactor = reactor
        self.options = options
        self.context = context
        self.figures = figures
        self.log = log
        dialer = SocketDialer(reactor: reactor)
    }

    deinit {
        plaintext.deallocate()
    }

    func closeConnections() {
        for session in sessions.values { session.close() }
    }

    func closed(_ session: ProxySession) {
        guard sessions.removeValue(forKey: session.number) != nil else { return }
        figures.update { $0.connectionsOpen -= 1 }
    }

    /// Where a target is: at a loopback address that it names, and at 127.0.0.1 whatever else it names.
    func address(of host: String, port: Int) -> SocketAddress? {
        if let named = SocketAddress(literal: host, port: port), named.isLoopback { return named }
        return .ipv4(127, 0, 0, 1, port: port)
    }

    func accepted(_ stream: SocketStream) {
        lastNumber += 1
        figures.update { statistics in
            statistics.connectionsAccepted += 1
            statistics.connectionsOpen += 1
        }
        let session: TLSSession?
        do {
            session = try context.map { try TLSSession(server: $0) }
        } catch {
            stream.close()
            figures.update { $0.connectionsOpen -= 1 }
            return
        }
        let made = ProxySession(
            number: lastNumber, channel: ServerChannel(stream: stream, session: session), core: self)
        sessions[lastNumber] = made
        made.begin()
    }
}
