// One connection of the server: requests in, answers out, one after the other. It decodes with URLLoadingWire, asks
// the route and has the answer played; it stops reading while more requests wait than it cares to keep, and stops
// writing when the client does not read. Where something else is spoken than HTTP/1.1, a conversation does all that,
// and what stays here is reading, decrypting and closing. What becomes of a request is in +Requests. Confined to the
// server's loop. RFC 9112 §9.

import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// Reads requests and plays their answers.
final class ServerConnection: ByteStreamObserver {
    private enum Phase {
        case serving
        /// The server has ended, or is about to end, its side; what still comes is read and thrown away, because
        /// closing with unread bytes would send a reset that can overtake the answer. RFC 9112 §9.6.
        case lingering(hasShutDown: Bool)
        case closed
    }

    let number: Int
    let channel: ServerChannel
    unowned let core: ServerCore
    private var phase = Phase.serving

    // Reading.
    private var decoder = RequestDecoder()
    /// What is known of the request that comes (+Requests).
    var incoming: IncomingRequest?
    var requestNumber = 0
    /// Received while an answer was under way, and not decoded yet.
    private var inbox: [UInt8] = []
    var inputHasEnded = false
    /// The first bytes will tell whether HTTP/2 is spoken.
    private var awaitsPreface = false
    private var isReading = false
    private var isDecoding = false

    // Writing.
    var player = AnswerPlayer()
    var closesAfterAnswer = false
    var isCountedAsBlocked = false
    var isPlaying = false
    /// What the connection has become, if it does not speak HTTP/1.1.
    var conversation: (any ServerConversation)?
    lazy var timer = core.reactor.makeTimer { [weak self] in self?.timerFired() }

    struct IncomingRequest {
        let head: RequestHead
        var body: [UInt8] = []
        var bodyByteCount: Int64 = 0
        var trailers = Fields()
        var isAnswered = false
        /// Whether the server's upload store takes the body and answers.
        var isUpload = false
        /// Whether its body stays unread until a gate is open.
        var isHeld = false
    }

    init(number: Int, channel: ServerChannel, core: ServerCore) {
        self.number = number
        self.channel = channel
        self.core = core
    }

    func begin() {
        channel.stream.observer = self
        if channel.isEstablished { established() }
        read()
    }

    // MARK: Events

    func streamBecameReadable(_ stream: any ByteStream) {
        read()
    }

    func streamBecameWritable(_ stream: any ByteStream) {
        switch phase {
        case .serving: if let conversation { conversation.flush() } else { play() }
        case .lingering: shutDown()
        case .closed: break
        }
    }

    /// A gate that the answer waited for has been opened.
    func gateOpened(step: Int) {
        guard player.stepNumber == step else { return }
        player.resume()
        play()
    }

    private func timerFired() {
        switch phase {
        case .serving:
            if let conversation { return conversation.timerFired() }
            player.resume()
            play()
        case .lingering, .closed:
            close()
        }
    }

    private func established() {
        if let steps = core.options.greeting?(number) {
            player.steps = steps
            player.begin()
            return play()
        }
        switch core.options.http2.beginning(encrypted: channel.isEncrypted, negotiated: channel.negotiated) {
        case .http1: break
        case .http2: speakHTTP2()
        case .asPrefaceSays: awaitsPreface = true
        }
    }

    private func speakHTTP2() {
        let conversation = HTTP2Conversation(on: self)
        self.conversation = conversation
        conversation.begin()
    }

    // MARK: Reading

    func read() {
        guard !isReading else { return }
        isReading = true
        defer { isReading = false }
        while wantsInput {
            let buffer = core.reactor.receiveBuffer
            switch channel.stream.read(into: buffer) {
            case .bytes(let count):
                received(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
                if !channel.stream.hasPendingInput { return }
            case .wouldBlock:
                return
            case .endOfStream:
                inputEnded()
            case .failed:
                lost()
            }
        }
    }

    /// Reads what was left in the kernel, unless what came before it is still being looked at.
    func readOn() {
        if !isDecoding, channel.stream.hasPendingInput { read() }
    }

    private var wantsInput: Bool {
        switch phase {
        case .serving: !inputHasEnded && (conversation?.wantsInput ?? (inbox.count < Self.inboxLimit))
        case .lingering: !inputHasEnded
        case .closed: false
        }
    }

    var isServing: Bool {
        if case .serving = phase { true } else { false }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        guard isServing else { return }
        guard channel.isEncrypted else { return consume(bytes) }
        var offset = 0
        if !channel.isEstablished {
            switch channel.handshake(bytes, offset: &offset) {
            case .notDone:
                return
            case .failed:
                core.figures.update { $0.failedHandshakes += 1 }
                return linger()
            case .done(let isResumed):
                core.figures.update { statistics in
                    statistics.handshakes += 1
                    if isResumed { statistics.resumedHandshakes += 1 }
                }
                established()
            }
        }
        while isServing {
            switch channel.decrypt(bytes, offset: &offset, into: core.plaintext) {
            case .bytes(let count):
                consume(UnsafeRawBufferPointer(rebasing: core.plaintext.prefix(count)))
            case .needMore:
                return
            case .ended:
                return inputEnded()
            case .failed:
                return lost()
            }
        }
    }

    private func consume(_ bytes: UnsafeRawBufferPointer) {
        core.figures.update { $0.bytesReceived += Int64(bytes.count) }
        if let conversation { return conversation.received(bytes) }
        if awaitsPreface {
            inbox.append(contentsOf: bytes)
            return choose()
        }
        guard inbox.isEmpty else {
            inbox.append(contentsOf: bytes)
            return serveInbox()
        }
        keep(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(decode(bytes))))
    }

