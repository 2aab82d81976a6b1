// HTTP/2 frames, for both ends. Only `HTTP2Fault` comes out; it does not matter how the input is cut; pieces lie in the
// bytes given and are never empty; blocks and bodies begin before they go on and before they end; what was read of
// control frames can be written and read again.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP2Frames(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let role: HTTP2Role = input.choose(below: 2) == 0 ? .client : .server
    // Most inputs get past the beginning.
    let isBegun = input.choose(below: 4) > 0
    let seed = input.choose(below: 255)
    var first: Outcome?
    for pieces in input.waysToCut(seed: seed) {
        let outcome = read(pieces, role, isBegun: isBegun)
        expect(first == nil || first == outcome, "cut into \(pieces.count): \(outcome), whole: \(first ?? Outcome())")
        first = outcome
    }
    if let first { checkAgain(first, role) }
    return 0
}

private struct Outcome: Equatable {
    /// Steps with pieces joined: of a piece the range is 0 to its count.
    var steps: [HTTP2FrameDecoder.Step] = []
    var bytes: [UInt8] = []
    var debugData: [UInt8] = []
    var fault: HTTP2Fault?
}

private func beginning(_ role: HTTP2Role) -> [UInt8] {
    var bytes: [UInt8] = []
    if role == .server { HTTP2FrameEncoder.encodePreface(into: &bytes) }
    HTTP2FrameEncoder.encode(HTTP2Settings(), into: &bytes)
    return bytes
}

private func read(_ pieces: [ArraySlice<UInt8>], _ role: HTTP2Role, isBegun: Bool) -> Outcome {
    var outcome = Outcome()
    var decoder = HTTP2FrameDecoder(role)
    var inside = Inside()
    do throws(HTTP2Fault) {
        for piece in (isBegun ? [beginning(role)[...]] : []) + pieces {
            let bytes = Array(piece)
            var offset = 0
            while true {
                let before = offset
                let step = try decoder.next(bytes.span.bytes, offset: &offset)
                expect(offset >= before && offset <= bytes.count, "offset \(offset) after \(before)")
                if step == .needMore { break }
                inside.check(step, bytes.count)
                outcome.add(step, bytes)
            }
            expect(offset == bytes.count, "bytes are left, and more are wanted")
        }
    } catch {
        outcome.fault = error
        expect(error.scope == .connection, "a frame alone ends a stream")
    }
    outcome.debugData = decoder.debugData
    expect(decoder.debugData.count <= 256, "\(decoder.debugData.count) bytes of text")
    return outcome
}

/// What a step may follow.
private enum Inside {
    case nothing
    case data(left: Int)
    case block

    init() { self = .nothing }

    mutating func check(_ step: HTTP2FrameDecoder.Step, _ count: Int) {
        switch (self, step) {
        case (.nothing, .dataBegins(let stream, let byteCount, let padding, _)):
            expect(stream != 0 && padding >= 0 && padding <= byteCount && byteCount <= 16_384, "DATA of \(byteCount)")
            self = .data(left: byteCount - padding)
        case (.data(let left), .data(let range)):
            check(range, count)
            expect(range.count <= left, "more body than announced")
            self = .data(left: left - range.count)
        case (.data(let left), .dataEnds):
            expect(left == 0, "\(left) bytes of body are missing")
            self = .nothing
        case (.nothing, .blockBegins(let stream, _, _)):
            expect(stream != 0, "a block on no stream")
            self = .block
        case (.block, .block(let range)): check(range, count)
        case (.block, .blockContinues): break
        case (.block, .blockEnds): self = .nothing
        case (.nothing, .control): break
        default: finding("\(step) inside \(self)")
        }
    }

    private func check(_ range: Range<Int>, _ count: Int) {
        expect(!range.isEmpty && range.upperBound <= count, "a piece at \(range) of \(count)")
    }
}

extension Outcome {
    fileprivate mutating func add(_ step: HTTP2FrameDecoder.Step, _ source: [UInt8]) {
        switch (step, steps.last) {
        case (.data(let range), .data(let earlier)):
            bytes += source[range]
            steps[steps.count - 1] = .data(0..<(earlier.count + range.count))
        case (.block(let range), .block(let earlier)):
            bytes += source[range]
            steps[steps.count - 1] = .block(0..<(earlier.count + range.count))
        case (.data(let range), _):
            bytes += source[range]
            steps.append(.data(0..<range.count))
        case (.block(let range), _):
            bytes += source[range]
            steps.append(.block(0..<range.count))
        default: steps.append(step)
        }
    }
}

/// Checks that control frames that were read come back equal when the encoder writes them and they are read again.
private func checkAgain(_ outcome: Outcome, _ role: HTTP2Role) {
    var bytes = beginning(role)
    var expected: [HTTP2FrameDecoder.Step] = [.control(.settings(HTTP2SettingsChange()))]
    for case .control(let frame) in outcome.steps {
        switch frame {
        case .settingsAcknowledged: HTTP2FrameEncoder.encodeSettingsAcknowledgement(into: &bytes)
        case .ping(let number): HTTP2FrameEncoder.encodePing(number, isAnswer: false, into: &bytes)
        case .pingAcknowledged(let number): HTTP2FrameEncoder.encodePing(number, isAnswer: true, into: &bytes)
        case .windowUpdate(let stream, let increment):
            HTTP2FrameEncoder.encodeWindowUpdate(stream: stream, increment: increment, into: &bytes)
        case .resetStream(let stream, let code): HTTP2FrameEncoder.encodeReset(stream: stream, code, into: &bytes)
        case .goAway(let last, let code): HTTP2FrameEncoder.encodeGoAway(last: last, code, into: &bytes)
        case .settings, .priority, .unknown: continue
        }
        expected.append(.control(frame))
    }
    let again = read([bytes[...]], role, isBegun: false)
    expect(again.steps == expected && again.fault == nil, "read again: \(again), \(expected)")
}
