// Web socket frames, with and without compression, for both ends. Only `WebSocketFault` comes out; it does
// not matter how the input is cut; no message is longer than allowed, text is UTF-8, and what was read can
// be written and read again.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocket(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let role: WebSocketRole = input.choose(below: 2) == 0 ? .client : .server
    let compression = agreements[input.choose(below: UInt8(agreements.count))]
    let limit = [0, 100, 4096, 1 << 20][input.choose(below: 4)]
    let seed = input.choose(below: 255)
    var first: Outcome?
    for pieces in input.waysToCut(seed: seed) {
        let outcome = read(pieces, role, limit, compression)
        expect(
            first == nil || first == outcome,
            "cut into \(pieces.count): \(outcome.summary), whole: \(first?.summary ?? "")")
        first = outcome
    }
    if let first { checkAgain(first, role, limit, compression) }
    return 0
}

/// The largest window only: what looks back further than a smaller one is found out only where it was cut.
private let agreements: [DeflateAgreement?] = [
    nil, DeflateAgreement(),
    DeflateAgreement(
        fromClient: DeflateDirection(keepsContext: false), fromServer: DeflateDirection(keepsContext: false)),
]

private struct Outcome: Equatable {
    var events: [WebSocketReader.Event] = []
    var fault: WebSocketFault?
    var summary: String { "\(events.count) events, \(String(describing: fault))" }
}

private func read(
    _ pieces: [ArraySlice<UInt8>], _ role: WebSocketRole, _ limit: Int, _ compression: DeflateAgreement?
) -> Outcome {
    var outcome = Outcome()
    var reader = WebSocketReader(role, maximumMessageSize: limit, compression: compression)
    do throws(WebSocketFault) {
        for piece in pieces {
            let bytes = Array(piece)
            var offset = 0
            reading: while true {
                let before = offset
                let event = try reader.next(bytes.span.bytes, offset: &offset)
                expect(offset >= before && offset <= bytes.count, "offset \(offset) after \(before)")
                switch event {
                case .needMore:
                    expect(offset == bytes.count, "bytes are left, and more are wanted")
                    break reading
                case .unfinished:
                    expect(offset > before, "no progress")
                    continue
                case .message(let message): check(message, limit)
                case .ping(let payload), .pong(let payload): expect(payload.count <= 125, "a long control frame")
                case .close(let close): expect(close.payload.count <= 125, "a long control frame")
                }
                outcome.events.append(event)
            }
        }
    } catch {
        outcome.fault = error
        expect(WebSocketClose.isSendable(error.closeCode), "a fault with code \(error.closeCode)")
    }
    return outcome
}

private func check(_ message: WebSocketMessage, _ limit: Int) {
    expect(message.bytes.count <= limit, "\(message.bytes.count) of \(limit)")
    guard message.kind == .text else { return }
    expect(String(validating: message.bytes, as: UTF8.self) != nil, "text that is not UTF-8")
}

/// Checks that messages that were read come back equal when the peer's encoder and compressor write them.
private func checkAgain(_ outcome: Outcome, _ role: WebSocketRole, _ limit: Int, _ compression: DeflateAgreement?) {
    var bytes: [UInt8] = []
    var deflater = MessageDeflater(compression?.received(by: role) ?? DeflateDirection())
    var key: UInt32 = 0x9E37_79B9
    for event in outcome.events {
        key = key &* 1_664_525 &+ 1_013_904_223
        let mask = role == .server ? WebSocketMask(key) : nil
        switch event {
        case .needMore, .unfinished: break
        case .message(let message):
            let payload = compression == nil ? nil : deflater.compress(message.bytes)
            WebSocketFrameEncoder.encode(
                message.opcode, payload ?? message.bytes, isCompressed: payload != nil, mask: mask, into: &bytes)
        case .ping(let payload): WebSocketFrameEncoder.encode(.ping(payload), mask: mask, into: &bytes)
        case .pong(let payload): WebSocketFrameEncoder.encode(.pong(payload), mask: mask, into: &bytes)
        case .close(let close): WebSocketFrameEncoder.encode(.close(close), mask: mask, into: &bytes)
        }
    }
    let again = read([bytes[...]], role, limit, compression)
    expect(again.events == outcome.events && again.fault == nil, "read again: \(again.summary), \(outcome.summary)")
}
