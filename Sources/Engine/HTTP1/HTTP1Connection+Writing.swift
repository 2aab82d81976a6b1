// The sending half of a connection: head and small body leave in one system call, tried at once without
// waiting for readiness.

import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

extension HTTP1Connection {
    /// Encodes a request's head and queues it with its body; answers the head's length.
    func queue(_ transaction: Transaction) throws(WireError) -> Int {
        let handle = transaction.handle
        core.buffers.outgoing.removeAll(keepingCapacity: true)
        if isForwarding || transaction.isExpectationDropped {
            let head = handle.request.wireHead(
                withoutExpectation: transaction.isExpectationDropped, absoluteTarget: isForwarding)
            try RequestEncoder.encode(head, framing: handle.request.framing, into: &core.buffers.outgoing)
        } else {
            try RequestEncoder.encode(
                handle.request.head, framing: handle.request.framing, into: &core.buffers.outgoing)
        }
        switch handle.request.body {
        case .none:
            output.set(head: core.buffers.outgoing, body: nil)
        case .bytes(let bytes) where !transaction.expectsContinue:
            output.set(head: core.buffers.outgoing, body: bytes.count == 0 ? nil : bytes)
        case .bytes, .file, .section, .stream:
            output.set(head: core.buffers.outgoing, body: nil)
            beginBody(of: transaction)
        }
        return output.head.count
    }

    /// Writes as much as the socket takes.
    func flush() {
        guard !isClosed, writeError == nil else { return }
        turnsLeft = Self.turnsAtOnce
        let wasEmpty = output.isEmpty && feed == nil
        if let tls {
            flushEncrypted(tls)
        } else {
            flushPlain()
        }
        if !wasEmpty, output.isEmpty, feed == nil, !isClosed, writeError == nil { finishedSending() }
    }

    private func flushPlain() {
        guard transaction?.mayWrite ?? true else { return }
        repeat {
            while !output.isEmpty {
                let result = output.withNext { head, body in
                    if body.isEmpty { return stream.write(head) }
                    if head.isEmpty { return stream.write(body) }
                    return stream.write(head, body)
                }
                guard let written = accepted(result) else { return }
                wrote(body: output.advance(written))
            }
        } while feed != nil && feedOutput(sendFile)
    }

    private func flushEncrypted(_ tls: TLSSession) {
        while true {
            // Order: encrypted before the little that may wait is sent, so that the end of a handshake and the first
            // request are one segment.
            if tls.outgoingCount <= 1024, !output.isEmpty, transaction?.mayWrite ?? true {
                do {
                    wrote(body: try encryptNext(tls))
                } catch {
                    fail(.tls(error, host: key.origin.host))
                    return
                }
            }
            while tls.hasOutgoing {
                guard let written = accepted(tls.withOutgoing { stream.write($0) }) else { return }
                tls.outgoingSent(written)
            }
            guard transaction?.mayWrite ?? true else { return }
            if output.isEmpty {
                guard feed != nil, feedOutput({ encryptFile($0, at: $1, count: $2, tls) }) else { return }
            }
        }
    }

    /// Encrypts the next piece; head and small body share one record. Answers how much of it was body.
    private func encryptNext(_ tls: TLSSession) throws(TLSError) -> PendingOutput.BodyCount {
        // Measured: four full records a call halve the system calls of a large upload; more gain nothing.
        let piece = 4 * 16 * 1024
        if output.headLeft > 0, output.bodyLeft > 0, output.headLeft + output.bodyLeft <= 16 * 1024 {
            core.buffers.outgoing.removeAll(keepingCapacity: true)
            output.withNext { head, body in
                core.buffers.outgoing.append(contentsOf: head)
                core.buffers.outgoing.append(contentsOf: body)
            }
            let failure: TLSError? = core.buffers.outgoing.withUnsafeBytes { bytes in encryptAll(bytes, tls) }
            if let failure { throw failure }
            return output.advance(core.buffers.outgoing.count)
        }
        var taken = 0
        let failure: TLSError? = output.withNext { head, body in
            let next = head.isEmpty ? UnsafeRawBufferPointer(rebasing: body.prefix(piece)) : head
            taken = next.count
            return encryptAll(next, tls)
        }
        if let failure { throw failure }
        return output.advance(taken)
    }

    func encryptAll(_ bytes: UnsafeRawBufferPointer, _ tls: TLSSession) -> TLSError? {
        do throws(TLSError) {
            try tls.encrypt(bytes)
            return nil
        } catch {
            return error
        }
    }

    /// The count of a successful write; `nil` when nothing more can be written now.
    func accepted(_ result: IOResult) -> Int? {
        switch result {
        case .bytes(let count):
            if !requestBytesWritten, transaction != nil { requestBytesWritten = true }
            return count
        case .wouldBlock, .endOfStream:
            return nil
        case .failed(let error):
            writeFailed(error)
            return nil
        }
    }

    /// The peer stopped reading: it may have said why before (B11.17), so what is there is read first.
    private func writeFailed(_ error: SystemError) {
        writeError = error
        output.clear()
        dropBody()
        guard transaction != nil else { return close() }
        // A broken socket answers the read with what came before the break, then with its end or error.
        mustRead = true
        pump()
    }

    func wrote(body count: PendingOutput.BodyCount) {
        transaction?.requestBytesMoved(body: count)
    }

    private func finishedSending() {
        output.clear()
        exchange.requestBodyFinished()
        transaction?.requestSent()
        // The answer may have been complete before.
        if responseEnd != .open { completeExchangeIfEnded() }
    }
}
