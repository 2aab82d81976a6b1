// One end of an HTTP/2 connection, with a peer that says anything and a program that does anything at any time. Nothing
// traps; every stream ends once and is silent afterwards; pieces are within what the peer allowed; what is held for a
// stream is bounded by its window; what is written is frames; after the end there is nothing.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP2Connection(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let role: HTTP2Role = input.choose(below: 2) == 0 ? .client : .server
    let shape = input.choose(below: 8)
    let seed = input.choose(below: 255)
    if seed < 64 {
        // The peer alone: it does not matter how its bytes are cut.
        var first: [String]?
        for pieces in input.waysToCut(seed: seed) {
            var end = FuzzedEnd(role, shape)
            for piece in pieces { end.receive(Array(piece)) }
            expect(first == nil || first == end.said, "cut into \(pieces.count): \(end.said), \(first ?? [])")
            first = end.said
        }
        return 0
    }
    var end = FuzzedEnd(role, shape)
    end.play(NumberInput(input.bytes))
    return 0
}

private struct FuzzedEnd: ~Copyable {
    private let role: HTTP2Role
    private var machine: HTTP2ConnectionMachine
    private var now: Duration = .zero
    private var written: [UInt8] = []
    private var open: Set<HTTP2StreamID> = []
    private var closed: Set<UInt32> = []
    private var isOver = false
    /// No stream has a larger window.
    private let largestWindow: Int
    /// What has come of bodies and was not taken.
    private var held: [HTTP2StreamID: Int] = [:]
    private var block: [UInt8] = []
    /// What the machine has said, pieces joined.
    private(set) var said: [String] = []

    init(_ role: HTTP2Role, _ shape: Int) {
        self.role = role
        var settings = HTTP2Settings()
        settings.initialWindowSize = [0, 1, 100, 65_535, 0x7FFF_FFFF, 10, 70_000, 5][shape]
        settings.enablesPush = role == .server
        // A client's windows grow (H10.1).
        largestWindow = max(Int(settings.initialWindowSize), role == .client ? 16 << 20 : 65_535)
        if shape > 4 {
            settings.maximumConcurrentStreams = 2
            settings.headerTableSize = 0
        }
        var limits = HTTP2Limits()
        if shape % 2 == 1 {
            limits.uselessFrames = 5
            limits.unreadAnswers = 3
            limits.continuations = 2
            limits.blockBytes = 60
            limits.informationalAnswers = 2
            limits.resetsPerSecond = 2
        }
        let firstNumber: UInt32 = shape == 3 ? 0x7FFF_FFFB : 1
        machine = HTTP2ConnectionMachine(
            role: role, settings: settings, connectionWindow: shape == 4 ? .max : 70_000, firstNumber: firstNumber,
            limits: limits)
        machine.start(now: now)
        pull([])
        if role == .client { for _ in 0..<2 { ask(.unknown) } }
        var beginning: [UInt8] = []
        if role == .server { HTTP2FrameEncoder.encodePreface(into: &beginning) }
        HTTP2FrameEncoder.encode(HTTP2Settings(), into: &beginning)
        if shape != 2 { receive(beginning) }
    }

    // MARK: A program

    mutating func play(_ numbers: NumberInput) {
        var numbers = numbers
        while !numbers.isEmpty {
            let id = anyStream(&numbers)
            switch numbers.choose(below: 18) {
            case 0...6: receive(frame(&numbers))
            case 7: receive((0..<numbers.choose(below: 40)).map { _ in UInt8(numbers.choose(below: 255)) })
            case 8: if role == .client { ask([.none, .bytes(5), .unknown][numbers.choose(below: 3)]) }
            case 9: if let id { answer(id, &numbers) }
            case 10: if let id { machine.bodyReady(id) }
            case 11: fill(numbers.choose(below: 200) * 300)
            case 12: if let id { take(Int(truncatingIfNeeded: numbers.number()), of: id) }
            case 13: if let id { machine.cancel(id, HTTP2ErrorCode(rawValue: UInt32(numbers.choose(below: 16)))) }
            case 14: if let id { machine.timedOut(id, now: now) }
            case 15:
                now += .milliseconds(numbers.choose(below: 255) * 100)
                machine.timerFired(now: now)
            case 16: if numbers.choose(below: 4) == 0 { machine.goodbye(last: UInt32(numbers.choose(below: 9))) }
            default: machine.outputEmptied()
            }
            pull([])
        }
        machine.connectionEnded()
        pull([])
        expect(isOver && open.isEmpty && machine.openStreams == 0, "\(open.count) streams are left")
        machine.goodbye()
        receive([1, 2, 3])
        expect(machine.nextPiece(room: .max) == nil, "a body behind the end")
    }

