// One direction through the fault proxy: reads one stream, and does to the other what the line says. Bounded: a sink
// that does not take what it is sent stops the source. Confined to the proxy's loop.

import URLLoadingSystem

/// One direction of a connection.
final class FaultDirection {
    private let isToClient: Bool
    private let source: SocketStream
    private let sink: SocketStream
    private unowned let connection: FaultConnection
    private var line: FaultLine
    private var told = 0
    private var outgoing: ArraySlice<UInt8> = []
    private var isWaiting = false
    /// Nothing goes on to the sink any more; what comes is read and thrown away.
    private var isOver = false
    private var sourceHasEnded = false
    private lazy var timer = connection.reactor.makeTimer { [weak self] in self?.pauseEnded() }

    init(
        isToClient: Bool, _ faults: [Fault], from source: SocketStream, to sink: SocketStream,
        of connection: FaultConnection
    ) {
        self.isToClient = isToClient
        self.source = source
        self.sink = sink
        self.connection = connection
        line = FaultLine(faults)
    }

    /// Nothing more will pass, and nothing waits to be read.
    var isFinished: Bool { sourceHasEnded && isOver }

    func giveUp() {
        isOver = true
        outgoing = []
        timer.clear()
    }

    /// Moves what can be moved.
    func pump() {
        while true {
            if isOver {
                guard drain() else { return }
            } else if !outgoing.isEmpty {
                guard write() else { return }
            } else if isWaiting || !step() {
                return
            }
        }
    }

    /// Does what the line says; true where it can be asked again.
    private func step() -> Bool {
        let step = line.next()
        if line.fired.count > told {
            connection.fired(line.fired[told...], isToClient: isToClient)
            told = line.fired.count
        }
        switch step {
        case .send(let bytes):
            outgoing = bytes[...]
        case .pause(let duration):
            isWaiting = true
            timer.set(connection.reactor.now + duration)
        case .yield:
            isWaiting = true
            connection.reactor.later { [weak self] in self?.pauseEnded() }
        case .cut:
            connection.cut()
        case .halfClose:
            isOver = true
            sink.shutdownWrite()
        case .reset:
            connection.reset()
            return false
        case .needMore:
            return read()
        }
        return true
    }

    private func pauseEnded() {
        isWaiting = false
        // Order: the connection may be gone, and with it the last to hold this.
        if !isOver { connection.goOn() }
    }

    private func write() -> Bool {
        switch isToClient ? connection.deliver(outgoing) : outgoing.withUnsafeBytes({ sink.write($0) }) {
        case .bytes(let count):
            outgoing = outgoing.dropFirst(count)
            return true
        case .wouldBlock:
            return false
        case .endOfStream, .failed:
            // The receiver is gone; what it has said before may still be on its way in the other direction.
            giveUp()
            return true
        }
    }

    private func read() -> Bool {
        guard !sourceHasEnded else {
            isOver = true
            sink.shutdownWrite()
            return false
        }
        let buffer = connection.reactor.receiveBuffer
        switch source.read(into: buffer) {
        case .bytes(let count):
            line.take(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
        case .wouldBlock:
            return false
        case .endOfStream:
            sourceHasEnded = true
        case .failed:
            connection.reset()
            return false
        }
        return true
    }

    /// Throws away what comes, so that the sender is not held up.
    private func drain() -> Bool {
        guard !sourceHasEnded else { return false }
        switch source.read(into: connection.reactor.receiveBuffer) {
        case .bytes: return true
        case .wouldBlock: return false
        case .endOfStream, .failed:
            sourceHasEnded = true
            return false
        }
    }
}
