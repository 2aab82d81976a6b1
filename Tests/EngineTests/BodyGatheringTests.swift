import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport

/// How a body is read: as it comes, and by several records at once only where it comes fast.
@Suite struct BodyGatheringTests {
    private static let record = 16 << 10
    /// So many of them are read at once where they come fast.
    private static let together = BodyPace.pieceSize / record

    /// A connection by which a body comes, piece by piece.
    private final class Transfer {
        let rig = EngineRig()
        let journal: Journal
        private(set) var sent: [UInt8] = []
        private var server: MemoryStream { rig.servers[0] }

        /// The answer's head has come, and so many records behind it, each in a turn of its own.
        init(_ fields: String, records: Int = 0, next: [ScriptedPeer.Step] = []) {
            rig.network.capacity = 1 << 20
            rig.serve("host.test", [.receiveHead, .send("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n")] + next)
            journal = rig.submit()
            rig.settle()
            for _ in 0..<records { send() }
        }

        /// A body of known length.
        convenience init(length: Int, records: Int) {
            self.init("Content-Length: \(length * BodyGatheringTests.record)", records: records)
        }

        /// Sends bytes, and lets the loop see them.
        func send(_ count: Int = BodyGatheringTests.record) {
            let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: sent.count >> 4), count: count)
            _ = piece.withUnsafeBytes { server.write($0) }
            sent += piece
            rig.settle()
        }

        func close() {
            server.close()
            rig.settle()
        }

        /// Whether all that was sent has come, in order.
        func expectAll(sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(firstDifference(journal.body, sent) == nil, sourceLocation: sourceLocation)
        }
    }

    @Test("Of a fast body the first four records are delivered one by one, those behind them many at once")
    func fast() {
        let transfer = Transfer(length: 8 * Self.together, records: 4)
        #expect(transfer.journal.pieces == 4)
        for piece in 5...8 {
            for _ in 1..<Self.together { transfer.send() }
            #expect(transfer.journal.pieces == piece - 1)
            transfer.send()
            #expect(transfer.journal.pieces == piece)
        }
        transfer.expectAll()
        transfer.journal.handle?.cancel()
        transfer.rig.settle()
        transfer.rig.expectClean()
    }

    @Test("Bytes wait a millisecond at most to be read, and what follows is read as it comes")
    func lull() {
        let transfer = Transfer(length: 128, records: 4)
        transfer.send()
        transfer.rig.advance(.microseconds(999))
        #expect(transfer.journal.pieces == 4)
        transfer.rig.advance(.microseconds(1))
        #expect(transfer.journal.pieces == 5)
        transfer.expectAll()
        transfer.send()
        #expect(transfer.journal.pieces == 6)
        transfer.rig.expectClean()
    }

    @Test("The last records of a body are delivered as they come: nothing waits for more")
    func end() {
        let transfer = Transfer(length: 4 + 3 * Self.together, records: 4 + 2 * Self.together)
        #expect(transfer.journal.pieces == 6)
        for record in 1...Self.together {
            transfer.send()
            #expect(transfer.journal.pieces == 6 + record)
        }
        #expect(transfer.journal.hasEnded && transfer.journal.error == nil)
        transfer.expectAll()
        transfer.rig.expectClean()
    }

    @Test("The next answer on a connection comes at once")
    func nextAnswer() {
        let transfer = Transfer(
            "Content-Length: \((4 + 3 * Self.together) * Self.record)", records: 4 + 3 * Self.together,
            next: [.receiveHead, .respond("small")])
        #expect(transfer.journal.hasEnded)
        let next = transfer.rig.submit()
        transfer.rig.settle()
        #expect(next.text == "small")
        #expect(transfer.rig.servers.count == 1)
        transfer.rig.expectClean()
    }

    @Test(
        "A body of unknown length never waits: its events are delivered when they come",
        arguments: [Self.record, 100])
    func events(size: Int) {
        let transfer = Transfer("Content-Type: text/event-stream\r\nConnection: close")
        for piece in 1...40 {
            transfer.send(size)
            #expect(transfer.journal.pieces == piece)
        }
        transfer.expectAll()
        transfer.close()
        #expect(transfer.journal.hasEnded && transfer.journal.error == nil)
        transfer.rig.expectClean()
    }

    @Test(
        "Small pieces of a long body never wait, and neither do those of a slow one",
        arguments: [(100, 0), (16_384, 66)])
    func slow(size: Int, gap: Int) {
        let transfer = Transfer(length: 128, records: 0)
        for piece in 1...40 {
            transfer.send(size)
            #expect(transfer.journal.pieces == piece)
            transfer.rig.advance(.microseconds(gap))
        }
        transfer.expectAll()
        transfer.rig.expectClean()
    }

    @Test("When a body breaks off, what has come of it is delivered at once, before the error")
    func brokenOff() {
        let transfer = Transfer(length: 128, records: 5)
        #expect(transfer.journal.pieces == 4)
        transfer.close()
        transfer.expectAll()
        #expect(transfer.journal.error != nil)
        transfer.rig.expectClean()
    }

    @Test(
        "Nothing is delivered while the transfer is suspended, and all that has come is delivered after it",
        arguments: [false, true])
    func suspension(isShort: Bool) {
        let transfer = Transfer(length: 128, records: 5)
        transfer.journal.handle?.suspend()
        transfer.rig.settle()
        transfer.rig.advance(isShort ? .microseconds(500) : .seconds(5))
        transfer.send()
        #expect(transfer.journal.pieces == 4)
        transfer.journal.handle?.resume()
        transfer.rig.settle()
        // Where nothing was waited for any more, nothing is.
        if isShort { transfer.rig.advance(.microseconds(500)) }
        transfer.expectAll()
        transfer.rig.expectClean()
    }

    @Test("A receiver that is full gets nothing, and everything when it has room")
    func backPressure() {
        let transfer = Transfer(length: 8 * Self.together, records: 4)
        transfer.journal.demand = { _ in .pause }
        for _ in 0..<(Self.together + 8) { transfer.send() }
        transfer.rig.advance(.milliseconds(5))
        #expect(transfer.journal.body.count == (4 + Self.together) * Self.record)
        transfer.journal.demand = { _ in .more }
        transfer.journal.handle?.resumeReading()
        transfer.rig.settle()
        transfer.expectAll()
        transfer.rig.expectClean()
    }

    @Test("Nothing is delivered after a cancellation")
    func cancellation() {
        let transfer = Transfer(length: 128, records: 5)
        transfer.journal.handle?.cancel()
        transfer.rig.settle()
        transfer.rig.advance(.milliseconds(5))
        #expect(transfer.journal.pieces == 4)
        #expect(transfer.journal.hasEnded)
        transfer.rig.expectClean()
    }
}