    private func anyStream(_ numbers: inout NumberInput) -> HTTP2StreamID? {
        let sorted = open.sorted { $0.number < $1.number }
        let choice = numbers.choose(below: 8)
        return choice < sorted.count ? sorted[choice] : sorted.first
    }

    /// A frame that is often a lawful one.
    private func frame(_ numbers: inout NumberInput) -> [UInt8] {
        var out: [UInt8] = []
        let stream = UInt32([0, 1, 3, 5, 7, 2, 9, 0x7FFF_FFFB][numbers.choose(below: 8)])
        let number = UInt32(truncatingIfNeeded: numbers.number())
        switch numbers.choose(below: 10) {
        case 0, 1:
            let payload = (0..<numbers.choose(below: 30)).map { _ in UInt8(numbers.choose(below: 255)) }
            let flags = UInt8([0, 1, 8, 9][numbers.choose(below: 4)])
            HTTP2FrameHeader(.data, flags: flags, stream: stream, length: payload.count).encode(into: &out)
            out += payload
        case 2, 3:
            let flags = UInt8([4, 5, 0, 1][numbers.choose(below: 4)])
            HTTP2FrameHeader(.headers, flags: flags, stream: stream, length: 2).encode(into: &out)
            out += [UInt8(numbers.choose(below: 10)), UInt8(numbers.choose(below: 10))]
        case 4:
            HTTP2FrameHeader(.continuation, flags: number % 2 == 0 ? 4 : 0, stream: stream, length: 0).encode(
                into: &out)
        case 5: HTTP2FrameEncoder.encodeWindowUpdate(stream: stream, increment: number, into: &out)
        case 6: HTTP2FrameEncoder.encodeReset(stream: stream, HTTP2ErrorCode(rawValue: number % 16), into: &out)
        case 7:
            HTTP2FrameHeader(.settings, length: 6).encode(into: &out)
            out += [0, UInt8(numbers.choose(below: 10))] + (0..<4).reversed().map { UInt8(number >> (8 * $0) & 0xFF) }
        case 8: HTTP2FrameEncoder.encodePing(UInt64(number % 4), isAnswer: number % 3 == 0, into: &out)
        default: HTTP2FrameEncoder.encodeGoAway(last: number, .noError, into: &out)
        }
        return out
    }

    private mutating func ask(_ body: HTTP2DeclaredLength) {
        let capacity = machine.capacity
        guard let id = machine.open(now: now) else { return }
        expect(open.count < capacity, "a stream above what is allowed")
        expect(open.allSatisfy { $0.slot != id.slot } && !closed.contains(id.number), "a place or a number twice")
        open.insert(id)
        let block: [UInt8] = [1, 2, 3]
        expect(machine.sendBlock(block.span.bytes, on: id, body: body, now: now) == 12, "a block was not written")
        pull([])
    }

    private mutating func answer(_ id: HTTP2StreamID, _ numbers: inout NumberInput) {
        let block: [UInt8] = [4]
        let kind = [HTTP2HeadKind.informational, .final, .trailers][numbers.choose(below: 3)]
        machine.sendBlock(block.span.bytes, on: id, kind, body: .bytes(Int64(numbers.choose(below: 100))), now: now)
    }

