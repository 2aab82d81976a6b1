// A client's and a server's machine, back to back, in random walks: any order of requests, bodies, pauses,
// cancellations, time-outs, window changes and cuts of the bytes between them. Whatever happens, no window is overrun,
// blocks are decoded in the order in which they were encoded, bodies keep their order, each stream ends once at each
// end, and nothing is left.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@Suite("HTTP/2, two ends in a random walk")
struct HTTP2WalkTests {
    @Test(
        "H5.1 to H5.7: windows are kept, order is kept, each stream ends once, nothing is left",
        arguments: 0..<Sanitizer.share(of: 60))
    func walk(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let walk = HTTP2Walk(&random)
        for _ in 0..<600 { walk.step(&random, mayEnd: false) }
        walk.finish(&random)
    }

    @Test(
        "H7.1: after a GOAWAY from either end in the middle of a walk, no request that was turned away was processed",
        arguments: 1000..<1030 as Range<UInt64>)
    func goodbye(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let walk = HTTP2Walk(&random)
        for _ in 0..<200 { walk.step(&random, mayEnd: false) }
        for _ in 0..<200 { walk.step(&random, mayEnd: true) }
        walk.finish(&random)
    }
}

/// Both ends and what lies between them.
private final class HTTP2Walk {
    private let client: WalkingEnd
    private let server: WalkingEnd
    private var now: Duration = .zero

    init(_ random: inout SeededRandom) {
        // Through windows of a byte a long body takes too long.
        let isTiny = random.chance(20)
        client = WalkingEnd(.client, isTiny: isTiny, &random)
        server = WalkingEnd(.server, isTiny: isTiny, &random)
        client.start()
        server.start()
    }

