import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// Cancelling, suspending, back-pressure, deadlines.
@Suite struct SteeringTests {
    @Test("B1.41, B17.10: cancelling ends a transaction exactly once, at every step of its life")
    func cancelEverywhere() {
        // Each script stops the exchange at another step; the cancel comes there.
        let stages: [(String, (EngineRig) -> Void)] = [
            ("looking up", { $0.network.setName("host.test", .hangs) }),
            (
                "connecting",
                {
                    $0.network.setName("host.test", .addresses(["10.0.0.1"]))
                    $0.network.setAddress("10.0.0.1:80", .hang)
                }
            ),
            ("waiting", { $0.serve("host.test", [.receiveHead]) }),
            ("in the head", { $0.serve("host.test", [.receiveHead, .send("HTTP/1.1 200 OK\r\nX:")]) }),
            (
                "in the body",
                { $0.serve("host.test", [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")]) }
            ),
        ]
        for (name, prepare) in stages {
            let rig = EngineRig()
            prepare(rig)
            let journal = rig.submit()
            rig.settle()
            #expect(!journal.hasEnded, "\(name)")
            journal.handle?.cancel()
            journal.handle?.cancel()
            rig.settle()
            journal.handle?.cancel()
            rig.settle()
            #expect(journal.error.isCancelled, "\(name)")
            #expect(journal.ends == 1, "\(name)")
            #expect(rig.core.counts.connections == 0, "\(name)")
            rig.expectClean()
        }
    }

    @Test("B17.54: cancelling from inside any callback is allowed")
    func cancelInside() {
        for place in ["head", "body"] {
            let rig = EngineRig()
            rig.serve("host.test", [.receiveHead, .respond("hello")])
            let journal = rig.submit()
            if place == "head" {
                journal.onHead = { journal.handle?.cancel() }
            } else {
                journal.onBody = { journal.handle?.cancel() }
            }
            rig.settle()
            #expect(journal.ends == 1)
            rig.expectClean()
        }
    }

    @Test("B4.33: a discarded response ends with the turn; its rest is read and the connection kept")
    func discardedRest() {
        let rig = EngineRig()
        rig.serve(
            "host.test",
            [
                .receiveHead, .send("HTTP/1.1 302 Found\r\nContent-Length: 4\r\n\r\nab"), .delay(.milliseconds(500)),
                .send("cd"), .receiveHead, .respond("2"),
            ])
        let first = rig.submit(demand: { _ in .discard })
        rig.settle()
        #expect(first.hasEnded && first.error == nil)
        #expect(rig.core.counts.inUse == 1)
        rig.advance(.milliseconds(500))
        #expect(rig.core.counts.idle == 1)
        let second = rig.submit()
        rig.settle()
        #expect(second.text == "2")
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test(
        "B4.33: a discarded rest that is late or large costs the connection",
        arguments: [
            "HTTP/1.1 302 Found\r\nContent-Length: 4\r\n\r\nab",
            "HTTP/1.1 302 Found\r\nContent-Length: 99999\r\n\r\n" + String(repeating: "x", count: 70_000),
        ])
    func discardedTooLong(answer: String) {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .send(answer)])
        let journal = rig.submit(demand: { _ in .pause })
        rig.settle()
        #expect(!journal.hasEnded)
        journal.handle?.discardRest()
        rig.settle()
        #expect(journal.hasEnded && journal.error == nil)
        rig.advance(.seconds(1))
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test(
        "B4.33: a rest that is wanted only if it comes soon is read to its end within a second",
        arguments: [ReceiverDemand.briefly, .hold])
    func briefRest(demand: ReceiverDemand) {
        let rig = EngineRig()
        rig.serve(
            "host.test",
            [
                .receiveHead, .send("HTTP/1.1 301 Moved\r\nContent-Length: 4\r\n\r\nab"), .delay(.milliseconds(900)),
                .send("cd"), .receiveHead, .respond("2"),
            ])
        let first = rig.submit(demand: { $0 == 0 ? demand : .more })
        rig.settle()
        if case .hold = demand { first.handle?.resumeReadingBriefly() }
        rig.settle()
        #expect(first.text == "ab" && !first.hasEnded)
        rig.advance(.milliseconds(900))
        #expect(first.text == "abcd" && first.ends == 1 && first.error == nil && first.lateRests == 0)
        #expect(rig.core.counts.idle == 1)
        let second = rig.submit()
        rig.settle()
        #expect(second.text == "2")
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test(
        "B4.33: a rest that is wanted only if it comes soon costs the connection after a second, however it drips",
        arguments: [ReceiverDemand.briefly, .hold])
    func briefRestIsLate(demand: ReceiverDemand) {
        let rig = EngineRig()
        let drops = (0..<4).flatMap { _ in [ScriptedPeer.Step.delay(.milliseconds(300)), .send("x")] }
        rig.serve(
            "host.test", [.receiveHead, .send("HTTP/1.1 301 Moved\r\nContent-Length: 9\r\n\r\nab")] + drops)
        let journal = rig.submit(demand: { $0 == 0 ? demand : .more })
        rig.settle()
        if case .hold = demand { journal.handle?.resumeReadingBriefly() }
        rig.advance(.milliseconds(950))
        #expect(journal.text == "abxxx" && !journal.hasEnded && journal.lateRests == 0)
        rig.advance(.milliseconds(50))
        #expect(journal.ends == 1 && journal.error == nil && journal.lateRests == 1)
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("B6.5: what is read on briefly does not go on behind the resource time-out")
    func briefRestBehindResource() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .send("HTTP/1.1 301 Moved\r\nContent-Length: 4\r\n\r\nab")])
        let journal = rig.submit(resourceTimeout: .milliseconds(500), demand: { $0 == 0 ? .briefly : .more })
        rig.advance(.milliseconds(500))
        guard case .resourceTimeout = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(journal.lateRests == 0)
        rig.expectClean()
    }

    @Test("A discarded response ends once and without an error, also where it is complete, breaks off or is cancelled")
    func discardedEnds() {
        for ending in ["complete", "cut", "cancel"] {
            let rig = EngineRig()
            rig.serve(
                "host.test",
                [
                    .receiveHead,
                    .send("HTTP/1.1 302 Found\r\nContent-Length: 4\r\n\r\n" + (ending == "complete" ? "abcd" : "ab")),
                    .delay(.milliseconds(10)), .close,
                ])
            let journal = rig.submit(demand: { _ in .pause })
            rig.settle()
            journal.handle?.discardRest()
            journal.handle?.discardRest()
            rig.settle()
            if ending == "cancel" { journal.handle?.cancel() }
            rig.advance(.milliseconds(20))
            #expect(journal.ends == 1 && journal.error == nil, "\(ending)")
            rig.expectClean()
        }
    }

    @Test("A request that waits for a connection can be cancelled; the others go on")
    func cancelWaiting() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 1 }
        rig.serve("host.test", [.receiveHead, .delay(.seconds(1)), .respond("1"), .receiveHead, .respond("3")])
        let first = rig.submit()
        let second = rig.submit()
        let third = rig.submit()
        rig.settle()
        second.handle?.cancel()
        rig.advance(.seconds(2))
        #expect(first.text == "1")
        #expect(second.error.isCancelled)
        #expect(third.text == "3")
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test("A receiver that is full stops the sender: the socket is not read until it can take more")
    func backPressure() {
        let rig = EngineRig()
        rig.network.capacity = 16 * 1024
        let body = [UInt8](repeating: 0x61, count: 1_000_000)
        rig.serve(
            "host.test",
            [.receiveHead, .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n".utf8) + body)])
        let journal = rig.submit { $0 > 0 ? .pause : .more }
        rig.settle()
        let taken = journal.body.count
        #expect(taken > 0 && taken < 100_000)
        #expect(rig.peers.first?.isDone == false, "the peer's write is blocked")
        rig.advance(.seconds(3600))
        #expect(journal.body.count == taken, "nothing moves, and no idle time-out: the receiver is busy (B6.9)")
        #expect(!journal.hasEnded)
        while !journal.hasEnded {
            journal.handle?.resumeReading()
            rig.settle()
        }
        #expect(firstDifference(journal.body, body) == nil)
        #expect(journal.error == nil)
        rig.expectClean()
    }

    @Test("B1.39, B1.40: a suspended transfer neither sends nor reads, and its idle timer stands still")
    func suspend() {
        let rig = EngineRig()
        rig.network.capacity = 1000
        rig.serve(
            "host.test",
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .delay(.seconds(5)), .send("def")])
        let journal = rig.submit(idleTimeout: .seconds(20))
        rig.settle()
        journal.handle?.suspend()
        journal.handle?.suspend()
        rig.advance(.seconds(100))
        #expect(journal.text == "abc")
        journal.handle?.resume()
        rig.advance(.seconds(10))
        #expect(journal.text == "abc")
        journal.handle?.resume()
        rig.settle()
        #expect(journal.text == "abcdef")
        #expect(journal.error == nil)
        rig.expectClean()
    }

    @Test("B1.39: suspended before it has a connection, a request sends nothing until it is resumed")
    func suspendBeforeConnection() {
        let rig = EngineRig()
        rig.network.setName("host.test", .addresses(["10.0.0.1"], delay: .seconds(1)))
        rig.network.setAddress(
            "10.0.0.1:80",
            .accept { [reactor = rig.reactor] in
                ScriptedPeer($0, on: reactor, [.receiveHead, .respond("x"), .receiveEnd, .close])
            })
        let journal = rig.submit()
        rig.settle()
        journal.handle?.suspend()
        rig.advance(.seconds(500))
        #expect(!journal.hasEnded)
        #expect(journal.head == nil)
        journal.handle?.resume()
        rig.advance(.seconds(2))
        #expect(journal.text == "x")
        rig.expectClean()
    }

    @Test("B1.40, B6.8: the resource timer runs on while a transfer is suspended")
    func resourceWhileSuspended() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead])
        let journal = rig.submit(resourceTimeout: .seconds(30))
        rig.settle()
        journal.handle?.suspend()
        rig.advance(.seconds(31))
        guard case .resourceTimeout = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test(
        "B6.8: where an answer waits for the program, the resource time-out names the program",
        arguments: [ReceiverDemand.pause, .hold])
    func resourceWhileUndecided(demand: ReceiverDemand) {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("denied")])
        let journal = rig.submit(resourceTimeout: .seconds(30), demand: { _ in demand })
        rig.advance(.seconds(31))
        guard case .resourceTimeout("host.test", .waitingForProgram, _, _) = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("B6.1, B6.2: the idle time-out covers every phase and names it")
    func idleTimeouts() {
        let stages: [(EngineError.Phase, (EngineRig) -> Void)] = [
            (.lookingUpName, { $0.network.setName("host.test", .hangs) }),
            (
                .connecting,
                {
                    $0.network.setName("host.test", .addresses(["10.0.0.1"]))
                    $0.network.setAddress("10.0.0.1:80", .hang)
                }
            ),
            (.waitingForResponse, { $0.serve("host.test", [.receiveHead]) }),
            (
                .receivingBody,
                { $0.serve("host.test", [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")]) }
            ),
        ]
        for (expected, prepare) in stages {
            let rig = EngineRig()
            prepare(rig)
            let journal = rig.submit(idleTimeout: .seconds(10))
            rig.settle()
            rig.advance(.milliseconds(9_999))
            #expect(!journal.hasEnded)
            rig.advance(.milliseconds(1))
            guard case .idleTimeout("host.test", let phase, .seconds(10)) = journal.error else {
                Issue.record("\(expected): \(String(describing: journal.error))")
                continue
            }
            #expect(phase == expected)
            rig.expectClean()
        }
    }

    @Test("B6.1: an upload that the server does not take runs into the idle time-out")
    func uploadStalls() {
        let rig = EngineRig()
        rig.network.capacity = 1000
        rig.serve("host.test", [.receiveHead, .stopReading])
        let journal = rig.submit("POST", body: [UInt8](repeating: 1, count: 10_000), idleTimeout: .seconds(10))
        rig.advance(.seconds(11))
        guard case .idleTimeout(_, .sendingRequest, _) = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("B6.2, B16.28: one byte per interval keeps the idle timer alive; the resource timer does not care")
    func drip() {
        let rig = EngineRig()
        let response =
            Array("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".utf8) + [UInt8](repeating: 65, count: 1000)
        rig.serve("host.test", [.receiveHead, .sendInPieces(response, size: 1, pause: .seconds(9))])
        let journal = rig.submit(idleTimeout: .seconds(10), resourceTimeout: .seconds(1000))
        rig.advance(.seconds(999))
        #expect(!journal.hasEnded)
        rig.advance(.seconds(2))
        guard case .resourceTimeout("host.test", .receivingBody, .seconds(1000), nil) = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("B6.10: the idle timer does not run while a request waits for a free connection")
    func waitingIsNotIdle() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 1 }
        rig.serve("host.test", [.receiveHead, .delay(.seconds(30)), .respond("1"), .receiveHead, .respond("2")])
        rig.submit(idleTimeout: .seconds(60))
        let waiting = rig.submit(idleTimeout: .seconds(10))
        rig.advance(.seconds(29))
        #expect(!waiting.hasEnded)
        rig.advance(.seconds(2))
        #expect(waiting.text == "2")
        rig.expectClean()
    }

    @Test("B6.10: a request that waits for others keeps its idle time, also where the server ends each connection")
    func waitingWhereServersClose() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 1 }
        rig.serve(
            "host.test",
            [.receiveHead, .delay(.milliseconds(1500)), .respond("x", fields: "Connection: close\r\n")])
        let journals = (1...6).map { _ in rig.submit(idleTimeout: .seconds(2)) }
        rig.advance(.seconds(10))
        #expect(journals.map(\.text) == Array(repeating: "x", count: 6))
        #expect(journals.allSatisfy { $0.hasEnded && $0.error == nil })
        #expect(rig.network.dialled.count == 6)
        rig.expectClean()
    }

    @Test("B6.10: a request that loses its new connection to another request waits for a free one again")
    func waitingAfterALostDial() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 1 }
        rig.network.setName("host.test", .addresses(["10.0.0.1"]))
        rig.network.setAddress(
            "10.0.0.1:80",
            .accept(delay: .seconds(1)) { [reactor = rig.reactor] stream in
                ScriptedPeer(
                    stream, on: reactor,
                    [.receiveHead, .delay(.seconds(5)), .respond("1"), .receiveHead, .respond("2")])
            })
        let late = rig.submit(idleTimeout: .seconds(2))
        let urgent = rig.submit(idleTimeout: .seconds(60), priority: 1)
        rig.advance(.seconds(7))
        #expect(urgent.text == "1")
        #expect(late.text == "2" && late.error == nil)
        rig.expectClean()
    }

    @Test("B6.9: while a question is open, the idle timer stands still")
    func hold() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead])
        let journal = rig.submit(idleTimeout: .seconds(10))
        rig.advance(.seconds(5))
        journal.handle?.hold()
        rig.advance(.seconds(100))
        #expect(!journal.hasEnded)
        journal.handle?.unhold()
        rig.advance(.seconds(4))
        #expect(!journal.hasEnded)
        rig.advance(.seconds(2))
        #expect(journal.hasEnded)
        rig.expectClean()
    }
}
