// A session's application data and its end. RFC 8446 sections 5 and 6.1.

import CURLLoadingOpenSSL
import URLLoadingTrust

extension TLSSession {
    /// Decrypts `input` from `offset` on into `output`.
    ///
    /// Input is read in place and `offset` moved past what was used; call until it needs input.
    package func decrypt(
        _ input: UnsafeRawBufferPointer, offset: inout Int, into output: UnsafeMutableRawBufferPointer
    ) -> ReadStep {
        switch stage {
        case .open: break
        case .failed(let error): return .failed(error)
        case .shakingHands: return .failed(.internalFailure("the handshake is not over"))
        }
        if receivedClose { return .closed }
        if isDrained, offset >= input.count { return .needInput }
        guard let start = output.baseAddress, !output.isEmpty else {
            return .failed(.internalFailure("there is no room for plaintext"))
        }
        transport.pointee.begin(input, from: offset)
        let filled = read(into: start, output.count)
        offset = input.count - transport.pointee.end()
        if isDrained { releaseBuffers() }
        if filled > 0 { return .plaintext(filled) }
        if case .failed(let error) = stage { return .failed(error) }
        if receivedClose { return .closed }
        guard transport.pointee.messagesInARow <= Self.mostMessagesInARow else {
            let error = TLSError.protocolViolation(reason: "tickets or new keys come without end", alert: nil)
            stage = .failed(error)
            return .failed(error)
        }
        return .needInput
    }

    /// How many messages of TLS itself the last `decrypt` has met, such as tickets and changes of keys. Each takes the
    /// work of many bytes of data (B3.87).
    package var messagesMet: Int { transport.pointee.messagesMet }

    /// Encrypts all of `plaintext` into records that wait to be sent.
    ///
    /// Where `isHeldUp` is true afterwards, it has thrown and taken nothing, and nothing has failed.
    package func encrypt(_ plaintext: UnsafeRawBufferPointer) throws(TLSError) {
        switch stage {
        case .open: break
        case .failed(let error): throw error
        case .shakingHands: throw .internalFailure("the handshake is not over")
        }
        if sentClose { throw .internalFailure("nothing can be sent after the closing message") }
        guard let start = plaintext.baseAddress, !plaintext.isEmpty else { return }
        OpenSSLErrors.clear()
        transport.pointee.reserve(forPlaintext: plaintext.count)
        var written = 0
        let result = SSL_write_ex(ssl, start, plaintext.count, &written)
        guard result == 1, written == plaintext.count else {
            // OpenSSL wants the rest of a message before it writes anything.
            if SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ {
                throw .internalFailure("the rest of the peer's message comes first")
            }
            let error = TLSFailures.take(circumstances(isHandshake: false))
            stage = .failed(error)
            throw error
        }
    }

    /// Whether neither data nor the end can be encrypted now: a message of TLS itself has come in part, as several
    /// records may carry it (RFC 8446 section 5.1). The `decrypt` of its rest ends this.
    package var isHeldUp: Bool {
        if case .open = stage, !sentClose, !receivedClose { SSL_in_init(ssl) == 1 } else { false }
    }

    /// Queues close_notify, unless `isHeldUp`; what the peer still sends can be read.
    package func close() {
        guard case .open = stage, !isHeldUp else { return }
        sendClose()
    }

    /// The connection has ended: nil when that is in order because the peer had said so before, otherwise what it
    /// means.
    package func endOfInput() -> TLSError? {
        if receivedClose { return nil }
        switch stage {
        case .failed(let error): return error
        case .open: return .truncated
        case .shakingHands:
            stage = .failed(.closedDuringHandshake)
            return .closedDuringHandshake
        }
    }

    /// Whether ciphertext that was taken over, or plaintext of it, has not been asked for yet.
    package var hasBufferedInput: Bool { !isDrained && SSL_has_pending(ssl) == 1 }

    /// Whether the peer has said that no more will come, or nothing more can be read: the next `decrypt` tells which.
    package var hasReadEnd: Bool {
        if case .failed = stage { true } else { receivedClose }
    }

    /// Whether the first part of a record has come and its rest has not.
    package var holdsPartOfRecord: Bool { !transport.pointee.isBetweenRecords }

    /// Whether ciphertext waits to be sent.
    package var hasOutgoing: Bool { !isFlightHeld && transport.pointee.hasWaiting }

    /// How much ciphertext waits to be sent.
    package var outgoingCount: Int { isFlightHeld ? 0 : transport.pointee.waiting.count }

    /// Gives back the 16 KiB in which OpenSSL collects a record, unless there is a part of one; the next record takes
    /// them again.
    ///
    /// Sessions thus take turns with one block, which stays in the processor's cache, and one at rest owns none:
    /// OpenSSL's own mode for this keeps the block for input. Releases before 3.0.14 free it also while it holds a
    /// record whose content is still to come (CVE-2024-4741), so we look for ourselves.
    func releaseBuffers() {
        guard transport.pointee.isBetweenRecords, SSL_has_pending(ssl) == 0 else { return }
        SSL_free_buffers(ssl)
    }

    /// Calls `body` with the ciphertext that waits to be sent.
    package func withOutgoing<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(isFlightHeld ? UnsafeRawBufferPointer(start: nil, count: 0) : transport.pointee.waiting)
    }

    /// Drops the first `count` outgoing bytes.
    package func outgoingSent(_ count: Int) {
        if !isFlightHeld { transport.pointee.sent(count) }
    }

    private func read(into start: UnsafeMutableRawPointer, _ room: Int) -> Int {
        OpenSSLErrors.clear()
        isDrained = false
        var filled = 0
        while filled < room {
            var count = 0
            let result = SSL_read_ex(ssl, start + filled, room - filled, &count)
            if transport.pointee.renegotiationAsked {
                stage = .failed(.renegotiationRefused)
                return filled
            }
            if result == 1 {
                filled += count
                transport.pointee.messagesInARow = 0
                // Nothing is left anywhere: asking again would only cost OpenSSL a new buffer.
                if transport.pointee.isInputEmpty, SSL_has_pending(ssl) == 0 {
                    isDrained = true
                    return filled
                }
                continue
            }
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ: isDrained = true
            case SSL_ERROR_ZERO_RETURN: receivedClose = true
            default: stage = .failed(TLSFailures.take(circumstances(isHandshake: false)))
            }
            break
        }
        return filled
    }

    /// Queues close_notify once.
    func sendClose() {
        guard !sentClose else { return }
        sentClose = true
        OpenSSLErrors.clear()
        _ = SSL_shutdown(ssl)
        OpenSSLErrors.clear()
    }

    /// Picked by feel: servers send two tickets, and change their keys after gigabytes (B3.87).
    private static var mostMessagesInARow: Int { 64 }
}