    /// Looks whether the first bytes are those of HTTP/2; until it is certain they are kept.
    private func choose() {
        let isHTTP2 = HTTP2FrameEncoder.preface.withUTF8Buffer { inbox.prefix($0.count).elementsEqual($0) }
        guard !isHTTP2 else {
            awaitsPreface = false
            let bytes = inbox
            inbox = []
            speakHTTP2()
            return bytes.withUnsafeBytes { conversation?.received($0) }
        }
        guard !HTTP2FrameEncoder.preface.withUTF8Buffer({ $0.starts(with: inbox) }) else { return }
        awaitsPreface = false
        serveInbox()
    }

    /// What has not been decoded: for later, or for the web socket that the connection has become meanwhile.
    private func keep(_ bytes: UnsafeRawBufferPointer) {
        guard isServing, !bytes.isEmpty else { return }
        if let conversation { conversation.received(bytes) } else { inbox.append(contentsOf: bytes) }
    }

    /// Goes on with what waited for an answer to end.
    func serveInbox() {
        guard isServing, !isDecoding, !awaitsPreface, !inbox.isEmpty else { return }
        let bytes = inbox
        inbox = []
        bytes.withUnsafeBytes { keep(UnsafeRawBufferPointer(rebasing: $0.dropFirst(decode($0)))) }
    }

    /// Decodes and answers requests until the bytes are used or an answer is under way; says how many were used.
    private func decode(_ bytes: UnsafeRawBufferPointer) -> Int {
        isDecoding = true
        defer { isDecoding = false }
        var offset = 0
        while isServing, canDecode {
            let step: RequestDecoder.Step
            do {
                step = try decoder.next(bytes.bytes, offset: &offset)
            } catch {
                malformed()
                return bytes.count
            }
            switch step {
            case .needMore:
                return offset
            case .head(let head, _):
                headArrived(head)
            case .body(let range):
                bodyArrived(UnsafeRawBufferPointer(rebasing: bytes[range]))
            case .end:
                incoming?.trailers = decoder.trailers
                requestArrived()
                if offset == bytes.count { return offset }
            }
        }
        return offset
    }

    /// One answer after the other: the next request is looked at when the last one has been answered.
    private var canDecode: Bool {
        conversation == nil && !(incoming?.isHeld ?? false)
            && (!player.isActive || player.awaitsRequest || incoming != nil)
    }

    // MARK: The end

    private func malformed() {
        core.figures.update { $0.malformedRequests += 1 }
        guard !player.isActive else { return linger() }
        player.first += Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
        closesAfterAnswer = true
        player.begin()
        play()
    }

    private func inputEnded() {
        inputHasEnded = true
        guard isServing else { return close() }
        if let conversation { return conversation.inputEnded() }
        if player.awaitsClose {
            player.resume()
            play()
        } else if !player.isActive, incoming == nil, channel.isEstablished {
            channel.sendCloseNotify()
            close()
        } else if !player.expectsClose {
            lost()
        }
    }

    /// Ends the connection in the middle of what is going on, as a network does that goes away.
    func cut() {
        channel.stream.reset()
        close()
    }

    /// The client is gone; that counts only where there was something left to do for it.
    func lost() {
        if isServing, !channel.isEstablished {
            core.figures.update { $0.failedHandshakes += 1 }
        } else if isServing, player.isActive || incoming != nil || conversation?.hasWork ?? false {
            core.figures.update { $0.connectionsLost += 1 }
        }
        close()
    }

    /// Ends the server's side and waits, not for ever, for the client to end its own.
    func linger() {
        guard isServing else { return }
        phase = .lingering(hasShutDown: false)
        player.end()
        inbox = []
        timer.set(core.reactor.now + Self.lingeringTime)
        channel.sendCloseNotify()
        shutDown()
        if inputHasEnded || channel.hasFailed { close() }
    }

    private func shutDown() {
        guard case .lingering(hasShutDown: false) = phase, channel.flush() else { return }
        channel.stream.shutdownWrite()
        phase = .lingering(hasShutDown: true)
    }

    /// Closes at once: when this returns the end is on its way to the client.
    func close() {
        if case .closed = phase { return }
        phase = .closed
        conversation?.ended()
        player.end()
        timer.clear()
        // A test that starts a process has a second descriptor for this socket until the process executes its program,
        // and until then closing alone would tell the client nothing.
        channel.stream.shutdownWrite()
        channel.stream.close()
        if isCountedAsBlocked { core.figures.update { $0.blockedWriters -= 1 } }
        isCountedAsBlocked = false
        core.closed(self)
    }

    // A client that pipelines more than this is not read until it has had its answers.
    private static let inboxLimit = 64 << 10
    private static let lingeringTime = Duration.seconds(2)
}
