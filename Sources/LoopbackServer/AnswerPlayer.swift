// Plays an answer on a channel, as far as the kernel takes it, and says what it waits for when it stops. It keeps no
// time and knows no request: its driver arms timers, watches gates and calls `resume()`.

import URLLoadingSystem
import URLLoadingWire

/// The progress of one answer.
struct AnswerPlayer {
    enum Pause {
        /// Everything has been handed to the kernel.
        case finished
        /// The kernel takes no more for now.
        case blocked
        /// Enough for one turn of the loop.
        case yielded
        case delay(Duration)
        case gate(ServerGate)
        case nextRequest
        case clientClose
        /// The answer ends the connection.
        case close, drop, reset
        /// The connection is gone.
        case failed
    }

    /// What comes first; kept between answers for its capacity.
    var first: [UInt8] = []
    /// What comes then.
    var steps: [ScriptStep] = []
    /// Bytes that the channel has taken since the last time this was read.
    private(set) var written: Int64 = 0
    private(set) var isActive = false
    /// Counts the steps of all answers, so that a late timer or gate is recognised.
    private(set) var stepNumber = 0

    /// The step that is played; −1 stands for `first`.
    private var index = -1
    private var position: Int64 = 0
    private var hasPaused = false
    private var framing: [UInt8] = []
    private var framingPosition = 0
    private var leftInChunk: Int64 = 0

    mutating func begin() {
        isActive = true
        enter(step: first.isEmpty ? 0 : -1)
    }

    mutating func end() {
        isActive = false
        first.removeAll(keepingCapacity: true)
        steps = []
    }

    /// What was waited for has happened.
    mutating func resume() {
        guard isActive, hasPaused else { return }
        enterNextStep()
    }

    mutating func takeWritten() -> Int64 {
        defer { written = 0 }
        return written
    }

    var awaitsRequest: Bool {
        guard isActive, hasPaused, let step, case .waitForRequest = step else { return false }
        return true
    }

    var awaitsClose: Bool {
        guard isActive, hasPaused, let step, case .waitForClose = step else { return false }
        return true
    }

    /// Whether a later step wants to see the client close, so that its closing is no reason to stop.
    var expectsClose: Bool {
        steps.contains { step in
            if case .waitForClose = step { true } else { false }
        }
    }

    /// Plays on until something has to be waited for.
    mutating func play(on channel: ServerChannel) -> Pause {
        guard !channel.hasFailed else { return .failed }
        var budget = Self.bytesPerTurn
        while true {
            let before = written
            let pause = index < 0 ? send(first, on: channel) : playStep(on: channel)
            if let pause { return pause }
            budget -= written - before
            if budget <= 0 { return .yielded }
        }
    }

    /// Plays the current step; nil where it is done and the next one is entered, or where there is more of it to do.
    private mutating func playStep(on channel: ServerChannel) -> Pause? {
        guard let step else {
            return channel.flush() ? .finished : stopped(channel)
        }
        switch step {
        case .send(let bytes):
            return send(bytes, on: channel)
        case .sendOneByteAtATime(let bytes):
            return sendOneByte(of: bytes, on: channel)
        case .sendGenerated(let length, let start):
            return sendGenerated(length, from: start, on: channel)
        case .sendGeneratedChunks(let length):
            return sendGeneratedChunks(length, on: channel)
        case .delay(let duration):
            return paused(.delay(duration), on: channel)
        case .wait(let gate):
            return paused(.gate(gate), on: channel)
        case .waitForRequest:
            return paused(.nextRequest, on: channel)
        case .waitForClose:
            return paused(.clientClose, on: channel)
        case .halfClose:
            guard channel.flush() else { return stopped(channel) }
            channel.stream.shutdownWrite()
        case .closeNotify:
            channel.sendCloseNotify()
        case .close:
            return .close
        case .drop:
            return .drop
        case .reset:
            return .reset
        }
        enterNextStep()
        return nil
    }

    private mutating func send(_ bytes: [UInt8], on channel: ServerChannel) -> Pause? {
        while position < bytes.count {
            let sent = bytes.withUnsafeBytes { all in
                channel.send(UnsafeRawBufferPointer(rebasing: all.dropFirst(Int(position))))
            }
            guard sent > 0 else { return stopped(channel) }
            position += Int64(sent)
            written += Int64(sent)
        }
        enterNextStep()
        return nil
    }

    private mutating func sendOneByte(of bytes: [UInt8], on channel: ServerChannel) -> Pause? {
        let rest = bytes.dropFirst(Int(position))
        guard !rest.isEmpty else {
            enterNextStep()
            return nil
        }
        let sent = rest.prefix(1).withUnsafeBytes { channel.send($0) }
        guard sent > 0 else { return stopped(channel) }
        position += 1
        written += 1
        // A turn of the loop between two bytes gives the client a chance to see them apart.
        return .yielded
    }

    private mutating func sendGenerated(_ length: Int64, from start: Int64, on channel: ServerChannel) -> Pause? {
        guard position < length else {
            enterNextStep()
            return nil
        }
        let sent = sendBlock(upTo: length - position, from: start, on: channel)
        return sent > 0 ? nil : stopped(channel)
    }

    private mutating func sendGeneratedChunks(_ length: Int64, on channel: ServerChannel) -> Pause? {
        while framingPosition < framing.count {
            let sent = framing.withUnsafeBytes { all in
                channel.send(UnsafeRawBufferPointer(rebasing: all.dropFirst(framingPosition)))
            }
            guard sent > 0 else { return stopped(channel) }
            framingPosition += sent
            written += Int64(sent)
        }
        guard position < length else {
            enterNextStep()
            return nil
        }
        if leftInChunk == 0 {
            leftInChunk = min(Self.generatedChunk, length - position)
            startFraming()
            RequestEncoder.encodeChunkHeader(size: Int(leftInChunk), into: &framing)
            return nil
        }
        let sent = sendBlock(upTo: leftInChunk, on: channel)
        guard sent > 0 else { return stopped(channel) }
        leftInChunk -= sent
        if leftInChunk == 0 {
            startFraming()
            framing += Self.lineEnd
        }
        return nil
    }

    private mutating func sendBlock(upTo limit: Int64, from start: Int64 = 0, on channel: ServerChannel) -> Int64 {
        let sent = GeneratedBytes.withBlock(at: start + position) { block in
            channel.send(UnsafeRawBufferPointer(rebasing: block.prefix(Int(clamping: limit))))
        }
        position += Int64(sent)
        written += Int64(sent)
        return Int64(sent)
    }

    /// A step that waits: what was sent before must not wait with it.
    private mutating func paused(_ pause: Pause, on channel: ServerChannel) -> Pause {
        guard channel.flush() else { return stopped(channel) }
        hasPaused = true
        return pause
    }

    private func stopped(_ channel: ServerChannel) -> Pause {
        channel.hasFailed ? .failed : .blocked
    }

    private mutating func startFraming() {
        framing.removeAll(keepingCapacity: true)
        framingPosition = 0
    }

    private mutating func enterNextStep() {
        enter(step: index + 1)
    }

    private mutating func enter(step newIndex: Int) {
        index = newIndex
        position = 0
        hasPaused = false
        leftInChunk = 0
        startFraming()
        stepNumber += 1
    }

    private var step: ScriptStep? {
        index >= 0 && index < steps.count ? steps[index] : nil
    }

    // One client that reads quickly must not keep the others waiting.
    private static let bytesPerTurn: Int64 = 1 << 20
    private static let generatedChunk: Int64 = 64 << 10
    private static let lineEnd: [UInt8] = [13, 10]
}
