// Requests and answers on a client's streams: where they end, what is malformed, and what is wrong with a stream alone
// or with its connection.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@Suite("HTTP/2 messages")
struct HTTP2MessageTests {
    /// A client with one request under way, without a body unless told.
    private func client(_ body: HTTP2DeclaredLength = .none) -> HTTP2Rig {
        var rig = HTTP2Rig.client()
        rig.request(body)
        rig.forget()
        return rig
    }

    private let first = HTTP2StreamID(number: 1, slot: 0)

    /// Bytes that come after a request, however they are cut.
    private func expect(
        _ bytes: [UInt8], _ said: [Said], writes written: [UInt8]? = [], _ location: SourceLocation = #_sourceLocation
    ) {
        for pieces in Pieces.waysToCut(bytes) {
            var rig = client()
            for piece in pieces { rig.receive(Array(piece)) }
            #expect(rig.takeSaid() == said, "\(pieces.map(\.count))", sourceLocation: location)
            if let written { #expect(rig.takeWritten() == written, sourceLocation: location) }
        }
    }

    /// Checks that these bytes fail their stream, and that the next request is answered nevertheless.
    private func expectStreamFault(
        _ bytes: [UInt8], _ reason: HTTP2Fault.Reason, _ code: HTTP2ErrorCode = .protocolError,
        after said: [Said] = [], discarding blocks: [[UInt8]] = [], _ location: SourceLocation = #_sourceLocation
    ) {
        expect(
            bytes, said + [.closed(1, .faulted(.stream(1, reason)))] + blocks.map { .discarded($0) },
            writes: WireHTTP2.reset(1, code), location)
        var rig = client()
        rig.receive(bytes)
        rig.request()
        rig.forget()
        rig.receive(WireHTTP2.headers(3, StandIn.final, ends: true))
        #expect(
            rig.takeSaid() == [.head(3, .final, StandIn.final), .messageEnds(3), .closed(3, .finished)],
            sourceLocation: location)
    }

    private func expectConnectionFault(
        _ bytes: [UInt8], _ reason: HTTP2Fault.Reason, on stream: UInt32, _ code: HTTP2ErrorCode = .protocolError,
        after said: [Said] = [], _ location: SourceLocation = #_sourceLocation
    ) {
        let fault = HTTP2Fault.connection(reason, stream: stream)
        expect(
            bytes, said + [.closed(1, stream == 1 ? .faulted(fault) : .connectionFailed(fault)), .failed(fault)],
            writes: WireHTTP2.goAway(0, code), location)
    }

    // MARK: Requests

    @Test("H2.7: numbers are odd, begin with 1 and rise as HEADERS are written; after 2^31-1 there are none")
    func numbers() {
        var rig = HTTP2Rig(.client, firstNumber: 0x7FFF_FFFD)
        rig.start()
        rig.forget()
        #expect(rig.request()?.number == 0x7FFF_FFFD)
        #expect(rig.takeSaid().isEmpty)
        #expect(rig.request()?.number == 0x7FFF_FFFF)
        #expect(rig.takeSaid() == [.draining(.noError)])
        #expect(rig.request() == nil)
        #expect(rig.machine.capacity == 0)
        rig.receive(WireHTTP2.settings() + WireHTTP2.headers(0x7FFF_FFFD, StandIn.final, ends: true))
        rig.forget()
        rig.receive(WireHTTP2.headers(0x7FFF_FFFF, StandIn.final, ends: true))
        #expect(rig.takeSaid().suffix(2) == [.closed(0x7FFF_FFFF, .finished), .finished])
        rig = client()
        #expect(rig.request()?.number == 3)
        #expect(rig.request()?.number == 5)
    }

    @Test("H2.7: a request that was not written leaves its number to the next one")
    func unwritten() {
        var rig = client()
        let id = rig.machine.open(now: .zero)
        #expect(id?.number == 3)
        #expect(rig.machine.open(now: .zero) == nil)
        rig.then { if let id { $0.cancel(id) } }
        #expect(rig.takeSaid() == [.closed(3, .cancelled)])
        #expect(rig.takeWritten().isEmpty)
        #expect(rig.request()?.number == 3)
    }

