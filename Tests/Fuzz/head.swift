// Heads and trailer sections. Only `WireError` comes out; how the bytes are cut does not matter; what was read can be
// written and is then read back equal.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHead(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let kinds: [HeadParser.Kind] = [.response, .request, .trailers]
    let kind = kinds[input.choose(below: 3)]
    let limits = input.choose(below: 2) == 0 ? WireLimits.standard : .tight
    let seed = input.choose(below: 255)
    let ways = input.waysToCut(seed: seed)

    var first: Outcome?
    for pieces in ways {
        let outcome = parse(kind, limits, pieces)
        expect(
            first == nil || first == outcome,
            "cut into \(pieces.count): \(outcome), whole: \(String(describing: first))")
        first = outcome
    }
    if case .head(let fields, _, _)? = first { roundTrip(fields) }
    return 0
}

private enum Outcome: Equatable {
    case head(Fields, line: String, used: Int)
    case incomplete
    case error(WireError)
}

private func parse(_ kind: HeadParser.Kind, _ limits: WireLimits, _ pieces: [ArraySlice<UInt8>]) -> Outcome {
    var parser = HeadParser(kind, limits: limits)
    var used = 0
    do throws(WireError) {
        for piece in pieces {
            let bytes = Array(piece)
            var offset = 0
            let isComplete = try parser.parse(bytes.span.bytes, offset: &offset)
            expect(offset >= 0 && offset <= bytes.count, "offset \(offset) of \(bytes.count)")
            used += offset
            guard isComplete else {
                expect(offset == bytes.count, "bytes left over before the head is complete")
                continue
            }
            switch kind {
            case .response:
                let head = parser.takeResponseHead()
                expect(head.byteCount == used, "\(head.byteCount) bytes of \(used)")
                return .head(head.fields, line: "\(head.version.minor) \(head.status) \(head.reason)", used: used)
            case .request:
                let head = parser.takeRequestHead()
                return .head(head.fields, line: "\(head.method) \(head.target) \(head.version.minor)", used: used)
            case .trailers:
                return .head(parser.takeFields(), line: "", used: used)
            }
        }
    } catch {
        return .error(error)
    }
    return .incomplete
}

private func roundTrip(_ fields: Fields) {
    var out: [UInt8] = []
    do throws(WireError) {
        try ResponseEncoder.encode(ResponseHead(status: 200, fields: fields), framing: .none, into: &out)
        var parser = HeadParser(.response, limits: WireLimits(headBytes: .max))
        var offset = 0
        expect(try parser.parse(out.span.bytes, offset: &offset), "what was written is incomplete")
        expect(offset == out.count, "what was written is more than a head")
        expect(parser.takeFields() == fields, "what was written is read as something else")
    } catch {
        finding("what was read cannot be written: \(error)")
    }
}
