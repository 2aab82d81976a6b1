// The course of web sockets as tables of events and actions.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite("Web socket machine")
struct WebSocketMachineTests: WebSocketTable {
    // MARK: Sending

    @Test("R6455 §4: what is asked for before the handshake is done is kept, and then done in order")
    func queued() {
        var machine = WebSocketMachine()
        machine.send(text("a"), call(1))
        machine.ping(call(2))
        machine.receive(call(3))
        machine.send(text("b"), call(4))
        #expect(!machine.wantsToRead && machine.nextDeadline == nil)
        expect(&machine, [])
        machine.opened()
        #expect(machine.wantsToRead)
        expect(&machine, [.write(.message(text("a")))])
        machine.written()
        expect(&machine, [.complete(call(1)), .write(.ping(ping(1)))])
        machine.written()
        expect(&machine, [.write(.message(text("b")))])
        machine.received(text("c"))
        expect(&machine, [.deliver(text("c"), to: call(3))])
        machine.written()
        expect(&machine, [.complete(call(4))])
    }

    @Test("A send is complete when the kernel has its frame, not before, and one frame is written at a time")
    func sends() {
        var machine = opened()
        for number in 1...3 { machine.send(text("\(number)"), call(number)) }
        for number in 1...3 {
            expect(&machine, (number > 1 ? [.complete(call(number - 1))] : []) + [.write(.message(text("\(number)")))])
            machine.written()
        }
        expect(&machine, [.complete(call(3))])
        machine.written()
        expect(&machine, [])
    }

    // MARK: Receiving

    @Test("B15.14: each call gets one message in order, whether calls or messages come first")
    func receives() {
        var machine = opened()
        machine.receive(call(1))
        machine.receive(call(2))
        machine.received(text("a"))
        expect(&machine, [.deliver(text("a"), to: call(1))])
        machine.received(text("b"))
        machine.received(text("c"))
        machine.received(text("d"))
        expect(&machine, [.deliver(text("b"), to: call(2))])
        machine.receive(call(3))
        machine.receive(call(4))
        machine.receive(call(5))
        expect(&machine, [.deliver(text("c"), to: call(3)), .deliver(text("d"), to: call(4))])
        machine.received(WebSocketMessage(.binary, []))
        expect(&machine, [.deliver(WebSocketMessage(.binary, []), to: call(5))])
    }

    @Test("B15.14: reading stops while messages lie there that no call has asked for, and a call lets it go on")
    func backPressure() {
        var machine = opened()
        let large = WebSocketMessage(.binary, [UInt8](repeating: 1, count: 40_000))
        machine.received(large)
        #expect(machine.wantsToRead)
        machine.received(large)
        #expect(!machine.wantsToRead)
        machine.receive(call(1))
        #expect(machine.wantsToRead)
        expect(&machine, [.deliver(large, to: call(1))])
        // Empty messages cost something as well.
        machine = opened()
        var count = 0
        while machine.wantsToRead, count < 5000 {
            machine.received(text(""))
            count += 1
        }
        #expect(count == 1024)
        #expect(machine.nextDeadline == nil)
    }

    @Test("A suspended task neither reads nor delivers")
    func suspended() {
        var machine = opened()
        machine.received(text("a"))
        machine.suspend()
        machine.receive(call(1))
        machine.receive(call(2))
        machine.received(text("b"))
        expect(&machine, [])
        #expect(!machine.wantsToRead)
        machine.resume()
        expect(&machine, [.deliver(text("a"), to: call(1)), .deliver(text("b"), to: call(2))])
        #expect(machine.wantsToRead)
    }

    // MARK: Pings

    @Test("B15.21, B15.23: pings carry a count, pongs end them in order, and a later pong ends the earlier ones")
    func pings() {
        var machine = opened()
        for number in 1...4 {
            machine.ping(call(number))
            expect(&machine, [.write(.ping(ping(UInt8(number))))])
            machine.written()
        }
        machine.receivedPong(ping(1))
        expect(&machine, [.complete(call(1))])
        machine.receivedPong(ping(3))
        expect(&machine, [.complete(call(2)), .complete(call(3))])
        machine.receivedPong(ping(2))
        machine.receivedPong(ping(3))
        expect(&machine, [])
        machine.receivedPong(ping(4))
        expect(&machine, [.complete(call(4))])
    }

    @Test("B15.22: pongs without a ping of ours mean nothing")
    func unsolicited() {
        var machine = opened()
        machine.receivedPong(ping(1))
        machine.ping(call(1))
        expect(&machine, [.write(.ping(ping(1)))])
        for payload in [[], [1], ping(0), ping(2), [UInt8](repeating: 0xFF, count: 8), ping(1) + [0]] {
            machine.receivedPong(payload)
        }
        expect(&machine, [])
        machine.receivedPong(ping(1))
        expect(&machine, [.complete(call(1))])
    }

    @Test(
        "B15.22: a pong repeats the bytes of its ping and goes before waiting messages; of several pings the last counts"
    )
    func pongs() {
        var machine = opened()
        machine.receivedPing([1, 2])
        expect(&machine, [.write(.pong([1, 2]))])
        machine.written()
        machine.send(text("a"), call(1))
        machine.send(text("b"), call(2))
        machine.receivedPing([3])
        machine.receivedPing([4])
        expect(&machine, [.write(.message(text("a")))])
        machine.written()
        expect(&machine, [.complete(call(1)), .write(.pong([4]))])
        machine.written()
        expect(&machine, [.write(.message(text("b")))])
    }

    @Test("R6455 §5: a web socket that only waits has no deadline, and time alone does nothing")
    func waiting() {
        var machine = opened()
        machine.receive(call(1))
        #expect(machine.nextDeadline == nil && machine.wantsToRead)
        machine.deadlinePassed(now: now + .seconds(1_000_000))
        expect(&machine, [])
        machine.received(text("a"))
        expect(&machine, [.deliver(text("a"), to: call(1))])
    }
}
