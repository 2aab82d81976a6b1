// How streams and connections of HTTP/2 end: cancelled, timed out, reset, turned away, lost; and what is sent again.

import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Ends of exchanges over HTTP/2")
struct HTTP2EndTests {
    // MARK: By us

    @Test("H6.1: cancelling resets the stream; the others and the connection go on")
    func cancel() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in if request.head.target != "/slow" { peer.answer(request) } }
        }
        let slow = rig.submit(target: "/slow")
        rig.settle()
        slow.handle?.cancel()
        rig.settle()
        #expect(slow.error.isCancelled && peers[0].requests[0].end == .reset(.cancel))
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "hello" && peers.count == 1)
        rig.expectClean()
    }

    @Test("H6.1: a callback may cancel every request at once, its own among them")
    func cancelWithin() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2()
        let journals = (0..<20).map { _ in rig.submit() }
        for journal in journals {
            journal.onHead = { for other in journals { other.handle?.cancel() } }
        }
        rig.settle()
        #expect(journals.allSatisfy { $0.hasEnded })
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "hello" && peers.count == 1)
        rig.expectClean()
    }

    @Test("H6.3: a stream has its own time, whatever moves on others")
    func timeOut() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in if request.head.target != "/never" { peer.answer(request) } }
        }
        let never = rig.submit(target: "/never", idleTimeout: .seconds(10))
        for _ in 0..<9 {
            rig.submit()
            rig.settle()
            rig.advance(.seconds(1))
        }
        #expect(!never.hasEnded)
        rig.advance(.seconds(2))
        rig.settle()
        guard case .idleTimeout? = never.error else {
            Issue.record("\(String(describing: never.error))")
            return
        }
        #expect(peers.count == 1 && peers[0].requests[0].end == .reset(.cancel))
        rig.expectClean()
    }

    @Test(
        "H2.6: a request that waits for a stream can be cancelled; its resource time runs, its idle time does not yet"
    )
    func waiting() {
        var settings = HTTP2Settings()
        settings.maximumConcurrentStreams = 1
        let rig = EngineRig.http2(perHost: 1)
        let peers = rig.serveHTTP2(settings: settings) { peer, _ in peer.onWhole = { _, _ in } }
        let first = rig.submit(target: "/first", idleTimeout: nil)
        rig.settle()
        let cancelled = rig.submit(target: "/cancelled")
        let patient = rig.submit(target: "/patient", idleTimeout: .seconds(3))
        let late = rig.submit(target: "/late", resourceTimeout: .seconds(5), waitsForConnectivity: true)
        rig.settle()
        cancelled.handle?.cancel()
        rig.settle()
        #expect(cancelled.error.isCancelled)
        rig.advance(.seconds(5))
        rig.settle()
        guard case .resourceTimeout? = late.error else {
            Issue.record("\(String(describing: late.error))")
            return
        }
        peers[0].answer(peers[0].requests[0])
        rig.settle()
        #expect(first.text == "hello" && peers.count == 1 && peers[0].targets == ["/first", "/patient"])
        peers[0].answer(peers[0].requests[1])
        rig.settle()
        #expect(patient.text == "hello")
        rig.expectClean()
    }

    @Test("B16.84: a connection of an address that this machine has lost is not used again")
    func lostAddress() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in if request.head.target != "/slow" { peer.answer(request) } }
        }
        rig.submit()
        rig.settle()
        rig.servers.last?.isForsaken = true
        rig.advance(.seconds(1))
        let others = (0..<2).map { _ in rig.submit() }
        rig.settle()
        #expect(others.allSatisfy { $0.text == "hello" } && peers.count == 2)
        // What carries a request is judged by whether that is answered.
        let slow = rig.submit(target: "/slow")
        rig.settle()
        rig.servers.last?.isForsaken = true
        rig.advance(.seconds(2))
        let beside = rig.submit()
        rig.settle()
        #expect(beside.text == "hello" && peers.count == 2)
        slow.handle?.cancel()
        rig.settle()
        rig.expectClean()
    }

    @Test("H6.4: a connection that was silent for a whole time-out takes no new request before it has answered a PING")
    func suspect() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2()
        rig.submit()
        rig.settle()
        peers[0].isReading = false
        let lost = rig.submit(idleTimeout: .seconds(5))
        rig.settle()
        rig.advance(.seconds(5))
        rig.settle()
        #expect(lost.error != nil)
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "hello" && peers.count == 2)
        peers[0].isReading = true
        peers[0].read()
        rig.settle()
        rig.expectClean()
    }

    @Test(
        "B16.77: a connection that has reached its greatest age carries its streams to their ends, and new ones have another"
    )
    func lifetime() {
        let rig = EngineRig.http2(perHost: 1) { $0.maximumConnectionLifetime = .seconds(10) }
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in if request.head.target != "/slow" { peer.answer(request) } }
        }
        let slow = rig.submit(target: "/slow", idleTimeout: nil)
        rig.settle()
        let young = rig.submit()
        rig.settle()
        rig.advance(.seconds(10))
        let next = rig.submit()
        rig.settle()
        #expect(young.text == "hello" && next.text == "hello" && peers.count == 2)
        #expect(rig.core.counts == PoolCounts(idle: 1, draining: 1))
        peers[0].answer(peers[0].requests[0])
        rig.settle()
        #expect(slow.text == "hello" && slow.error == nil)
        #expect(rig.core.counts == PoolCounts(idle: 1))
        rig.expectClean()
    }

    @Test("H6.5: a server that does not answer a PING while a request is open is given up")
    func silence() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in peer.onWhole = { _, _ in } }
        let journal = rig.submit("POST", body: [1], idleTimeout: nil)
        rig.settle()
        peers[0].isReading = false
        for _ in 0..<60 {
            rig.advance(.seconds(1))
            rig.settle()
        }
        guard case .connectionLost? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("H6.5: a server that takes a body slowly, and says nothing meanwhile, is not given up")
    func slowUpload() {
        let rig = EngineRig.http2()
        rig.network.capacity = 1024
        let peers = rig.serveHTTP2 { peer, _ in
            peer.takesBodies = false
            peer.onHead = { peer, request in if request.head.method == "PUT" { peer.isReading = false } }
        }
        // The settings are exchanged.
        rig.submit()
        rig.settle()
        let journal = rig.submit("PUT", body: [UInt8](repeating: 1, count: 60_000), idleTimeout: nil)
        rig.settle()
        for _ in 0..<40 {
            rig.advance(.seconds(10))
            peers[0].isReading = true
            peers[0].read()
            peers[0].isReading = false
            rig.settle()
        }
        #expect(!journal.hasEnded)
        peers[0].isReading = true
        peers[0].read()
        rig.settle()
        #expect(journal.text == "hello" && journal.error == nil && peers.count == 1)
        rig.expectClean()
    }

    @Test(
        "H6.5: a server that slowly gets what the system took of a body is not given up, one that gets no more is")
    func slowArrival() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in peer.onWhole = { _, _ in } }
        let journal = rig.submit("PUT", body: [UInt8](repeating: 1, count: 60_000), idleTimeout: nil)
        rig.settle()
        peers[0].isReading = false
        for left in stride(from: 40_000, to: 0, by: -5_000) {
            peers[0].stream.told = Delivery(unacknowledged: left, age: .seconds(1))
            rig.advance(.seconds(14))
        }
        #expect(!journal.hasEnded)
        rig.advance(.seconds(30))
        guard case .connectionLost? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("H6.5: requests that the system of a server takes, and that nobody answers, do not put off its end")
    func takenUnread() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in peer.onWhole = { _, _ in } }
        let journal = rig.submit("POST", body: [1], idleTimeout: nil)
        rig.settle()
        peers[0].isReading = false
        peers[0].stream.told = Delivery(unacknowledged: 0, age: .seconds(1))
        for _ in 0..<4 {
            rig.advance(.seconds(10))
            rig.submit("POST", body: [1], idleTimeout: nil)
            rig.settle()
        }
        #expect(!journal.hasEnded)
        rig.advance(.seconds(6))
        guard case .connectionLost? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    // MARK: By the server

    @Test(
        "H7.4: a stream that is reset fails, and the connection goes on",
        arguments: [HTTP2ErrorCode.internalError, .noError])
    func reset(code: HTTP2ErrorCode) {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                if request.head.target == "/bad" {
                    peer.head(request, length: 10)
                    peer.send(request, [1, 2], isLast: false)
                    peer.reset(request, code)
                } else {
                    peer.answer(request)
                }
            }
        }
        let journal = rig.submit(target: "/bad")
        rig.settle()
        guard case .http2(.reset(code))? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(journal.body == [1, 2])
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "hello" && peers.count == 1)
        rig.expectClean()
    }

    @Test("H7.2, H7.3: what is refused is sent again, whatever it is, five times at most and later each time")
    func refused() {
        for count in [1, 3, 5, 6] {
            let rig = EngineRig.http2()
            let peers = rig.serveHTTP2 { peer, _ in
                peer.onWhole = { peer, request in
                    if peer.requests.count <= count {
                        peer.reset(request, .refusedStream)
                    } else {
                        peer.answer(request)
                    }
                }
            }
            let journal = rig.submit("POST", body: [1, 2, 3])
            rig.settle()
            #expect(peers[0].requests.count == 2, "the first is at once")
            for _ in 0..<60 {
                rig.advance(.milliseconds(100))
                rig.settle()
            }
            #expect(peers.count == 1 && peers[0].requests.count == min(count + 1, 6))
            #expect((journal.error == nil) == (count < 6) && journal.hasEnded)
            #expect(journal.outcome?.timelines.count == min(count + 1, 6))
            rig.expectClean()
        }
    }

    @Test(
        "H7.2, H7.4: a stream from which nothing was taken stays open where its request is refused, and goes with the next"
    )
    func refusedUntouched() throws {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onHead = { peer, request in if peer.requests.count == 1 { peer.reset(request, .refusedStream) } }
        }
        let source = ScriptedSource()
        let journal = rig.submit("PUT", content: .stream(source), framing: .chunked)
        rig.settle()
        #expect(peers[0].requests.count == 2 && !source.isClosed)
        source.supply("abc")
        source.supply(.end)
        rig.settle()
        #expect(journal.text == "hello" && peers[0].requests[1].body == Array("abc".utf8))
        rig.expectClean()
    }

    @Test("H7.3: where the body is a stream its owner is asked for another as often, and the request waits as long")
    func refusedStreams() throws {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in peer.onWhole = { $0.reset($1, .refusedStream) } }
        var again: SecondSending?
        for attempt in 1...6 {
            let source = ScriptedSource(texts: "abc")
            let journal = rig.submit("POST", content: .stream(source), framing: .chunked, again: again)
            let pause = again?.pause ?? .zero
            if pause > .zero {
                rig.advance(pause - .milliseconds(1))
                rig.settle()
                #expect(!journal.hasEnded && peers.peers.reduce(0) { $0 + $1.requests.count } == attempt - 1)
                rig.advance(.milliseconds(1))
            }
            rig.settle()
            #expect(journal.hasEnded && peers.peers.reduce(0) { $0 + $1.requests.count } == attempt)
            again = journal.outcome?.again
            #expect((again == nil) == (attempt == 6))
            #expect(again.map { $0.refusals == attempt && ($0.pause > .zero) == (attempt > 1) } ?? true)
        }
        rig.expectClean()
    }

    @Test("H7.2: what has begun to be answered was not refused, and is not sent again")
    func refusedTooLate() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                peer.head(request, length: 10)
                peer.reset(request, .refusedStream)
            }
        }
        let journal = rig.submit()
        rig.settle()
        guard case .http2(.reset(.refusedStream))? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(peers[0].requests.count == 1)
        rig.expectClean()
    }

    @Test("H7.2: a refusal behind an informational answer, which may be a gateway's, is one")
    func refusedBehindHints() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                guard peer.requests.count == 1 else { return peer.answer(request) }
                peer.head(request, 103)
                peer.reset(request, .refusedStream)
            }
        }
        let journal = rig.submit("PUT", body: [1, 2, 3])
        rig.settle()
        #expect(journal.informational == [103] && journal.text == "hello" && peers[0].targets == ["/", "/"])
        rig.expectClean()
    }

    /// How a server is done with a request that it has not answered.
    enum Farewell: CaseIterable, Sendable { case lost, refused, turnedAway, wantsHTTP1 }

    @Test(
        "B6.29, H7.1, H7.4: a lost request that has got an informational answer, and an upload that was taken up, are not sent again",
        arguments: [(103, Farewell.lost)] + Farewell.allCases.map { (104, $0) })
    func lookedAt(status: Int, farewell: Farewell) throws {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                if request.head.target == "/first" { peer.answer(request) } else { peer.head(request, status) }
            }
        }
        rig.submit(target: "/first")
        rig.settle()
        let journal = rig.submit("PUT", body: [1, 2, 3])
        rig.settle()
        #expect(journal.informational == [status])
        let request = try #require(peers[0].requests.last)
        switch farewell {
        case .lost: peers[0].close()
        case .refused: peers[0].reset(request, .refusedStream)
        case .turnedAway: peers[0].goAway(last: peers[0].requests[0].id.number)
        case .wantsHTTP1: peers[0].reset(request, .http11Required)
        }
        rig.settle()
        #expect(journal.hasEnded && journal.error != nil)
        #expect(peers.count == 1 && peers[0].targets == ["/first", "/"])
        rig.expectClean()
    }

    @Test(
        "H7.1, H7.10: what a GOAWAY has turned away is sent again on another connection at once, what it has not goes on"
    )
    func goAway() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, number in
            guard number == 0 else { return }
            peer.onWhole = { peer, request in
                if peer.requests.count == 3 { peer.goAway(last: peer.requests[0].id.number) }
            }
        }
        let journals = (0..<3).map { rig.submit("POST", target: "/\($0)", body: [1]) }
        rig.settle()
        #expect(peers.count == 2 && Set(peers[1].targets) == ["/1", "/2"])
        #expect(journals[1...].allSatisfy { $0.text == "hello" } && !journals[0].hasEnded)
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "hello" && peers.count == 2)
        peers[0].answer(peers[0].requests[0])
        rig.settle()
        #expect(journals[0].text == "hello")
        #expect(!peers[0].stream.isOpen || peers[0].hasEnded || rig.core.counts.draining == 0)
        rig.expectClean()
    }

    @Test(
        "H7.3: where each connection takes a few requests and ends in order, all are answered, however many connections that takes"
    )
    func fewOnEach() {
        let rig = EngineRig.http2(perHost: 1)
        let peers = rig.serveHTTP2 { peer, number in
            var taken: [HTTP2Peer.Request] = []
            peer.onWhole = { peer, request in
                // What comes behind the goodbye is not taken.
                guard taken.count < 3 else { return }
                taken.append(request)
                // The goodbye comes behind the answers, or before them.
                let isBehind = number.isMultiple(of: 2)
                if isBehind { peer.answer(request) }
                guard taken.count == 3 else { return }
                peer.goAway(last: request.id.number)
                if !isBehind { for earlier in taken { peer.answer(earlier) } }
            }
        }
        let journals = (0..<39).map { rig.submit("POST", target: "/\($0)", body: [1]) }
        rig.settle()
        #expect(journals.allSatisfy { $0.text == "hello" && $0.error == nil })
        #expect(peers.count == 13)
        rig.expectClean()
    }

    @Test(
        "H7.3: a server that takes no request gets each six times, and then it fails, also where the server pretends to take some",
        arguments: [false, true])
    func takesNone(pretends: Bool) {
        let rig = EngineRig.http2(perHost: 1)
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                guard pretends else { return peer.goAway(last: 0) }
                // Its goodbye leaves the first, which was refused before.
                peer.reset(request, .refusedStream)
                peer.goAway(last: request.id.number)
            }
        }
        let journals = (0..<4).map { rig.submit("POST", target: "/\($0)", body: [1]) }
        for _ in 0..<80 {
            rig.settle()
            rig.advance(.milliseconds(100))
        }
        rig.settle()
        #expect(journals.allSatisfy { $0.hasEnded && $0.error != nil && $0.outcome?.timelines.count == 6 })
        #expect(peers.count <= 24)
        rig.expectClean()
    }

    @Test(
        "H7.3: a GOAWAY behind an answered request does not count if it is no error",
        arguments: [HTTP2ErrorCode.noError, .protocolError, .enhanceYourCalm])
    func outlasted(code: HTTP2ErrorCode) {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                guard let first = peer.requests.first, first.id != request.id else { return peer.answer(request) }
                peer.goAway(last: first.id.number, code)
            }
        }
        let first = rig.submit()
        rig.settle()
        let journal = rig.submit("POST", content: .stream(ScriptedSource(texts: "abc")), framing: .chunked)
        rig.settle()
        #expect(first.text == "hello" && peers.count == 1)
        #expect(journal.hasEnded && journal.outcome?.again?.refusals == (code == .noError ? 0 : 1))
        rig.expectClean()
    }

    @Test(
        "H7.1: what came with a GOAWAY stays as it came where the connection that is tried next has something to read, too"
    )
    func goAwayBesideInput() throws {
        var settings = HTTP2Settings()
        settings.maximumConcurrentStreams = 2
        let rig = EngineRig.http2(perHost: 2)
        let peers = rig.serveHTTP2(settings: settings) { peer, number in
            if number == 0 { peer.onWhole = { _, _ in } }
        }
        let first = rig.submit(target: "/first")
        rig.settle()
        let second = rig.submit(target: "/second")
        rig.settle()
        let third = rig.submit(target: "/third")
        rig.settle()
        #expect(peers.count == 2 && third.text == "hello")
        let request = try #require(peers[0].requests.first)
        peers[0].goAway(last: request.id.number)
        peers[0].answer(request)
        let ping: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
        peers[1].send(raw: Array(repeating: ping, count: 20).flatMap { $0 })
        rig.settle()
        #expect(first.text == "hello" && first.error == nil)
        #expect(second.text == "hello" && peers.count == 2 && peers[1].targets == ["/third", "/second"])
        rig.expectClean()
    }

    @Test("H2.8: an idle connection that gets a GOAWAY is closed, and the next request dials")
    func goAwayIdle() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2()
        rig.submit()
        rig.settle()
        peers[0].goAway()
        rig.settle()
        #expect(rig.core.counts == PoolCounts())
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "hello" && peers.count == 2)
        rig.expectClean()
    }

    @Test("H7.8: a GOAWAY that asks for calm is obeyed: the next try comes after a second")
    func calm() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, number in
            if number == 0 { peer.onWhole = { peer, _ in peer.goAway(last: 0, .enhanceYourCalm) } }
        }
        let journal = rig.submit()
        rig.settle()
        rig.advance(.milliseconds(900))
        rig.settle()
        #expect(peers.count == 1 && !journal.hasEnded)
        rig.advance(.seconds(1))
        rig.settle()
        #expect(peers.count == 2 && journal.text == "hello")
        rig.expectClean()
    }

    /// Serves a host whose first connection wants HTTP/1.1, which the next ones speak.
    private func serveOnlyHTTP1(of rig: EngineRig, _ old: [ScriptedPeer.Step]) {
        rig.network.serve("host.test") { [unowned rig] stream in
            guard rig.servers.isEmpty else {
                return rig.keep(stream, ScriptedPeer(stream, on: rig.reactor, old))
            }
            let peer = HTTP2Peer(stream, on: rig.reactor)
            peer.onWhole = { $0.reset($1, .http11Required) }
            rig.keep(stream, peer)
        }
    }

    @Test("H7.7: that a server wants HTTP/1.1 is remembered, also where a streamed body has to be supplied anew")
    func needsHTTP1ForStream() {
        let rig = EngineRig.http2()
        serveOnlyHTTP1(of: rig, [.receiveHead, .respond("old")])
        let first = rig.submit("POST", content: .stream(ScriptedSource(texts: "abc")), framing: .chunked)
        rig.settle()
        #expect(first.hasEnded && first.outcome?.again?.refusals == 1)
        let second = rig.submit()
        rig.settle()
        #expect(second.text == "old" && rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test(
        "H7.7: to a server that wants HTTP/1.1 any request is sent again over that, and later ones go that way at once")
    func needsHTTP1() {
        let rig = EngineRig.http2()
        serveOnlyHTTP1(of: rig, [.receiveHead, .receive(count: 1), .respond("old"), .receiveHead, .respond("old")])
        let first = rig.submit("POST", body: [1])
        rig.settle()
        #expect(first.text == "old" && first.outcome?.timelines.last?.protocolName == "http/1.1")
        let second = rig.submit()
        rig.settle()
        #expect(second.text == "old" && rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test("H7.9, H7.4: a lost connection fails its streams; what HTTP/1.1 replays is sent again, once")
    func lost() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, number in
            guard number < 2 else { return }
            peer.onWhole = { peer, request in
                if request.head.target == "/first" {
                    peer.answer(request)
                } else if peer.requests.count > 2 {
                    peer.close()
                }
            }
        }
        rig.submit(target: "/first")
        rig.settle()
        let (get, post) = (rig.submit(), rig.submit("POST", body: [1]))
        rig.settle()
        #expect(peers.count == 2, "the GET is sent again")
        guard case .connectionLost? = post.error else {
            Issue.record("\(String(describing: post.error))")
            return
        }
        peers[1].answer(peers[1].requests[0])
        rig.settle()
        #expect(get.text == "hello")
        rig.expectClean()
    }

    @Test(
        "H7.12, H7.4: a lost request whose body is supplied anew waits for no new connection, and is lost for good then"
    )
    func lostStreams() {
        let rig = EngineRig.http2(perHost: 1)
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in if request.head.target == "/first" { peer.answer(request) } }
        }
        rig.submit(target: "/first")
        rig.settle()
        let long = rig.submit(target: "/long")
        let put = rig.submit(
            "PUT", target: "/put", content: .stream(ScriptedSource(texts: "abc")), framing: .chunked)
        rig.settle()
        peers[0].close()
        rig.settle()
        #expect(put.outcome?.again == SecondSending(attempt: 1))
        #expect(peers.count == 2 && peers[1].targets == ["/long"])
        let again = rig.submit(
            "PUT", target: "/put", content: .stream(ScriptedSource(texts: "abc")), framing: .chunked,
            again: put.outcome?.again)
        rig.settle()
        #expect(peers.count == 2 && peers[1].targets == ["/long", "/put"])
        peers[1].close()
        rig.settle()
        #expect(long.hasEnded && again.hasEnded && peers.count == 2)
        guard case .connectionLost? = again.error else {
            Issue.record("\(String(describing: again.error))")
            return
        }
        #expect(again.outcome?.again == nil)
        rig.expectClean()
    }

    @Test("H7.9: an answer that is whole stays whole though the connection ends with it")
    func wholeThenClosed() {
        let rig = EngineRig.http2()
        _ = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                peer.answer(request)
                peer.stream.shutdownWrite()
            }
        }
        let journal = rig.submit()
        rig.settle()
        #expect(journal.text == "hello" && journal.error == nil)
        rig.expectClean()
    }

    @Test("H8: a server that breaks the rules is told so, its streams fail, and the next request dials")
    func broken() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, number in
            guard number == 0 else { return }
            // SETTINGS of a size that they cannot have.
            peer.onWhole = { peer, _ in peer.send(raw: [0, 0, 5, 4, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5]) }
        }
        let journal = rig.submit("POST", body: [1])
        rig.settle()
        guard case .http2(.connection)? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "hello" && peers.count == 2)
        rig.expectClean()
    }

    @Test("H4.7, H4.8: a malformed answer is its stream's error alone")
    func malformed() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                guard request.head.target == "/bad" else { return peer.answer(request) }
                // :status 200, and a name in upper case.
                peer.raw(request, [0x88, 0x00, 0x01, 0x41, 0x01, 0x62])
            }
        }
        let (bad, good) = (rig.submit(target: "/bad"), rig.submit())
        rig.settle()
        guard case .http2(.malformed(_, .uppercaseFieldName))? = bad.error else {
            Issue.record("\(String(describing: bad.error))")
            return
        }
        #expect(good.text == "hello" && peers.count == 1)
        rig.expectClean()
    }

    @Test("H4.9: an answer with more than 1,000 fields is its stream's error alone")
    func manyFields() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                guard request.head.target == "/bad" else { return peer.answer(request) }
                // :status 200, and an empty Via again and again.
                peer.raw(request, [0x88] + Array(repeating: 0xBC, count: 1001))
            }
        }
        let (bad, good) = (rig.submit(target: "/bad"), rig.submit())
        rig.settle()
        guard case .http2(.malformed(_, .tooLarge))? = bad.error else {
            Issue.record("\(String(describing: bad.error))")
            return
        }
        #expect(good.text == "hello" && peers.count == 1)
        rig.expectClean()
    }

    @Test("H8.1: an answer in HTTP/1.1 where HTTP/2 was agreed on is an error (H1.4)")
    func http1() {
        let rig = EngineRig.http2()
        rig.serve("host.test", [.receiveHead, .respond("hello")])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.hasEnded && journal.error != nil)
        rig.expectClean()
    }

    @Test("H7.11: an engine that ends finishes its connections without a fault at the server")
    func goodbye() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2()
        rig.submit()
        rig.settle()
        rig.core.shutDown(immediately: false)
        rig.settle()
        #expect(rig.core.counts == PoolCounts())
        #expect(peers[0].fault == nil)
        rig.expectClean()
    }
}
