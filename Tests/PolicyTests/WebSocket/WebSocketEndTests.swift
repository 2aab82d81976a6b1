// How web sockets end, as tables of events and actions.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite("Web sockets at their end")
struct WebSocketEndTests: WebSocketTable {
    private func close(_ code: Int, _ reason: String? = nil) -> WebSocketClose {
        WebSocketClose(code: code, reason: reason.map { Array($0.utf8) })
    }

    // MARK: Our goodbye

    @Test("R6455 §7.1.2: our close frame goes out after the messages before it; the peer's answer ends the web socket")
    func goodbye() {
        var machine = opened()
        machine.receive(call(1))
        machine.receive(call(7))
        machine.send(text("a"), call(2))
        machine.send(text("b"), call(3))
        machine.close(close(1000, "bye"), now: now)
        machine.send(text("c"), call(4))
        machine.ping(call(5))
        expect(&machine, [.write(.message(text("a"))), .fail(call(4), .closed), .fail(call(5), .closed)])
        machine.written()
        expect(&machine, [.complete(call(2)), .write(.message(text("b")))])
        machine.written()
        expect(&machine, [.complete(call(3)), .write(.close(close(1000, "bye")))])
        #expect(machine.nextDeadline == now + .seconds(5) && machine.close == nil)
        machine.written()
        // A message that still comes from the peer is delivered, or dropped where no call waits for one.
        machine.received(text("d"))
        expect(&machine, [.deliver(text("d"), to: call(1))])
        machine.receive(call(6))
        expect(&machine, [.fail(call(6), .closed)])
        // No pong after goodbye.
        machine.receivedPing([1])
        expect(&machine, [])
        machine.receivedClose(close(1001, "too"), now: now)
        expect(&machine, [.fail(call(7), .closed), .end(.closed)])
        #expect(machine.close == close(1001, "too") && machine.nextDeadline == nil && !machine.wantsToRead)
    }

    @Test("R6455 §7.1.1: a peer has five seconds to answer our close frame; the end of its connection is an answer too")
    func goodbyeUnanswered() {
        var machine = opened()
        machine.close(close(4000, "x"), now: now)
        expect(&machine, [.write(.close(close(4000, "x")))])
        machine.written()
        machine.deadlinePassed(now: now + .seconds(4))
        expect(&machine, [])
        machine.deadlinePassed(now: now + .seconds(5))
        expect(&machine, [.end(.closed)])
        #expect(machine.close == close(4000, "x"))

        machine = opened()
        machine.close(close(4000), now: now)
        machine.written()
        expect(&machine, [.write(.close(close(4000)))])
        machine.connectionEnded()
        expect(&machine, [.end(.closed)])
        #expect(machine.close == close(4000))

        // Before it was written it was not said.
        machine = opened()
        machine.send(text("a"), call(1))
        machine.close(close(4000), now: now)
        machine.connectionEnded()
        expect(&machine, [.write(.message(text("a"))), .fail(call(1), .lost), .end(.lost)])
        #expect(machine.close == nil)
    }

    @Test("R6455 §7.1.5: when both sides close at once, the peer's code is told, and our close frame still goes out")
    func goodbyeFromBoth() {
        var machine = opened()
        machine.send(text("a"), call(1))
        machine.close(close(4000), now: now)
        machine.receivedClose(close(4001), now: now + .seconds(1))
        expect(&machine, [.write(.message(text("a")))])
        #expect(machine.nextDeadline == now + .seconds(5))
        machine.written()
        expect(&machine, [.complete(call(1)), .write(.close(close(4000)))])
        machine.written()
        expect(&machine, [.end(.closed)])
        #expect(machine.close == close(4001))
    }

