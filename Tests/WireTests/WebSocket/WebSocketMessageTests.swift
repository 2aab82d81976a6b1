// How large a message may become, counted before memory is taken for it.

import Testing
import URLLoadingWire

@Suite("Web socket messages")
struct WebSocketMessageTests {
    private func expect(
        _ bytes: [UInt8], maximum: Int, _ outcomes: [WebSocketOutcome], _ location: SourceLocation = #_sourceLocation
    ) {
        for pieces in Pieces.waysToCut(bytes) {
            #expect(WebSocketOutcome.run(pieces, maximum: maximum) == outcomes, sourceLocation: location)
        }
    }

    @Test("B15.16: fragments are assembled, empty ones among them")
    func assembly() {
        expect(
            WireFrame.text("", fin: false) + WireFrame.more("Hel", fin: false) + WireFrame.more("", fin: false)
                + WireFrame.more("lo", fin: false) + WireFrame.more("", fin: true) + WireFrame.binary([], fin: true),
            maximum: 5, [.text("Hello"), .binary([])])
    }

    @Test("R6455 §10.4: the largest message is the sum of its fragments; one byte more is 1009")
    func maximum() {
        expect(WireFrame.binary([1, 2, 3]), maximum: 3, [.binary([1, 2, 3])])
        expect(WireFrame.binary([1, 2, 3]), maximum: 2, [.fault(.messageTooBig(limit: 2))])
        expect(
            WireFrame.text("ab", fin: false) + WireFrame.more("c", fin: true) + WireFrame.text("abc"), maximum: 3,
            [.text("abc"), .text("abc")])
        expect(
            WireFrame.text("ab", fin: false) + WireFrame.more("c", fin: false) + WireFrame.ping([1])
                + WireFrame.more("d", fin: true), maximum: 3, [.ping([1]), .fault(.messageTooBig(limit: 3))])
        expect(WireFrame.text(""), maximum: 0, [.text("")])
        expect(WireFrame.text("a"), maximum: 0, [.fault(.messageTooBig(limit: 0))])
        expect(WireFrame.text("a"), maximum: -1, [.fault(.messageTooBig(limit: 0))])
        #expect(WebSocketFault.messageTooBig(limit: 1).closeCode == 1009)
    }

    @Test("A message is refused when it is announced, before its bytes come")
    func announced() {
        let bytes = WireFrame.binary([UInt8](repeating: 0, count: 200))
        #expect(WebSocketOutcome.run([bytes[..<4]], maximum: 199) == [.fault(.messageTooBig(limit: 199))])
        #expect(WebSocketOutcome.run([bytes[..<4]], maximum: 200) == [])
    }

    @Test("Another limit holds from the next byte on")
    func changed() throws {
        var reader = WebSocketReader(.client, maximumMessageSize: 2)
        let bytes = WireFrame.text("abc", fin: false) + WireFrame.more("", fin: true)
        reader.maximumMessageSize = 3
        var offset = 0
        let begun = Array(bytes[..<5])
        var event = try reader.next(begun.span.bytes, offset: &offset)
        #expect(event == .needMore)
        reader.maximumMessageSize = -4
        let limit = reader.maximumMessageSize
        #expect(limit == 0)
        var fault: WebSocketFault?
        do throws(WebSocketFault) {
            offset = 5
            event = try reader.next(bytes.span.bytes, offset: &offset)
        } catch {
            fault = error
        }
        #expect(fault == .messageTooBig(limit: 0))
    }
}
