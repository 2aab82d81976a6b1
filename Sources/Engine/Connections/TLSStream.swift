// A channel as a stream of bytes: what HTTP, SOCKS and further TLS stand on behind a proxy that is spoken to by TLS,
// and what stream tasks read and write once TLS is on. Edges as those of the stream below, readiness from both:
// ciphertext below, plaintext that is already here.
//
// The end of the stream below without close_notify is an end like any other: the layer above has TLS of its own, or
// knows by its own messages where they end.
//
// Must not know: what the bytes mean, how the session came to be verified.

import URLLoadingSystem
import URLLoadingTLS

/// The plaintext side of a channel.
final class TLSStream: ByteStream {
    weak var observer: (any ByteStreamObserver)?

    private let channel: SecureChannel
    /// Whether it is a proxy with which TLS was agreed on, and not the server.
    fileprivate let isOfProxy: Bool
    /// What every read answers from now on, once the plaintext is used up.
    private var end: IOResult?
    private var hasToldEnd = false
    /// Why TLS has ended, where it was not the stream below that failed: what a call of it answers says less.
    private(set) var broken: TLSError?
    /// The end of our direction follows what waits to be sent.
    private var isFinishing = false
    private var isClosed = false

    /// Takes over a channel on which the handshake, with the server or a proxy, is over.
    init(_ channel: SecureChannel, isOfProxy: Bool = false) {
        self.channel = channel
        self.isOfProxy = isOfProxy
        channel.stream.observer = self
    }

    deinit { close() }

    /// How many channels are below its own.
    var level: Int { channel.level }

    // MARK: Reading

    func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        guard !buffer.isEmpty else { return .bytes(0) }
        // A connection that only reads has nothing to write with which the handshake's last message could go.
        if channel.hasOutgoing { channel.sendOutgoing() }
        while end == nil {
            switch channel.read(into: buffer) {
            // Messages of TLS itself. Without data between them they come to an end: B3.87.
            case .bytes(0): continue
            case .bytes(let count): return .bytes(count)
            case .wouldBlock: return .wouldBlock
            case .end: end = .endOfStream
            case .failed(let error): end = .failed(error)
            case .broken(let error):
                broken = error
                end = .failed(.brokenProtocol(in: isOfProxy ? "TLS with the proxy" : "SSL_read"))
            }
        }
        hasToldEnd = true
        return end ?? .wouldBlock
    }

    var hasPendingInput: Bool {
        if isClosed { return false }
        if end != nil { return !hasToldEnd }
        return channel.hasPendingInput
    }

    func isQuiet() -> Bool { !isClosed && end == nil && channel.isQuiet() }

    // MARK: Writing

    /// Whether something that a write has taken waits to go on to the stream below.
    var holdsOutput: Bool { channel.hasOutgoing && channel.outputFailure == nil }

    /// Sends what waits: the last message of the handshake, where nothing is written behind it.
    func flushOutput() { channel.sendOutgoing() }

    /// Why nothing goes on to the stream below any more.
    var outputFailure: SystemError? { channel.outputFailure }

    func write(_ bytes: UnsafeRawBufferPointer) -> IOResult {
        write(bytes, UnsafeRawBufferPointer(start: nil, count: 0))
    }

    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> IOResult {
        var (first, second) = (first, second)
        var taken = 0
        while !first.isEmpty || !second.isEmpty {
            let obstacle: IOResult
            switch channel.write(first, second) {
            case .bytes(let count):
                taken += count
                let ofFirst = min(count, first.count)
                first = UnsafeRawBufferPointer(rebasing: first[ofFirst...])
                second = UnsafeRawBufferPointer(rebasing: second[(count - ofFirst)...])
                continue
            case .wouldBlock: obstacle = .wouldBlock
            case .failed(let error): obstacle = .failed(error)
            case .broken(let error):
                if broken == nil { broken = error }
                obstacle = .failed(.brokenProtocol(in: isOfProxy ? "TLS with the proxy" : "SSL_write"))
            }
            return taken > 0 ? .bytes(taken) : obstacle
        }
        return .bytes(taken)
    }

    func write(_ file: OpenFile, at offset: Int64, count: Int) -> FileWriteResult {
        copy(file, at: offset, count: count)
    }

    func delivery() -> Delivery? {
        var delivery = channel.stream.delivery()
        delivery?.unacknowledged += channel.tls?.outgoingCount ?? 0
        return delivery
    }

    func shutdownWrite() {
        guard !isClosed, !isFinishing else { return }
        isFinishing = true
        if channel.finishWriting() { channel.stream.shutdownWrite() }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        observer = nil
        channel.close(politely: !channel.hasOutgoing)
    }

    func hasLostItsAddress() -> Bool { channel.stream.hasLostItsAddress() }

    var localAddress: SocketAddress? { channel.stream.localAddress }

    var remoteAddress: SocketAddress? { channel.stream.remoteAddress }
}

extension ByteStream {
    /// Why TLS with the server has ended on this stream, where that was what failed.
    var brokenTLS: TLSError? { brokenTLS(isOfProxy: false) }

    /// Why TLS with the proxy has ended on this stream, where that was what failed.
    var brokenTLSOfProxy: TLSError? { brokenTLS(isOfProxy: true) }

    private func brokenTLS(isOfProxy: Bool) -> TLSError? {
        guard let secure = self as? TLSStream, secure.isOfProxy == isOfProxy else { return nil }
        return secure.broken
    }
}

extension TLSStream: ByteStreamObserver {
    func streamBecameReadable(_ stream: any ByteStream) { observer?.streamBecameReadable(self) }

    func streamBecameWritable(_ stream: any ByteStream) {
        switch channel.sendOutgoing() {
        case .wouldBlock?: return
        // The next write is told the failure.
        case .failed?, .bytes?, .broken?: break
        case nil: if isFinishing, channel.finishWriting() { channel.stream.shutdownWrite() }
        }
        observer?.streamBecameWritable(self)
    }
}
