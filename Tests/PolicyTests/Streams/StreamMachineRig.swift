// A stream machine and a driver without a connection: it keeps bytes as text, does what the machine
// says, and writes it down.

import URLLoadingPolicy

/// Plays events into a machine and writes down what comes of them.
struct StreamMachineRig {
    private(set) var machine: StreamMachine
    /// What was done, in order.
    private(set) var lines: [String] = []
    /// What was read, in order.
    private(set) var text = ""
    private var inbox: [UInt8] = []
    private var next = 1
    var now = Duration.zero

    init(connected: Bool = true, resource: Duration? = nil, readAhead: Int = 64) {
        machine = StreamMachine(resourceDeadline: resource, readAhead: readAhead)
        if connected { connect() }
    }

    /// What was done since this was asked last.
    mutating func taken() -> [String] {
        defer { lines = [] }
        return lines
    }

    mutating func connect() { perform(machine.connected(now: now)) }

    /// The stream takes over a connection that another task has used.
    mutating func takeOver(isSecure: Bool, unread: String) {
        inbox = Array(unread.utf8)
        perform(machine.connected(isSecure: isSecure, unread: inbox.count, now: now))
    }

    @discardableResult
    mutating func read(_ least: Int = 1, _ most: Int = 64, timeout: Duration? = nil) -> Int {
        let call = number()
        perform(machine.read(call, least: least, most: most, timeout: timeout, now: now))
        return call
    }

    @discardableResult
    mutating func write(_ count: Int = 1, timeout: Duration? = nil) -> Int {
        let call = number()
        perform(machine.write(call, count: count, timeout: timeout, now: now))
        return call
    }

    mutating func wrote(_ count: Int) { perform(machine.wrote(count, now: now)) }
    mutating func writeFails() { perform(machine.writeFailed(now: now)) }
    mutating func closeRead() { perform(machine.closeRead(now: now)) }
    mutating func closeWrite() { perform(machine.closeWrite(now: now)) }
    mutating func startSecure() { perform(machine.startSecure(now: now)) }
    mutating func secured() { perform(machine.secured(now: now)) }
    mutating func capture() { perform(machine.capture(now: now)) }
    mutating func end() { perform(machine.ended(now: now)) }
    mutating func readFails() { perform(machine.readFailed(now: now)) }
    mutating func lose() { perform(machine.lost()) }
    mutating func cancel() { perform(machine.cancel()) }
    mutating func hold() { machine.hold(now: now) }
    mutating func release() { perform(machine.release(now: now)) }

    /// Bytes come, as far as there is room for them; how many did not come.
    @discardableResult
    mutating func arrive(_ bytes: some Collection<UInt8>) -> Int {
        var left = Array(bytes)
        while !left.isEmpty, machine.room > 0 {
            let piece = left.prefix(machine.room)
            left.removeFirst(piece.count)
            if !machine.discardsInput { inbox += piece }
            perform(machine.arrived(piece.count, now: now))
        }
        return left.count
    }

    @discardableResult
    mutating func arrive(_ text: String) -> Int { arrive(text.utf8) }

    /// Bytes come although the driver has not asked whether there is room, as before a handshake.
    mutating func intrude(_ count: Int) {
        if !machine.discardsInput { inbox += repeatElement(UInt8(ascii: "!"), count: count) }
        perform(machine.arrived(count, now: now))
    }

    mutating func pass(_ time: Duration) {
        now += time
        perform(machine.expired(now: now))
    }

    private mutating func number() -> Int {
        defer { next += 1 }
        return next
    }

    private mutating func perform(_ actions: [StreamAction]) {
        for action in actions {
            switch action {
            case .deliver(let call, let count, let isAtEnd):
                let piece = String(decoding: inbox.prefix(count), as: UTF8.self)
                inbox.removeFirst(count)
                text += piece
                lines.append("\(call): \"\(piece)\"\(isAtEnd ? " end" : "")")
            case .send(let call): lines.append("\(call): send")
            case .written(let call): lines.append("\(call): written")
            case .failed(let call, let fault): lines.append("\(call): \(fault)")
            case .discardInput: inbox = []
            case .finishWriting: lines.append("finish")
            case .readClosed: lines.append("read closed")
            case .writeClosed: lines.append("write closed")
            case .startTLS: lines.append("TLS")
            case .handOver(_, _, let hasEnded): lines.append("hand over \(inbox.count)\(hasEnded ? " ended" : "")")
            case .ended(let fault): lines.append("ended \(fault.map { "\($0)" } ?? "well")")
            }
        }
    }
}
