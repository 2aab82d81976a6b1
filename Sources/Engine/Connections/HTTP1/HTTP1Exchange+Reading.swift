// The receiving half of an exchange: bytes into the response decoder, and what they mean to the owner.
//
// While the owner can take no more, the few bytes already read are held here and the connection reads nothing.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension HTTP1Exchange {
    /// Reads on after a pause.
    func readOn() { connection?.pump() }

    /// Keeps bytes that cannot be delivered yet.
    func hold(_ bytes: UnsafeRawBufferPointer) {
        if undecoded == nil { undecoded = [] }
        undecoded?.append(contentsOf: bytes)
    }

    /// Takes up what was held.
    func takeHeld() {
        guard let bytes = undecoded, isUnderWay else { return }
        undecoded = nil
        bytes.withUnsafeBytes { received($0) }
    }

    /// Decodes response bytes and passes on what they mean.
    func received(_ bytes: UnsafeRawBufferPointer) {
        guard let owner else { return }
        switch reading {
        case .awaiting(let isEarly):
            // B6.29: an empty line, as some servers send behind the answer before, is nothing of this one.
            if !Self.isEmptyLine(bytes) { reading = .receiving(isEarly: isEarly, expected: nil) }
        case .receiving: break
        case .ended: return reading = .ended(hasLeftover: true)
        }
        var offset = 0
        do throws(WireError) {
            while self.owner === owner {
                if owner.isReadPaused {
                    // Also without bytes left: the decoder may still owe the end.
                    hold(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                    return
                }
                switch try decoder.next(bytes.bytes, offset: &offset) {
                case .needMore:
                    return
                case .informational(let head):
                    owner.received(informational: head)
                    if head.status == 100 { continueSending() }
                case .head(let head, let framing):
                    if case .permission = writing, head.status == 417 {
                        return resendWithoutExpectation(owner, after: head)
                    }
                    guard isAnswer(head, to: owner) else { return fail(lost(nil, owner)) }
                    if case .length(let length) = framing { reading = .receiving(isEarly: false, expected: length) }
                    course.responseHead(head, framing: framing, persistence: decoder.persistence)
                    if course.isSendingBody { answerCameEarly() }
                    owner.received(head: head, framing: framing, from: channel.acceptance)
                case .body(let range):
                    let part = UnsafeRawBufferPointer(rebasing: bytes[range])
                    owner.received(body: BodyPiece(part, in: channel.buffers.received))
                case .end(let trailers):
                    if !trailers.isEmpty { owner.received(trailers: trailers) }
                    owner.noteWireBodyBytes(decoder.wireBodyBytes)
                    reading = .ended(hasLeftover: offset < bytes.count)
                    return
                case .switched:
                    fail(.wire(.unexpectedSwitchOfProtocols))
                    return
                }
            }
        } catch {
            fail(.wire(error))
        }
    }

    /// Whether bytes are a line's end, or a part of one, and nothing else.
    private static func isEmptyLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count <= 2 && bytes.allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    }

    /// Whether a final response answers the request, as opposed to the connection's end having crossed it.
    private func isAnswer(_ head: ResponseHead, to owner: any ExchangeOwner) -> Bool {
        // B16.29: before anything was asked only a refusal makes sense.
        if case .receiving(isEarly: true, _) = reading, head.status < 400 { return false }
        // B6.31: "you were silent for too long", said to a connection that was about to be used.
        if owner.mayReplayAfterTimeout(head, reused: connection?.hasServed ?? false) {
            reading = .awaiting(isEarly: false)
            return false
        }
        return true
    }

    /// Ends the exchange where the answer is whole.
    func completeIfEnded() {
        guard case .ended(let hasLeftover) = reading, isUnderWay else { return }
        // B5.42: a server that has accepted a body early may still want the rest of it.
        if isOnlySending { return }
        let stream = channel.stream
        end(hasLeftover: hasLeftover || stream.hasPendingInput && !stream.isQuiet())
    }

    /// No more bytes will come. Under TLS `isWhole` says that the peer meant it so.
    func inputEnded(_ error: SystemError?, isWhole: Bool) {
        guard let owner else { return }
        course.peerClosed()
        // B11.17: what was said counts, even though the rest of the request's body cannot be sent any more.
        if case .ended = reading { return end(hasLeftover: true) }
        if let error { return fail(lost(error, owner)) }
        do throws(WireError) {
            switch try decoder.endOfStream() {
            case .end:
                // B3.11: only TLS can tell the end of a close-delimited body from a cut.
                guard isWhole else { return tlsBroken(.truncated) }
                owner.noteWireBodyBytes(decoder.wireBodyBytes)
                end(hasLeftover: false)
            case .needMore, .informational, .head, .body, .switched:
                fail(lost(writeError, owner))
            }
        } catch {
            fail(writeError.map { lost($0, owner) } ?? .wire(error))
        }
    }

    private var writeError: SystemError? { if case .failed(let error) = writing { error } else { nil } }

    private func lost(_ error: SystemError?, _ owner: any ExchangeOwner) -> EngineError {
        let expected: Int64? = if case .receiving(_, let expected) = reading { expected } else { nil }
        return .connectionLost(error, phase: owner.phase, received: decoder.bodyBytesReceived, expected: expected)
    }
}