    @Test("H3.6: END_STREAM is on HEADERS without a body, else on the last DATA, which may be empty")
    func endOfRequest() {
        var rig = HTTP2Rig.client()
        for body in [HTTP2DeclaredLength.none, .bytes(0), .bytes(3), .unknown, .unknown] { rig.request(body) }
        let without = [1, 3].flatMap { WireHTTP2.headers($0, StandIn.final, ends: true) }
        let with = [5, 7, 9].flatMap { WireHTTP2.headers($0, StandIn.final) }
        #expect(rig.takeWritten() == without + with)
        rig.then { $0.bodyReady(HTTP2StreamID(number: 5, slot: 2)) }
        rig.fill(100)
        #expect(rig.takeWritten() == WireHTTP2.data(5, [0, 0, 0], ends: true))
        #expect(rig.endBody(HTTP2StreamID(number: 7, slot: 3), [4, 5]) == true)
        #expect(rig.endBody(HTTP2StreamID(number: 9, slot: 4)) == true)
        #expect(rig.takeWritten() == WireHTTP2.data(7, [4, 5], ends: true) + WireHTTP2.data(9, [], ends: true))
        #expect(rig.endBody(HTTP2StreamID(number: 9, slot: 4)) == false)
        rig.then { $0.bodyReady(HTTP2StreamID(number: 9, slot: 4)) }
        #expect(rig.fill(100) == [])
        #expect(rig.takeSaid().isEmpty)
    }

    @Test("H3.5: a source that gives less than was declared resets the stream; more is not sent")
    func declaredBody() {
        var rig = client(.bytes(5))
        #expect(rig.endBody(first, [1, 2, 3, 4, 5, 6]) == false)
        #expect(rig.takeSaid().isEmpty && rig.machine.isOpen(first))
        #expect(rig.endBody(first, [1, 2, 3]) == false)
        #expect(rig.takeSaid() == [.closed(1, .bodyTooShort)])
        #expect(rig.takeWritten() == WireHTTP2.reset(1, .cancel))
    }

    @Test("H3.7: a block above the peer's frame size is cut into HEADERS and CONTINUATION with nothing between")
    func longBlock() {
        var rig = HTTP2Rig.client([(6, 100)])
        let block = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
        rig.request(block: block)
        let written = rig.takeWritten()
        let pieces =
            WireHTTP2.headers(1, Array(block[..<16_384]), ends: true, isWhole: false)
            + WireHTTP2.continuation(1, Array(block[16_384..<32_768]), isWhole: false)
            + WireHTTP2.continuation(1, Array(block[32_768...]), isWhole: true)
        #expect(firstDifference(written, pieces) == nil)
        rig = HTTP2Rig.client()
        rig.request(.unknown, block: Array(block[..<16_384]))
        #expect(firstDifference(rig.takeWritten(), WireHTTP2.headers(1, Array(block[..<16_384]))) == nil)
        rig.request(block: [])
        #expect(rig.takeWritten() == WireHTTP2.headers(3, [], ends: true))
    }

