// Reads and writes of a stream in their order, and the ends of both directions.

import Testing
import URLLoadingPolicy

@Suite("Stream machine")
struct StreamMachineTests {
    @Test("B15.39, B15.43: what is asked before the connection stands waits for it, in order")
    func before() {
        var rig = StreamMachineRig(connected: false)
        rig.write(2)
        rig.read()
        rig.write(1)
        #expect(rig.taken() == [] && rig.machine.room == 0 && !rig.machine.maySend)
        rig.connect()
        #expect(rig.taken() == ["1: send"])
        rig.wrote(2)
        rig.arrive("a")
        #expect(rig.taken() == ["1: written", "3: send", "2: \"a\""])
    }

    @Test("B15.40: a read is answered once its minimum has come, with no more than its maximum")
    func bounds() {
        var rig = StreamMachineRig()
        rig.read(3, 4)
        rig.arrive("ab")
        #expect(rig.taken() == [])
        rig.arrive("cdefg")
        #expect(rig.taken() == ["1: \"abcd\""])
        rig.read(2, 2)
        #expect(rig.taken() == ["2: \"ef\""])
        rig.read(0, 9)
        #expect(rig.taken() == ["3: \"g\""], "without a least one byte is enough")
        rig.read(0, 9)
        #expect(rig.taken() == [], "and is waited for")
        rig.read(0, 0)
        rig.arrive("h")
        #expect(rig.taken() == ["4: \"h\"", "5: \"\""])
    }

    @Test("B15.40, B15.50: at the end a read gets what is left, and then nothing, with the end")
    func end() {
        var rig = StreamMachineRig()
        rig.arrive("abcd")
        rig.end()
        #expect(rig.taken() == ["read closed"], "also without a read")
        rig.read(1, 3)
        rig.read(5, 9)
        rig.read(1, 9)
        rig.read(1, 9)
        #expect(rig.taken() == ["1: \"abc\"", "2: \"d\" end", "3: \"\" end", "4: \"\" end"])
        rig.write(1)
        rig.wrote(1)
        #expect(rig.taken() == ["5: send", "5: written"], "writing goes on")
    }

    @Test("B15.40: reads of every size get every byte in order, in whatever pieces the bytes arrive", arguments: 1...9)
    func splits(least: Int) {
        let sent = Array("The quick brown fox jumps over the lazy dog".utf8)
        for first in 0...sent.count {
            for second in first...sent.count {
                var rig = StreamMachineRig(readAhead: 8)
                var left: [UInt8] = []
                for piece in [sent[..<first], sent[first..<second], sent[second...]] {
                    left += piece
                    // As much as there is room for; each round of reads makes some.
                    while !left.isEmpty {
                        left = Array(left.suffix(rig.arrive(left)))
                        rig.read(least, least + 2)
                    }
                }
                rig.end()
                for _ in 0...sent.count { rig.read(least, least + 2) }
                #expect(rig.text == String(decoding: sent, as: UTF8.self))
            }
        }
    }

    @Test("B15.43: reads and writes do not wait for each other")
    func independence() {
        var rig = StreamMachineRig()
        rig.read(4, 4)
        rig.write(5)
        rig.write(1)
        rig.wrote(3)
        #expect(rig.taken() == ["2: send"])
        rig.wrote(2)
        #expect(rig.taken() == ["2: written", "3: send"])
        rig.arrive("abcd")
        #expect(rig.taken() == ["1: \"abcd\""])
    }

    @Test("B15.43: an empty write is done in its turn")
    func emptyWrite() {
        var rig = StreamMachineRig()
        rig.write(1)
        rig.write(0)
        rig.write(1)
        #expect(rig.taken() == ["1: send"])
        rig.wrote(1)
        #expect(rig.taken() == ["1: written", "2: written", "3: send"])
    }

