// A stream inside TLS: what HTTP, SOCKS and further TLS stand on behind a proxy that is spoken to by TLS, and what stream
// tasks read and write once TLS is on. Edges as those of the stream below, readiness from both: ciphertext below,
// plaintext that is already here.
//
// The end of the stream below without close_notify is an end like any other: who stands above has TLS of its own, or
// knows by its own messages where they end.
//
// Must not know: what the bytes mean, how the session came to be verified.

import URLLoadingSystem
import URLLoadingTLS

/// The plaintext side of a TLS session over another stream.
final class TLSStream: ByteStream {
    weak var observer: (any ByteStreamObserver)?

    private let inner: any ByteStream
    private let tls: TLSSession
    private let buffers: LoopBuffers
    /// Ciphertext that has come and waits to be decrypted.
    private var held: [UInt8]
    /// What every read answers from now on, once the plaintext is used up.
    private var end: IOResult?
    private var hasToldEnd = false
    /// The end of our direction follows what waits to be sent.
    private var isFinishing = false
    private var isClosed = false

    /// Takes over a stream on which the handshake is over, and the ciphertext that has come behind it.
    init(_ inner: any ByteStream, _ tls: TLSSession, held: [UInt8], buffers: LoopBuffers) {
        self.inner = inner
        self.tls = tls
        self.held = held
        self.buffers = buffers
        inner.observer = self
    }

    deinit { close() }

    // MARK: Reading

    func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        guard !buffer.isEmpty else { return .bytes(0) }
        while end == nil {
            if !held.isEmpty || tls.hasBufferedInput || tls.hasReadEnd {
                let ciphertext = held
                held = []
                if let count = ciphertext.withUnsafeBytes({ decrypt($0, into: buffer) }) { return .bytes(count) }
                continue
            }
            // No more at a time than there is room for when it is decrypted.
            let space = buffers.sealed.space(atLeast: min(buffer.count, Self.mostAtOnce))
            let part = UnsafeMutableRawBufferPointer(rebasing: space.prefix(min(buffer.count, Self.mostAtOnce)))
            switch inner.read(into: part) {
            case .bytes(let count):
                if let count = decrypt(UnsafeRawBufferPointer(rebasing: part[..<count]), into: buffer) {
                    return .bytes(count)
                }
            case .wouldBlock:
                return .wouldBlock
            case .endOfStream:
                end = .endOfStream
            case .failed(let error):
                end = .failed(error)
            }
        }
        hasToldEnd = true
        return end ?? .wouldBlock
    }

    /// How much plaintext has become of ciphertext; nil when there is none, for now or for good.
    private func decrypt(_ ciphertext: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        var offset = 0
        let step = tls.decrypt(ciphertext, offset: &offset, into: buffer)
        if offset < ciphertext.count { held.append(contentsOf: ciphertext[offset...]) }
        // A message between the data may want an answer, a failure an alert.
        _ = sendOutgoing()
        switch step {
        case .plaintext(let count): return count
        case .needInput: return nil
        case .closed: end = .endOfStream
        case .failed: end = .failed(.brokenProtocol(in: "SSL_read"))
        }
        held = []
        return nil
    }

    var hasPendingInput: Bool {
        if isClosed { return false }
        if end != nil { return !hasToldEnd }
        // The end may have come behind plaintext that was read: below, nothing need come after it.
        return !held.isEmpty || tls.hasBufferedInput || tls.hasReadEnd || inner.hasPendingInput
    }

    func isQuiet() -> Bool {
        !isClosed && end == nil && held.isEmpty && !tls.hasBufferedInput && !tls.hasReadEnd && inner.isQuiet()
    }

    // MARK: Writing

    /// Whether something that a write has taken waits to go on to the stream below.
    var holdsOutput: Bool { tls.hasOutgoing && outputFailure == nil }

    /// Sends what waits: the last message of the handshake, where nothing is written behind it.
    func flushOutput() { _ = sendOutgoing() }

    /// Why nothing goes on to the stream below any more.
    private(set) var outputFailure: SystemError?

    func write(_ bytes: UnsafeRawBufferPointer) -> IOResult {
        var taken = 0
        while taken < bytes.count {
            // What waits goes first, so that a peer that does not read stops whoever writes here too.
            if let obstacle = sendOutgoing() { return taken > 0 ? .bytes(taken) : obstacle }
            let piece = UnsafeRawBufferPointer(rebasing: bytes[taken...].prefix(Self.mostAtOnce))
            do {
                try tls.encrypt(piece)
            } catch {
                return taken > 0 ? .bytes(taken) : .failed(.brokenProtocol(in: "SSL_write"))
            }
            taken += piece.count
        }
        _ = sendOutgoing()
        return .bytes(taken)
    }

    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> IOResult {
        let result = write(first)
        guard case .bytes(let count) = result, count == first.count, case .bytes(let more) = write(second) else {
            return result
        }
        return .bytes(count + more)
    }

    func write(_ file: OpenFile, at offset: Int64, count: Int) -> FileWriteResult {
        copy(file, at: offset, count: count)
    }

    /// Sends what TLS has to send; what kept it from sending all of it, if something did.
    private func sendOutgoing() -> IOResult? {
        while tls.hasOutgoing {
            let result = tls.withOutgoing { inner.write($0) }
            guard case .bytes(let count) = result else {
                if case .failed(let error) = result { outputFailure = error }
                return result
            }
            tls.outgoingSent(count)
        }
        return nil
    }

    func shutdownWrite() {
        guard !isClosed, !isFinishing else { return }
        isFinishing = true
        tls.close()
        if sendOutgoing() == nil { inner.shutdownWrite() }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        if !tls.hasOutgoing {
            tls.close()
            _ = sendOutgoing()
        }
        observer = nil
        held = []
        inner.observer = nil
        inner.close()
    }

    var localAddress: SocketAddress? { inner.localAddress }

    var remoteAddress: SocketAddress? { inner.remoteAddress }

    /// Four full records, as elsewhere.
    private static let mostAtOnce = 64 << 10
}

extension TLSStream: ByteStreamObserver {
    func streamBecameReadable(_ stream: any ByteStream) { observer?.streamBecameReadable(self) }

    func streamBecameWritable(_ stream: any ByteStream) {
        switch sendOutgoing() {
        case .wouldBlock?, .endOfStream?: return
        // Whoever writes next is told the failure.
        case .failed?, .bytes?: break
        case nil: if isFinishing { inner.shutdownWrite() }
        }
        observer?.streamBecameWritable(self)
    }
}
