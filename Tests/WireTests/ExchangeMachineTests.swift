// The course of exchanges as event tables: what each order of events leaves of a connection.

import Testing
import URLLoadingWire

@Suite("ExchangeMachine")
struct ExchangeMachineTests {
    private enum Event {
        case head(keepAlive: Bool = true)
        case bodySent
        case response(Int = 200, HTTPVersion = .http11, [(String, String)] = [], BodyFraming = .length(0))
        case ended
        case peerClosed
        case failed
        case switched
        case next
    }

    private func machine(_ events: [Event]) -> ExchangeMachine {
        var machine = ExchangeMachine()
        for event in events {
            switch event {
            case .head(let keepAlive): machine.requestHeadSent(keepAliveAllowed: keepAlive)
            case .bodySent: machine.requestBodyFinished()
            case .response(let status, let version, let pairs, let framing):
                var fields = Fields()
                for (name, value) in pairs { fields.append(name, value) }
                let head = ResponseHead(status: status, version: version, fields: fields)
                machine.responseHead(head, framing: framing, persistence: Persistence(head))
            case .ended: machine.responseEnded()
            case .peerClosed: machine.peerClosed()
            case .failed: machine.failed()
            case .switched: machine.switched()
            case .next: machine.nextExchange()
            }
        }
        return machine
    }

    private func state(_ events: Event...) -> ExchangeMachine.State { machine(events).state }
    private func canReuse(_ events: Event...) -> Bool { machine(events).canReuse }

    @Test("B16.4: HTTP/1.1 persists unless a side says close")
    func http11() {
        #expect(state() == .idle)
        #expect(state(.head()) == .active)
        #expect(state(.head(), .bodySent) == .active)
        #expect(state(.head(), .bodySent, .response()) == .active)
        #expect(state(.head(), .bodySent, .response(), .ended) == .reusable)
        #expect(state(.head(keepAlive: false), .bodySent, .response(), .ended) == .mustClose)
        #expect(!canReuse(.head(), .bodySent, .response(200, .http11, [("Connection", "close")]), .ended))
        #expect(!canReuse(.head(), .bodySent, .response(200, .http11, [("connection", "x, CLOSE")]), .ended))
    }

    @Test("B16.4: HTTP/1.0 persists only with keep-alive")
    func http10() {
        #expect(!canReuse(.head(), .bodySent, .response(200, .http10), .ended))
        #expect(canReuse(.head(), .bodySent, .response(200, .http10, [("Connection", "keep-alive")]), .ended))
        #expect(canReuse(.head(), .bodySent, .response(200, .http10, [("Connection", "a, Keep-Alive")]), .ended))
    }

    @Test("B16.4: a reusable connection goes through exchange after exchange")
    func exchangeAfterExchange() {
        let exchange: [Event] = [.head(), .bodySent, .response(), .ended]
        #expect(machine(exchange + [.next]).state == .idle)
        #expect(machine(exchange + [.next] + exchange).state == .reusable)
        #expect(machine(exchange + [.next] + exchange + [.next] + exchange).canReuse == true)
        let last: [Event] = [.head(keepAlive: false), .bodySent, .response(), .ended]
        #expect(machine(exchange + [.next] + last).state == .mustClose)
        #expect(machine(last + [.next]).state == .mustClose)
        #expect(machine([.next]).state == .idle)
    }

    @Test("B16.5: not reusable after a close-delimited body")
    func closeDelimited() {
        #expect(!canReuse(.head(), .bodySent, .response(200, .http11, [], .untilClose), .ended))
    }

