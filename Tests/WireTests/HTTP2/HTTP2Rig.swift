// What the tests of HTTP/2 share: frames as bytes, written without the code under test, and a driver of the machine
// that writes down what it is told. Header blocks are stand-ins of a few bytes, so that no test depends on compression.

import Testing
import URLLoadingWire

/// Frames as bytes.
enum WireHTTP2 {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// A frame of any numbers.
    static func frame(_ type: UInt8, _ flags: UInt8 = 0, on stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        header(type, flags, on: stream, length: payload.count) + payload
    }

    /// The header of a frame, of any length.
    static func header(_ type: UInt8, _ flags: UInt8 = 0, on stream: UInt32 = 0, length: Int) -> [UInt8] {
        number(UInt64(length), 3) + [type, flags] + number(UInt64(stream), 4)
    }

    static func number(_ number: UInt64, _ bytes: Int) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(number >> UInt64(8 * $0) & 0xFF) }
    }

    static func data(_ stream: UInt32, _ payload: [UInt8], ends: Bool = false, padding: Int? = nil) -> [UInt8] {
        let flags: UInt8 = (ends ? 1 : 0) | (padding == nil ? 0 : 8)
        let padded = padding.map { [UInt8($0)] + payload + Array(repeating: 0, count: $0) }
        return frame(0, flags, on: stream, padded ?? payload)
    }

    static func headers(_ stream: UInt32, _ block: [UInt8], ends: Bool = false, isWhole: Bool = true) -> [UInt8] {
        frame(1, (ends ? 1 : 0) | (isWhole ? 4 : 0), on: stream, block)
    }

    static func continuation(_ stream: UInt32, _ block: [UInt8], isWhole: Bool) -> [UInt8] {
        frame(9, isWhole ? 4 : 0, on: stream, block)
    }

    static func settings(_ entries: [(UInt16, UInt32)] = []) -> [UInt8] {
        frame(4, on: 0, entries.flatMap { number(UInt64($0.0), 2) + number(UInt64($0.1), 4) })
    }

    static let settingsAck = frame(4, 1)
    static func ping(_ bytes: UInt64, ack: Bool = false) -> [UInt8] { frame(6, ack ? 1 : 0, on: 0, number(bytes, 8)) }
    static func update(_ stream: UInt32, _ increment: UInt32) -> [UInt8] {
        frame(8, on: stream, number(UInt64(increment), 4))
    }
    static func reset(_ stream: UInt32, _ code: HTTP2ErrorCode) -> [UInt8] {
        frame(3, on: stream, number(UInt64(code.rawValue), 4))
    }
    static func goAway(_ last: UInt32, _ code: HTTP2ErrorCode, _ text: String = "") -> [UInt8] {
        frame(7, on: 0, number(UInt64(last), 4) + number(UInt64(code.rawValue), 4) + Array(text.utf8))
    }
}

/// Header blocks that need no table: the first byte says what they are.
enum StandIn {
    static let final: [UInt8] = [1]
    static func final(length: UInt8) -> [UInt8] { [2, length] }
    static let informational: [UInt8] = [3]
    static let trailers: [UInt8] = [4]
    static let malformed: [UInt8] = [5]
    static let tooLarge: [UInt8] = [6]
    static let undecodable: [UInt8] = [7]
    static let boundless: [UInt8] = [8]
    static let withoutBody: [UInt8] = [9]

    static func content(_ block: [UInt8]) -> HTTP2BlockContent {
        switch block.first {
        case 1: .final(.unknown)
        case 2: .final(.bytes(Int64(block.count > 1 ? block[1] : 0)))
        case 3: .informational
        case 4: .trailers
        case 6: .tooLarge
        case 7: .undecodable
        case 8: .boundless
        case 9: .final(.none)
        default: .malformed
        }
    }
}

/// What a machine has said, without what depends on how its bytes were cut.
enum Said: Equatable, Sendable {
    case head(UInt32, HTTP2HeadKind, [UInt8])
    case discarded([UInt8])
    case data(UInt32, [UInt8])
    case messageEnds(UInt32)
    case closed(UInt32, HTTP2StreamEnd)
    case encoderTable(UInt32, UInt32)
    case decoderTable(UInt32)
    case capacity(Int)
    case draining(HTTP2ErrorCode)
    case failed(HTTP2Fault)
    case finished
}

/// A driver that has no transport: bytes are put in, and what is to be written gathers in `written`.
struct HTTP2Rig: ~Copyable {
    var machine: HTTP2ConnectionMachine
    var now: Duration = .zero
    /// What is to be written, bodies included, since it was looked at last.
    var written: [UInt8] = []
    private(set) var said: [Said] = []
    /// What the timer is set to.
    private(set) var timer: Duration?
    /// How many bytes the last block took.
    private(set) var blockBytes = 0
    /// Whether what comes of bodies is taken at once.
    var takes = true

    private var block: [UInt8] = []
    private var isDiscarding = false

    init(
        _ role: HTTP2Role = .client, settings: HTTP2Settings? = nil, connectionWindow: UInt32 = 65_535,
        firstNumber: UInt32 = 1, limits: HTTP2Limits = HTTP2Limits()
    ) {
        machine = HTTP2ConnectionMachine(
            role: role, settings: settings ?? HTTP2Settings(), connectionWindow: connectionWindow,
            firstNumber: firstNumber, limits: limits)
    }