    @Test("B15.48: closing the write side waits for the writes before it; reading goes on")
    func closeWrite() {
        var rig = StreamMachineRig()
        rig.write(2)
        rig.closeWrite()
        rig.write(1)
        #expect(rig.taken() == ["1: send", "2: writingClosed"])
        rig.wrote(2)
        #expect(rig.taken() == ["1: written", "finish", "write closed"])
        rig.closeWrite()
        #expect(rig.taken() == [])
        rig.read()
        rig.arrive("a")
        #expect(rig.taken() == ["3: \"a\""])
        rig.end()
        #expect(rig.taken() == ["read closed", "ended well"])
    }

    @Test("B1.39: while the task is suspended neither our end goes out nor the beginning of TLS")
    func suspendedEnds() {
        var rig = StreamMachineRig()
        rig.hold()
        rig.closeWrite()
        #expect(rig.taken() == [])
        rig.release()
        #expect(rig.taken() == ["finish", "write closed"])
        rig = StreamMachineRig()
        rig.hold()
        rig.startSecure()
        #expect(rig.taken() == [])
        rig.release()
        #expect(rig.taken() == ["TLS"])
    }

    @Test("B15.49: closing the read side waits for the reads before it; writing goes on")
    func closeRead() {
        var rig = StreamMachineRig()
        rig.read(2, 2)
        rig.closeRead()
        rig.read()
        #expect(rig.taken() == ["2: readingClosed"])
        rig.arrive("abcd")
        #expect(rig.taken() == ["1: \"ab\"", "read closed"])
        #expect(rig.machine.discardsInput && rig.machine.room > 0, "what comes is read and dropped")
        rig.arrive("more")
        rig.end()
        rig.write(1)
        rig.wrote(1)
        #expect(rig.taken() == ["3: send", "3: written"], "the end is told once")
        rig.closeWrite()
        #expect(rig.taken() == ["finish", "write closed", "ended well"])
    }

    @Test("B15.50: a stream is over when our side is finished and all is read that has come")
    func over() {
        var rig = StreamMachineRig()
        rig.arrive("ab")
        rig.end()
        rig.closeWrite()
        #expect(rig.taken() == ["read closed", "finish", "write closed"])
        rig.read(1, 1)
        #expect(rig.taken() == ["1: \"a\""])
        rig.read(1, 1)
        #expect(rig.taken() == ["2: \"b\" end", "ended well"])
    }

    @Test("B15.44: an error ends every call that waits, and all after it")
    func failure() {
        var rig = StreamMachineRig()
        rig.read()
        rig.read()
        rig.write(4)
        rig.write(4)
        rig.wrote(1)
        _ = rig.taken()
        rig.lose()
        #expect(rig.taken() == ["1: lost", "2: lost", "3: lost", "4: lost", "ended lost"])
        rig.read()
        rig.write()
        #expect(rig.taken() == ["5: lost", "6: lost"])
        rig.lose()
        rig.cancel()
        rig.end()
        #expect(rig.taken() == [], "an end comes once")
    }

    @Test("B15.44: cancelling ends every call that waits, also before the connection stands", arguments: [false, true])
    func cancelled(isConnected: Bool) {
        var rig = StreamMachineRig(connected: isConnected)
        rig.read()
        rig.write()
        _ = rig.taken()
        rig.cancel()
        #expect(rig.taken() == ["1: cancelled", "2: cancelled", "ended cancelled"])
        rig.connect()
        #expect(rig.taken() == [] && rig.machine.room == 0 && !rig.machine.maySend)
    }

    @Test("B15.42: where writing fails, what has come can still be read, and the task fails when that is over")
    func writeFails() {
        var rig = StreamMachineRig()
        rig.write(4)
        rig.write(1)
        rig.arrive("ab")
        rig.writeFails()
        #expect(rig.taken() == ["1: send", "1: lost", "2: lost"])
        rig.write(1)
        rig.read()
        rig.end()
        #expect(rig.taken() == ["3: lost", "4: \"ab\"", "read closed", "ended lost"])
    }

