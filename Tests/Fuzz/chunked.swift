// The chunked coding. Only `WireError` comes out; how the bytes are cut does not matter; data that is encoded in
// chunks is decoded to equal data.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChunked(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let limits = input.choose(below: 2) == 0 ? WireLimits.standard : .tight
    let seed = input.choose(below: 255)
    let ways = input.waysToCut(seed: seed)

    var first: Outcome?
    for pieces in ways {
        let outcome = decode(limits, pieces)
        expect(
            first == nil || first == outcome,
            "cut into \(pieces.count): \(outcome), whole: \(String(describing: first))")
        first = outcome
    }
    roundTrip(input.bytes, ways)
    return 0
}

private struct Outcome: Equatable {
    var body: [UInt8] = []
    var used = 0
    var trailers: Fields?
    var error: WireError?
}

private func decode(_ limits: WireLimits, _ pieces: [ArraySlice<UInt8>]) -> Outcome {
    var decoder = ChunkedDecoder(limits: limits)
    var outcome = Outcome()
    do throws(WireError) {
        for piece in pieces {
            let bytes = Array(piece)
            var offset = 0
            steps: while true {
                let before = offset
                let step = try decoder.next(bytes.span.bytes, offset: &offset)
                expect(offset >= before && offset <= bytes.count, "offset \(offset) after \(before)")
                switch step {
                case .needMore:
                    expect(offset == bytes.count, "bytes left over")
                    break steps
                case .body(let range):
                    expect(!range.isEmpty && range.upperBound == offset, "range \(range) at \(offset)")
                    outcome.body += bytes[range]
                case .end(let trailers):
                    outcome.trailers = trailers
                    outcome.used += offset
                    return outcome
                }
            }
            outcome.used += offset
        }
    } catch {
        outcome.error = error
        // How much of the bytes a fault needed to be seen is not part of the outcome.
        outcome.used = 0
    }
    return outcome
}

private func roundTrip(_ bytes: [UInt8], _ ways: [[ArraySlice<UInt8>]]) {
    for pieces in ways {
        var coded: [UInt8] = []
        for piece in pieces {
            RequestEncoder.encodeChunkHeader(size: piece.count, into: &coded)
            if !piece.isEmpty { coded += piece + RequestEncoder.chunkTrailer }
        }
        coded += RequestEncoder.lastChunk
        let outcome = decode(.standard, [coded[...]])
        expect(outcome.body == bytes && outcome.trailers == Fields() && outcome.used == coded.count, "round trip")
    }
}
