// What goes out on an HTTP/2 connection: what the machine has to say, and bodies between it, stream by stream as the
// machine lets them have their turns. All of a turn of the loop leaves with as few system calls as the socket allows.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension HTTP2Connection {
    /// Writes at the end of the turn.
    func planFlush() {
        guard !isFlushPlanned, !isClosed else { return }
        isFlushPlanned = true
        reactor.later { [weak self] in
            guard let self else { return }
            isFlushPlanned = false
            flush()
        }
    }

    /// Writes as much as the socket takes. What is written is collected in a buffer of the loop's, so that a connection
    /// owns one only while the socket takes no more.
    func flush() {
        if output.isEmpty { swap(&output, &buffers.frames) }
        write()
        if output.isEmpty { swap(&output, &buffers.frames) }
    }

    private func write() {
        // Fairness: a fast receiver must not keep the other connections of the loop waiting for ever.
        var allowance = Self.mostAtOnce
        while !isClosed {
            machine.takeOutput(into: &output)
            fill()
            carryOut()
            guard outputSent < output.count else { break }
            guard allowance > 0 else { return planFlush() }
            guard let count = written() else { return }
            allowance -= count
            outputSent += count
            if outputSent == output.count { emptied() } else { dropSent() }
        }
        guard !isClosed else { return }
        // Also what TLS has to say by itself.
        if channel.hasOutgoing, case .failed(let error)? = channel.sendOutgoing() {
            return outputFailed(.system(error))
        }
        if closesWhenWritten { finishClosing() }
    }

    /// How much was written; nil where nothing more can be now.
    private func written() -> Int? {
        let result = output.withUnsafeBytes {
            channel.write(
                UnsafeRawBufferPointer(rebasing: $0[outputSent...]), UnsafeRawBufferPointer(start: nil, count: 0))
        }
        switch result {
        case .bytes(let count): return count
        case .wouldBlock:
            if closesWhenWritten { finishClosing() }
        case .failed(let error): outputFailed(.system(error))
        case .broken(let error): outputFailed(.tls(error))
        }
        return nil
    }

    private func emptied() {
        output.removeAll(keepingCapacity: output.capacity <= Self.keptOutput)
        outputSent = 0
        outputMark = 0
        machine.outputEmptied()
    }

    /// Lets go of what is out where more waits behind it. While a large body is sent the output may never be empty.
    ///
    /// What waits is moved once: not before all of it that was moved last is out.
    private func dropSent() {
        guard outputSent >= max(Self.enough, outputMark) else { return }
        output.removeFirst(outputSent)
        outputSent = 0
        outputMark = output.count
        machine.outputMarkPassed()
    }

    /// Nothing more goes out. The server may have said why before, so what is there is read first.
    private func outputFailed(_ failure: Loss) {
        output = []
        outputSent = 0
        if !isReading {
            mustRead = true
            pump()
        }
        lost(by: failure)
        finishClosing()
    }

    /// Puts bodies behind what is to be written, until there is enough for a system call or no body has anything.
    private func fill() {
        // The header of a piece takes room, too: all of it then leaves with one call.
        while let piece = machine.nextPiece(
            room: Self.enough - HTTP2FrameHeader.byteCount - (output.count - outputSent))
        {
            guard let stream = stream(piece.stream) else { return }
            stream.write(upTo: piece.limit)
        }
        while let id = nearEnd.popLast() {
            if machine.lacksWindow(id) { stream(id)?.writeEndIfReached() }
        }
    }

    /// Puts a frame of a stream's body behind what is to be written; whether it is to go out.
    func write(_ bytes: UnsafeRawBufferPointer, of id: HTTP2StreamID, isLast: Bool) -> Bool {
        guard machine.writePiece(of: id, count: bytes.count, isLast: isLast, into: &output) else { return false }
        output.append(contentsOf: bytes)
        return true
    }

    /// A system call's worth, and four full records of TLS.
    private static let enough = 64 << 10
    /// Picked by feel: some milliseconds' work, after which the loop's other transfers have their turn.
    private static let mostAtOnce = 1 << 20
    /// A buffer that has grown beyond this is given back when it is empty.
    private static let keptOutput = 128 << 10
}
