// Whole connections: responses one after another, informational ones, bodies of every framing, the end of the stream.
// Only `WireError` comes out, and it stays; how the bytes are cut does not matter.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzResponse(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let kinds: [ExpectedResponse] = [.toOther, .toHEAD, .toCONNECT, .toUpgrade]
    let setup = Setup(
        requests: [kinds[input.choose(below: 4)], kinds[input.choose(below: 4)], .toOther],
        limits: input.choose(below: 2) == 0 ? .standard : .tight, closes: input.choose(below: 2) == 0)
    let seed = input.choose(below: 255)

    var first: [Event]?
    for pieces in input.waysToCut(seed: seed) {
        let events = decode(setup, pieces)
        expect(
            first == nil || first == events, "cut into \(pieces.count): \(events), whole: \(String(describing: first))")
        first = events
    }
    return 0
}

private struct Setup {
    let requests: [ExpectedResponse]
    let limits: WireLimits
    let closes: Bool
}

private enum Event: Equatable {
    case informational(ResponseHead)
    case head(ResponseHead, BodyFraming, hasDecoder: Bool)
    case body([UInt8])
    case end(Fields)
    case switched
    case error(WireError)
}

private func decode(_ setup: Setup, _ pieces: [ArraySlice<UInt8>]) -> [Event] {
    var decoder = ResponseDecoder(limits: setup.limits)
    var events: [Event] = []
    var requests = setup.requests[...]
    if let first = requests.popFirst() { decoder.begin(first) }
    var bodyCount: Int64 = 0

    func note(_ step: ResponseDecoder.Step, _ bytes: [UInt8], _ decoder: inout ResponseDecoder) {
        switch step {
        case .needMore: break
        case .informational(let head): events.append(.informational(head))
        case .head(let head, let framing):
            let contentDecoder = ContentDecoder.make(for: head)
            events.append(.head(head, framing, hasDecoder: contentDecoder != nil))
            bodyCount = 0
        case .body(let range):
            expect(!range.isEmpty && range.upperBound <= bytes.count, "range \(range) of \(bytes.count)")
            bodyCount += Int64(range.count)
            if case .body(let earlier)? = events.last {
                events[events.count - 1] = .body(earlier + bytes[range])
            } else {
                events.append(.body(Array(bytes[range])))
            }
        case .end(let trailers):
            expect(decoder.bodyBytesReceived == bodyCount, "\(decoder.bodyBytesReceived) of \(bodyCount) body bytes")
            expect(decoder.wireBodyBytes >= bodyCount, "framing does not make a body smaller")
            events.append(.end(trailers))
            if let next = requests.popFirst() { decoder.begin(next) }
        case .switched:
            if events.last != .switched { events.append(.switched) }
        }
    }

    do throws(WireError) {
        for piece in pieces {
            let bytes = Array(piece)
            var offset = 0
            while true {
                let before = offset
                let step = try decoder.next(bytes.span.bytes, offset: &offset)
                expect(offset >= before && offset <= bytes.count, "offset \(offset) after \(before)")
                note(step, bytes, &decoder)
                if step == .needMore { expect(offset == bytes.count, "bytes left over") }
                if step == .needMore || step == .switched { break }
            }
        }
        if setup.closes { note(try decoder.endOfStream(), [], &decoder) }
    } catch {
        events.append(.error(error))
        expectStays(error, &decoder)
    }
    return events
}

private func expectStays(_ error: WireError, _ decoder: inout ResponseDecoder) {
    var offset = 0
    let bytes: [UInt8] = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
    do throws(WireError) {
        _ = try decoder.next(bytes.span.bytes, offset: &offset)
        finding("the error did not stay")
    } catch let again {
        expect(again == error, "\(error) became \(again)")
    }
}
