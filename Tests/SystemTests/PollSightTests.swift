// Deadlines are judged when what has come is known. What the system answers is made up here, but in the last test.

import Testing
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("What a loop has seen before it judges deadlines", .timeLimit(.minutes(5)))
struct PollSightTests {
    @Test("A wait that a signal has interrupted is followed by a look that does not wait, and no other wait is")
    func interrupted() {
        var asked: [Int32] = []
        var answers: [Int32] = [-1, 3]
        let seen = PollSight.wait(milliseconds: 2000) { milliseconds in
            asked.append(milliseconds)
            return answers.removeFirst()
        }
        #expect(seen == 3 && asked == [2000, 0])
        for count: Int32 in [0, 1, 256] {
            asked = []
            let seen = PollSight.wait(milliseconds: -1) { milliseconds in
                asked.append(milliseconds)
                return count
            }
            #expect(seen == count && asked == [-1])
        }
    }

    @Test("A look after an interrupted wait that is interrupted, too, is the last")
    func interruptedTwice() {
        var looks = 0
        let seen = PollSight.wait(milliseconds: 0) { _ in
            looks += 1
            return -1
        }
        #expect(seen == -1 && looks == 2)
    }

    @Test("Full batches in a row have told of everything when they are as many as all descriptors fill, and not before")
    func fullBatches() {
        #expect(judged(after: [7, 8, 9], ready: 10) == [false, false, true])
        // A loop that is always full judges its deadlines once in so many turns.
        #expect(judged(after: [1, 2, 3, 4, 5, 6], ready: 8) == [false, true, false, true, false, true])
    }

    @Test("A batch that was not full in between ends the row")
    func rowEnds() {
        #expect(judged(after: [1, 3, 4], ready: 8) == [false, false, true])
    }

    @Test("Where all descriptors fit into one batch, or there is none, nothing is waited for")
    func fewDescriptors() {
        #expect(judged(after: [1, 2], ready: 4) == [true, true])
        #expect(judged(after: [1, 2], ready: 0) == [true, true])
    }

    /// Whether deadlines are judged after each of these waits, which fill their batches of four.
    private func judged(after waits: [Int], ready: Int) -> [Bool] {
        var sight = PollSight()
        return waits.map { sight.hasSeenAll(afterFull: $0, ofSize: 4, ready: ready) }
    }

    @Test("B6.1: what lies in more descriptors than a batch holds is told before a deadline that has passed is judged")
    func moreThanABatch() async throws {
        let pairs = 140
        let told: Int = try await withLoop { loop in
            try await onLoop(loop) { reactor, finish in
                var told = 0
                for _ in 0..<pairs {
                    let (left, right) = try SocketStream.pair(on: reactor)
                    let observer = Observer()
                    observer.onReadable = { _ in told += 1 }
                    left.observer = observer
                    reactor.keep(observer, left, right)
                    _ = right.write("x")
                }
                let timer = reactor.makeTimer { finish(told) }
                reactor.keep(timer)
                timer.set(reactor.now)
            }
        }
        #expect(told == pairs)
    }
}
