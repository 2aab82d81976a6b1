// A client and a server session joined in memory: ciphertext moves in pieces of a chosen size, questions are answered
// by closures. No sockets, no threads, no time.

import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

/// How one side's handshake has ended.
enum HandshakeEnd {
    case finished
    case failed(TLSError)

    var error: TLSError? {
        if case .failed(let error) = self { return error }
        return nil
    }
    var isFinished: Bool { error == nil }
}

/// One side of the pair.
final class Endpoint {
    let session: TLSSession
    var inbox: [UInt8] = []
    var end: HandshakeEnd?
    var verdictsAsked = 0
    var identitiesAsked: [[[UInt8]]] = []
    var onVerdict: (CertificateChain) -> TrustVerdict? = { .trusted(.vouchedForByApplication($0)) }
    var onIdentity: ([[UInt8]]) -> Identity?? = { _ in .some(nil) }
    var received: [UInt8] = []
    var readEnd: TLSSession.ReadStep?

    init(_ session: TLSSession) {
        self.session = session
    }

    /// Goes on until input is needed or the handshake is over.
    func shakeHands(piece: Int) {
        guard end == nil else { return }
        var count = min(piece, inbox.count)
        while true {
            var offset = 0
            let step = inbox.prefix(count).withUnsafeBytes { session.handshake($0, offset: &offset) }
            inbox.removeFirst(offset)
            count -= offset
            switch step {
            case .needInput:
                if count == 0 { return }
            case .needVerdict(let chain):
                verdictsAsked += 1
                guard let verdict = onVerdict(chain) else { return }
                switch verdict {
                case .trusted(let peer): session.supply(peer)
                case .refused(let failure): session.refuse(failure)
                }
            case .needIdentity(let issuers):
                identitiesAsked.append(issuers)
                guard let identity = onIdentity(issuers) else { return }
                session.supply(identity: identity)
            case .finished:
                end = .finished
                return
            case .failed(let error):
                end = .failed(error)
                return
            }
        }
    }

    /// Decrypts what has come, in pieces.
    func read(piece: Int = .max, room: Int = 65_536) {
        var output = [UInt8](repeating: 0, count: room)
        repeat {
            let count = min(piece, inbox.count)
            var offset = 0
            reading: while true {
                let step = inbox.prefix(count).withUnsafeBytes { input in
                    output.withUnsafeMutableBytes { session.decrypt(input, offset: &offset, into: $0) }
                }
                switch step {
                case .plaintext(let count): received += output[..<count]
                case .needInput: break reading
                case .closed, .failed:
                    readEnd = step
                    inbox.removeFirst(offset)
                    return
                }
            }
            inbox.removeFirst(offset)
        } while !inbox.isEmpty
    }

    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try session.encrypt($0) }
    }

    /// Takes everything that waits to be sent.
    func takeOutgoing() -> [UInt8] {
        let bytes = session.withOutgoing { Array($0) }
        session.outgoingSent(bytes.count)
        return bytes
    }

    var readError: TLSError? {
        if case .failed(let error)? = readEnd { return error }
        return nil
    }
    var isClosed: Bool {
        if case .closed? = readEnd { return true }
        return false
    }
}

/// Both sides.
final class TLSPair {
    let client: Endpoint
    let server: Endpoint
    private(set) var sentByClient: [UInt8] = []
    private var carried = 0

    init(_ client: TLSSession, _ server: TLSSession) {
        self.client = Endpoint(client)
        self.server = Endpoint(server)
    }

    convenience init(
        client: TLSClientOptions = .init(), server: TLSServerOptions, serverName: String? = "example.test",
        tickets: TLSTickets? = nil
    ) throws {
        try self.init(
            TLSSession(
                client: TLSContext(client: client), serverName: serverName, tickets: tickets),
            TLSSession(server: TLSContext(server: server)))
    }

    /// Runs the handshake as far as it goes.
    func shakeHands(piece: Int = .max) {
        var before: [Int] = []
        while true {
            client.shakeHands(piece: piece)
            move()
            server.shakeHands(piece: piece)
            move()
            let now = [client.inbox.count, server.inbox.count, carried]
            if now == before { return }
            before = now
        }
    }

    /// Carries what each side has to send to the other.
    func move() {
        let fromClient = client.takeOutgoing()
        sentByClient += fromClient
        server.inbox += fromClient
        let fromServer = server.takeOutgoing()
        client.inbox += fromServer
        carried += fromClient.count + fromServer.count
    }

    /// Carries, and lets both read.
    func exchange(piece: Int = .max) {
        move()
        server.read(piece: piece)
        client.read(piece: piece)
        move()
    }
}

/// Certificates that all tests share.
enum Made {
    static let root = Result { try CertificateFactory.root("TLS Test Root") }
    static let server = Result { try root.get().issue(.server("example.test")) }
    static let client = Result { try root.get().issue(.client("A client")) }

    static func serverOptions() throws -> TLSServerOptions {
        TLSServerOptions(identity: try server.get().identity)
    }
}
