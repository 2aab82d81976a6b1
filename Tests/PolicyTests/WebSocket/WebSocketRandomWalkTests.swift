// Two machines, joined by two lines that deliver at random moments, and every kind of call and mishap in any order.
// What must hold: each call is answered once, messages arrive whole and in order, one frame is written at a time,
// nothing follows a close frame, and a web socket that was asked to end does.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite("Web socket machines talking to each other")
struct WebSocketRandomWalkTests {
    /// One end with its driver, and books of its own.
    private struct End {
        var machine = WebSocketMachine()
        var isWriting = false
        var sent: [WebSocketFrame] = []
        /// Frames whose last byte the kernel has, not yet seen by the peer.
        var wire: [WebSocketFrame] = []
        var pending: WebSocketFrame?
        var openCalls: Set<Int> = []
        var nextCall = 0
        var messagesSent: [WebSocketMessage] = []
        var messagesReceived: [WebSocketMessage] = []
        var ends: [WebSocketEnd] = []
        var complaints: [String] = []

        mutating func newCall() -> WebSocketCall {
            nextCall += 1
            openCalls.insert(nextCall)
            return WebSocketCall(nextCall)
        }

        mutating func answered(_ call: WebSocketCall) {
            if openCalls.remove(call.number) == nil { complaints.append("call \(call.number) is answered twice") }
        }

        mutating func settle() {
            while let action = machine.nextAction() {
                switch action {
                case .write(let frame): write(frame)
                case .deliver(let message, let call):
                    answered(call)
                    messagesReceived.append(message)
                case .complete(let call), .fail(let call, _): answered(call)
                case .end(let end):
                    if !ends.isEmpty { complaints.append("ends twice") }
                    ends.append(end)
                }
            }
        }

        mutating func write(_ frame: WebSocketFrame) {
            if pending != nil { complaints.append("two frames at a time") }
            if sent.last?.opcode == .close { complaints.append("\(frame.opcode) behind a close frame") }
            if !ends.isEmpty { complaints.append("written after the end") }
            if frame.opcode.isControl, frame.payload.count > 125 { complaints.append("a long control frame") }
            sent.append(frame)
            pending = frame
        }

        mutating func flush() {
            guard let frame = pending else { return }
            pending = nil
            wire.append(frame)
            machine.written()
            settle()
        }

        mutating func receive(_ frame: WebSocketFrame, now: Duration) {
            switch frame {
            case .message(let message): machine.received(message)
            case .ping(let payload): machine.receivedPing(payload)
            case .pong(let payload): machine.receivedPong(payload)
            case .close(let close): machine.receivedClose(close, now: now)
            }
            settle()
        }
    }

    private func act(_ end: inout End, _ random: inout SeededRandom, now: Duration) {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<35:
            let bytes = [UInt8](
                repeating: UInt8(end.messagesSent.count & 0xFF), count: Int.random(in: 0...30_000, using: &random))
            let message = WebSocketMessage(.binary, bytes)
            end.machine.send(message, end.newCall())
            end.messagesSent.append(message)
        case 35..<70: end.machine.receive(end.newCall())
        case 70..<90: end.machine.ping(end.newCall())
        case 90..<94: end.machine.suspend()
        case 94..<98: end.machine.resume()
        case 98: end.machine.close(WebSocketClose(code: 4000), now: now)
        default:
            if random.chance(30) { end.machine.cancel() } else { end.machine.failed(.reservedBit, now: now) }
        }
        end.settle()
    }

    @Test("B15.14, B15.34: nothing is lost, doubled or out of order", arguments: 0..<60)
    func walk(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var ends = [End(), End()]
        var now = Duration.zero
        for _ in 0..<400 {
            let side = Int.random(in: 0...1, using: &random)
            now += .milliseconds(Int.random(in: 0...50, using: &random))
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<5:
                ends[side].machine.opened()
                ends[side].settle()
            case 5..<30: act(&ends[side], &random, now: now)
            case 30..<65: ends[side].flush()
            default:
                guard ends[side].machine.wantsToRead else { break }
                if ends[1 - side].wire.isEmpty {
                    // Nothing comes any more from one that has ended.
                    if !ends[1 - side].ends.isEmpty { ends[side].machine.connectionEnded() }
                    ends[side].settle()
                } else {
                    ends[side].receive(ends[1 - side].wire.removeFirst(), now: now)
                }
            }
            if let deadline = ends[side].machine.nextDeadline, deadline <= now {
                ends[side].machine.deadlinePassed(now: now)
                ends[side].settle()
            }
        }
        for side in 0...1 {
            // Either says goodbye, and gets no answer.
            ends[side].machine.opened()
            ends[side].machine.close(WebSocketClose(code: 1000), now: now)
            ends[side].settle()
            ends[side].machine.deadlinePassed(now: now + .seconds(6))
            ends[side].settle()
            #expect(ends[side].complaints == [], "seed \(seed)")
            #expect(ends[side].openCalls == [], "seed \(seed)")
            #expect(ends[side].ends.count == 1, "seed \(seed)")
            #expect(ends[side].machine.nextDeadline == nil && !ends[side].machine.wantsToRead)
            let received = ends[side].messagesReceived
            #expect(received == Array(ends[1 - side].messagesSent.prefix(received.count)), "seed \(seed)")
        }
    }
}
