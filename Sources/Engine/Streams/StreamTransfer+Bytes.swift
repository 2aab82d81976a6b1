// The bytes of a stream, to the connection and from it, never more of them than the machine has room for.

import URLLoadingPolicy
import URLLoadingSystem

extension StreamTransfer: ByteStreamObserver {
    func streamBecameReadable(_ stream: any ByteStream) { read() }

    func streamBecameWritable(_ stream: any ByteStream) {
        send()
        read()
    }

    /// Reads what is there and there is room for.
    func read() {
        for _ in 0..<Self.readsAtOnce {
            guard let stream, machine.room > 0, stream.hasPendingInput else { return }
            let buffer = core.reactor.receiveBuffer
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(min(machine.room, buffer.count)))
            switch stream.read(into: part) {
            case .bytes(let count):
                if !machine.discardsInput {
                    inbox.append(contentsOf: part[..<count])
                    moved(received: count)
                }
                carryOut(machine.arrived(count, now: core.reactor.elapsed))
            case .wouldBlock:
                return
            case .endOfStream:
                return carryOut(machine.ended(now: core.reactor.elapsed))
            case .failed(let error):
                return readFailed(error)
            }
        }
        // Others on the loop have their turn.
        core.reactor.later { [weak self] in self?.read() }
    }

    /// Sends what fits of the present write.
    func send() {
        while machine.maySend, let stream {
            // Order: a write has been done when the system has it, not when TLS has.
            if let secureStream {
                secureStream.flushOutput()
                if let error = secureStream.outputFailure { return writeFailed(error) }
                if secureStream.holdsOutput { return }
            }
            if unreported > 0 {
                let count = unreported
                unreported = 0
                moved(sent: count)
                carryOut(machine.wrote(count, now: core.reactor.elapsed))
                continue
            }
            guard !outgoing.isEmpty else { return }
            switch outgoing.prefix(Self.bytesAtOnce).withUnsafeBytes({ stream.write($0) }) {
            case .bytes(let count):
                outgoing = outgoing.dropFirst(count)
                unreported = count
            case .wouldBlock, .endOfStream:
                return
            case .failed(let error):
                return writeFailed(error)
            }
        }
    }

    /// Picked by feel: reads, of up to a receive buffer each, before others have their turn.
    private static let readsAtOnce = 16
    /// Picked by feel: a write of this size costs one system call, and does not sit in TLS for long.
    private static let bytesAtOnce = 256 << 10
}
