// The FTP server on its loop: the listener and the control connections. Confined to the loop's thread.

import URLLoadingSystem
import URLLoadingTLS

/// What lives on the server's loop.
final class FTPServerCore: ListeningCore {
    unowned let reactor: Reactor
    let options: FTPServer.Options
    let context: TLSContext?
    let dataContext: TLSContext?
    let log: FTPServerLog
    /// Plaintext of the connection that is being read, valid during one callback.
    let plaintext = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    let key: ResidentKey<FTPServerCore>
    var listener: Listener?
    private var sessions: [Int: FTPServerSession] = [:]
    private var lastNumber = 0

    init(
        key: ResidentKey<FTPServerCore>, reactor: Reactor, options: FTPServer.Options, context: TLSContext?,
        dataContext: TLSContext?, log: FTPServerLog
    ) {
        self.key = key
        self.reactor = reactor
        self.options = options
        self.context = context
        self.dataContext = dataContext
        self.log = log
    }

    deinit {
        plaintext.deallocate()
    }

    func accepted(_ stream: SocketStream) {
        lastNumber += 1
        let session = FTPServerSession(number: lastNumber, stream: stream, core: self)
        sessions[lastNumber] = session
        session.begin()
    }

    func closeConnections() {
        for session in sessions.values { session.close() }
    }

    func session(_ number: Int) -> FTPServerSession? { sessions[number] }

    func closed(_ session: FTPServerSession) {
        sessions[session.number] = nil
    }
}
