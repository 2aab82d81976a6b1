// What a proxy is told and answers before a tunnel stands, on a stream that nothing else uses meanwhile: sends what
// is to be sent, passes on what comes. What is said is the subclasses' matter.
//
// Must not know: HTTP, SOCKS, requests, the pool.

import URLLoadingSystem

/// A conversation on a stream, until another object takes the stream over.
class ProxyDialogue: ByteStreamObserver {
    let stream: any ByteStream
    unowned let core: LoopCore
    private var unsent: ArraySlice<UInt8> = []
    /// The stream was handed over, or is closed.
    private(set) var isOver = false

    init(stream: any ByteStream, core: LoopCore) {
        self.stream = stream
        self.core = core
        stream.observer = self
    }

    // MARK: For subclasses

    /// Bytes have come, all of which must be looked at.
    func received(_ bytes: UnsafeRawBufferPointer) {}

    /// No more will come.
    func ended(_ error: SystemError?) {}

    /// Sends these bytes, now or as soon as there is room.
    final func send(_ bytes: [UInt8]) {
        unsent.append(contentsOf: bytes)
        flush()
    }

    /// Reads what is there; what came before this object watched the stream is not reported.
    final func read() {
        while !isOver, stream.hasPendingInput {
            switch stream.read(into: core.reactor.receiveBuffer) {
            case .bytes(let count): received(UnsafeRawBufferPointer(rebasing: core.reactor.receiveBuffer[..<count]))
            case .wouldBlock: return
            case .endOfStream: return ended(nil)
            case .failed(let error): return ended(error)
            }
        }
    }

    /// Gives the stream away, together with bytes that have been read and are not this conversation's.
    final func leave(with rest: UnsafeRawBufferPointer) -> any ByteStream {
        isOver = true
        stream.observer = nil
        return rest.isEmpty ? stream : PrefixedStream(Array(rest), stream)
    }

    /// Closes the stream; nothing is reported any more.
    final func cancel() {
        guard !isOver else { return }
        isOver = true
        stream.observer = nil
        stream.closeKnowingAddresses()
    }

    /// Why the proxy has ended the connection; TLS with it says more than the system.
    final func reason(_ error: SystemError?) -> ProxyFailure.Reason {
        stream.brokenTLSOfProxy.map { .tls($0) } ?? .closed(error)
    }

    // MARK: Readiness

    func streamBecameReadable(_ stream: any ByteStream) { read() }

    func streamBecameWritable(_ stream: any ByteStream) { flush() }

    private func flush() {
        while !isOver, !unsent.isEmpty {
            switch unsent.withUnsafeBytes({ stream.write($0) }) {
            case .bytes(let count): unsent = unsent.dropFirst(count)
            // A broken stream is noticed by the next read, which may still bring what the proxy has said.
            case .wouldBlock, .endOfStream, .failed: return
            }
        }
    }
}