    /// A client that has exchanged settings with its server.
    static func client(
        _ entries: [(UInt16, UInt32)] = [], settings: HTTP2Settings = .client,
        connectionWindow: UInt32 = 65_535, limits: HTTP2Limits = HTTP2Limits()
    ) -> HTTP2Rig {
        var rig = HTTP2Rig(.client, settings: settings, connectionWindow: connectionWindow, limits: limits)
        rig.start()
        rig.receive(WireHTTP2.settings(entries) + WireHTTP2.settingsAck)
        rig.forget()
        return rig
    }

    /// A server that has exchanged settings with its client.
    static func server(
        _ entries: [(UInt16, UInt32)] = [], settings: HTTP2Settings = HTTP2Settings(),
        limits: HTTP2Limits = HTTP2Limits()
    ) -> HTTP2Rig {
        var rig = HTTP2Rig(.server, settings: settings, limits: limits)
        rig.start()
        rig.receive(WireHTTP2.preface + WireHTTP2.settings(entries) + WireHTTP2.settingsAck)
        rig.forget()
        return rig
    }

    mutating func start() {
        machine.start(now: now)
        pull()
    }

    /// Gives bytes to the machine.
    mutating func receive(_ bytes: [UInt8]) {
        var offset = 0
        var isUnfinished = true
        while isUnfinished {
            let before = offset
            isUnfinished = machine.received(bytes.span.bytes, offset: &offset, now: now)
            if offset < before || offset > bytes.count { Issue.record("offset \(offset) behind \(before)") }
            pull(bytes)
        }
        if offset != bytes.count { Issue.record("\(bytes.count - offset) bytes were left") }
    }

    /// Opens a stream and sends its head.
    @discardableResult
    mutating func request(_ body: HTTP2DeclaredLength = .none, block: [UInt8] = StandIn.final) -> HTTP2StreamID? {
        guard let id = machine.open(now: now) else { return nil }
        send(block, on: id, body: body)
        return id
    }

    mutating func send(
        _ block: [UInt8], on id: HTTP2StreamID, _ kind: HTTP2HeadKind = .final, body: HTTP2DeclaredLength = .none
    ) {
        machine.sendBlock(block.span.bytes, on: id, kind, body: body, now: now)
        pull()
    }

    /// Lets the machine fill so much room with bodies of zeros; returns the turns as "stream:count".
    @discardableResult
    mutating func fill(_ room: Int) -> [String] {
        var turns: [String] = []
        var room = room
        while let piece = machine.nextPiece(room: room) {
            guard machine.writePiece(of: piece.stream, count: piece.limit, isLast: false, into: &written) else {
                Issue.record("a piece that was offered was refused")
                return turns
            }
            written += Array(repeating: 0, count: piece.limit)
            room -= piece.limit
            turns.append("\(piece.stream.number):\(piece.limit)")
        }
        pull()
        return turns
    }

    /// Sends the last bytes of a body out of turn, or that there are none; answers whether they could go.
    @discardableResult
    mutating func endBody(_ id: HTTP2StreamID, _ bytes: [UInt8] = []) -> Bool {
        let goes = machine.writePiece(of: id, count: bytes.count, isLast: true, into: &written)
        if goes { written += bytes }
        pull()
        return goes
    }

    /// Does something to the machine, and pulls.
    mutating func then(_ body: (inout HTTP2ConnectionMachine) -> Void) {
        body(&machine)
        pull()
    }

    /// Lets time pass; the timer fires if it is its time.
    mutating func wait(_ duration: Duration) {
        now += duration
        while let timer, timer <= now {
            self.timer = nil
            machine.timerFired(now: now)
            pull()
        }
    }

    /// What was written since the last look.
    mutating func takeWritten() -> [UInt8] {
        defer { written = [] }
        return written
    }

    /// What was said since the last look.
    mutating func takeSaid() -> [Said] {
        defer { said = [] }
        return said
    }

    /// Forgets what was written and said.
    mutating func forget() {
        written = []
        said = []
        machine.outputEmptied()
    }

    private mutating func pull(_ bytes: [UInt8] = []) {
        while let action = machine.nextAction() { carryOut(action, bytes) }
    }

    private mutating func carryOut(_ action: HTTP2ConnectionMachine.Action, _ bytes: [UInt8]) {
        switch action {
        case .send: machine.takeOutput(into: &written)
        case .blockBegins(let expected):
            block = []
            isDiscarding = expected == .discarded
        case .block(let range): block += Array(bytes[range])
        case .blockEnds(let count):
            blockBytes = count
            if isDiscarding { said.append(.discarded(block)) }
            let content = StandIn.content(block)
            machine.blockDecoded(content, now: now)
        case .head(let id, let kind): said.append(.head(id.number, kind, block))
        case .data(let id, let range):
            let piece = Array(bytes[range])
            if case .data(id.number, let earlier) = said.last {
                said[said.count - 1] = .data(id.number, earlier + piece)
            } else {
                said.append(.data(id.number, piece))
            }
            if takes { machine.taken(range.count, of: id, now: now) }
        case .messageEnds(let id): said.append(.messageEnds(id.number))
        case .closed(let id, let end): said.append(.closed(id.number, end))
        case .encoderTableChanged(let smallest, let size): said.append(.encoderTable(smallest, size))
        case .decoderTableChanged(let size): said.append(.decoderTable(size))
        case .capacityChanged(let capacity): said.append(.capacity(capacity))
        case .draining(let code): said.append(.draining(code))
        case .setTimer(let time): timer = time
        case .failed(let fault): said.append(.failed(fault))
        case .finished: said.append(.finished)
        }
    }
}
