// The end of a connection of which our side is finished and the peer's is not, and which is not read any more. Closed
// at once, with input unread, it would be reset, and the peer would lose what was sent to it last (RFC 9112 §9.6 tells
// why). So what comes is read and dropped until the peer's end, for a while.
//
// Must not know: whose connection it was.

import URLLoadingSystem

/// Closes a connection once the peer has finished, or has taken too long.
final class LingeringClose: ByteStreamObserver {
    private let stream: any ByteStream
    private let reactor: Reactor
    private var timer: LoopTimer?
    private var budget = 64 << 20

    /// Takes the stream over.
    static func begin(_ stream: any ByteStream, _ reactor: Reactor) {
        let closing = LingeringClose(stream, reactor)
        reactor.hold(closing)
        stream.observer = closing
        let timer = reactor.makeTimer { [weak closing] in closing?.end() }
        timer.set(reactor.now + longest)
        closing.timer = timer
        closing.drain()
    }

    private init(_ stream: any ByteStream, _ reactor: Reactor) {
        self.stream = stream
        self.reactor = reactor
    }

    deinit { stream.close() }

    func streamBecameReadable(_ stream: any ByteStream) { drain() }

    func streamBecameWritable(_ stream: any ByteStream) {}

    private func drain() {
        for _ in 0..<Self.readsAtOnce {
            guard timer != nil, stream.hasPendingInput else { return }
            switch stream.read(into: reactor.receiveBuffer) {
            case .bytes(let count) where count < budget: budget -= count
            case .wouldBlock: return
            case .bytes, .endOfStream, .failed: return end()
            }
        }
        reactor.later { [weak self] in self?.drain() }
    }

    private func end() {
        guard timer != nil else { return }
        timer = nil
        stream.close()
        // Order: the caller still works with this object.
        reactor.later { [self] in reactor.release(self) }
    }

    /// Picked by feel: longer than a peer needs that reads at all.
    private static let longest = Duration.seconds(10)
    private static let readsAtOnce = 16
}