    @Test("After our close frame, messages that no call waits for are dropped, so that the peer's close frame is found")
    func goodbyeBehindMessages() {
        var machine = opened()
        let large = WebSocketMessage(.binary, [UInt8](repeating: 1, count: 70_000))
        machine.received(large)
        #expect(!machine.wantsToRead)
        machine.close(close(1000), now: now)
        machine.written()
        #expect(machine.wantsToRead)
        machine.received(text("dropped"))
        #expect(machine.wantsToRead)
        machine.receive(call(1))
        machine.receive(call(2))
        expect(&machine, [.write(.close(close(1000))), .deliver(large, to: call(1)), .fail(call(2), .closed)])
        machine.receivedClose(close(1000), now: now)
        expect(&machine, [.end(.closed)])
        #expect(machine.close == close(1000))
    }

    @Test("A second close sends nothing, and a close before the handshake is a cancellation")
    func goodbyeTwice() {
        var machine = opened()
        machine.close(close(4000), now: now)
        machine.close(close(4001), now: now + .seconds(3))
        expect(&machine, [.write(.close(close(4000)))])
        #expect(machine.nextDeadline == now + .seconds(5))
        machine = WebSocketMachine()
        machine.send(text("a"), call(1))
        machine.close(close(4000), now: now)
        expect(&machine, [.fail(call(1), .cancelled), .end(.cancelled)])
    }

    // MARK: Theirs

    @Test("R6455 §5.5.1: a close frame is answered with its code and reason, then told; nothing is sent after it")
    func answered() {
        for theirs in [close(1000), close(4999, "é"), .withoutCode] {
            var machine = opened()
            machine.receive(call(1))
            machine.send(text("a"), call(2))
            machine.send(text("b"), call(3))
            machine.ping(call(4))
            machine.receivedClose(theirs, now: now)
            expect(&machine, [.write(.message(text("a")))])
            #expect(!machine.wantsToRead && machine.nextDeadline == now + .seconds(5))
            machine.send(text("c"), call(5))
            machine.receive(call(6))
            expect(&machine, [.fail(call(5), .closed), .fail(call(6), .closed)])
            machine.written()
            expect(&machine, [.complete(call(2)), .write(.close(theirs))])
            machine.written()
            expect(
                &machine,
                [
                    .fail(call(3), .closed), .fail(call(4), .closed), .fail(call(1), .closed), .end(.closed),
                ])
            #expect(machine.close == theirs)
        }
    }

    @Test("A peer that does not read our answer is not waited for longer than five seconds")
    func answerStuck() {
        var machine = opened()
        machine.receivedClose(close(1001), now: now)
        expect(&machine, [.write(.close(close(1001)))])
        machine.deadlinePassed(now: now + .milliseconds(4999))
        expect(&machine, [])
        machine.deadlinePassed(now: now + .seconds(5))
        expect(&machine, [.end(.closed)])
        #expect(machine.close == close(1001))
        machine.written()
        expect(&machine, [])

        machine = opened()
        machine.receivedClose(close(1001), now: now)
        machine.connectionEnded()
        expect(&machine, [.write(.close(close(1001))), .end(.closed)])
        #expect(machine.close == close(1001))
    }

    @Test("What came before the end is still given out after it, but for a cancellation")
    func leftOvers() {
        var machine = opened()
        machine.received(text("a"))
        machine.received(text("b"))
        machine.received(text("c"))
        machine.receivedClose(close(1000), now: now)
        machine.receive(call(1))
        expect(&machine, [.write(.close(close(1000))), .deliver(text("a"), to: call(1))])
        machine.written()
        machine.receive(call(2))
        machine.receive(call(3))
        machine.receive(call(4))
        expect(
            &machine,
            [
                .end(.closed), .deliver(text("b"), to: call(2)),
                .deliver(text("c"), to: call(3)),
                .fail(call(4), .closed),
            ])
        machine = opened()
        machine.received(text("a"))
        machine.cancel()
        machine.receive(call(1))
        expect(&machine, [.write(.close(.withoutCode)), .end(.cancelled), .fail(call(1), .cancelled)])
    }

    // MARK: Other ends

