import Testing
import URLLoadingEngine
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// Answers that come before the request's body is out, and bodies that wait for them.
@Suite struct EarlyAnswerTests {
    private static let expect = [("Expect", "100-continue")]

    // MARK: Expect: 100-continue

    @Test("B5.40, B5.41: the body waits for 100", arguments: [false, true])
    func waitsForPermission(fromSource: Bool) {
        let rig = EngineRig()
        let source = ScriptedSource(texts: "hello")
        rig.serve(
            "host.test",
            [
                .receiveHead, .delay(.milliseconds(500)), .send("HTTP/1.1 100 Continue\r\n\r\n"), .receive(count: 5),
                .respond("ok"),
            ])
        let journal =
            fromSource
            ? rig.submit("POST", content: .stream(source), framing: .length(5), fields: Self.expect)
            : rig.submit("POST", body: Array("hello".utf8), fields: Self.expect)
        rig.settle()
        #expect(rig.peers.first?.text.hasSuffix("Expect: 100-continue\r\nContent-Length: 5\r\n\r\n") == true)
        #expect(source.asked == 0)
        rig.advance(.milliseconds(500))
        rig.settle()
        #expect(journal.text == "ok")
        #expect(journal.informational.isEmpty)
        #expect(journal.sentBodyBytes == [5])
        #expect(rig.core.counts.idle == 1)
        rig.expectClean()
    }

    @Test("B5.40: after a second without a word the body is sent")
    func noPermission() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .receive(count: 5), .respond("ok")])
        let journal = rig.submit("POST", body: Array("hello".utf8), fields: Self.expect)
        rig.settle()
        rig.advance(.milliseconds(999))
        #expect(journal.sentBodyBytes.isEmpty)
        rig.advance(.milliseconds(1))
        rig.settle()
        #expect(journal.text == "ok")
        rig.expectClean()
    }

    @Test("B5.40: a final answer without 100 comes instead of the body", arguments: ["200 OK", "401 Unauthorized"])
    func answeredWithoutBody(status: String) {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("done", status: status)])
        let source = ScriptedSource(texts: "hello")
        let journal = rig.submit("POST", content: .stream(source), framing: .length(5), fields: Self.expect)
        rig.settle()
        #expect(journal.text == "done")
        #expect(journal.error == nil)
        #expect(source.asked == 0)
        #expect(source.isClosed)
        rig.advance(.seconds(5))
        #expect(rig.peers.first?.text.hasSuffix("\r\n\r\n") == true, "nothing behind the head")
        #expect(rig.core.counts.connections == 0, "the server may still wait for the body")
        rig.expectClean()
    }

    @Test(
        "B5.40, B12.6, B12.19: refused with 417, the request goes once more without Expect, and the answer is recorded")
    func expectationFailed() throws {
        let rig = EngineRig()
        rig.serve(
            "host.test", [.receiveHead, .respond("", status: "417 Expectation Failed")],
            [.receiveHead, .receive(count: 5), .respond("ok")])
        let source = ScriptedSource(texts: "hello")
        let journal = rig.submit("POST", content: .stream(source), framing: .length(5), fields: Self.expect)
        rig.settle()
        #expect(journal.text == "ok")
        #expect(rig.peers.count == 2)
        #expect(rig.peers.last?.text == "POST / HTTP/1.1\r\nHost: host.test\r\nContent-Length: 5\r\n\r\nhello")
        #expect(journal.outcome?.timelines.map(\.status) == [417, 200])
        let refused = try #require(journal.outcome?.timelines.first)
        #expect(refused.responseStart != nil && refused.responseEnd == nil)
        #expect(refused.responseHeadBytes == "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n".utf8.count)
        rig.expectClean()
    }

    @Test("A 417 to a request that did not expect anything is an answer")
    func unexpected417() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .receive(count: 5), .respond("no", status: "417 Expectation Failed")])
        let journal = rig.submit("POST", body: Array("hello".utf8))
        rig.settle()
        #expect(journal.head?.status == 417)
        #expect(rig.peers.count == 1)
        rig.expectClean()
    }

    // MARK: Answers before the body is out

    @Test(
        "B5.42, B11.17: a refusal stops the body, whether or not the connection ends",
        arguments: ["", "Connection: close\r\n"])
    func refusal(fields: String) {
        let rig = EngineRig()
        rig.network.capacity = 1000
        rig.serve(
            "host.test",
            [.receiveHead, .stopReading, .respond("too large", status: "413 Content Too Large", fields: fields)])
        let source = ScriptedSource([SourcePiece](repeating: .bytes([UInt8](repeating: 1, count: 5000)), count: 100))
        let journal = rig.submit("POST", content: .stream(source), framing: .chunked)
        rig.settle()
        #expect(journal.head?.status == 413)
        #expect(journal.text == "too large")
        #expect(journal.error == nil)
        #expect(source.isClosed)
        #expect(source.asked == 2)
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("B5.42: an early 200 does not stop the body, and the end waits for it")
    func earlySuccess() {
        let rig = EngineRig()
        rig.serve(
            "host.test",
            [.receiveHead, .respond("fine"), .receiveThrough(Array("0\r\n\r\n".utf8)), .receiveHead, .respond("next")])
        let source = ScriptedSource()
        let journal = rig.submit("POST", content: .stream(source), framing: .chunked)
        rig.settle()
        #expect(journal.text == "fine")
        #expect(!journal.hasEnded)
        source.supply("abc")
        rig.settle()
        #expect(journal.sentBodyBytes == [3])
        source.supply(.end)
        rig.settle()
        #expect(journal.hasEnded)
        #expect(journal.error == nil)
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "next")
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test(
        "B11.17: an early 200 counts although the server then closes, or takes nothing more", arguments: [true, false])
    func earlySuccessThenSilence(closes: Bool) {
        let rig = EngineRig()
        rig.network.capacity = 1000
        rig.serve("host.test", [.receiveHead, .stopReading, .respond("fine")] + (closes ? [.close] : []))
        let source = ScriptedSource([SourcePiece](repeating: .bytes([UInt8](repeating: 1, count: 5000)), count: 100))
        let journal = rig.submit("POST", content: .stream(source), framing: .chunked, idleTimeout: .seconds(5))
        rig.settle()
        rig.advance(.seconds(6))
        #expect(journal.text == "fine")
        #expect(journal.error == nil)
        #expect(source.isClosed)
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }
}
