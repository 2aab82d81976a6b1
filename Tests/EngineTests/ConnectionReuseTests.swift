import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// When a connection serves again and when it does not: behaviour 16.1.
@Suite struct ConnectionReuseTests {
    @Test("B16.4: HTTP/1.1 connections persist; one connection serves many requests in order")
    func persists() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("1"), .receiveHead, .respond("2"), .receiveHead, .respond("3")])
        for number in 1...3 {
            let journal = rig.submit()
            rig.settle()
            #expect(journal.text == "\(number)")
            #expect(journal.outcome?.timelines.last?.reused == (number > 1))
        }
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test(
        "B16.4, B16.5: not after Connection: close, HTTP/1.0, both framings, or a faulty HTTP/1.0 chunked body",
        arguments: [
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
            "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        ])
    func closes(response: String) {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .send(response)])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.text == "x")
        #expect(journal.error == nil)
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("B16.4: an HTTP/1.0 connection persists with Connection: keep-alive")
    func oldKeepAlive() {
        let rig = EngineRig()
        rig.serve(
            "host.test",
            [.receiveHead, .send("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx")])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.text == "x")
        #expect(journal.outcome?.timelines.last?.protocolName == "http/1.0")
        #expect(rig.core.counts.idle == 1)
        rig.expectClean()
    }

    @Test("B16.5: a request's own Connection: close ends the connection")
    func ownClose() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("x")])
        rig.submit(fields: [("Connection", "close")])
        rig.settle()
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("B16.39: more bytes than announced are ignored and the connection is closed")
    func surplus() {
        let rig = EngineRig()
        rig.serve(
            "host.test",
            [
                .receiveHead,
                .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.text == "ok")
        #expect(journal.error == nil)
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("B16.5: bytes that lie ready before a request is sent are never taken for its answer")
    func responseAhead() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 1 }
        let answers = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
        rig.serve("host.test", [.receiveHead, .send(answers)], [.receiveHead, .respond("2")])
        let first = rig.submit()
        let second = rig.submit()
        rig.settle()
        #expect(first.text == "1")
        #expect(second.text == "2")
        #expect(rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test("B16.9: unsolicited bytes on an idle connection close it")
    func unsolicited() {
        let rig = EngineRig()
        rig.serve(
            "host.test", [.receiveHead, .respond("x"), .delay(.seconds(1)), .send("HTTP/1.1 408 Timeout\r\n\r\n")])
        rig.submit()
        rig.settle()
        #expect(rig.core.counts.idle == 1)
        rig.advance(.seconds(2))
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test(
        "B16.84: a connection of an address that this machine has lost is not used again", arguments: ["GET", "POST"])
    func lostAddress(method: String) {
        let rig = EngineRig()
        rig.serve(
            "host.test", [.receiveHead, .respond("1"), .receiveHead, .respond("2")], [.receiveHead, .respond("3")])
        rig.submit()
        rig.settle()
        rig.servers.last?.isForsaken = true
        // The system is not asked about a connection that was in use a moment ago.
        rig.advance(.milliseconds(999))
        let second = rig.submit(method)
        rig.settle()
        #expect(second.text == "2")
        rig.advance(.seconds(1))
        let third = rig.submit(method)
        rig.settle()
        #expect(third.text == "3")
        #expect(third.outcome?.timelines.count == 1)
        #expect(rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test("B16.6: an idle connection that the server closed is noticed before it is used")
    func idleDeath() {
        let rig = EngineRig()
        rig.serve(
            "host.test", [.receiveHead, .respond("1"), .delay(.seconds(1)), .close], [.receiveHead, .respond("2")])
        rig.submit()
        rig.settle()
        rig.advance(.seconds(2))
        #expect(rig.core.counts.connections == 0)
        let second = rig.submit("POST", body: [1])
        rig.settle()
        #expect(second.text == "2")
        #expect(second.outcome?.timelines.count == 1)
        rig.expectClean()
    }

    @Test("B16.6: idle connections are closed after 60 seconds")
    func idleTimeout() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("1")])
        rig.submit()
        rig.settle()
        rig.advance(.seconds(59))
        #expect(rig.core.counts.idle == 1)
        rig.advance(.seconds(2))
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    /// Two idle connections, the second of which was used last; and a request on that, which times out in five seconds.
    private func timeOut(
        _ rig: EngineRig, first: [ScriptedPeer.Step] = [], second: [ScriptedPeer.Step] = [],
        meanwhile: () -> Void = {}
    ) -> Journal {
        rig.serve(
            "host.test", [.receiveHead, .respond("1")] + first,
            [.receiveHead, .delay(.seconds(1)), .respond("2")] + second, [.receiveHead, .respond("new")])
        rig.submit()
        rig.submit()
        rig.advance(.seconds(2))
        #expect(rig.core.counts == PoolCounts(idle: 2))
        let lost = rig.submit(idleTimeout: .seconds(5))
        rig.advance(.seconds(1))
        meanwhile()
        rig.advance(.seconds(5))
        guard case .idleTimeout? = lost.error else {
            Issue.record("\(String(describing: lost.error))")
            return lost
        }
        #expect(lost.outcome?.timelines.last?.reused == true)
        return lost
    }

    @Test("B16.6: a time-out without one byte on a kept connection closes those that were idle beside it")
    func silence() {
        let rig = EngineRig()
        _ = timeOut(rig)
        #expect(rig.core.counts.connections == 0)
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "new" && rig.network.dialled.count == 3)
        rig.expectClean()
    }

    @Test("B16.6: a time-out without one byte on a kept connection spares those that have served meanwhile")
    func silenceBesideLife() {
        let rig = EngineRig()
        _ = timeOut(rig, first: [.receiveHead, .respond("again"), .receiveHead, .respond("once more")]) {
            rig.submit()
            rig.settle()
        }
        #expect(rig.core.counts == PoolCounts(idle: 1))
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "once more" && rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test("B16.6: a time-out in the midst of an answer says nothing about other connections")
    func silenceInAnswer() {
        let rig = EngineRig()
        let cut = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"
        let lost = timeOut(
            rig, first: [.receiveHead, .respond("again")], second: [.receiveHead, .send(cut)])
        #expect(lost.text == "he" && rig.core.counts == PoolCounts(idle: 1))
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "again" && rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test("B16.77: a connection that is always busy gets no new request when it has reached its greatest age")
    func lifetime() {
        let rig = EngineRig { $0.maximumConnectionLifetime = .seconds(100) }
        rig.serve("host.test", [.receiveHead, .respond("1"), .receiveHead, .respond("2"), .receiveHead, .respond("3")])
        // 0, 40 and 80 seconds old.
        let journals = (0..<3).map { _ in
            let journal = rig.submit()
            rig.settle()
            rig.advance(.seconds(40))
            return journal
        }
        #expect(journals.map(\.text) == ["1", "2", "3"])
        #expect(rig.core.counts.connections == 0 && rig.peers.count == 1)
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "1" && rig.peers.count == 2)
        #expect(rig.network.lookedUp == ["host.test", "host.test"])
        rig.expectClean()
    }

    @Test(
        "B16.77: an exchange that outlasts its connection's greatest age goes on to its end, and the connection with it"
    )
    func lifetimeOfLongExchange() {
        let rig = EngineRig { $0.maximumConnectionLifetime = .seconds(10) }
        rig.serve("host.test", [.receiveHead, .delay(.seconds(30)), .respond("late")])
        let journal = rig.submit()
        rig.settle()
        rig.advance(.seconds(29))
        #expect(!journal.hasEnded && rig.core.counts.inUse == 1)
        rig.advance(.seconds(1))
        #expect(journal.text == "late" && journal.error == nil)
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("B16.6: Keep-Alive: timeout=n shortens the idle time")
    func keepAlive() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("1", fields: "Keep-Alive: timeout=5, max=100\r\n")])
        rig.submit()
        rig.settle()
        rig.advance(.seconds(6))
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("B16.1: at most six connections per host; the rest wait in order, priority first")
    func limit() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 2 }
        var order: [String] = []
        rig.serve(
            "host.test",
            [
                .receiveHead, .delay(.seconds(1)), .respond("x"), .receiveHead, .respond("y"), .receiveHead,
                .respond("z"),
            ])
        let journals = (0..<4).map { index in
            let journal = rig.submit(target: "/\(index)", priority: index == 3 ? 0.75 : 0.5)
            journal.onEnd = { order.append("\(index)") }
            return journal
        }
        rig.settle()
        #expect(rig.network.dialled.count == 2)
        #expect(rig.core.counts.waiting == 2)
        rig.advance(.seconds(2))
        #expect(journals.allSatisfy { $0.error == nil && $0.hasEnded })
        #expect(rig.network.dialled.count == 2)
        // Late binding: the first request in the queue gets the first connection, whichever request had it opened.
        #expect(order == ["3", "0", "1", "2"])
        rig.expectClean()
    }

    @Test("The connection is back in the pool before the end is told")
    func poolFirst() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("1")])
        let journal = rig.submit()
        var idleAtEnd = 0
        journal.onEnd = { idleAtEnd = rig.core.counts.idle }
        rig.settle()
        #expect(idleAtEnd == 1)
        rig.expectClean()
    }

    @Test("B16.2: another port is another connection")
    func ports() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("1")])
        rig.serve("other.test", [.receiveHead, .respond("2")])
        rig.submit()
        rig.settle()
        rig.submit(host: "other.test")
        rig.settle()
        #expect(rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test("B16.7: shutting down closes idle connections at once")
    func shutDown() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("1")])
        rig.submit()
        rig.settle()
        rig.core.shutDown(immediately: false)
        rig.settle()
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    /// Two requests, both served by one connection: the one that was dialled for the second is never answered.
    private func rigWithSurplusDial() -> EngineRig {
        let rig = EngineRig()
        // After two answers this server is silent.
        rig.serve(
            "host.test", [.receiveHead, .delay(.seconds(1)), .respond("1"), .receiveHead, .respond("2"), .receiveHead])
        let first = rig.submit()
        rig.settle()
        rig.network.setAddress("10.0.0.1:80", .hang)
        let second = rig.submit()
        rig.advance(.seconds(1))
        #expect(first.text == "1" && second.text == "2")
        #expect(rig.core.counts == PoolCounts(idle: 1, dialling: 1))
        return rig
    }

    @Test("B16.6: an unanswered dial that no request waits for any more is given up when it is old")
    func surplusDialExpires() {
        let rig = rigWithSurplusDial()
        rig.advance(.seconds(59))
        #expect(rig.core.counts.dialling == 1)
        rig.advance(.seconds(2))
        #expect(rig.core.counts.connections == 0)
        #expect(rig.network.cancelledDials == ["10.0.0.1:80"])
        rig.expectClean()
    }

    @Test("B6.10: a request that waits for an unanswered dial of another request fails when its idle time is over")
    func surplusDialJoined() {
        let rig = rigWithSurplusDial()
        let busy = rig.submit(idleTimeout: .seconds(600))
        let joined = rig.submit()
        rig.settle()
        #expect(rig.core.counts == PoolCounts(inUse: 1, dialling: 1, waiting: 1))
        rig.advance(.seconds(59))
        #expect(joined.ends == 0)
        rig.advance(.seconds(2))
        #expect(joined.ends == 1 && busy.ends == 0)
        if case .idleTimeout(_, .connecting, _)? = joined.error {
        } else {
            Issue.record("\(String(describing: joined.error))")
        }
        rig.core.shutDown(immediately: true)
        rig.settle()
        rig.expectClean()
    }

    @Test("B16.7: shutting down gives up a dial that no request waits for")
    func shutDownWithSurplusDial() {
        let rig = rigWithSurplusDial()
        rig.core.shutDown(immediately: false)
        rig.settle()
        #expect(rig.core.counts.connections == 0)
        #expect(rig.network.cancelledDials == ["10.0.0.1:80"])
        rig.expectClean()
    }

    @Test("A graceful shut-down lets a running exchange end and takes no new one")
    func gracefulShutDown() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .delay(.seconds(1)), .respond("late")])
        let running = rig.submit()
        rig.settle()
        rig.core.shutDown(immediately: false)
        let refused = rig.submit()
        rig.advance(.seconds(2))
        #expect(running.text == "late")
        #expect(refused.error.isCancelled)
        rig.expectClean()
    }
}

extension EngineError? {
    /// Whether this is a cancellation.
    var isCancelled: Bool {
        if case .cancelled = self { return true }
        return false
    }
}
