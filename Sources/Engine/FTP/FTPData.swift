// The data connection while it carries data, in one of the two directions: received as fast as its receiver takes it,
// or fed from a request's body. Under TLS an end without close_notify is a break: what was sent could be longer.
//
// Must not know: the control connection, what the data is.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// The object that hears of a data connection.
protocol FTPDataObserver: AnyObject {
    /// Whether data may move now.
    var mayMove: Bool { get }
    /// Data came; says how to go on by `mayMove`.
    func received(_ piece: BodyPiece)
    /// So many bytes have left or come.
    func dataMoved(sent count: Int)
    /// The end, after so many bytes; nothing further is reported.
    func dataEnded(count: Int64, isBroken: Bool)
    /// What was to be sent cannot be had.
    func bodyFailed(_ failure: BodyFailure)
}

/// One data connection.
final class FTPData: ByteStreamObserver {
    private let stream: any ByteStream
    private let tls: TLSSession?
    private unowned let core: LoopCore
    private weak var owner: (any FTPDataObserver)?
    private let feed: BodyFeed?
    private var unsent: [UInt8] = []
    private var whole: (any BodyBytes)?
    private var position = 0
    private var count: Int64 = 0
    /// How far what was sent had reached the server when that was asked last.
    private var arrivedBefore: Int?
    private var isMoving = false
    private(set) var isOver = false

    /// A connection that brings data, or takes what `feed` gives. `tls` is the session that the stream stands on.
    init(
        _ stream: any ByteStream, tls: TLSSession?, feed: BodyFeed?, core: LoopCore, owner: any FTPDataObserver
    ) {
        self.stream = stream
        self.tls = tls
        self.feed = feed
        self.core = core
        self.owner = owner
        stream.observer = self
    }

    /// Moves what can be moved.
    func move() {
        guard !isMoving, !isOver else { return }
        isMoving = true
        defer { isMoving = false }
        if feed == nil { receive() } else { send() }
    }

    /// The next piece of the body has been supplied.
    func arrived(_ piece: SourcePiece) {
        feed?.arrived(piece)
        move()
    }

    /// How far what was sent has reached the server; nil where that is not known, or nothing is sent.
    func arrival() -> Arrival? {
        guard feed != nil, let delivery = stream.delivery() else { return nil }
        let position = Int(truncatingIfNeeded: count) &- delivery.unacknowledged
        defer { arrivedBefore = position }
        return Arrival(position: position, before: arrivedBefore, age: delivery.age)
    }

    /// Closes at once; nothing is reported any more.
    func close() {
        guard !isOver else { return }
        isOver = true
        feed?.close()
        letGo()
    }

    func streamBecameReadable(_ stream: any ByteStream) { if feed == nil { move() } }

    func streamBecameWritable(_ stream: any ByteStream) { if feed != nil { move() } }

    // MARK: Receiving

    private func receive() {
        var turn = ReadingTurn()
        while !isOver, owner?.mayMove == true, stream.hasPendingInput {
            guard !turn.isOver else { return laterOn() }
            let buffers = core.buffers.received
            let buffer = buffers.lend(atLeast: ReadingTurn.leastRead)
            defer { buffers.takeBack() }
            switch stream.read(into: buffer) {
            case .bytes(let read):
                turn.noteRead(read)
                count += Int64(read)
                owner?.dataMoved(sent: 0)
                owner?.received(BodyPiece(UnsafeRawBufferPointer(rebasing: buffer[..<read]), in: buffers))
            case .wouldBlock: return
            case .endOfStream: return ended(isBroken: tls?.endOfInput() != nil)
            case .failed: return ended(isBroken: true)
            }
        }
    }

    // MARK: Sending

    private func send() {
        for _ in 0..<Self.mostSteps {
            guard !isOver, owner?.mayMove == true else { return }
            guard flush() else { return }
            guard let feed else { return }
            switch feed.next() {
            case .bytes(_, let content, _):
                unsent = content
            case .whole(let bytes):
                whole = bytes
            case .file(let file, let offset, let count):
                guard sendFile(file, at: offset, count: count, feed) else { return }
            case .wait:
                return
            case .end, .trailers:
                // The end of the connection is the end of the file (RFC 959 §3.4.1).
                stream.shutdownWrite()
                return ended(isBroken: false, closes: false)
            case .failed(let failure):
                return failed(failure)
            }
        }
        laterOn()
    }

    /// Sends what was taken of the body; false when it has to wait or cannot be.
    private func flush() -> Bool {
        while true {
            let result: IOResult
            if let whole {
                guard position < whole.count else {
                    self.whole = nil
                    position = 0
                    return true
                }
                result = whole.withUnsafeBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[position...])) }
            } else {
                guard position < unsent.count else {
                    unsent = []
                    position = 0
                    return true
                }
                result = unsent.withUnsafeBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[position...])) }
            }
            guard let written = wrote(result) else { return false }
            position += written
        }
    }

    private func sendFile(_ file: OpenFile, at offset: Int64, count: Int, _ feed: BodyFeed) -> Bool {
        guard tls == nil else {
            // What has to be encrypted is read where waiting for a disk does no harm.
            feed.readFile(file, at: offset, count: count)
            return false
        }
        switch stream.write(file, at: offset, count: min(count, Self.fileBytesAtOnce)) {
        case .stream(let result):
            guard let written = wrote(result) else { return false }
            feed.sent(written)
            return true
        case .file(let failure):
            failed(feed.failure(failure))
            return false
        }
    }

    /// How much the socket took; nil when it has to be waited for, or is broken.
    private func wrote(_ result: IOResult) -> Int? {
        switch result {
        case .bytes(let written):
            count += Int64(written)
            owner?.dataMoved(sent: written)
            return isOver ? nil : written
        case .wouldBlock:
            return nil
        case .endOfStream, .failed:
            ended(isBroken: true)
            return nil
        }
    }

    // MARK: The end

    private func failed(_ failure: BodyFailure) {
        close()
        owner?.bodyFailed(failure)
    }

    /// A connection that has taken everything stays until the transfer is over: closing could take back what the server
    /// has not read.
    private func ended(isBroken: Bool, closes: Bool = true) {
        guard !isOver else { return }
        isOver = true
        feed?.close()
        stream.observer = nil
        if closes { stream.close() }
        owner?.dataEnded(count: count, isBroken: isBroken)
    }

    /// Closes what `ended` has left open.
    func letGo() {
        guard isOver else { return }
        stream.observer = nil
        stream.close()
    }

    private func laterOn() {
        core.reactor.later { [weak self] in self?.move() }
    }

    private static let mostSteps = 16
    private static let fileBytesAtOnce = 1024 * 1024
}
