// The sending half of an exchange: head and small body leave in one system call, tried at once without waiting for
// readiness.

import URLLoadingSystem
import URLLoadingWire

extension HTTP1Exchange {
    /// Encodes a request's head and queues it with its body; answers the head's length.
    func queue(_ owner: any ExchangeOwner, isForwarding: Bool) throws(WireError) -> Int {
        let handle = owner.handle
        core.buffers.outgoing.removeAll(keepingCapacity: true)
        if isForwarding || owner.isExpectationDropped {
            let head = handle.request.wireHead(
                withoutExpectation: owner.isExpectationDropped, absoluteTarget: isForwarding)
            try RequestEncoder.encode(head, framing: handle.request.framing, into: &core.buffers.outgoing)
        } else {
            try RequestEncoder.encode(
                handle.request.head, framing: handle.request.framing, into: &core.buffers.outgoing)
        }
        output.set(head: core.buffers.outgoing)
        switch handle.request.body {
        case .none: break
        case .bytes(let bytes) where !owner.expectsContinue: output.add(body: bytes)
        case .bytes, .file, .section, .stream: beginBody(of: owner)
        }
        return output.head.count
    }

    /// Writes as much as the channel takes.
    func flush() {
        guard let owner else { return }
        if hasFailedToSend { return }
        turnsLeft = Self.turnsAtOnce
        let wasSent = output.isEmpty && feed == nil
        write(owner)
        if !wasSent, output.isEmpty, feed == nil, isUnderWay, !hasFailedToSend { finishedSending() }
    }

    private func write(_ owner: any ExchangeOwner) {
        while isUnderWay {
            guard owner.mayWrite else { break }
            if output.isEmpty {
                guard feed != nil, feedOutput({ sendFile($0, at: $1, count: $2) }) else { break }
                continue
            }
            guard let written = accepted(output.withNext { channel.write($0, $1) }) else { return }
            owner.requestBytesMoved(body: output.advance(written))
        }
        // Also what TLS has to say by itself.
        if channel.hasOutgoing, isUnderWay, let obstacle = channel.sendOutgoing() { _ = accepted(obstacle) }
    }

    /// The count of a successful write; nil when nothing more can be written now.
    private func accepted(_ output: SecureChannel.Output) -> Int? {
        switch output {
        case .bytes(let count): return count
        case .wouldBlock: break
        case .failed(let error): writeFailed(error)
        case .broken(let error): tlsBroken(error)
        }
        return nil
    }

    /// Sends a part of a file, and says whether to go on.
    private func sendFile(_ file: OpenFile, at offset: Int64, count: Int) -> Bool {
        switch channel.write(file, at: offset, count: count) {
        case .output(let output):
            guard let written = accepted(output) else { return false }
            feed?.sent(written)
            owner?.requestBytesMoved(body: SentBody(written))
            return true
        case .file(let failure):
            if let feed { fail(.body(feed.failure(failure))) }
            return false
        case .notInMemory:
            // Read elsewhere, so that no disk holds up the loop.
            feed?.readFile(file, at: offset, count: count)
            return false
        }
    }

    /// The peer stopped reading: it may have said why before (B11.17), so what is there is read first.
    private func writeFailed(_ error: SystemError) {
        output.clear()
        dropBody()
        writing = .failed(error)
        // A broken socket answers the read with what came before the break, then with its end or error.
        connection?.mustRead = true
        connection?.pump()
    }

    private func finishedSending() {
        output.clear()
        course.requestBodyFinished()
        owner?.requestSent()
        // The answer may have been complete before.
        completeIfEnded()
    }

    /// Picked by feel: some milliseconds' work, after which the loop's other transfers have their turn.
    private static var turnsAtOnce: Int { 16 }
}
