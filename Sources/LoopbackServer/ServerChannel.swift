// The bytes of HTTP in and out of one connection, with TLS between them and the socket if there is any. Knows nothing
// of what the bytes mean. Confined to the server's loop.

import URLLoadingSystem
import URLLoadingTLS

/// A socket, and under TLS its session.
final class ServerChannel {
    enum Input {
        /// So many bytes of HTTP are in the buffer given.
        case bytes(Int)
        /// Nothing more for now.
        case needMore
        /// The client has ended its side, by close_notify or FIN.
        case ended
        /// The connection is of no use any more.
        case failed
    }

    enum Handshake {
        case notDone, done(resumed: Bool), failed
    }

    let stream: any AbortiveStream
    private let session: TLSSession?
    private(set) var isEstablished: Bool
    /// The kernel did not take all that it was given.
    private(set) var isBlocked = false
    private(set) var hasFailed = false

    init(stream: any AbortiveStream, session: TLSSession?) {
        self.stream = stream
        self.session = session
        isEstablished = session == nil
    }

    var negotiated: Negotiated? { session?.negotiated }

    /// Whether received bytes have to be decrypted.
    var isEncrypted: Bool { session != nil }

    /// Goes on with the handshake with what was received, and sends its answers.
    func handshake(_ input: UnsafeRawBufferPointer, offset: inout Int) -> Handshake {
        guard let session, !isEstablished else { return .done(resumed: false) }
        while true {
            let step = session.handshake(input, offset: &offset)
            flush()
            switch step {
            case .needInput:
                return hasFailed ? .failed : .notDone
            case .needVerdict(let chain):
                // A client's certificate: the test asked for it and looks at it itself.
                session.supply(.vouchedForByApplication(chain))
            case .needIdentity:
                session.supply(identity: nil)
            case .finished:
                isEstablished = true
                return .done(resumed: session.negotiated?.resumed ?? false)
            case .failed:
                return .failed
            }
        }
    }

    /// Decrypts some of what was received.
    func decrypt(
        _ input: UnsafeRawBufferPointer, offset: inout Int, into output: UnsafeMutableRawBufferPointer
    ) -> Input {
        guard let session else { return .failed }
        defer { flush() }
        switch session.decrypt(input, offset: &offset, into: output) {
        case .plaintext(let count): return .bytes(count)
        case .needInput: return .needMore
        case .closed: return .ended
        case .failed: return .failed
        }
    }

    /// Sends as much as the kernel takes and says how much of `bytes` that was.
    ///
    /// Under TLS nothing is encrypted while earlier records still wait, so that a client that does not read stops the
    /// server here too.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let session else { return write(bytes) }
        guard flush() else { return 0 }
        let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.encryptedAtOnce))
        do {
            try session.encrypt(part)
        } catch {
            hasFailed = true
            return 0
        }
        flush()
        return part.count
    }

    /// Sends what TLS has left to send; false where something is left.
    @discardableResult
    func flush() -> Bool {
        guard let session else { return true }
        while session.hasOutgoing {
            let sent = session.withOutgoing { write($0) }
            guard sent > 0 else { return false }
            session.outgoingSent(sent)
        }
        return true
    }

    func sendCloseNotify() {
        guard isEstablished else { return }
        session?.close()
        flush()
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !hasFailed, !bytes.isEmpty else { return 0 }
        switch stream.write(bytes) {
        case .bytes(let count):
            isBlocked = false
            return count
        case .wouldBlock:
            isBlocked = true
            return 0
        case .endOfStream, .failed:
            hasFailed = true
            return 0
        }
    }

    // Measured by feel: enough records for one send, few enough to be dropped when a client goes away.
    private static let encryptedAtOnce = 64 << 10
}
