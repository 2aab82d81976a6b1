// The server on its loop: the listener, and the connections that it has accepted. Everything here is confined to the
// loop's thread; the door is LoopbackServer. Knows nothing of messages.

import URLLoadingSystem
import URLLoadingTLS

/// What lives on the server's loop.
final class ServerCore: ListeningCore {
    let key: ResidentKey<ServerCore>
    unowned let reactor: Reactor
    let loop: Loop
    let options: LoopbackServer.Options
    let router: LoopbackServer.Router
    let figures: ObservedStatistics
    /// Plaintext of the connection that is being read, valid during one callback; ciphertext is in the reactor's.
    let plaintext = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    private let context: TLSContext?
    var listener: Listener?
    private var connections: [Int: ServerConnection] = [:]
    private var lastNumber = 0

    init(
        key: ResidentKey<ServerCore>, reactor: Reactor, loop: Loop, options: LoopbackServer.Options,
        context: TLSContext?,
        router: @escaping LoopbackServer.Router, figures: ObservedStatistics
    ) {
        self.key = key
        self.reactor = reactor
        self.loop = loop
        self.options = options
        self.context = context
        self.router = router
        self.figures = figures
    }

    deinit {
        plaintext.deallocate()
    }

    func closeConnections() {
        for connection in connections.values { connection.close() }
    }

    func connection(_ number: Int) -> ServerConnection? {
        connections[number]
    }

    func closed(_ connection: ServerConnection) {
        guard connections.removeValue(forKey: connection.number) != nil else { return }
        figures.update { $0.connectionsOpen -= 1 }
    }

    func accepted(_ stream: SocketStream) {
        if let size = options.sendBufferBytes { stream.setBufferSizes(send: size) }
        serve(stream)
    }

    /// Serves a client at the other end of a stream.
    func serve(_ stream: any AbortiveStream) {
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
            figures.update { statistics in
                statistics.failedHandshakes += 1
                statistics.connectionsOpen -= 1
            }
            return
        }
        let connection = ServerConnection(
            number: lastNumber, channel: ServerChannel(stream: stream, session: session), core: self)
        connections[lastNumber] = connection
        connection.begin()
    }
}
