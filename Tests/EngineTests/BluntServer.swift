// A server on a thread of its own that does exactly what it is told, with or without TLS, and knows when the client's
// kernel has what it has sent: for bytes that lie in a socket before the client reads it.

import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport

/// A listener on 127.0.0.1.
final class BluntServer: Sendable {
    let port: Int
    private let reserved: ReservedPort
    private let descriptor: Int32
    private let context: TLSContext?

    init(_ context: TLSContext?) throws {
        self.context = context
        reserved = try ReservedPort()
        descriptor = try reserved.startListening()
        port = reserved.number
    }

    /// Waits for the next connection, and for the end of its handshake; nil once the server is stopped.
    func accept() -> BluntConnection? {
        guard let descriptor = OwnConnection.accept(from: descriptor) else { return nil }
        return BluntConnection(descriptor, context)
    }

    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

/// The server's end of one connection; blocks.
final class BluntConnection {
    private let descriptor: Int32
    private let tls: TLSSession?
    private var ciphertext: [UInt8] = []

    fileprivate init?(_ descriptor: Int32, _ context: TLSContext?) {
        self.descriptor = descriptor
        tls = context.flatMap { try? TLSSession(server: $0) }
        guard let tls else { return }
        while true {
            var offset = 0
            let step = ciphertext.withUnsafeBytes { tls.handshake($0, offset: &offset) }
            ciphertext.removeFirst(offset)
            sendOutgoing()
            switch step {
            case .finished: return
            case .needInput: guard receive() else { return nil }
            case .needVerdict, .needIdentity, .failed: return nil
            }
        }
    }

    deinit { close(descriptor) }

    /// Waits for a request, takes it for one without a body, and answers it; false where none comes.
    func answer(_ text: String) -> Bool {
        guard awaitRequest() else { return false }
        send(Self.response(text))
        return true
    }

    /// Waits for a request's head; false where none comes.
    func awaitRequest() -> Bool {
        var plaintext: [UInt8] = []
        while !plaintext.contains("\r\n\r\n") {
            if let tls {
                var output = [UInt8](repeating: 0, count: 16 << 10)
                var offset = 0
                let step = ciphertext.withUnsafeBytes { input in
                    output.withUnsafeMutableBytes { tls.decrypt(input, offset: &offset, into: $0) }
                }
                ciphertext.removeFirst(offset)
                if case .plaintext(let count) = step {
                    plaintext += output[..<count]
                    continue
                }
                guard receive() else { return false }
            } else {
                guard receive() else { return false }
                plaintext += ciphertext
                ciphertext = []
            }
        }
        return true
    }

    static func response(_ text: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }

    func send(_ text: String) {
        guard let tls else { return sendRaw(Array(text.utf8)) }
        Array(text.utf8).withUnsafeBytes { try? tls.encrypt($0) }
        sendOutgoing()
    }

    /// Sends the first bytes of a record, and answers the rest of it.
    func sendBeginning(of text: String) -> [UInt8] {
        guard let tls else { return [] }
        Array(text.utf8).withUnsafeBytes { try? tls.encrypt($0) }
        let record = tls.withOutgoing { Array($0) }
        tls.outgoingSent(record.count)
        sendRaw(Array(record.prefix(7)))
        return Array(record.dropFirst(7))
    }

    func sendRaw(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { sendBytes(descriptor, $0) }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Says in TLS that nothing follows, and finishes.
    func finish() {
        tls?.close()
        sendOutgoing()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Waits until the client's kernel has everything, and knows of the end where there is one. Nothing tells of that
    /// moment, so the kernel is asked again and again.
    func awaitDelivery() {
        while !isDelivered { usleep(1_000) }
    }

    /// The head of the system's `tcp_info`: the connection's state, and how many segments the
    /// client has not acknowledged.
    private var isDelivered: Bool {
        var info = [UInt32](repeating: 0, count: 26)
        var length = socklen_t(info.count * MemoryLayout<UInt32>.size)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return true }
        let state = info.withUnsafeBytes { $0[0] }
        // Established, or everything acknowledged up to the end: FIN_WAIT2. What was begun before is in between.
        return info[6] == 0 && (state == 1 || state == 5)
    }

    private func sendOutgoing() {
        guard let tls, tls.hasOutgoing else { return }
        let bytes = tls.withOutgoing { Array($0) }
        tls.outgoingSent(bytes.count)
        sendRaw(bytes)
    }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        ciphertext += buffer[..<count]
        return true
    }
}

/// Without the signal that tells of a peer that is gone.
private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
}

extension [UInt8] {
    fileprivate func contains(_ text: String) -> Bool { String(decoding: self, as: UTF8.self).contains(text) }
}
