// Bodies that are fed to the connection while it sends: files, streams, and everything that waits for the server's
// permission (RFC 9110 §10.1.1). Also when sending stops because the answer has come already (RFC 9112 §9.5).

import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

extension HTTP1Connection {
    /// Prepares a request's body, which follows its head or the server's permission.
    func beginBody(of transaction: Transaction) {
        feed = transaction.makeFeed()
        guard transaction.expectsContinue else { return }
        let timer = core.reactor.makeTimer { [weak self] in self?.continueSending() }
        timer.set(elapsed: core.reactor.elapsed + Self.longestWaitForPermission)
        continueTimer = timer
    }

    /// The server wants the body, or says nothing for so long that it may not know how to say it (B5.40).
    func continueSending() {
        guard continueTimer != nil else { return }
        continueTimer = nil
        flush()
    }

    /// Takes what is next of the body; whether there is something to write, or more to take. `sendPart` writes a part of
    /// a file and says whether to go on.
    func feedOutput(_ sendPart: (OpenFile, Int64, Int) -> Bool) -> Bool {
        guard let feed, continueTimer == nil else { return false }
        guard turnsLeft > 0 else {
            core.reactor.later { [weak self] in self?.flush() }
            return false
        }
        turnsLeft -= 1
        switch feed.next() {
        case .bytes(let framing, let content, let trailingFraming):
            output.set(
                framing: framing, content: content.isEmpty ? nil : content, trailingFraming: trailingFraming)
            return true
        case .whole(let bytes):
            output.set(head: [], body: bytes)
            return true
        case .file(let file, let offset, let count):
            return sendPart(file, offset, count)
        case .wait:
            return false
        case .end:
            self.feed = nil
            return false
        case .failed(let failure):
            fail(.body(failure))
            return false
        }
    }

    /// Lets the kernel send a part of a file.
    func sendFile(_ file: OpenFile, at offset: Int64, count: Int) -> Bool {
        switch stream.write(file, at: offset, count: min(count, Self.fileBytesAtOnce)) {
        case .stream(let result):
            guard let written = accepted(result) else { return false }
            noteFileBytes(written)
            return true
        case .file(let failure):
            if let feed { fail(.body(feed.failure(failure))) }
            return false
        }
    }

    /// Encrypts a part of a file that is in memory already; what is not is read elsewhere, so that no disk holds up the
    /// loop.
    func encryptFile(_ file: OpenFile, at offset: Int64, count: Int, _ tls: TLSSession) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: min(count, Self.encryptedAtOnce), alignment: 16) { buffer in
            guard let read = file.readCached(at: offset, into: buffer) else {
                feed?.readFile(file, at: offset, count: count)
                return false
            }
            if let failure = encryptAll(UnsafeRawBufferPointer(rebasing: buffer[..<read]), tls) {
                fail(.tls(failure, host: key.origin.host))
                return false
            }
            noteFileBytes(read)
            return true
        }
    }

    private func noteFileBytes(_ count: Int) {
        feed?.sent(count)
        wrote(body: PendingOutput.BodyCount(count))
    }

    // MARK: Stopping

    /// The final answer came although the body is not out yet: it goes on only where the server may still want it
    /// (B5.42).
    func answerCameEarly() {
        guard continueTimer != nil || exchange.isBodyUnwanted else { return }
        output.clear()
        feed?.close()
        dropBody()
    }

    /// The server does not do what the Expect field asks for: once more without it (RFC 9110 §10.1.1).
    func resendWithoutExpectation(_ transaction: Transaction) {
        abandon()
        transaction.expectationRefused()
    }

    /// Whether the answer is complete and the connection only waits for the end of the request's body.
    var isOnlySending: Bool {
        responseEnd != .open && exchange.isSendingBody && (feed != nil || !output.isEmpty)
    }

    /// Lets go of what was still to come of the body.
    func dropBody() {
        feed = nil
        continueTimer = nil
    }

    /// B5.40.
    private static var longestWaitForPermission: Duration { .seconds(1) }
    /// Picked by feel: some milliseconds' work, after which the loop's other transfers have their turn.
    static var turnsAtOnce: Int { 16 }
    private static var fileBytesAtOnce: Int { 1024 * 1024 }
    /// Four full records, as for bytes in memory.
    private static var encryptedAtOnce: Int { 4 * 16 * 1024 }
}
