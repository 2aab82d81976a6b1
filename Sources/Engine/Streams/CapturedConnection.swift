// A connection that has left its task (B15.51): bytes go between it and two conduits, whose other ends the
// program reads and writes, on any thread. It lives on its loop until both directions are over, whatever
// became of task and session.
//
// Must not know: streams of the API, tasks, the engine it came from.

import URLLoadingSystem

/// What the program reads and writes in place of the connection. Every call comes on the loop.
package protocol StreamConduit: AnyObject, Sendable {
    /// Takes in bytes that have come; how many there was room for.
    func accept(_ bytes: UnsafeRawBufferPointer) -> Int

    /// No more will come: the peer has finished, or the connection failed.
    func inputEnded(_ error: SystemError?)

    /// Whether the program will not read any more.
    var isReaderGone: Bool { get }

    /// Takes out bytes that are to be sent.
    func next(into buffer: UnsafeMutableRawBufferPointer) -> ConduitOutput

    /// Nothing more can be sent.
    func outputFailed(_ error: SystemError?)
}

/// What there is to be sent.
package enum ConduitOutput: Sendable {
    /// So many bytes.
    case bytes(Int)
    /// Nothing now.
    case none
    /// Nothing any more.
    case end
}

/// A connection that carries whatever is put into its conduit.
package final class CapturedConnection {
    private let stream: any ByteStream
    private let reactor: Reactor
    private let key = ResidentKey<CapturedConnection>()
    private var unread: ArraySlice<UInt8>
    private var unsent: ArraySlice<UInt8> = []
    private var conduit: (any StreamConduit)?
    private var isInputOver: Bool
    private var hasToldInputEnd = false
    private var isOutputOver: Bool
    private var inputError: SystemError?
    private var hasFailed = false
    private let isReadClosed: Bool

    /// The error is why the connection has ended; what is unread comes before it.
    init(
        _ stream: any ByteStream, unread: ArraySlice<UInt8>, isReadClosed: Bool, isWriteClosed: Bool, hasEnded: Bool,
        error: SystemError?, reactor: Reactor
    ) {
        self.stream = stream
        self.unread = isReadClosed ? [] : unread
        self.isReadClosed = isReadClosed
        isInputOver = hasEnded
        isOutputOver = isWriteClosed
        inputError = error
        self.reactor = reactor
        stream.observer = nil
    }

    deinit {
        // Otherwise it was handed over.
        if stream.observer == nil || stream.observer === self { stream.close() }
    }

    /// Begins to carry bytes. What is given back is told, from any thread, whenever the conduit's other ends have
    /// changed something: bytes or an end to be sent, room for what comes, a reader that has gone.
    package func begin(_ conduit: any StreamConduit) -> @Sendable () -> Void {
        self.conduit = conduit
        stream.observer = self
        reactor.setResident(key, self)
        if isReadClosed { endInput(nil) }
        if isOutputOver { conduit.outputFailed(inputError) }
        let loop = reactor.loop
        // Order: not before the caller has stored what this returns.
        reactor.later { [weak self] in self?.carry() }
        return { [key] in loop.run { reactor in reactor.resident(key)?.carry() } }
    }

    private func carry() {
        guard conduit != nil else { return }
        carryIn()
        carryOut()
        guard isOutputOver, hasToldInputEnd || conduit?.isReaderGone == true else { return }
        // What TLS has taken goes out first, where anything can.
        if hasFailed || (stream as? TLSStream)?.holdsOutput != true { close() }
    }

    // MARK: In

    private func carryIn() {
        for _ in 0..<Self.readsAtOnce {
            guard let conduit, giveUnread(to: conduit) else { return }
            if isInputOver { return endInput(inputError) }
            guard stream.hasPendingInput else { return }
            let buffer = reactor.receiveBuffer
            switch stream.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Self.bytesAtOnce))) {
            case .bytes(let count): unread = Array(buffer[..<count])[...]
            case .wouldBlock: return
            case .endOfStream: isInputOver = true
            case .failed(let error):
                isInputOver = true
                inputError = error
            }
        }
        reactor.later { [weak self] in self?.carry() }
    }

    /// Whether nothing waits for room any more.
    private func giveUnread(to conduit: any StreamConduit) -> Bool {
        // Bytes that are not read must not stop the peer, which may have more to read from us.
        if isReadClosed || conduit.isReaderGone { unread = [] }
        if unread.isEmpty { return true }
        let count = unread.withUnsafeBytes { conduit.accept($0) }
        unread = unread.dropFirst(count)
        return unread.isEmpty
    }

    private func endInput(_ error: SystemError?) {
        guard !hasToldInputEnd else { return }
        hasToldInputEnd = true
        conduit?.inputEnded(error)
        // A connection that has failed takes nothing any more.
        if error != nil { failOutput(error) }
    }

    // MARK: Out

    private func carryOut() {
        while !isOutputOver, let conduit {
            if unsent.isEmpty {
                let buffer = reactor.receiveBuffer
                switch conduit.next(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Self.bytesAtOnce))) {
                case .bytes(let count): unsent = Array(buffer[..<count])[...]
                case .none: return
                case .end:
                    isOutputOver = true
                    return stream.shutdownWrite()
                }
            }
            switch unsent.withUnsafeBytes({ stream.write($0) }) {
            case .bytes(let count): unsent = unsent.dropFirst(count)
            case .wouldBlock, .endOfStream: return
            case .failed(let error): failOutput(error)
            }
        }
    }

    private func failOutput(_ error: SystemError?) {
        if error != nil { hasFailed = true }
        guard !isOutputOver else { return }
        isOutputOver = true
        unsent = []
        conduit?.outputFailed(error)
    }

    private func close() {
        conduit = nil
        if hasFailed || isInputOver { stream.close() } else { LingeringClose.begin(stream, reactor) }
        reactor.setResident(key, nil)
    }

    /// Picked by feel: as much as a conduit has room for, so that little waits in between.
    private static let bytesAtOnce = 64 << 10
    private static let readsAtOnce = 16
}

extension CapturedConnection: ByteStreamObserver {
    package func streamBecameReadable(_ stream: any ByteStream) { carry() }

    package func streamBecameWritable(_ stream: any ByteStream) { carry() }
}