    @Test("H3.10: what was encoded is sent, also of a request that is cancelled at once; else the connection fails")
    func encodedIsSent() {
        var rig = HTTP2Rig.client()
        var id: HTTP2StreamID?
        let block = StandIn.final
        rig.then {
            id = $0.open(now: .zero)
            if let id {
                $0.sendBlock(block.span.bytes, on: id, now: .zero)
                $0.cancel(id)
            }
        }
        #expect(
            rig.takeWritten() == WireHTTP2.headers(1, StandIn.final, ends: true) + WireHTTP2.reset(1, .cancel))
        #expect(rig.takeSaid() == [.closed(1, .cancelled)])
        if let id { rig.send(StandIn.final, on: id) }
        #expect(rig.takeSaid() == [.failed(.connection(.misuse, stream: 1))])
    }

    @Test("H6.6: the bytes of blocks on the wire, frame headers included")
    func blockBytes() {
        var rig = HTTP2Rig.client()
        let id = rig.machine.open(now: .zero)
        let block = Array(repeating: 1 as UInt8, count: 16_385)
        let count = id.map { rig.machine.sendBlock(block.span.bytes, on: $0, now: .zero) }
        #expect(count == 16_385 + 18)
        rig.receive(WireHTTP2.headers(1, [1, 1], isWhole: false) + WireHTTP2.continuation(1, [1], isWhole: true))
        #expect(rig.blockBytes == 21)
    }

    // MARK: Answers

    @Test("H4.2: informational answers before the final one; H4.3: the body ends with END_STREAM, empty DATA is legal")
    func answer() {
        expect(
            WireHTTP2.headers(1, StandIn.informational) + WireHTTP2.headers(1, StandIn.informational)
                + WireHTTP2.headers(1, StandIn.final) + WireHTTP2.data(1, []) + WireHTTP2.data(1, [1, 2], padding: 2)
                + WireHTTP2.data(1, [3]) + WireHTTP2.data(1, [], ends: true),
            [
                .head(1, .informational, StandIn.informational), .head(1, .informational, StandIn.informational),
                .head(1, .final, StandIn.final), .data(1, [1, 2, 3]), .messageEnds(1), .closed(1, .finished),
            ])
    }

    @Test("H4.4: trailers are a second block with END_STREAM")
    func trailers() {
        expect(
            WireHTTP2.headers(1, StandIn.final) + WireHTTP2.data(1, [1])
                + WireHTTP2.headers(1, StandIn.trailers, ends: true),
            [
                .head(1, .final, StandIn.final), .data(1, [1]), .head(1, .trailers, StandIn.trailers),
                .messageEnds(1), .closed(1, .finished),
            ])
    }

    @Test("H4.5: what is not known is ignored between the frames of an answer; PRIORITY for any stream but 0")
    func ignored() {
        let noise =
            WireHTTP2.frame(0xBB, 0xFF, on: 1, [1, 2]) + WireHTTP2.frame(2, 0, on: 99, [0, 0, 0, 1, 1])
            + WireHTTP2.settings([(0x77, 5)])
        expect(
            noise + WireHTTP2.frame(1, 0x82 | 4, on: 0x8000_0001, StandIn.final) + noise
                + WireHTTP2.data(1, [1], ends: true) + noise,
            [.head(1, .final, StandIn.final), .data(1, [1]), .messageEnds(1), .closed(1, .finished)], writes: nil)
    }

    @Test("H4.6: content-length that does not fit the DATA is malformed, wherever the end is said")
    func lengths() {
        let head = Said.head(1, .final, StandIn.final(length: 3))
        let start = WireHTTP2.headers(1, StandIn.final(length: 3))
        expect(
            start + WireHTTP2.data(1, [1, 2]) + WireHTTP2.data(1, [3], ends: true),
            [head, .data(1, [1, 2, 3]), .messageEnds(1), .closed(1, .finished)])
        expectStreamFault(start + WireHTTP2.data(1, [1, 2, 3, 4]), .bodyLength, after: [head])
        expectStreamFault(start + WireHTTP2.data(1, [1], ends: true), .bodyLength, after: [head, .data(1, [1])])
        expectStreamFault(
            start + WireHTTP2.headers(1, StandIn.trailers, ends: true), .bodyLength, after: [head])
        expectStreamFault(WireHTTP2.headers(1, StandIn.final(length: 3), ends: true), .bodyLength)
    }

    @Test("H4.3: where there is no body content-length says nothing, and a body is malformed")
    func withoutBody() {
        let head = Said.head(1, .final, StandIn.withoutBody)
        expect(
            WireHTTP2.headers(1, StandIn.withoutBody, ends: true), [head, .messageEnds(1), .closed(1, .finished)])
        expect(
            WireHTTP2.headers(1, StandIn.withoutBody) + WireHTTP2.data(1, [], ends: true),
            [head, .messageEnds(1), .closed(1, .finished)])
        expectStreamFault(
            WireHTTP2.headers(1, StandIn.withoutBody) + WireHTTP2.data(1, [1]), .bodyLength, after: [head])
    }

    @Test("H4.7: what is malformed ends its stream and no other")
    func malformed() {
        let head = Said.head(1, .final, StandIn.final)
        let start = WireHTTP2.headers(1, StandIn.final)
        expectStreamFault(WireHTTP2.headers(1, StandIn.malformed), .malformed)
        expectStreamFault(WireHTTP2.headers(1, StandIn.informational, ends: true), .malformed)
        expectStreamFault(WireHTTP2.data(1, [1]), .dataBeforeHead)
        expectStreamFault(
            WireHTTP2.headers(1, StandIn.informational) + WireHTTP2.data(1, [], ends: true), .dataBeforeHead,
            after: [.head(1, .informational, StandIn.informational)])
        expectStreamFault(
            start + WireHTTP2.headers(1, StandIn.trailers), .malformed, after: [head],
            discarding: [StandIn.trailers])
        expectStreamFault(start + WireHTTP2.headers(1, StandIn.final, ends: true), .malformed, after: [head])
        expectStreamFault(start + WireHTTP2.headers(1, StandIn.informational, ends: true), .malformed, after: [head])
        expectStreamFault(WireHTTP2.headers(1, StandIn.trailers, ends: true), .malformed)
    }

    @Test("H4.9: a list that is too large ends its stream")
    func tooLarge() {
        expectStreamFault(WireHTTP2.headers(1, StandIn.tooLarge), .listTooLarge, .enhanceYourCalm)
    }

    // MARK: Faults

    @Test("H8.2: frames for a stream that was never opened", arguments: [2, 3, 4, 0x7FFF_FFFF] as [UInt32])
    func idle(stream: UInt32) {
        for bytes in [
            WireHTTP2.data(stream, [1]), WireHTTP2.headers(stream, StandIn.final), WireHTTP2.reset(stream, .cancel),
            WireHTTP2.update(stream, 1), WireHTTP2.data(stream, []),
        ] {
            expectConnectionFault(bytes, .idleStream, on: stream)
        }
    }

    @Test("H8.9: frames after END_STREAM are answered with STREAM_CLOSED, once, and later requests are answered")
    func afterEnd() {
        let start = WireHTTP2.headers(1, StandIn.final, ends: true)
        let said: [Said] = [.head(1, .final, StandIn.final), .messageEnds(1), .closed(1, .finished)]
        expect(
            start + WireHTTP2.data(1, [1]) + WireHTTP2.data(1, [1]) + WireHTTP2.headers(1, StandIn.final),
            said
                + [.discarded(StandIn.final)], writes: WireHTTP2.reset(1, .streamClosed))
        expect(
            start + WireHTTP2.headers(1, StandIn.trailers, ends: true), said + [.discarded(StandIn.trailers)],
            writes: WireHTTP2.reset(1, .streamClosed))
        expect(start + WireHTTP2.reset(1, .cancel) + WireHTTP2.update(1, 5) + WireHTTP2.update(1, 0), said)
    }

    @Test("H8.10: what cannot be decoded ends the connection, also for a stream that is gone")
    func compression() {
        expectConnectionFault(WireHTTP2.headers(1, StandIn.undecodable), .compression, on: 1, .compressionError)
        var rig = client()
        rig.then { $0.cancel(HTTP2StreamID(number: 1, slot: 0)) }
        rig.forget()
        rig.receive(WireHTTP2.headers(1, StandIn.undecodable))
        #expect(
            rig.takeSaid()
                == [.discarded(StandIn.undecodable), .failed(.connection(.compression, stream: 1))])
    }

    @Test("H8.1 to H8.8: what is wrong with a frame alone ends the connection, and each stream is told once")
    func frameFaults() {
        expectConnectionFault(WireHTTP2.frame(5, 4, on: 1, [0, 0, 0, 2]), .push, on: 1)
        expectConnectionFault(WireHTTP2.header(0, on: 1, length: 16_385), .frameTooLarge, on: 1, .frameSizeError)
        expectConnectionFault(
            WireHTTP2.headers(1, [], isWhole: false) + WireHTTP2.ping(1), .brokenBlock, on: 0)
        var rig = HTTP2Rig(.client)
        rig.start()
        for _ in 0..<3 { rig.request() }
        rig.forget()
        rig.receive(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        let fault = HTTP2Fault.connection(.notHTTP2)
        #expect(
            rig.takeSaid() == [5, 3, 1].map { .closed($0, .connectionFailed(fault)) } + [.failed(fault)])
        rig.receive(WireHTTP2.settings())
        rig.then { $0.connectionEnded() }
        rig.request()
        #expect(rig.takeSaid().isEmpty && rig.machine.openStreams == 0)
    }

    @Test("R9113 §7: every fault has a code, and every text says it")
    func texts() {
        for reason in HTTP2Fault.Reason.allCases {
            let fault = HTTP2Fault.connection(reason, stream: 3)
            #expect(fault.description.hasSuffix("(stream 3): \(fault.code)."))
        }
        #expect(HTTP2ErrorCode(rawValue: 0xD).description == "HTTP_1_1_REQUIRED")
        #expect(HTTP2ErrorCode(rawValue: 99).description == "error 99")
    }
}
