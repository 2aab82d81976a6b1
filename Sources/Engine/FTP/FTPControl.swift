// The control connection: lines out, replies in. It copies what it reads, which is little, so that the receiver of a
// reply may use the loop's buffers.
//
// Must not know: what the commands are for, TLS (a `TLSStream` is a stream like others), the data connection.

import URLLoadingPolicy
import URLLoadingSystem

/// The object that hears what comes on a control connection.
protocol FTPControlObserver: AnyObject {
    /// The server has said something.
    func replied(_ reply: FTPReply)
    /// Bytes moved.
    func controlMoved()
    /// What the server says makes no sense; nothing further is reported.
    func controlFailed(_ failure: FTPFailure)
    /// The connection has ended; nothing further is reported.
    func controlEnded(_ error: SystemError?)
}

/// One control connection.
final class FTPControl: ByteStreamObserver {
    let stream: any ByteStream
    private unowned let core: LoopCore
    private weak var owner: (any FTPControlObserver)?
    private var decoder = FTPReplyDecoder()
    /// Replies that have come and are not looked at.
    private var unread: ArraySlice<UInt8> = []
    private var unsent: ArraySlice<UInt8> = []
    private var isReading = false
    private(set) var isOver = false

    init(_ stream: any ByteStream, core: LoopCore, owner: any FTPControlObserver) {
        self.stream = stream
        self.core = core
        self.owner = owner
        stream.observer = self
    }

    /// Sends a command, now or as soon as there is room.
    func send(_ command: FTPCommand) {
        unsent.append(contentsOf: command.line)
        flush()
    }

    /// Whether the server has said more than what has been reported.
    var hasUnread: Bool { !unread.isEmpty || decoder.isInside }

    /// Gives the stream away, for TLS to be put on it.
    func leave() -> any ByteStream {
        isOver = true
        stream.observer = nil
        return stream
    }

    /// Says goodbye if there is room for it, and closes.
    func quit() {
        guard !isOver else { return }
        if unsent.isEmpty { send(FTPCommand("QUIT")) }
        close()
    }

    /// Closes at once; nothing is reported any more.
    func close() {
        guard !isOver else { return }
        isOver = true
        stream.observer = nil
        stream.close()
    }

    /// Reads what is there: what came before this object watched the stream is not reported again.
    func read() {
        guard !isReading else { return }
        isReading = true
        defer { isReading = false }
        var turn = ReadingTurn()
        while !isOver {
            guard takeReplies(), !isOver, stream.hasPendingInput else { return }
            guard !turn.isOver else {
                return core.reactor.later { [weak self] in self?.read() }
            }
            let buffer = UnsafeMutableRawBufferPointer(rebasing: core.reactor.receiveBuffer.prefix(Self.mostAtOnce))
            switch stream.read(into: buffer) {
            case .bytes(let count):
                turn.noteRead(count)
                unread = Array(buffer[..<count])[...]
                owner?.controlMoved()
            case .wouldBlock: return
            case .endOfStream: return ended(nil)
            case .failed(let error): return ended(error)
            }
        }
    }

    /// False when what has come makes no sense.
    private func takeReplies() -> Bool {
        while !isOver, !unread.isEmpty {
            switch nextReply() {
            case .success(let reply?): owner?.replied(reply)
            case .success(nil): return true
            case .failure(let failure):
                close()
                owner?.controlFailed(failure)
                return false
            }
        }
        return !isOver
    }

    private func nextReply() -> Result<FTPReply?, FTPFailure> {
        var offset = 0
        // Order: before the reply is told, since its receiver may ask for what follows it.
        defer { unread = unread.dropFirst(offset) }
        return unread.withUnsafeBytes { bytes in
            do throws(FTPFailure) {
                return .success(try decoder.next(bytes, offset: &offset))
            } catch {
                return .failure(error)
            }
        }
    }

    private func ended(_ error: SystemError?) {
        close()
        owner?.controlEnded(error)
    }

    private func flush() {
        while !isOver, !unsent.isEmpty {
            switch unsent.withUnsafeBytes({ stream.write($0) }) {
            case .bytes(let count):
                unsent = unsent.dropFirst(count)
                owner?.controlMoved()
            // A broken stream is noticed by the next read, which may still bring what the server has said.
            case .wouldBlock, .endOfStream, .failed: return
            }
        }
    }

    func streamBecameReadable(_ stream: any ByteStream) { read() }

    func streamBecameWritable(_ stream: any ByteStream) { flush() }

    /// Replies are short.
    private static let mostAtOnce = 16 * 1024
}