    @Test("R6455 §7.1.7: a fault fails all calls, is told to the peer by its code, and ends it without a close")
    func faults() {
        for (fault, code) in [
            (WebSocketFault.reservedBit, 1002), (.invalidText, 1007), (.messageTooBig(limit: 5), 1009),
            (.outOfMemory, 1011),
        ] {
            var machine = opened()
            machine.receive(call(1))
            machine.send(text("a"), call(2))
            machine.send(text("b"), call(3))
            machine.failed(fault, now: now)
            expect(
                &machine,
                [
                    .write(.message(text("a"))), .fail(call(2), .fault(fault)), .fail(call(3), .fault(fault)),
                    .fail(call(1), .fault(fault)),
                ])
            #expect(!machine.wantsToRead)
            machine.ping(call(4))
            expect(&machine, [.fail(call(4), .fault(fault))])
            machine.written()
            expect(&machine, [.write(.close(close(code)))])
            machine.written()
            expect(&machine, [.end(.fault(fault))])
            #expect(machine.close == nil)
        }
    }

    @Test("A fault after our close frame, or a second fault, changes nothing; a peer that does not answer ends in time")
    func lateFaults() {
        var machine = opened()
        machine.close(close(1000), now: now)
        machine.written()
        expect(&machine, [.write(.close(close(1000)))])
        machine.failed(.reservedBit, now: now)
        expect(&machine, [.end(.closed)])
        #expect(machine.close == close(1000))

        machine = opened()
        machine.failed(.reservedBit, now: now)
        machine.failed(.invalidText, now: now)
        machine.receivedClose(close(1000), now: now)
        expect(&machine, [.write(.close(close(1002)))])
        machine.deadlinePassed(now: now + .seconds(5))
        expect(&machine, [.end(.fault(.reservedBit))])

        machine = WebSocketMachine()
        machine.failed(.reservedBit, now: now)
        expect(&machine, [.end(.fault(.reservedBit))])
    }

    @Test("B15.34: when the connection is lost every call is told, and later ones at once")
    func lost() {
        var machine = opened()
        machine.send(text("a"), call(1))
        machine.send(text("b"), call(2))
        machine.receive(call(3))
        machine.ping(call(4))
        machine.receive(call(5))
        machine.connectionEnded()
        expect(
            &machine,
            [
                .write(.message(text("a"))), .fail(call(1), .lost), .fail(call(2), .lost), .fail(call(4), .lost),
                .fail(call(3), .lost), .fail(call(5), .lost), .end(.lost),
            ])
        #expect(machine.close == nil)
        machine.send(text("c"), call(6))
        machine.receive(call(7))
        machine.ping(call(8))
        machine.written()
        machine.cancel()
        machine.connectionEnded()
        machine.close(close(1000), now: now)
        machine.opened()
        expect(&machine, [.fail(call(6), .lost), .fail(call(7), .lost), .fail(call(8), .lost)])
    }

    @Test("R6455 §7.2: a cancellation sends one close frame, if no other frame is under way, and waits for nothing")
    func cancelled() {
        var machine = opened()
        machine.receive(call(1))
        machine.ping(call(2))
        machine.written()
        machine.cancel()
        expect(
            &machine,
            [
                .write(.ping(ping(1))), .write(.close(.withoutCode)), .fail(call(2), .cancelled),
                .fail(call(1), .cancelled),
                .end(.cancelled),
            ])
        machine = opened()
        machine.send(text("a"), call(1))
        machine.cancel()
        expect(&machine, [.write(.message(text("a"))), .fail(call(1), .cancelled), .end(.cancelled)])
        machine = opened()
        machine.close(close(1000), now: now)
        machine.written()
        machine.cancel()
        expect(&machine, [.write(.close(close(1000))), .end(.cancelled)])
        #expect(machine.close == nil)
        machine = WebSocketMachine()
        machine.receive(call(1))
        machine.cancel()
        expect(&machine, [.fail(call(1), .cancelled), .end(.cancelled)])
    }
}