    func step(_ random: inout SeededRandom, mayEnd: Bool) {
        now += .milliseconds(Int.random(in: 0..<20, using: &random))
        let isClient = random.chance(50)
        let (end, other) = isClient ? (client, server) : (server, client)
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: if isClient { end.ask(&random, now) } else { end.answer(&random, now) }
        case 2...5: end.deliver(from: other, &random, now)
        case 6, 7: end.sendBodies(room: Int.random(in: 1..<40_000, using: &random), &random)
        case 8, 9: end.takeSome(&random, now)
        case 10: end.disturb(&random, now)
        default: if mayEnd, random.chance(5) { end.sayGoodbye(&random) } else { end.pauseSome(&random) }
        }
    }

    /// No new requests; everything that is under way is carried to its end.
    func finish(_ random: inout SeededRandom) {
        for _ in 0..<20_000 {
            for (end, other) in [(client, server), (server, client)] {
                end.answerAll(&random, now)
                end.deliver(from: other, &random, now)
                end.takeAll(now)
                end.readyAll()
                end.sendBodies(room: 100_000, &random)
            }
            if client.isQuiet, server.isQuiet { break }
        }
        #expect(client.isQuiet && server.isQuiet, "stuck: \(client.summary); \(server.summary)")
        #expect(client.fault == nil && server.fault == nil)
        check()
        client.lose()
        server.lose()
        #expect(client.isFinished && server.isFinished)
    }

    /// What one end has received whole is what the other has sent.
    private func check() {
        for (receiver, sender) in [(client, server), (server, client)] {
            for (number, count) in receiver.whole {
                #expect(sender.sentWhole[number] == count, "stream \(number)")
            }
        }
        for (number, end) in client.ends {
            if end == .finished { #expect(client.whole[number] != nil, "stream \(number)") }
            if end.isUnprocessed { #expect(server.ends[number] == nil || server.ends[number] == .cancelled) }
        }
    }
}

/// One end, driven as a driver should.
private final class WalkingEnd {
    private enum Body {
        case none
        /// So many bytes are left; the sum was so many.
        case left(Int, of: Int, isDeclared: Bool, hasTrailers: Bool)
    }

    private let role: HTTP2Role
    private let longest: Int
    private var machine: HTTP2ConnectionMachine
    private var audit: HTTP2Audit
    /// Bytes on their way to the other end.
    private var wire: [UInt8] = []
    private var encoded: UInt8 = 0
    private var decoded: UInt8 = 0
    private var block: [UInt8] = []
    private var open: [HTTP2StreamID] = []
    private var unanswered: [HTTP2StreamID] = []
    private var bodies: [UInt32: Body] = [:]
    private var received: [UInt32: Int] = [:]
    private var held: [UInt32: Int] = [:]

    private(set) var ends: [UInt32: HTTP2StreamEnd] = [:]
    private(set) var whole: [UInt32: Int] = [:]
    private(set) var sentWhole: [UInt32: Int] = [:]
    private(set) var fault: HTTP2Fault?
    private(set) var isFinished = false

    init(_ role: HTTP2Role, isTiny: Bool, _ random: inout SeededRandom) {
        self.role = role
        longest = isTiny ? 300 : 40_000
        var settings = HTTP2Settings()
        settings.enablesPush = role == .server
        settings.initialWindowSize = isTiny ? 1 : [100, 5_000, 65_535, 200_000].randomElement(using: &random) ?? 1
        settings.maximumFrameSize = [16_384, 20_000, 70_000].randomElement(using: &random) ?? 16_384
        if role == .server { settings.maximumConcurrentStreams = UInt32.random(in: 1..<12, using: &random) }
        var limits = HTTP2Limits()
        // Windows of a byte make frames of a byte: that is no flood here.
        limits.uselessFrames = 1 << 40
        limits.unreadAnswers = 1 << 40
        machine = HTTP2ConnectionMachine(
            role: role, settings: settings, connectionWindow: random.chance(50) ? 65_535 : 150_000,
            firstNumber: 1, limits: limits)
        audit = HTTP2Audit(role)
    }

    var summary: String { "\(role), \(machine.openStreams) open, \(wire.count) on the wire, \(bodies.count) bodies" }
    /// Whether nothing is under way. An end that has finished answers nothing any more.
    var isQuiet: Bool {
        machine.openStreams == 0 && wire.isEmpty && unanswered.isEmpty && (isFinished || audit.isQuiet)
    }

    func start() {
        machine.start(now: .zero)
        pull([])
    }

    // MARK: What a program does

    func ask(_ random: inout SeededRandom, _ now: Duration) {
        guard let id = machine.open(now: now) else { return }
        open.append(id)
        // Most are written.
        if random.chance(5) { machine.cancel(id) } else { sendHead(on: id, &random, now) }
        pull([])
    }

    func answer(_ random: inout SeededRandom, _ now: Duration) {
        guard let id = unanswered.randomElement(using: &random), machine.isOpen(id) else { return }
        if random.chance(30) {
            send([3], on: id, .informational, .none, now)
        } else {
            unanswered.removeAll { $0 == id }
            sendHead(on: id, &random, now)
        }
        pull([])
    }

    func answerAll(_ random: inout SeededRandom, _ now: Duration) {
        for id in unanswered where machine.isOpen(id) { sendHead(on: id, &random, now) }
        unanswered = []
        pull([])
    }

    private func sendHead(on id: HTTP2StreamID, _ random: inout SeededRandom, _ now: Duration) {
        let count = random.chance(30) ? 0 : random.chance(80) ? Int.random(in: 0..<250, using: &random) : longest
        // A declared length is a byte of the stand-in; longer bodies declare none.
        let isDeclared = random.chance(50) && count < 250
        let hasTrailers = !isDeclared && random.chance(30)
        let length: HTTP2DeclaredLength = isDeclared ? .bytes(Int64(count)) : .unknown
        if isDeclared, count == 0 {
            sentWhole[id.number] = 0
        } else {
            bodies[id.number] = .left(count, of: count, isDeclared: isDeclared, hasTrailers: hasTrailers)
        }
        let padding = random.chance(3) ? 40_000 : 0
        send(isDeclared ? [2, UInt8(count)] : [1], padding: padding, on: id, .final, length, now)
        if machine.isOpen(id), random.chance(90) { machine.bodyReady(id) }
    }

    /// A block is a stand-in with a count, which shows in which order blocks were encoded.
    private func send(
        _ standIn: [UInt8], padding: Int = 0, on id: HTTP2StreamID, _ kind: HTTP2HeadKind,
        _ length: HTTP2DeclaredLength, _ now: Duration
    ) {
        encoded &+= 1
        let block = standIn + Array(repeating: 0xEE, count: padding) + [encoded]
        let count = machine.sendBlock(block.span.bytes, on: id, kind, body: length, now: now)
        if count < block.count + 9 { Issue.record("a block was not written") }
    }

    func sendBodies(room: Int, _ random: inout SeededRandom) {
        var room = room
        while let piece = machine.nextPiece(room: room) {
            guard case .left(let left, let sum, let isDeclared, let hasTrailers) = bodies[piece.stream.number] else {
                Issue.record("a body that there is not may be sent")
                return
            }
            let count = min(left, piece.limit, random.chance(20) ? Int.random(in: 0..<50, using: &random) : .max)
            guard count > 0 || left == 0 else {
                machine.bodyPaused(piece.stream)
                continue
            }
            let isLast = left == count
            if isLast, hasTrailers, count == 0 {
                send([4], on: piece.stream, .trailers, .none, .zero)
            } else {
                // Of a declared length the machine knows itself where it ends.
                var out: [UInt8] = []
                let ends = isLast && !hasTrailers && !(isDeclared && random.chance(50))
                guard machine.writePiece(of: piece.stream, count: count, isLast: ends, into: &out) else {
                    Issue.record("a piece was refused")
                    return
                }
                let start = sum - left
                out += (start..<(start + count)).map { Self.byte(piece.stream.number, $0) }
                put(out)
            }
            room -= count
            let isOver = isLast && !(hasTrailers && count > 0)
            bodies[piece.stream.number] =
                isOver ? Body.none : .left(left - count, of: sum, isDeclared: isDeclared, hasTrailers: hasTrailers)
            if isOver { sentWhole[piece.stream.number] = sum }
        }
        pull([])
    }

    func takeSome(_ random: inout SeededRandom, _ now: Duration) {
        guard let id = open.randomElement(using: &random), let count = held[id.number], count > 0 else { return }
        let taken = Int.random(in: 1...count, using: &random)
        held[id.number] = count - taken
        machine.taken(taken, of: id, now: now)
        pull([])
    }

    func takeAll(_ now: Duration) {
        for id in open {
            machine.taken(held[id.number] ?? 0, of: id, now: now)
            held[id.number] = 0
        }
        pull([])
    }

    func readyAll() {
        for id in open { machine.bodyReady(id) }
        pull([])
    }

    func pauseSome(_ random: inout SeededRandom) {
        guard let id = open.randomElement(using: &random) else { return }
        if random.chance(30) { machine.bodyPaused(id) } else { machine.bodyReady(id) }
        pull([])
    }

    func disturb(_ random: inout SeededRandom, _ now: Duration) {
        guard let id = open.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: machine.cancel(id, role == .server && random.chance(50) ? .refusedStream : .cancel)
        case 2: machine.timedOut(id, now: now)
        case 3, 4: machine.timerFired(now: now)
        default: machine.outputEmptied()
        }
        pull([])
    }

    func sayGoodbye(_ random: inout SeededRandom) {
        if role == .server, random.chance(50) {
            machine.goodbye(last: 0x7FFF_FFFF)
        } else {
            machine.goodbye(last: random.chance(50) ? nil : open.randomElement(using: &random)?.number)
        }
        pull([])
    }

    func lose() {
        machine.connectionEnded()
        pull([])
    }

    // MARK: The driver

    /// Some of what the other end has written comes here.
    func deliver(from other: WalkingEnd, _ random: inout SeededRandom, _ now: Duration) {
        let most = random.chance(50) ? 30 : 60_000
        let bytes = Array(other.wire.prefix(Int.random(in: 0...most, using: &random)))
        other.wire.removeFirst(bytes.count)
        var rest = bytes[...]
        while !rest.isEmpty {
            // Frame by frame: what is written about one was right if it was so before the next was looked at.
            let part = Array(rest.prefix(audit.bytesToFrameEnd))
            rest = rest.dropFirst(part.count)
            audit.delivered(part)
            var offset = 0
            var isUnfinished = true
            while isUnfinished {
                isUnfinished = machine.received(part.span.bytes, offset: &offset, now: now)
                pull(part)
            }
        }
    }

    private func put(_ bytes: [UInt8]) {
        audit.sent(bytes)
        wire += bytes
    }

    private func pull(_ bytes: [UInt8]) {
        while let action = machine.nextAction() { carryOut(action, bytes) }
    }

    private func carryOut(_ action: HTTP2ConnectionMachine.Action, _ bytes: [UInt8]) {
        switch action {
        case .send:
            var out: [UInt8] = []
            machine.takeOutput(into: &out)
            put(out)
        case .blockBegins: block = []
        case .block(let range): block += bytes[range]
        case .blockEnds:
            decoded &+= 1
            if block.last != decoded { Issue.record("block \(block.last ?? 0) in the place of \(decoded)") }
            machine.blockDecoded(StandIn.content(block), now: .zero)
        case .head(let id, let kind):
            guard role == .server, kind == .final else { return }
            open.append(id)
            unanswered.append(id)
        case .data(let id, let range): take(bytes[range], of: id.number)
        case .messageEnds(let id): whole[id.number] = received[id.number] ?? 0
        case .closed(let id, let end):
            if ends[id.number] != nil, ends[id.number] != .cancelled || role == .server {
                Issue.record("stream \(id.number) ends twice")
            }
            ends[id.number] = end
            open.removeAll { $0 == id }
            unanswered.removeAll { $0 == id }
            bodies[id.number] = nil
        case .failed(let fault): self.fault = fault
        case .finished: isFinished = true
        case .encoderTableChanged, .decoderTableChanged, .capacityChanged, .draining, .setTimer: break
        }
    }

    private func take(_ bytes: ArraySlice<UInt8>, of number: UInt32) {
        let start = received[number] ?? 0
        for (place, byte) in bytes.enumerated() where byte != Self.byte(number, start + place) {
            Issue.record("\(role), stream \(number): a wrong byte at \(start + place)")
            return
        }
        received[number] = start + bytes.count
        held[number, default: 0] += bytes.count
    }

    private static func byte(_ number: UInt32, _ place: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: Int(number) &* 31 &+ place)
    }
}
