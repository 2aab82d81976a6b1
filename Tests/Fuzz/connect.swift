// Answers to CONNECT, whole and in pieces: how they are cut does not matter, what follows the head of a success is the
// tunnel's to the last byte, and what is read of a refusal has an end.

import URLLoadingWire

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzConnect(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let seed = input.choose(below: 255)
    var outcomes: [Outcome] = []
    for pieces in input.waysToCut(seed: seed) { outcomes.append(answer(pieces)) }
    for outcome in outcomes {
        var same = outcome
        // Bytes behind a refusal that has ended are seen only where they come together with it.
        same.isReusable = outcomes[0].isReusable
        expect(same == outcomes[0], "pieces change the outcome: \(outcomes)")
    }
    if let used = outcomes[0].tunnelStart {
        expect(input.bytes[..<used].suffix(1) == [0x0A], "the tunnel begins inside of a head")
    }
    return 0
}

private struct Outcome: Equatable {
    var refusal: Int?
    var tunnelStart: Int?
    var hasEnded = false
    var isReusable = false
    var error: WireError?
}

private func answer(_ pieces: [ArraySlice<UInt8>]) -> Outcome {
    var exchange = ConnectExchange()
    var outcome = Outcome()
    var used = 0
    for piece in pieces {
        let bytes = Array(piece)
        var offset = 0
        var isOver = false
        while !isOver {
            let before = offset
            do throws(WireError) {
                switch try exchange.next(bytes.span.bytes, offset: &offset) {
                case .needMore:
                    expect(offset == bytes.count, "bytes are left, and more are wanted")
                    isOver = true
                case .refused(let head):
                    expect(outcome.refusal == nil && head.status >= 300, "refused with \(head.status)")
                    outcome.refusal = head.status
                case .open:
                    outcome.tunnelStart = used + offset
                    return outcome
                case .ended(let isReusable):
                    outcome.hasEnded = true
                    outcome.isReusable = isReusable
                    return outcome
                }
            } catch {
                outcome.error = error
                return outcome
            }
            expect(offset >= before && offset <= bytes.count, "a step backwards, or beyond the end")
        }
        used += offset
    }
    return outcome
}