    @Test("B16.5, B16.31, B16.33: not reusable after doubtful framing")
    func doubtfulFraming() {
        let both = [("Transfer-Encoding", "chunked"), ("Content-Length", "1")]
        #expect(!canReuse(.head(), .bodySent, .response(200, .http11, both, .chunked), .ended))
        let old = [("Transfer-Encoding", "chunked"), ("Connection", "keep-alive")]
        #expect(!canReuse(.head(), .bodySent, .response(200, .http10, old, .chunked), .ended))
        #expect(
            canReuse(.head(), .bodySent, .response(200, .http11, [("Transfer-Encoding", "chunked")], .chunked), .ended))
    }

    @Test("B16.5: not reusable with an unread body, nor before the head has come")
    func unreadBody() {
        #expect(!canReuse(.head(), .bodySent, .response(200, .http11, [], .length(5))))
        #expect(!canReuse(.head(), .bodySent))
        #expect(!canReuse(.head(), .bodySent, .response(), .failed))
    }

    @Test("B16.5: not reusable while the upload is not completely sent")
    func unfinishedUpload() {
        #expect(state(.head(), .response(413), .ended) == .active)
        #expect(!canReuse(.head(), .response(413), .ended))
        #expect(canReuse(.head(), .response(413), .ended, .bodySent))
        #expect(canReuse(.head(), .response(200), .bodySent, .ended))
    }

    @Test("B16.5, B16.9, B16.39: not reusable after a failure or bytes that belong to no response")
    func failed() {
        #expect(!canReuse(.failed))
        #expect(!canReuse(.head(), .failed))
        #expect(!canReuse(.head(), .bodySent, .response(), .ended, .failed))
    }

    @Test("B16.6: a peer that closed is noticed in every state")
    func peerClosed() {
        #expect(state(.peerClosed) == .mustClose)
        #expect(state(.head(), .peerClosed) == .mustClose)
        #expect(state(.head(), .bodySent, .response(), .ended, .peerClosed) == .mustClose)
        #expect(state(.head(), .bodySent, .response(200, .http11, [], .untilClose), .peerClosed, .ended) == .mustClose)
        #expect(state(.switched, .peerClosed, .switched) == .mustClose)
    }

    @Test("B11.18: informational responses change nothing")
    func informational() {
        #expect(state(.head(), .response(100), .response(103)) == .active)
        #expect(canReuse(.head(), .response(100), .bodySent, .response(), .ended))
    }

    @Test("B16.63: a switch of protocols takes the connection away")
    func switched() {
        #expect(state(.head(), .bodySent, .response(101, .http11, [], .none)) == .switched)
        #expect(state(.head(), .bodySent, .response(200), .switched) == .switched)
        #expect(!canReuse(.head(), .bodySent, .response(200), .switched))
    }

    @Test("R9112 §9: an event out of order makes the connection unusable")
    func outOfOrder() {
        #expect(state(.bodySent) == .mustClose)
        #expect(state(.response()) == .mustClose)
        #expect(state(.ended) == .mustClose)
        #expect(state(.head(), .head()) == .mustClose)
        #expect(state(.head(), .bodySent, .bodySent) == .mustClose)
        #expect(state(.head(), .bodySent, .ended) == .mustClose)
        #expect(state(.head(), .bodySent, .response(), .response()) == .mustClose)
        #expect(state(.head(), .bodySent, .response(), .ended, .head()) == .mustClose)
        #expect(state(.head(), .next) == .mustClose)
    }

    @Test(
        "B16.6: Keep-Alive says how long an idle connection lives",
        arguments: [
            ([], nil),
            ([("Keep-Alive", "timeout=5, max=100")], Duration.seconds(5)),
            ([("Keep-Alive", "max=100, Timeout = 15")], .seconds(15)),
            ([("Keep-Alive", "timeout=0")], .zero),
            ([("Keep-Alive", "timeout=30"), ("Keep-Alive", "timeout=20")], .seconds(20)),
            ([("Keep-Alive", "timeout=99999999999999999999")], nil),
            ([("Keep-Alive", "timeout=9223372036854775807")], .seconds(31_536_000)),
            ([("Keep-Alive", "timeout=-1")], nil),
            ([("Keep-Alive", "timeout")], nil),
            ([("Keep-Alive", "timeouts=3, =4, 5")], nil),
        ] as [([(String, String)], Duration?)])
    func keepAlive(fields: [(String, String)], expected: Duration?) {
        let machine = machine([.head(), .bodySent, .response(200, .http11, fields), .ended])
        #expect(machine.keepAliveTimeout == expected)
    }
}
