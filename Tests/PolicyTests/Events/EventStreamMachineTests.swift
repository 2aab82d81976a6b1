// What an answer means for a stream of events, and what follows its end.

import Testing
import URLLoadingPolicy

@Suite struct EventStreamMachineTests {
    @Test("B5.84: 200 with the type is a stream, 204 is the end, everything else is refused")
    func answers() {
        var machine = EventStreamMachine(comesBack: true)
        #expect(machine.answered(status: 200, isEventStream: true) == .read)
        #expect(machine.answered(status: nil, isEventStream: true) == .read)
        #expect(machine.answered(status: 200, isEventStream: false) == .refuseType)
        #expect(machine.answered(status: nil, isEventStream: false) == .refuseType)
        for isEventStream in [true, false] {
            #expect(machine.answered(status: 204, isEventStream: isEventStream) == .end)
            for status in [0, 201, 205, 206, 210, 299, 301, 304, 404, 410, 500, 503] {
                #expect(machine.answered(status: status, isEventStream: isEventStream) == .refuseStatus)
            }
        }
    }

    @Test("B5.85: a stream that has ended is asked for again after the reconnection time, at least 100 ms")
    func endings() {
        var machine = EventStreamMachine(comesBack: true)
        let waits: [(Int64, Int64)] = [(100, 100), (3000, 3000), (.max, .max), (99, 100), (0, 100), (-1, 100)]
        for (time, wait) in waits {
            _ = machine.answered(status: 200, isEventStream: true)
            machine.received()
            #expect(machine.ended(reconnectionTime: time, random: 77) == .askAgain(after: wait))
        }
    }

    @Test("B5.86: after failures in a row the waits double up to a minute, each less up to a quarter")
    func failures() {
        var machine = EventStreamMachine(comesBack: true)
        for wait in [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000] as [Int64] {
            #expect(machine.failed(code: -1004, reconnectionTime: 1000, random: 0) == .askAgain(after: wait))
        }
        #expect(machine.failed(code: -1004, reconnectionTime: 1000, random: 15_000) == .askAgain(after: 45_000))
        // An answer alone is no success, bytes of it are.
        _ = machine.answered(status: 200, isEventStream: true)
        #expect(machine.failed(code: -1005, reconnectionTime: 1000, random: 0) == .askAgain(after: 60_000))
        machine.received()
        #expect(machine.failed(code: -1005, reconnectionTime: 1000, random: 0) == .askAgain(after: 2000))
    }

    @Test("B5.86: a reconnection time above a minute is kept, and one near zero grows with each failure")
    func limits() {
        var machine = EventStreamMachine(comesBack: true)
        for _ in 0..<1000 {
            #expect(machine.failed(code: -1001, reconnectionTime: 90_000, random: 0) == .askAgain(after: 90_000))
            #expect(machine.failed(code: -1001, reconnectionTime: .max, random: 0) == .askAgain(after: .max))
        }
        machine.received()
        #expect(machine.failed(code: -1001, reconnectionTime: 0, random: 0) == .askAgain(after: 200))
        #expect(machine.failed(code: -1001, reconnectionTime: .min, random: 0) == .askAgain(after: 400))
    }

    @Test("B5.86: a stream that ends without a byte counts as a failure")
    func empty() {
        var machine = EventStreamMachine(comesBack: true)
        _ = machine.answered(status: 200, isEventStream: true)
        machine.received()
        #expect(machine.ended(reconnectionTime: 0, random: 0) == .askAgain(after: 100))
        for wait in [200, 400, 800] as [Int64] {
            _ = machine.answered(status: 200, isEventStream: true)
            #expect(machine.ended(reconnectionTime: 0, random: 0) == .askAgain(after: wait))
        }
    }

    @Test(
        "B5.86: a failure that does not pass ends the stream of events",
        arguments: [0, -999, -1000, -1002, -1011, -1017, -1200, -1202])
    func lastingFailures(code: Int64) {
        var machine = EventStreamMachine(comesBack: true)
        #expect(machine.failed(code: code, reconnectionTime: 0, random: 0) == .over)
    }

    @Test(
        "B5.86: a compressed stream of which something has come is cut off; one that cannot be read from the first byte on is over"
    )
    func brokenCoding() {
        var machine = EventStreamMachine(comesBack: true)
        _ = machine.answered(status: 200, isEventStream: true)
        machine.received()
        #expect(machine.failed(code: -1015, reconnectionTime: 1000, random: 0) == .askAgain(after: 2000))
        _ = machine.answered(status: 200, isEventStream: true)
        #expect(machine.failed(code: -1015, reconnectionTime: 1000, random: 0) == .over)
    }

    @Test("B5.87: a stream that is not to be asked for again is over with its answer, and with any failure")
    func once() {
        var machine = EventStreamMachine(comesBack: false)
        #expect(machine.failed(code: -1005, reconnectionTime: 0, random: 0) == .over)
        #expect(machine.answered(status: 200, isEventStream: true) == .read)
        machine.received()
        #expect(machine.ended(reconnectionTime: 0, random: 0) == .over)
    }
}
