// TLS in the middle of a stream, the hand-over of its connection, and the limits of its calls in time.

import Testing
import URLLoadingPolicy

@Suite("Stream machine: TLS, hand-over, time")
struct StreamBarrierTests {
    // MARK: TLS

    @Test("B15.45: TLS waits for the reads and writes before it, and those after it wait for TLS")
    func order() {
        var rig = StreamMachineRig()
        rig.write(2)
        rig.read(3, 3)
        rig.startSecure()
        rig.write(1)
        rig.read(1, 1)
        rig.wrote(2)
        #expect(rig.taken() == ["1: send", "1: written"], "the read is still waiting")
        rig.arrive("220")
        #expect(rig.taken() == ["2: \"220\"", "TLS"])
        #expect(rig.machine.room == 0 && !rig.machine.maySend, "the handshake has the connection to itself")
        rig.secured()
        #expect(rig.taken() == ["3: send"] && rig.machine.isSecure)
        rig.arrive("x")
        rig.wrote(1)
        #expect(rig.taken() == ["4: \"x\"", "3: written"])
    }

    @Test("B15.46: what has come before TLS and was not read is an error, at every place in it", arguments: 1...12)
    func injection(split: Int) {
        let sent = Array("220 go\r\nEVIL".utf8)
        var rig = StreamMachineRig()
        rig.read(8, 8)
        rig.startSecure()
        rig.read()
        rig.arrive(sent[..<split])
        // The driver looks for input once more before it begins with TLS.
        if rig.machine.room > 0 { rig.arrive(sent[split...]) } else { rig.intrude(sent.count - split) }
        #expect(rig.text == "220 go\r\n", "no byte of it is ever read")
        #expect(rig.lines.contains("2: plaintextBeforeTLS") && rig.lines.last == "ended plaintextBeforeTLS")
        #expect(rig.lines.contains("TLS") == (split == 8))
    }

    @Test("B15.45: TLS cannot begin once either direction has ended")
    func tooLate() {
        let ends: [(inout StreamMachineRig) -> Void] = [{ $0.end() }, { $0.closeRead() }, { $0.closeWrite() }]
        for end in ends {
            var rig = StreamMachineRig()
            end(&rig)
            rig.startSecure()
            rig.write()
            #expect(rig.lines.contains("ended closedBeforeTLS") && !rig.lines.contains("TLS"))
        }
    }

    @Test("B15.45: TLS begins at most once")
    func twice() {
        var rig = StreamMachineRig()
        rig.startSecure()
        rig.startSecure()
        rig.write()
        #expect(rig.taken() == ["TLS"])
        rig.secured()
        #expect(rig.taken() == ["1: send"])
    }

    @Test("B15.44: a failed handshake fails all calls")
    func handshakeFails() {
        var rig = StreamMachineRig()
        rig.startSecure()
        rig.read()
        rig.write()
        rig.lose()
        #expect(rig.taken() == ["TLS", "1: lost", "2: lost", "ended lost"])
    }

    // MARK: Connections that were something else before

    @Test("B1.70: bytes that an earlier user of the connection has read ahead come first, however many they are")
    func unread() {
        var rig = StreamMachineRig(connected: false, readAhead: 4)
        rig.read(3, 3)
        rig.takeOver(isSecure: false, unread: "abcdefgh")
        #expect(rig.taken() == ["1: \"abc\""] && rig.machine.room == 0)
        rig.read(6, 6)
        rig.arrive("ij")
        #expect(rig.taken() == ["2: \"defghi\""])
    }

    @Test("B1.70, B15.45: TLS that stands already is not begun again, and nothing in it was unprotected")
    func standingTLS() {
        var rig = StreamMachineRig(connected: false)
        rig.takeOver(isSecure: true, unread: "abc")
        rig.startSecure()
        rig.read(3, 3)
        #expect(rig.taken() == ["1: \"abc\""] && rig.machine.isSecure)
    }

    @Test("B1.70, B15.46: TLS does not begin while plain bytes are unread")
    func plainUnread() {
        var rig = StreamMachineRig(connected: false)
        rig.takeOver(isSecure: false, unread: "abc")
        rig.startSecure()
        #expect(rig.lines.last == "ended plaintextBeforeTLS")
    }

    // MARK: Hand-over

    @Test("B15.51: the connection is handed over behind all that waits, with what has come")
    func capture() {
        var rig = StreamMachineRig()
        rig.read(2, 2)
        rig.write(1)
        rig.capture()
        rig.read()
        rig.write()
        #expect(rig.taken() == ["2: send", "3: captured", "4: captured"])
        rig.arrive("abcde")
        rig.wrote(1)
        #expect(rig.taken() == ["1: \"ab\"", "2: written", "hand over 3"])
        rig.cancel()
        rig.lose()
        rig.pass(.seconds(1000))
        #expect(rig.taken() == [], "nothing is told any more")
    }

    @Test("B15.51: the hand-over waits for TLS")
    func captureSecure() {
        var rig = StreamMachineRig()
        rig.startSecure()
        rig.capture()
        #expect(rig.taken() == ["TLS"])
        rig.secured()
        #expect(rig.taken() == ["hand over 0"])
    }

    @Test("B15.51: a connection that has failed is handed over with what has come before", arguments: [true, false])
    func captureBroken(isCapturedBefore: Bool) {
        var rig = StreamMachineRig()
        rig.write(1)
        if isCapturedBefore { rig.capture() }
        rig.arrive("abc")
        rig.readFails()
        if !isCapturedBefore { rig.capture() }
        #expect(rig.taken() == ["1: send", "1: lost", "hand over 3 ended"])
        rig = StreamMachineRig()
        rig.write(1)
        rig.capture()
        rig.readFails()
        #expect(rig.taken() == ["1: send", "1: lost", "ended lost"], "nothing has come")
    }

