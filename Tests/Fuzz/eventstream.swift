// Streams of server-sent events. Only `TooLong` comes out; it does not matter how the input is cut; no event is longer
// than allowed, and what was read can be written and read again.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEventStream(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let limit = [0, 10, 100, 1 << 20][input.choose(below: 4)]
    let seed = input.choose(below: 255)
    var first: Outcome?
    for pieces in input.waysToCut(seed: seed) {
        let outcome = read(pieces, limit)
        expect(first == nil || first == outcome, "cut into \(pieces.count): another outcome")
        first = outcome
    }
    guard let first, !first.isTooLong else { return 0 }
    var text = ""
    for event in first.events {
        text += "id: \(event.id)\nevent: \(event.type)\n"
        if let retry = event.retry { text += "retry: \(retry)\n" }
        for line in event.data.split(separator: "\n", omittingEmptySubsequences: false) { text += "data: \(line)\n" }
        text += "\n"
    }
    let again = read([Array(text.utf8)[...]], .max)
    expect(again.events == first.events, "read again: \(again.events.count) of \(first.events.count)")
    return 0
}

private struct Outcome: Equatable {
    var events: [EventStreamDecoder.Event] = []
    var isTooLong = false
    var lastEventID = ""
    var reconnectionTime: Int64?
}

private func read(_ pieces: [ArraySlice<UInt8>], _ limit: Int) -> Outcome {
    var outcome = Outcome()
    var decoder = EventStreamDecoder(lastEventID: "", limit: limit)
    do throws(EventStreamDecoder.TooLong) {
        for piece in pieces {
            let bytes = Array(piece)
            var offset = 0
            while let event = try decoder.next(bytes.span.bytes, offset: &offset) {
                // A byte that is not UTF-8 becomes three.
                expect(limit == .max || event.data.utf8.count <= 3 * limit, "too long")
                outcome.events.append(event)
            }
            expect(offset == bytes.count, "bytes are left")
        }
    } catch {
        outcome.isTooLong = true
    }
    outcome.lastEventID = decoder.lastEventID
    outcome.reconnectionTime = decoder.reconnectionTime
    return outcome
}