    @Test("B15.40, B15.44: where reading fails, what has come before can still be read, and then all is over")
    func readFails() {
        var rig = StreamMachineRig()
        rig.write(4)
        rig.arrive("abcd")
        rig.readFails()
        #expect(rig.taken() == ["1: send", "1: lost"] && rig.machine.room == 0)
        rig.write()
        rig.read(1, 2)
        #expect(rig.taken() == ["2: lost", "3: \"ab\""])
        rig.read(1, 2)
        #expect(rig.taken() == ["4: \"cd\"", "ended lost"])
        rig.read()
        #expect(rig.taken() == ["5: lost"])
    }

    @Test("B15.44: where reading fails, a read for which too little has come fails, and all is over")
    func readFailsTooEarly() {
        var rig = StreamMachineRig()
        rig.arrive("ab")
        rig.read(3, 9)
        rig.readFails()
        #expect(rig.taken() == ["1: lost", "ended lost"])
        rig = StreamMachineRig()
        rig.read()
        rig.readFails()
        #expect(rig.taken() == ["1: lost", "ended lost"], "nothing has come")
        rig = StreamMachineRig()
        rig.arrive("ab")
        rig.readFails()
        rig.closeRead()
        #expect(rig.taken() == ["read closed", "ended lost"], "nothing more is wanted")
    }

    @Test("B15.43: no more is read ahead than is allowed, unless a read needs it")
    func readAhead() {
        var rig = StreamMachineRig(readAhead: 8)
        #expect(rig.machine.room == 8)
        #expect(rig.arrive("0123456789") == 2)
        #expect(rig.machine.room == 0)
        rig.read(20, 30)
        #expect(rig.machine.room == 12)
        rig.arrive("89abcdefghijk")
        #expect(rig.taken() == ["1: \"0123456789abcdefghij\""])
        rig.hold()
        #expect(rig.machine.room == 0 && !rig.machine.maySend, "nothing moves while the task is suspended")
        rig.release()
        #expect(rig.machine.room > 0 && rig.machine.maySend)
    }

    @Test("B15.44: every call is answered once, whatever calls come in whatever order", arguments: 0..<200)
    func randomWalk(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var rig = StreamMachineRig(connected: seed % 3 != 0, resource: seed % 7 == 0 ? .seconds(40) : nil, readAhead: 8)
        var calls: Set<Int> = []
        for _ in 0..<60 {
            switch Int.random(in: 0..<22, using: &random) {
            case 0..<4: calls.insert(rig.read(.random(in: 0...5, using: &random), 5, timeout: .seconds(9)))
            case 4..<8: calls.insert(rig.write(.random(in: 0...5, using: &random), timeout: .seconds(9)))
            case 8..<12: rig.arrive("abc")
            case 12..<16: rig.wrote(3)
            case 16: rig.pass(.seconds(2))
            case 17: rig.connect()
            case 18: rig.startSecure()
            case 19: rig.secured()
            case 20: Bool.random(using: &random) ? rig.hold() : rig.release()
            default:
                switch Int.random(in: 0..<7, using: &random) {
                case 0: rig.end()
                case 1: rig.closeRead()
                case 2: rig.closeWrite()
                case 3: rig.capture()
                case 4: rig.writeFails()
                case 5: rig.readFails()
                default: rig.intrude(1)
                }
            }
        }
        rig.cancel()
        let answers = rig.lines.compactMap { line -> Int? in
            line.hasSuffix(": send") ? nil : line.split(separator: ":").first.flatMap { Int($0) }
        }
        let handed = rig.lines.contains { $0.hasPrefix("hand over") }
        #expect(answers.count == Set(answers).count && Set(answers) == calls)
        #expect(rig.lines.count { $0.hasPrefix("ended") } == (handed ? 0 : 1))
        #expect(rig.lines.count { $0 == "read closed" } <= 1 && rig.lines.count { $0 == "write closed" } <= 1)
    }
}
