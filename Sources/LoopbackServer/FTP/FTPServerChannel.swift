// The bytes of one connection of the FTP server, control or data, with TLS between them and the socket if there is any.

import URLLoadingSystem
import URLLoadingTLS

/// One connection.
final class FTPServerChannel: ByteStreamObserver {
    private var channel: ServerChannel
    private unowned let core: FTPServerCore
    private var unsent: ArraySlice<UInt8> = []
    private var endsWhenSent: (saysGoodbye: Bool, then: () -> Void)?
    private var isPumping = false
    private(set) var isClosed = false
    /// Bytes came.
    var onBytes: ([UInt8]) -> Void = { _ in }
    /// No more will come.
    var onEnd: () -> Void = {}
    /// Data may flow; says whether the session was resumed.
    var onReady: (Bool) -> Void = { _ in }

    init(_ stream: SocketStream, session: TLSSession?, core: FTPServerCore) {
        channel = ServerChannel(stream: stream, session: session)
        self.core = core
    }

    var localAddress: SocketAddress? { channel.stream.localAddress }
    var isEncrypted: Bool { channel.isEncrypted }

    func begin() {
        channel.stream.observer = self
        if !channel.isEncrypted { onReady(false) }
        pump()
    }

    /// What follows is within TLS.
    func protect(_ session: TLSSession) {
        channel = ServerChannel(stream: channel.stream, session: session)
    }

    func send(_ bytes: [UInt8]) {
        unsent.append(contentsOf: bytes)
        flush()
    }

    /// Ends our direction behind what waits, and then the connection.
    func end(saysGoodbye: Bool = true, then: @escaping () -> Void = {}) {
        endsWhenSent = (saysGoodbye, then)
        flush()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        channel.stream.observer = nil
        channel.stream.close()
        (onBytes, onEnd, onReady, endsWhenSent) = ({ _ in }, {}, { _ in }, nil)
    }

    func streamBecameReadable(_ stream: any ByteStream) { pump() }

    func streamBecameWritable(_ stream: any ByteStream) { flush() }

    private func flush() {
        guard !isClosed else { return }
        while !unsent.isEmpty {
            let sent = unsent.withUnsafeBytes { channel.send($0) }
            guard sent > 0 else { return }
            unsent = unsent.dropFirst(sent)
        }
        guard channel.flush(), let (saysGoodbye, then) = endsWhenSent else { return }
        if saysGoodbye { channel.sendCloseNotify() }
        close()
        then()
    }

    private func pump() {
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        while !isClosed, channel.stream.hasPendingInput {
            switch channel.stream.read(into: core.reactor.receiveBuffer) {
            case .bytes(let count):
                take(Array(core.reactor.receiveBuffer[..<count]))
            case .wouldBlock: return
            case .endOfStream, .failed: return onEnd()
            }
        }
    }

    private func take(_ bytes: [UInt8]) {
        guard channel.isEncrypted else { return onBytes(bytes) }
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            if !channel.isEstablished {
                switch channel.handshake(bytes, offset: &offset) {
                case .notDone: return
                case .done(let resumed): onReady(resumed)
                case .failed: return onEnd()
                }
            }
            while !isClosed {
                switch channel.decrypt(bytes, offset: &offset, into: core.plaintext) {
                case .bytes(let count): onBytes(Array(core.plaintext[..<count]))
                case .needMore: return
                case .ended, .failed: return onEnd()
                }
            }
        }
    }
}
