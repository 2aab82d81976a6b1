// The blocks and data of a message in their order: which is which, what may not come where, and whether it fits.

import Testing
import URLLoadingWire

@Suite("The order of blocks and data")
struct MessageOrderTests {
    private enum Event {
        case block([(String, String)], end: Bool = false)
        case data(Int, end: Bool = false)
    }

    private func list(_ pairs: [(String, String)]) throws -> HeaderList {
        var reader = HPACKReader()
        _ = try reader.read(pairs.flatMap { Block.literal($0, $1) })
        return reader.decoder.list
    }

    /// What the events of a response are, as text; the fault at the end.
    private func run(_ events: [Event], to request: ExpectedResponse = .toOther) throws -> [String] {
        var order = MessageOrder()
        var said: [String] = []
        do {
            for event in events {
                switch event {
                case .block(let pairs, let end):
                    switch try order.responseBlock(list(pairs), to: request, endsStream: end) {
                    case .informational(let head): said.append("informational \(head.status)")
                    case .head(let head, let framing): said.append("head \(head.status) \(framing)")
                    case .trailers(let fields): said.append("trailers \(fields.texts)")
                    }
                case .data(let count, let end): try order.data(count, endsStream: end)
                }
            }
        } catch let fault as HeaderFault {
            said.append("\(fault)")
        }
        return said
    }

    private func status(_ code: Int, length: String? = nil) -> [(String, String)] {
        [(":status", "\(code)")] + (length.map { [("content-length", $0)] } ?? [])
    }

    @Test("H4.2: 1xx in any number that is borne, then the final head; 101 never")
    func informational() throws {
        #expect(
            try run([.block(status(100)), .block(status(103)), .block(status(200), end: true)])
                == ["informational 100", "informational 103", "head 200 none"])
        #expect(try run([.block(status(101))]) == ["\(HeaderFault.switchingProtocols)"])
        #expect(try run([.block(status(103), end: true)]) == ["\(HeaderFault.endsWithInformational)"])
        #expect(try run([.block(status(103)), .data(1)]) == ["informational 103", "\(HeaderFault.misplacedData)"])
    }

    @Test("H9.6: 32 informational responses, and no more")
    func manyInformational() throws {
        let many = Array(repeating: Event.block(status(103)), count: 32)
        #expect(try run(many + [.block(status(200))]).last == "head 200 untilClose")
        #expect(try run(many + [.block(status(103))]).last == "\(HeaderFault.tooManyInformationalResponses(limit: 32))")
    }

    @Test("H4.6: the body ends with the stream; none for HEAD, 204 and 304, whatever they say about a length")
    func bodies() throws {
        #expect(try run([.block(status(200)), .data(0), .data(5), .data(0, end: true)]) == ["head 200 untilClose"])
        #expect(try run([.block(status(200), end: true)]) == ["head 200 none"])
        for (code, request) in [(200, .toHEAD), (204, .toOther), (304, .toOther)] as [(Int, ExpectedResponse)] {
            #expect(try run([.block(status(code, length: "7"), end: true)], to: request) == ["head \(code) none"])
            #expect(try run([.block(status(code)), .data(0, end: true)], to: request) == ["head \(code) none"])
            #expect(
                try run([.block(status(code)), .data(1)], to: request).last
                    == "\(HeaderFault.lengthMismatch(received: 1, announced: 0))")
        }
    }

    @Test("H4.7: trailers end the stream")
    func trailers() throws {
        #expect(
            try run([.block(status(200)), .data(3), .block([("a", "b")], end: true)])
                == ["head 200 untilClose", "trailers [a: b]"])
        #expect(try run([.block(status(200)), .block([("a", "b")], end: true)]).last == "trailers [a: b]")
    }

    @Test("H4.6: content-length that does not fit the data, at whatever end")
    func lengths() throws {
        func mismatch(_ received: Int64, _ announced: Int64) -> String {
            "\(HeaderFault.lengthMismatch(received: received, announced: announced))"
        }
        #expect(try run([.block(status(200, length: "5")), .data(2), .data(3, end: true)]) == ["head 200 length(5)"])
        #expect(try run([.block(status(200, length: "0"), end: true)]) == ["head 200 none"])
        #expect(try run([.block(status(200, length: "5"), end: true)]) == [mismatch(0, 5)])
        #expect(try run([.block(status(200, length: "5")), .data(4, end: true)]).last == mismatch(4, 5))
        #expect(try run([.block(status(200, length: "5")), .data(6)]).last == mismatch(6, 5))
        #expect(try run([.block(status(200, length: "5")), .data(4), .block([], end: true)]).last == mismatch(4, 5))
        #expect(try run([.block(status(200, length: "5")), .data(5), .block([], end: true)]).last == "trailers []")
        #expect(try run([.block(status(200, length: "-5"))]) == ["\(HeaderFault.malformedContentLength)"])
    }

    @Test("H4.7: blocks and data where none may be")
    func misplaced() throws {
        #expect(try run([.data(1)]) == ["\(HeaderFault.misplacedData)"])
        #expect(try run([.data(0, end: true)]) == ["\(HeaderFault.misplacedData)"])
        #expect(try run([.block(status(200)), .block([("a", "b")])]).last == "\(HeaderFault.trailersWithoutEnd)")
        #expect(
            try run([.block(status(200)), .block(status(200), end: true)]).last == "\(HeaderFault.latePseudoField)")
        #expect(try run([.block(status(200), end: true), .data(1)]).last == "\(HeaderFault.misplacedData)")
        #expect(
            try run([.block(status(200), end: true), .block([], end: true)]).last == "\(HeaderFault.misplacedFields)")
        #expect(try run([.block(status(200)), .block([], end: true), .data(0)]).last == "\(HeaderFault.misplacedData)")
    }

    @Test("H4.6: a request's data as a server counts them")
    func requests() throws {
        let head = [(":method", "POST"), (":scheme", "http"), (":path", "/")]
        var order = MessageOrder()
        let (request, framing) = try order.requestBlock(list(head + [("content-length", "3")]), endsStream: false)
        #expect(request.head.method == "POST")
        #expect(framing == .length(3))
        #expect(order.hasHead)
        try order.data(3, endsStream: false)
        #expect(try order.trailers(list([("a", "b")]), endsStream: true).count == 1)
        #expect(throws: HeaderFault.misplacedFields) { try order.requestBlock(list(head), endsStream: true) }

        var short = MessageOrder()
        #expect(!short.hasHead)
        #expect(throws: HeaderFault.lengthMismatch(received: 0, announced: 3)) {
            try short.requestBlock(list(head + [("content-length", "3")]), endsStream: true)
        }
        var open = MessageOrder()
        #expect(try open.requestBlock(list(head), endsStream: false).1 == .untilClose)
        var none = MessageOrder()
        #expect(try none.requestBlock(list(head), endsStream: true).1 == .none)
    }
}