    private mutating func fill(_ room: Int) {
        var room = room
        while let piece = machine.nextPiece(room: room) {
            expect(piece.limit > 0 && piece.limit <= room && open.contains(piece.stream), "a piece of \(piece.limit)")
            expect(
                machine.writePiece(of: piece.stream, count: piece.limit, isLast: false, into: &written),
                "a piece was refused")
            written += Array(repeating: 0, count: piece.limit)
            room -= piece.limit
        }
    }

    // MARK: A driver

    mutating func receive(_ bytes: [UInt8]) {
        var offset = 0
        var isUnfinished = true
        while isUnfinished {
            let before = offset
            isUnfinished = machine.received(bytes.span.bytes, offset: &offset, now: now)
            expect(offset >= before && offset <= bytes.count, "offset \(offset) after \(before)")
            pull(bytes)
        }
        expect(offset == bytes.count, "bytes are left")
    }

    private mutating func pull(_ bytes: [UInt8]) {
        while let action = machine.nextAction() { carryOut(action, bytes) }
        expect(machine.openStreams == open.count, "\(machine.openStreams) streams, \(open.count) heard of")
        checkWritten()
    }

    private mutating func take(_ count: Int, of id: HTTP2StreamID) {
        held[id] = held[id].map { $0 - min(max(count, 0), $0) }
        machine.taken(count, of: id, now: now)
    }

    private mutating func carryOut(_ action: HTTP2ConnectionMachine.Action, _ bytes: [UInt8]) {
        expect(!isOver || action == .send, "\(action) behind the end")
        switch action {
        case .send: machine.takeOutput(into: &written)
        case .blockBegins(let expected):
            block = []
            guard let id = expected.stream else { return }
            if role == .server, !open.contains(id) {
                expect(!closed.contains(id.number), "a stream begins again")
                open.insert(id)
            }
            expect(open.contains(id), "a block for a stream that is over")
        case .block(let range):
            expect(!range.isEmpty && range.upperBound <= bytes.count, "a piece at \(range)")
            block += bytes[range]
        case .blockEnds(let count):
            expect(count >= block.count + 9, "a block of \(count) bytes")
            machine.blockDecoded(content, now: now)
        case .head(let id, let kind): say(id, "\(kind)")
        case .data(let id, let range):
            expect(!range.isEmpty && range.upperBound <= bytes.count, "a piece at \(range)")
            held[id, default: 0] += range.count
            expect(held[id, default: 0] <= largestWindow, "\(held[id, default: 0]) of \(largestWindow)")
            if said.last != "\(id.number) data" { say(id, "data") }
        case .messageEnds(let id): say(id, "ends")
        case .closed(let id, let end):
            say(id, "\(end)")
            open.remove(id)
            expect(closed.insert(id.number).inserted || end == .cancelled, "\(id) ends twice")
        case .failed(let fault):
            isOver = true
            said.append("\(fault)")
        case .finished: isOver = true
        case .encoderTableChanged, .decoderTableChanged, .capacityChanged, .draining, .setTimer:
            said.append("\(action)")
        }
    }

    private mutating func say(_ id: HTTP2StreamID, _ what: String) {
        expect(open.contains(id), "\(what) of a stream that is over")
        said.append("\(id.number) \(what)")
    }

    private var content: HTTP2BlockContent {
        switch block.first ?? 0 {
        case 0: .discarded
        case 1: .informational
        case 2: .trailers
        case 3: .malformed
        case 4: .tooLarge
        case 5: .final(.none)
        case 6: .final(.bytes(3))
        case 255: block.count % 2 == 0 ? .undecodable : .boundless
        default: .final(.unknown)
        }
    }

    /// Whole frames, as the peer reads them.
    private mutating func checkWritten() {
        defer { written.removeAll(keepingCapacity: true) }
        var place = role == .client && written.starts(with: Array("PRI".utf8)) ? 24 : 0
        while place < written.count {
            expect(place + 9 <= written.count, "half a header")
            let length = written[place..<(place + 3)].reduce(0) { $0 << 8 | Int($1) }
            expect(written[place + 3] <= 9 && written[place + 3] != 5, "a frame of type \(written[place + 3])")
            place += 9 + length
        }
        expect(place == written.count, "half a frame")
    }
}
