// A server for stream tasks: a script in plain code for each connection, on a thread of its own, with TLS whenever the
// script wants it.

import Foundation
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

/// Accepts connections on 127.0.0.1 and runs a script on each.
final class RawServer: Sendable {
    let port: Int
    private let books: Guarded<Books>
    private let ended = Signal()

    /// The peer is gone.
    struct Gone: Error {}

    /// What is open. A number is taken out before it is closed, and shut down only while it is in here: afterwards it
    /// may be the number of another connection.
    private struct Books {
        var listener: Int32?
        var connections: Set<Int32> = []
        var isStopped = false
    }

    init(_ script: @escaping @Sendable (RawConnection) throws -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else {
            close(listener)
            throw Gone()
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        books = Guarded(Books(listener: listener))
        Thread.detachNewThread { [self] in
            while let descriptor = OwnConnection.accept(from: listener) {
                let isWanted = books.withLock { books in
                    if !books.isStopped { books.connections.insert(descriptor) }
                    return !books.isStopped
                }
                guard isWanted else {
                    close(descriptor)
                    break
                }
                Thread.detachNewThread { [self] in
                    // Where the peer is gone the script is over.
                    try? script(RawConnection(descriptor))
                    books.withLock { _ = $0.connections.remove(descriptor) }
                    close(descriptor)
                    ended.fire()
                }
            }
            books.withLock { $0.listener = nil }
            close(listener)
        }
    }

    /// Ends the listener and every connection.
    func stop() {
        books.withLock { books in
            books.isStopped = true
            if let listener = books.listener { shutdown(listener, Int32(SHUT_RDWR)) }
            for descriptor in books.connections { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Returns when so many scripts are over.
    func ended(_ count: Int = 1) async { await ended.wait(times: count) }
}

/// Runs `body` with such a server, and stops it afterwards.
func withRawServer<R>(
    _ script: @escaping @Sendable (RawConnection) throws -> Void, _ body: (RawServer) async throws -> R
) async throws -> R {
    let server = try RawServer(script)
    defer { server.stop() }
    return try await body(server)
}

/// One connection, for the thread of its script.
final class RawConnection {
    private let descriptor: Int32
    private var inbox: [UInt8] = []
    private var tls: TLSSession?
    private var ciphertext: [UInt8] = []

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    // MARK: Reading

    /// The next line, without its end.
    func line() throws -> String {
        while true {
            if let end = inbox.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: inbox[..<end], as: UTF8.self)
                inbox.removeFirst(end + 1)
                return line.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            guard try more() else { throw RawServer.Gone() }
        }
    }

    /// Everything up to the peer's end.
    func rest() throws -> [UInt8] {
        while try more() {}
        defer { inbox = [] }
        return inbox
    }

    /// So many bytes.
    func bytes(_ count: Int) throws -> [UInt8] {
        while inbox.count < count { guard try more() else { throw RawServer.Gone() } }
        defer { inbox.removeFirst(count) }
        return Array(inbox.prefix(count))
    }

    private func more() throws -> Bool {
        guard let tls else { return try receive(into: &inbox) }
        var output = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var offset = 0
            let step = ciphertext.withUnsafeBytes { input in
                output.withUnsafeMutableBytes { tls.decrypt(input, offset: &offset, into: $0) }
            }
            ciphertext.removeFirst(offset)
            try flush()
            switch step {
            case .plaintext(let count):
                inbox += output[..<count]
                return true
            case .needInput:
                guard try receive(into: &ciphertext) else { return false }
            case .closed:
                return false
            case .failed:
                throw RawServer.Gone()
            }
        }
    }

    private func receive(into buffer: inout [UInt8]) throws -> Bool {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &piece, piece.count, 0)
        guard count >= 0 else { throw RawServer.Gone() }
        buffer += piece[..<count]
        return count > 0
    }

    // MARK: Writing

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        guard let tls else { return try transmit(bytes[...]) }
        var left = bytes[...]
        while !left.isEmpty {
            let piece = left.prefix(64 << 10)
            try piece.withUnsafeBytes { try tls.encrypt($0) }
            left = left.dropFirst(piece.count)
            try flush()
        }
    }

    private func flush() throws {
        guard let tls else { return }
        while tls.hasOutgoing {
            var bytes: [UInt8] = []
            tls.withOutgoing { bytes = Array($0) }
            tls.outgoingSent(bytes.count)
            try transmit(bytes[...])
        }
    }

    private func transmit(_ bytes: ArraySlice<UInt8>) throws {
        var left = bytes
        while !left.isEmpty {
            let count = left.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw RawServer.Gone() }
            left = left.dropFirst(count)
        }
    }

    // MARK: Ends and TLS

    /// Finishes our side.
    func finish() throws {
        tls?.close()
        try flush()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// The connection ends with a reset.
    func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    /// Shakes hands as the server.
    func startTLS(_ context: TLSContext) throws {
        let tls = try TLSSession(server: context)
        ciphertext = inbox
        inbox = []
        while true {
            var offset = 0
            let step = ciphertext.withUnsafeBytes { tls.handshake($0, offset: &offset) }
            ciphertext.removeFirst(offset)
            self.tls = tls
            try flush()
            switch step {
            case .finished: return
            case .needInput: guard try receive(into: &ciphertext) else { throw RawServer.Gone() }
            case .needVerdict, .needIdentity, .failed: throw RawServer.Gone()
            }
        }
    }
}

/// What a server for "mail.test" shows, and the anchor that makes it trusted.
struct MailIdentity: Sendable {
    let anchor: String
    let context: TLSContext

    /// It knows these protocols, and ends a handshake that offers others alone.
    init(_ host: String = "mail.test", protocols: [String] = ["http/1.1"]) throws {
        let (root, identity) = try CertificateFactory.server(host)
        anchor = root.pem
        context = try TLSContext(server: TLSServerOptions(identity: identity, alpn: protocols))
    }

    /// A server that speaks a little SMTP with STARTTLS; `injects` goes out behind the answer to that.
    func script(_ heard: Guarded<[String]> = Guarded([]), injects: String = "")
        -> @Sendable (RawConnection) throws -> Void
    {
        { [context] peer in
            try peer.send("220 mail.test ready\r\n")
            while true {
                let line = try peer.line()
                heard.change { $0.append(line) }
                switch line {
                case "STARTTLS":
                    try peer.send("220 go ahead\r\n" + injects)
                    try peer.startTLS(context)
                case "QUIT":
                    try peer.send("221 bye\r\n")
                    return try peer.finish()
                default:
                    try peer.send("250 \(line)\r\n")
                }
            }
        }
    }
}