    @Test("B15.51: a connection whose peer has finished is handed over too")
    func captureEnded() {
        var rig = StreamMachineRig()
        rig.arrive("abc")
        rig.end()
        rig.capture()
        #expect(rig.taken() == ["read closed", "hand over 3 ended"])
    }

    // MARK: Time

    @Test("B15.41, B6.12: a read that takes too long fails, and all after it; writes go on")
    func readTimeout() {
        var rig = StreamMachineRig()
        rig.read(timeout: .seconds(5))
        rig.read()
        rig.write(2)
        #expect(rig.machine.deadline == .seconds(5))
        rig.pass(.seconds(4))
        #expect(rig.taken() == ["3: send"])
        rig.pass(.seconds(1))
        #expect(rig.taken() == ["1: timedOut", "2: timedOut"])
        rig.read()
        rig.wrote(2)
        #expect(rig.taken() == ["4: timedOut", "3: written"])
        rig.closeWrite()
        #expect(rig.taken() == ["finish", "write closed", "ended timedOut"])
    }

    @Test("B15.42, B6.12: a write that takes too long fails, and all after it; reads go on")
    func writeTimeout() {
        var rig = StreamMachineRig()
        rig.write(9, timeout: .seconds(5))
        rig.write(1)
        rig.wrote(3)
        rig.pass(.seconds(5))
        #expect(rig.taken() == ["1: send", "1: timedOut", "2: timedOut"])
        rig.read()
        rig.arrive("a")
        rig.write(1)
        #expect(rig.taken() == ["3: \"a\"", "4: timedOut"])
    }

    @Test("B6.12: the time of a call runs from when it is the first of its kind; 0 means no limit")
    func clocks() {
        var rig = StreamMachineRig(connected: false)
        rig.read(timeout: .zero)
        rig.read(timeout: .seconds(5))
        rig.pass(.seconds(1000))
        #expect(rig.taken() == [] && rig.machine.deadline == nil)
        rig.connect()
        rig.arrive("a")
        #expect(rig.machine.deadline == rig.now + .seconds(5))
        rig.pass(.seconds(5))
        #expect(rig.taken() == ["1: \"a\"", "2: timedOut"])
    }

    @Test("B6.12: the time of a call runs while the connection is opened and while TLS is set up")
    func clockBeforeIO() {
        var rig = StreamMachineRig(connected: false)
        rig.write(timeout: .seconds(3))
        rig.pass(.seconds(3))
        #expect(rig.taken() == ["1: timedOut"])
        rig = StreamMachineRig()
        rig.startSecure()
        rig.read(timeout: .seconds(3))
        rig.pass(.seconds(3))
        #expect(rig.taken() == ["TLS", "1: timedOut"])
    }

    @Test(
        "B15.41: when reads and writes have both timed out the task fails, also before the connection, or TLS, stands",
        arguments: [true, false])
    func bothTimedOutBeforeIO(isConnected: Bool) {
        let begun = isConnected ? ["TLS"] : []
        var rig = StreamMachineRig(connected: isConnected)
        rig.startSecure()
        rig.read(timeout: .seconds(3))
        rig.write(timeout: .seconds(2))
        rig.pass(.seconds(2))
        #expect(rig.taken() == begun + ["2: timedOut"])
        rig.pass(.seconds(1))
        #expect(rig.taken() == ["1: timedOut", "ended timedOut"])
        #expect(rig.machine.deadline == nil)
        rig = StreamMachineRig(connected: isConnected)
        rig.startSecure()
        rig.read(timeout: .seconds(3))
        rig.closeRead()
        rig.write(timeout: .seconds(2))
        rig.pass(.seconds(2))
        #expect(rig.taken() == begun + ["2: timedOut"], "the read waits yet")
        rig.pass(.seconds(1))
        #expect(rig.taken() == ["1: timedOut", "ended timedOut"])
        rig = StreamMachineRig(connected: isConnected)
        rig.startSecure()
        rig.closeRead()
        rig.write(timeout: .seconds(2))
        rig.pass(.seconds(2))
        #expect(rig.taken() == begun + ["1: timedOut", "ended timedOut"], "no read can come")
    }

    @Test("B6.9, B6.12: the time of a call stands still while the task is suspended or a question is open")
    func held() {
        var rig = StreamMachineRig()
        rig.read(timeout: .seconds(5))
        rig.pass(.seconds(2))
        rig.hold()
        rig.hold()
        rig.pass(.seconds(100))
        rig.release()
        rig.pass(.seconds(100))
        #expect(rig.taken() == [] && rig.machine.deadline == nil)
        rig.release()
        #expect(rig.machine.deadline == rig.now + .seconds(3))
        rig.pass(.seconds(3))
        #expect(rig.taken() == ["1: timedOut"])
    }

    @Test("B15.53: the resource limit ends all, whatever moves; nothing else does")
    func resource() {
        var rig = StreamMachineRig(resource: .seconds(100))
        rig.hold()
        rig.pass(.seconds(99))
        #expect(rig.taken() == [])
        rig.release()
        rig.read()
        rig.arrive("a")
        rig.read(timeout: .seconds(50))
        rig.pass(.seconds(1))
        #expect(rig.taken() == ["1: \"a\"", "2: tookTooLong", "ended tookTooLong"])
        rig = StreamMachineRig()
        rig.read()
        rig.pass(.seconds(1_000_000))
        #expect(rig.taken() == [] && rig.machine.deadline == nil)
    }
}
