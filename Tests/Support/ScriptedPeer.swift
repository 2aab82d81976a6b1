// A peer that plays a script on its end of a stream: sends, waits, splits, stalls, closes. Works on memory streams and
// on sockets alike.

import URLLoadingSystem

/// Plays a script on one end of a connection and records what arrives.
package final class ScriptedPeer: ByteStreamObserver {
    /// One step of a script.
    package enum Step {
        /// Sends these bytes; the next step begins when all are written.
        case send([UInt8])
        /// Sends these bytes in pieces of so many, one a turn, with a pause after each.
        case sendInPieces([UInt8], size: Int, pause: Duration = .zero)
        /// Does nothing for so long.
        case delay(Duration)
        /// Waits until so many bytes have arrived since the last wait.
        case receive(count: Int)
        /// Waits until these bytes have arrived since the last wait.
        case receiveThrough([UInt8])
        /// Waits for the peer's end.
        case receiveEnd
        /// Stops reading: the other side's writes will block.
        case stopReading
        /// Reads again.
        case resumeReading
        /// Finishes our direction.
        case halfClose
        /// Closes.
        case close
        /// Closes with a reset.
        case reset
        /// Runs a closure.
        case run(() -> Void)

        /// Sends text.
        package static func send(_ text: String) -> Step { .send(Array(text.utf8)) }
        /// Waits until an HTTP head has arrived.
        package static var receiveHead: Step { .receiveThrough(Array("\r\n\r\n".utf8)) }
    }

    /// Everything that has arrived.
    package private(set) var received: [UInt8] = []
    /// The other side has finished, or the connection is broken.
    package private(set) var sawEnd = false
    /// Why the connection is broken, if it is.
    package private(set) var failure: SystemError?
    /// True when every step has been played.
    package var isDone: Bool { steps.isEmpty && unsent.isEmpty && !wasCutShort }

    private let stream: any ByteStream
    private let reactor: Reactor
    /// What is still to be played, the present step first.
    ///
    /// Played steps go at once, and what their closures hold with them.
    private var steps: [Step]
    private var unsent: ArraySlice<UInt8> = []
    /// Where the present wait begins in `received`.
    private var mark = 0
    private var isReading = true
    private var isPaused = false
    /// The other side was gone before the script was over.
    private var wasCutShort = false
    private var timer: LoopTimer?

    /// Starts playing at the end of the turn.
    ///
    /// The peer keeps itself alive until the connection is over.
    @discardableResult
    package init(_ stream: any ByteStream, on reactor: Reactor, _ steps: [Step]) {
        self.stream = stream
        self.reactor = reactor
        self.steps = steps
        stream.observer = self
        reactor.hold(self)
        reactor.later { [weak self] in self?.play() }
    }

    /// What has arrived, as text.
    package var text: String { String(decoding: received, as: UTF8.self) }

    /// Appends steps to the script.
    package func add(_ more: [Step]) {
        steps += more
        reactor.later { [weak self] in self?.play() }
    }

    /// The stream has input.
    package func streamBecameReadable(_ stream: any ByteStream) {
        play()
    }

    /// The stream has room.
    package func streamBecameWritable(_ stream: any ByteStream) {
        play()
    }

    // MARK: Playing

    private func play() {
        readAll()
        while !isPaused, flush(), let step = steps.first {
            guard take(step) else { break }
        }
        if sawEnd && !isPaused && (isDone || isWaitingForInput) {
            wasCutShort = !isDone
            end { stream.close() }
        }
    }

    /// The present step can only be ended by input.
    private var isWaitingForInput: Bool {
        switch steps.first {
        case .receive, .receiveThrough, .receiveEnd: true
        case .send, .sendInPieces, .delay, .stopReading, .resumeReading, .halfClose, .close, .reset, .run, nil: false
        }
    }

    /// Plays one step; false when it is not over yet.
    private func take(_ step: Step) -> Bool {
        switch step {
        case .receive(let count):
            guard received.count - mark >= count else { return false }
            mark += count
        case .receiveThrough(let pattern):
            guard let end = end(of: pattern) else { return false }
            mark = end
        case .receiveEnd:
            guard sawEnd else { return false }
        case .send(let bytes):
            unsent = bytes[...]
        case .sendInPieces(let bytes, let size, let pause):
            let piece = bytes.prefix(max(1, size))
            unsent = piece
            if piece.count < bytes.count {
                steps[0] = .sendInPieces(
                    Array(bytes.dropFirst(piece.count)), size: size, pause: pause)
                return flush() && rest(pause)
            }
        case .delay(let duration):
            steps.removeFirst()
            return rest(duration)
        case .stopReading:
            isReading = false
        case .resumeReading:
            isReading = true
            readAll()
        case .halfClose:
            stream.shutdownWrite()
        case .close:
            end { stream.close() }
        case .reset:
            end { (stream as? MemoryStream)?.reset() ?? (stream as? SocketStream)?.reset() }
        case .run(let work):
            work()
        }
        if !steps.isEmpty {
            steps.removeFirst()
        }
        return true
    }

    /// Stops playing for a while; always false.
    private func rest(_ duration: Duration) -> Bool {
        isPaused = true
        if duration > .zero {
            let timer = reactor.makeTimer { [weak self] in self?.resume() }
            timer.set(reactor.now + duration)
            self.timer = timer
        } else {
            reactor.later { [weak self] in self?.resume() }
        }
        return false
    }

    private func resume() {
        isPaused = false
        play()
    }

    private func end(_ close: () -> Void) {
        steps = []
        close()
        sawEnd = true
        reactor.release(self)
    }

    private func end(of pattern: [UInt8]) -> Int? {
        guard !pattern.isEmpty else { return mark }
        guard received.count >= pattern.count else { return nil }
        var start = mark
        while start + pattern.count <= received.count {
            if received[start..<start + pattern.count].elementsEqual(pattern) {
                return start + pattern.count
            }
            start += 1
        }
        return nil
    }

    // MARK: Bytes

    /// False while something is unsent.
    private func flush() -> Bool {
        while !unsent.isEmpty {
            switch unsent.withUnsafeBytes({ stream.write($0) }) {
            case .bytes(let count): unsent = unsent.dropFirst(count)
            case .wouldBlock: return false
            case .endOfStream: unsent = []
            case .failed(let error):
                failure = failure ?? error
                unsent = []
            }
        }
        return true
    }

    private func readAll() {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while isReading && !sawEnd && stream.hasPendingInput {
            switch buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) {
            case .bytes(let count): received += buffer.prefix(count)
            case .wouldBlock: return
            case .endOfStream: sawEnd = true
            case .failed(let error):
                failure = failure ?? error
                sawEnd = true
            }
        }
    }
}
