// One end of the conversation between a background session and the owner of its transfers, over a UNIX-domain socket of
// this user's (B10.31). It belongs to a loop and never waits.
//
// What is sent and not taken by the other side is kept up to a limit, beyond which reports of progress are left out,
// and beyond a second one the conversation ends: whatever matters is in journals, and told again.
//
// Must not know: what messages mean.

import URLLoadingPolicy
import URLLoadingSystem

/// A stream of messages, on its loop.
final class TransferPipe<Incoming: TransferMessage>: ByteStreamObserver {
    private let reactor: Reactor
    private var stream: (any ByteStream)?
    private var decoder = TransferDecoder<Incoming>()
    private var output: [UInt8] = []
    /// What of `output` was written.
    private var written = 0
    private var isReading = false
    private var closesWhenWritten = false
    private var onMessage: ((Incoming) -> Void)?
    /// Called once, where the other side has ended or is not to be understood.
    private var onEnd: ((String) -> Void)?

    init(_ stream: any ByteStream, reactor: Reactor) {
        self.stream = stream
        self.reactor = reactor
    }

    deinit {
        stream?.close()
    }

    /// Begins to tell what comes.
    func start(_ onMessage: @escaping (Incoming) -> Void, onEnd: @escaping (String) -> Void) {
        self.onMessage = onMessage
        self.onEnd = onEnd
        stream?.observer = self
        read()
    }

    // MARK: Sending

    /// Sends a message, unless it may be left out and the other side is slow.
    func send(_ message: some TransferMessage, mayBeLeftOut: Bool = false) {
        guard stream != nil, !closesWhenWritten else { return }
        let waiting = output.count - written
        if mayBeLeftOut, waiting > TransferPipeLimits.progress { return }
        guard waiting <= TransferPipeLimits.all, let frame = message.frame else {
            return end("too much waits to be sent")
        }
        output.append(contentsOf: frame)
        flush()
    }

    /// Ends the conversation when everything has been sent; nothing is told any more.
    func finish() {
        closesWhenWritten = true
        (onMessage, onEnd) = (nil, nil)
        flush()
        // The pipe lives at most until the other side has taken what is left.
        if stream != nil { reactor.hold(self) }
    }

    /// Ends the conversation now; nothing is told any more.
    func close() {
        (onMessage, onEnd) = (nil, nil)
        stream?.close()
        stream = nil
        reactor.release(self)
    }

    private func flush() {
        while written < output.count, let stream {
            let result = output.withUnsafeBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[written...])) }
            switch result {
            case .bytes(let count): written += count
            case .wouldBlock: return
            case .endOfStream: return end("it has closed the connection")
            case .failed(let error): return end("\(error)")
            }
        }
        output.removeAll(keepingCapacity: output.capacity <= TransferPipeLimits.progress)
        written = 0
        if closesWhenWritten { close() }
    }

    // MARK: Receiving

    private func read() {
        // A message may lead to reading.
        guard !isReading else { return }
        isReading = true
        defer { isReading = false }
        while deliver(), let stream {
            let buffer = reactor.receiveBuffer
            switch stream.read(into: buffer) {
            case .bytes(let count): decoder.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            case .wouldBlock: return
            case .endOfStream: return end("it has closed the connection")
            case .failed(let error): return end("\(error)")
            }
        }
    }

    /// Tells the messages that are there; whether more may be read.
    private func deliver() -> Bool {
        while stream != nil {
            do throws(TransferCodingError) {
                guard let message = try decoder.next() else { return true }
                onMessage?(message)
            } catch {
                end("what it says cannot be read: \(error.text)")
                return false
            }
        }
        return false
    }

    private func end(_ reason: String) {
        let tell = onEnd
        close()
        tell?(reason)
    }

    // MARK: Events

    func streamBecameReadable(_ stream: any ByteStream) {
        // A pipe that only waits for the rest to be taken reads nothing.
        if closesWhenWritten { close() } else { read() }
    }

    func streamBecameWritable(_ stream: any ByteStream) { flush() }
}

/// What is kept for a side that is slow. Picked by feel: some thousand reports of progress; four messages of the
/// greatest length.
enum TransferPipeLimits {
    static let progress = 256 * 1024
    static let all = 4 * TransferLimits.frame
}
