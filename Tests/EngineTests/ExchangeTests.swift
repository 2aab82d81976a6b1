import Testing
import URLLoadingEngine
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// One request, one response, in every shape.
@Suite struct ExchangeTests {
    @Test("A GET goes out in one write and its answer arrives whole")
    func roundTrip() throws {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("hello", fields: "X-A: b\r\n")])
        let journal = rig.submit(target: "/path?q=1")
        rig.settle()
        #expect(journal.text == "hello")
        #expect(journal.error == nil)
        #expect(journal.head?.status == 200)
        #expect(rig.peers.first?.text == "GET /path?q=1 HTTP/1.1\r\nHost: host.test\r\n\r\n")
        let timeline = try #require(journal.outcome?.timelines.first)
        #expect(!timeline.reused)
        #expect(timeline.requestHeadBytes == 43)
        #expect(timeline.responseBodyBytes == 5)
        #expect(timeline.protocolName == "http/1.1")
        rig.expectClean()
    }

    @Test("B16.22 and on: a response has one meaning, in whatever pieces it comes", arguments: [1, 2, 3, 7, 16, 64])
    func pieces(size: Int) {
        let response = Array(
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\nT: 1\r\n\r\n"
                .utf8)
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .sendInPieces(response, size: size, pause: .zero)])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.text == "hello, world")
        #expect(journal.informational == [103])
        #expect(journal.error == nil)
        #expect(rig.core.counts.idle == 1)
        rig.expectClean()
    }

    @Test("B11.19: the engine handles 100 itself and reports every other 1xx")
    func informational() {
        let rig = EngineRig()
        rig.serve(
            "host.test",
            [.receiveHead, .send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"), .respond("x")])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.informational == [102])
        #expect(journal.text == "x")
        rig.expectClean()
    }

    @Test("B16.30: no body follows a HEAD, a 204 or a 304, whatever the fields say", arguments: ["HEAD", "GET"])
    func bodiless(method: String) {
        let rig = EngineRig()
        let status = method == "HEAD" ? "200 OK" : "304 Not Modified"
        rig.serve(
            "host.test",
            [
                .receiveHead, .send("HTTP/1.1 \(status)\r\nContent-Length: 10\r\n\r\n"), .receiveHead,
                .respond("next"),
            ])
        let first = rig.submit(method)
        rig.settle()
        #expect(first.error == nil)
        #expect(first.body.isEmpty)
        let second = rig.submit()
        rig.settle()
        #expect(second.text == "next")
        #expect(second.outcome?.timelines.last?.reused == true)
        rig.expectClean()
    }

    @Test("B16.36: without length the body ends with the connection")
    func untilClose() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .send("HTTP/1.1 200 OK\r\n\r\nabc"), .send("def"), .close])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.text == "abcdef")
        #expect(journal.error == nil)
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("A body is sent behind its head, however little the socket takes", arguments: [1, 7, 100, 4096])
    func upload(capacity: Int) {
        let rig = EngineRig()
        rig.network.capacity = capacity
        let body = (0..<5000).map { UInt8(truncatingIfNeeded: $0) }
        rig.serve("host.test", [.receiveHead, .receive(count: body.count), .respond("ok")])
        let journal = rig.submit("POST", body: body)
        rig.settle()
        #expect(journal.error == nil)
        #expect(journal.text == "ok")
        #expect(firstDifference(rig.peers.first?.received.suffix(body.count) ?? [], body) == nil)
        #expect(journal.sentBodyBytes.last == 5000)
        #expect(firstDifference(journal.sentBodyBytes, journal.sentBodyBytes.sorted()) == nil)
        rig.expectClean()
    }

    @Test("B16.63: a 101 to a request that did not ask for it is a bad response")
    func unexpectedSwitch() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.wireError?.kind == .badResponse)
        rig.expectClean()
    }

    @Test("A request that cannot be sent fails without harming the connection")
    func invalidRequest() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("a")])
        let bad = rig.submit(fields: [("X", "a\r\nInjected: 1")])
        rig.settle()
        guard case .invalidRequest = bad.error else {
            Issue.record("expected invalidRequest, got \(String(describing: bad.error))")
            return
        }
        #expect(rig.peers.first?.received.isEmpty == true)
        let good = rig.submit()
        rig.settle()
        #expect(good.text == "a")
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }
}

extension Journal {
    /// The wire error the transaction ended with, if it was one.
    var wireError: WireError? {
        if case .wire(let error) = error { return error }
        return nil
    }
}
