// The receiving half of a connection: readiness, through TLS if there is any, into the response decoder.
//
// Back-pressure is simply not reading: while the receiver can take no more, the few bytes already read are
// held here and the socket is left alone, so TCP slows the sender down.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

extension HTTP1Connection {
    /// Reads until the socket is empty, the receiver is full, or its turn is over.
    func pump() {
        guard !isReading else { return }
        isReading = true
        defer { isReading = false }
        guard takeHeld() else { return }
        // Fairness: a fast sender must not keep the other connections of the loop waiting for ever.
        var allowance = 2 << 20
        while canRead, stream.hasPendingInput || mustRead {
            guard allowance > 0 else {
                core.reactor.later { [weak self] in self?.pump() }
                return
            }
            mustRead = false
            let buffer =
                tls == nil ? core.buffers.received.space(atLeast: Self.leastRead) : core.reactor.receiveBuffer
            switch stream.read(into: buffer) {
            case .bytes(let count):
                allowance -= count
                transaction?.byteMoved()
                received(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            case .wouldBlock:
                return
            case .endOfStream:
                inputEnded(nil)
                return
            case .failed(let error):
                inputEnded(error)
                return
            }
        }
    }

    /// A full read of this much is worth its system call.
    private static let leastRead = 64 * 1024

    /// The same where there may well be nothing: requests ask before and after they are sent.
    func pumpIfPending() {
        let isHeld = hasUndecoded || hasUndecrypted || !heldCiphertext.isEmpty
        if isHeld || mustRead || responseEnd != .open || stream.hasPendingInput { pump() }
    }

    private var canRead: Bool { !isClosed && transaction?.isReadPaused != true }

    /// Takes up what was held while reading was paused; `false` when that already fills the receiver again.
    private func takeHeld() -> Bool {
        guard canRead else { return false }
        if hasUndecoded {
            let bytes = heldPlaintext
            heldPlaintext = []
            hasUndecoded = false
            bytes.withUnsafeBytes { consume($0) }
        }
        guard canRead else { return false }
        if let tls, hasUndecrypted || !heldCiphertext.isEmpty {
            let bytes = heldCiphertext
            heldCiphertext = []
            bytes.withUnsafeBytes { decrypt($0, tls) }
        } else {
            completeExchangeIfEnded()
        }
        return canRead
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        if let tls {
            decrypt(bytes, tls)
        } else {
            consume(bytes)
            completeExchangeIfEnded()
        }
    }

    private func decrypt(_ bytes: UnsafeRawBufferPointer, _ tls: TLSSession) {
        var offset = 0
        hasUndecrypted = false
        while !isClosed {
            if transaction?.isReadPaused == true {
                heldCiphertext.append(contentsOf: bytes[offset...])
                hasUndecrypted = true
                return
            }
            // All of it in one piece, which is then passed on or kept as a whole.
            let plaintext = core.buffers.received.space(atLeast: max(bytes.count - offset, Self.leastRead))
            switch tls.decrypt(bytes, offset: &offset, into: plaintext) {
            case .plaintext(let count):
                consume(UnsafeRawBufferPointer(rebasing: plaintext[..<count]))
            case .needInput:
                // A post-handshake message may want an answer.
                if tls.hasOutgoing { flush() }
                completeExchangeIfEnded()
                return
            case .closed:
                hasCloseNotify = true
                completeExchangeIfEnded()
                if !isClosed { inputEnded(nil) }
                return
            case .failed(let error):
                fail(.tls(error, host: key.origin.host))
                return
            }
        }
    }

    /// Decodes response bytes and passes on what they mean.
    private func consume(_ bytes: UnsafeRawBufferPointer) {
        guard responseEnd == .open else {
            responseEnd = .endedWithLeftover
            return
        }
        guard let transaction else {
            // B16.9: nobody asked for anything.
            close()
            return
        }
        responseBytesSeen = true
        var offset = 0
        do throws(WireError) {
            while self.transaction === transaction {
                if transaction.isReadPaused {
                    // Also without bytes left: the decoder may still owe the end.
                    heldPlaintext.append(contentsOf: bytes[offset...])
                    hasUndecoded = true
                    return
                }
                switch try decoder.next(bytes.bytes, offset: &offset) {
                case .needMore:
                    return
                case .informational(let head):
                    transaction.received(informational: head)
                    if head.status == 100 { continueSending() }
                case .head(let head, let framing):
                    if continueTimer != nil, head.status == 417 { return resendWithoutExpectation(transaction) }
                    guard isAnswer(head, to: transaction) else { return fail(lost(nil, transaction)) }
                    self.framing = framing
                    exchange.responseHead(head, framing: framing, persistence: decoder.persistence)
                    if exchange.isSendingBody { answerCameEarly() }
                    transaction.received(head: head, framing: framing, from: acceptance)
                case .body(let range):
                    transaction.received(body: UnsafeRawBufferPointer(rebasing: bytes[range]))
                case .end:
                    transaction.noteWireBodyBytes(decoder.wireBodyBytes)
                    responseEnd = offset < bytes.count ? .endedWithLeftover : .ended
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

    /// Whether a final response answers the request, as opposed to the connection's end having crossed it.
    private func isAnswer(_ head: ResponseHead, to transaction: Transaction) -> Bool {
        // B16.29: before anything was asked only a refusal makes sense.
        if hasEarlyBytes, head.status < 400 { return false }
        // B6.31: "you were silent for too long", said to a connection that was about to be used.
        if transaction.mayReplayAfterTimeout(head, reused: hasServed) {
            responseBytesSeen = false
            return false
        }
        return true
    }

    /// Ends the exchange once everything that came with its last byte has been looked at.
    ///
    /// Order: only now. A connection handed on while bytes are still undecrypted would let a server answer the
    /// next request before it was sent (B16.5, B16.39).
    func completeExchangeIfEnded() {
        // B5.42: a server that has accepted a body early may still want the rest of it.
        if isOnlySending { return }
        switch responseEnd {
        case .open:
            return
        case .endedWithLeftover:
            responseEnded(leftover: true)
        case .ended:
            responseEnded(leftover: stream.hasPendingInput && !stream.isQuiet())
        }
    }

    /// No more bytes will come: a FIN, TLS's close_notify, or an error.
    private func inputEnded(_ error: SystemError?) {
        guard let transaction else { return close() }
        exchange.peerClosed()
        // B11.17: what was said counts, even though the rest of the body has nobody to go to.
        if responseEnd != .open { return responseEnded(leftover: true) }
        if let error { return fail(lost(error, transaction)) }
        do throws(WireError) {
            switch try decoder.endOfStream() {
            case .end:
                // B3.11: only TLS can tell the end of a close-delimited body from a cut.
                guard tls == nil || hasCloseNotify else { return fail(.tls(.truncated, host: key.origin.host)) }
                transaction.noteWireBodyBytes(decoder.wireBodyBytes)
                responseEnded(leftover: false)
            case .needMore, .informational, .head, .body, .switched:
                fail(lost(writeError, transaction))
            }
        } catch {
            fail(writeError.map { lost($0, transaction) } ?? .wire(error))
        }
    }

    private func lost(_ error: SystemError?, _ transaction: Transaction) -> EngineError {
        let expected: Int64? = if case .length(let length) = framing { length } else { nil }
        return .connectionLost(
            error, phase: transaction.phase, received: decoder.bodyBytesReceived, expected: expected)
    }
}
