// A stream of which the first bytes have been read already, by the code that had to look for the end of a proxy's
// answer (B13.29). Everything else is the stream's below.

import URLLoadingSystem

/// Some bytes, and then another stream.
final class PrefixedStream: ByteStream {
    weak var observer: (any ByteStreamObserver)?

    private let inner: any ByteStream
    private var prefix: ArraySlice<UInt8>

    /// Puts bytes that were read from a stream in front of what it still brings.
    init(_ prefix: [UInt8], _ inner: any ByteStream) {
        self.prefix = prefix[...]
        self.inner = inner
        inner.observer = self
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        guard !prefix.isEmpty else { return inner.read(into: buffer) }
        let part = prefix.prefix(buffer.count)
        part.withUnsafeBytes { buffer.copyMemory(from: $0) }
        prefix = prefix.dropFirst(part.count)
        return .bytes(part.count)
    }

    var hasPendingInput: Bool { !prefix.isEmpty || inner.hasPendingInput }

    func isQuiet() -> Bool { prefix.isEmpty && inner.isQuiet() }

    func hasLostItsAddress() -> Bool { inner.hasLostItsAddress() }

    func reportInput(from count: Int) { inner.reportInput(from: count) }

    func write(_ bytes: UnsafeRawBufferPointer) -> IOResult { inner.write(bytes) }

    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> IOResult {
        inner.write(first, second)
    }

    func write(_ file: OpenFile, at offset: Int64, count: Int) -> FileWriteResult {
        inner.write(file, at: offset, count: count)
    }

    func delivery() -> Delivery? { inner.delivery() }

    func shutdownWrite() { inner.shutdownWrite() }

    func close() {
        prefix = []
        observer = nil
        inner.close()
    }

    var localAddress: SocketAddress? { inner.localAddress }

    var remoteAddress: SocketAddress? { inner.remoteAddress }
}

extension PrefixedStream: ByteStreamObserver {
    func streamBecameReadable(_ stream: any ByteStream) { observer?.streamBecameReadable(self) }

    func streamBecameWritable(_ stream: any ByteStream) { observer?.streamBecameWritable(self) }
}
