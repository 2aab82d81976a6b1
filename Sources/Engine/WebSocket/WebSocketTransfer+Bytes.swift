// The bytes of a web socket: read into the loop's buffer and taken apart there, no more of them than the machine wants;
// written together at the end of the turn.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension WebSocketTransfer: ByteStreamObserver {
    func streamBecameReadable(_ stream: any ByteStream) { read() }

    func streamBecameWritable(_ stream: any ByteStream) {
        flush()
        // What waits may have kept a call of the machine's from going on.
        read()
    }

    // MARK: Reading

    /// Reads what is there and is wanted.
    func read() {
        guard !isReading, !isOver else { return }
        isReading = true
        defer { isReading = false }
        for _ in 0..<Self.readsAtOnce {
            guard takeUnread(), machine.wantsToRead, let stream, stream.hasPendingInput else { return }
            let buffer = core.reactor.receiveBuffer
            switch stream.read(into: buffer) {
            case .bytes(let count):
                receivedBytes += Int64(count)
                var offset = 0
                guard decode(UnsafeRawBufferPointer(rebasing: buffer[..<count]), &offset) else {
                    return keep(Array(buffer[offset..<count])[...])
                }
            case .wouldBlock:
                return
            case .endOfStream:
                return connectionEnded(nil)
            case .failed(let error):
                return connectionEnded(error)
            }
        }
        readLater()
    }

    /// Others on the loop have their turn.
    private func readLater() {
        core.reactor.later { [weak self] in self?.read() }
    }

    /// Takes up what was read before; false where nothing more is to be read now.
    private func takeUnread() -> Bool {
        guard isUnfinished || !unread.isEmpty else { return true }
        guard machine.wantsToRead else { return false }
        let bytes = unread
        unread = []
        var offset = 0
        let goesOn = bytes.withUnsafeBytes { decode($0, &offset) }
        keep(bytes.dropFirst(offset))
        return goesOn
    }

    /// Keeps what was read and is not wanted yet. The rest of what was kept before stays where it is, since messages
    /// may be fetched one by one; it moves when most of that memory is used up, so that little of it is held in vain.
    private func keep(_ rest: ArraySlice<UInt8>) {
        guard !isOver else { return }
        unread = rest.startIndex > rest.count ? Array(rest)[...] : rest
    }

    /// Tells the machine what the bytes say from `offset` on, and moves `offset` behind what it wants; false where
    /// nothing more is to be read now.
    private func decode(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Bool {
        isUnfinished = false
        while machine.wantsToRead {
            do throws(WebSocketFault) {
                switch try reader.next(bytes.bytes, offset: &offset) {
                case .needMore: return true
                case .unfinished:
                    isUnfinished = true
                    readLater()
                    return false
                case .message(let message): machine.received(message)
                case .ping(let payload): machine.receivedPing(payload)
                case .pong(let payload): machine.receivedPong(payload)
                case .close(let close): machine.receivedClose(close, now: now)
                }
            } catch {
                machine.failed(error, now: now)
            }
            carryOut()
        }
        return false
    }

    // MARK: Writing

    /// Encodes a frame, behind those that wait.
    func write(_ frame: WebSocketFrame) {
        // What came of it the end of the connection says.
        guard stream != nil, !hasFailedWriting else { return }
        let mask = core.maskKeys.next()
        if case .message(let message) = frame, let compressed = deflater?.compress(message.bytes) {
            output.append(frame.opcode, compressed, isCompressed: true, mask: mask)
        } else {
            output.append(frame.opcode, frame.payload, isCompressed: false, mask: mask)
        }
        if case .message(let message) = frame { receiver.moved(received: 0, sent: message.bytes.count) }
        askForFlush()
        switch frame {
        case .close:
            owesWritten = true
        case .message, .ping, .pong:
            // The next may go with it; its call is told when the kernel has it.
            if output.hasRoom { machine.written() } else { owesWritten = true }
        }
    }

    private func askForFlush() {
        guard !isFlushAsked else { return }
        isFlushAsked = true
        core.reactor.atEndOfTurn(self)
    }

    /// Hands over what the kernel takes.
    func flush() {
        while let stream, !hasFailedWriting {
            // Order: a frame has been sent when the system has it, not when TLS has.
            if let secureStream {
                secureStream.flushOutput()
                if let error = secureStream.outputFailure { return writeFailed(error) }
                if secureStream.holdsOutput { return }
            }
            confirmSends()
            if output.isEmpty {
                guard owesWritten else { return }
                owesWritten = false
                machine.written()
                carryOut()
                if output.isEmpty { return }
            }
            let result = output.withNext { first, second in
                if second.isEmpty { return stream.write(first) }
                if first.isEmpty { return stream.write(second) }
                return stream.write(first, second)
            }
            switch result {
            case .bytes(let count): output.advance(count)
            case .wouldBlock, .endOfStream: return
            case .failed(let error): return writeFailed(error)
            }
        }
    }

    /// The connection takes nothing any more. What has come before that is looked at first: the peer may have said
    /// goodbye.
    private func writeFailed(_ error: SystemError) {
        guard !hasFailedWriting, !isOver else { return }
        hasFailedWriting = true
        if loss == nil { loss = error }
        machine.sendingFailed()
        read()
        endBehindInput(error, rounds: Self.roundsAtTheEnd)
    }

    /// Ends the connection when what has come is read.
    private func endBehindInput(_ error: SystemError, rounds: Int) {
        // Order: not in the middle of what is being carried out.
        core.reactor.later { [weak self] in
            guard let self, !isOver else { return }
            let hasMore = isUnfinished || !unread.isEmpty || stream?.hasPendingInput == true
            guard rounds > 0, hasMore, machine.wantsToRead else { return connectionEnded(error) }
            read()
            endBehindInput(error, rounds: rounds - 1)
        }
    }

    /// Picked by feel: reads, of up to a receive buffer each, before others have their turn.
    private static let readsAtOnce = 16
    /// Picked by feel: more than a kernel's buffer takes, and an end where a peer goes on sending.
    private static let roundsAtTheEnd = 64
}

extension WebSocketTransfer: TurnObserver {
    func turnEnded() {
        isFlushAsked = false
        flush()
    }
}
