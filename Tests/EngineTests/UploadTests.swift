import Testing
import URLLoadingEngine
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// Bodies that are read while they are sent.
@Suite struct UploadTests {
    // MARK: Files

    @Test("B5.26, B11.5: a file is read while it is sent, however little the socket takes", arguments: [1000, 65_536])
    func file(capacity: Int) throws {
        let rig = EngineRig()
        rig.network.capacity = capacity
        let file = try ScratchFile(count: 300_000)
        rig.serve("host.test", [.receiveHead, .receive(count: file.bytes.count), .respond("ok")])
        let journal = rig.submit(
            "PUT", content: .file(try file.open()), framing: .length(Int64(file.bytes.count)))
        rig.settle()
        #expect(journal.error == nil)
        #expect(journal.text == "ok")
        #expect(
            rig.peers.first?.text.hasPrefix("PUT / HTTP/1.1\r\nHost: host.test\r\nContent-Length: 300000\r\n") == true)
        #expect(firstDifference(rig.peers.first?.received.suffix(file.bytes.count) ?? [], file.bytes) == nil)
        #expect(journal.sentBodyBytes.last == 300_000)
        #expect(rig.core.counts.idle == 1, "the connection may be used again")
        rig.expectClean()
    }

    @Test("B11.7: a file that shrinks while it is sent ends the request and its connection")
    func fileShrinks() throws {
        let rig = EngineRig()
        let file = try ScratchFile(count: 300_000)
        rig.serve("host.test", [.receiveHead, .run { file.truncate(to: 100_000) }, .receiveEnd])
        let journal = rig.submit("PUT", content: .file(try file.open()), framing: .length(300_000))
        rig.settle()
        guard case .body(.endedEarly(100_000, 300_000)) = journal.error else {
            Issue.record("got \(String(describing: journal.error))")
            return
        }
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("B11.7: what a file grows by is not sent")
    func fileGrows() throws {
        let rig = EngineRig()
        let file = try ScratchFile(count: 100_000)
        rig.serve("host.test", [.receiveHead, .receive(count: 100_000), .respond("ok")])
        let open = try file.open()
        file.truncate(to: 200_000)
        let journal = rig.submit("PUT", content: .file(open), framing: .length(open.byteCount))
        rig.settle()
        #expect(journal.text == "ok")
        #expect(firstDifference(rig.peers.first?.received.suffix(100_000) ?? [], file.bytes) == nil)
        #expect(rig.core.counts.idle == 1)
        rig.expectClean()
    }

    @Test("B11.6: a directory, a missing file and a pipe cannot be opened as bodies")
    func unusableFiles() throws {
        let missing = OpenFile.open(path: "/no/such/file")
        #expect(missing.failure?.errno == 2)
        #expect(OpenFile.open(path: "/tmp").failure?.errno == 21)
        #expect(OpenFile.open(path: "/dev/null").failure?.errno == 22)
    }

    // MARK: Streams

    @Test("B5.28, B5.43, B11.13: a stream without length goes in chunks, without trailers, and counts without framing")
    func chunks() {
        let rig = EngineRig()
        let source = ScriptedSource([.bytes(Array("hello".utf8))])
        rig.serve("host.test", [.receiveHead, .receiveThrough(Array("0\r\n\r\n".utf8)), .respond("ok")])
        let journal = rig.submit("POST", content: .stream(source), framing: .chunked)
        rig.settle()
        #expect(rig.peers.first?.text.hasSuffix("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n") == true)
        #expect(journal.sentBodyBytes == [5])
        source.supply(String(repeating: "x", count: 26))
        rig.settle()
        #expect(rig.peers.first?.text.hasSuffix("1a\r\nxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n") == true)
        #expect(!journal.hasEnded)
        source.supply(.end)
        rig.settle()
        #expect(journal.text == "ok")
        #expect(rig.peers.first?.text.hasSuffix("\r\n0\r\n\r\n") == true)
        #expect(journal.sentBodyBytes.last == 31)
        #expect(source.isClosed)
        #expect(rig.core.counts.idle == 1)
        rig.expectClean()
    }

    private static func sum(_ value: String) -> Fields {
        var fields = Fields()
        fields.append("X-Sum", value)
        return fields
    }

    @Test("B5.99: fields behind the chunks are sent with their end, and those that cannot be sent end the request")
    func trailers() {
        let rig = EngineRig()
        let end = "0\r\nX-Sum: 11\r\n\r\n"
        rig.serve("host.test", [.receiveHead, .receiveThrough(Array(end.utf8)), .respond("ok")])
        let source = ScriptedSource([.bytes(Array("hello".utf8)), .trailers(Self.sum("11"))])
        let journal = rig.submit("POST", content: .stream(source), framing: .chunked)
        rig.settle()
        #expect(journal.text == "ok")
        #expect(rig.peers.first?.text.hasSuffix("5\r\nhello\r\n\(end)") == true)
        #expect(journal.sentBodyBytes.last == 5)
        #expect(source.isClosed && rig.core.counts.idle == 1)

        let bad = ScriptedSource([.bytes(Array("hello".utf8)), .trailers(Self.sum("1\u{1}"))])
        let failed = rig.submit("POST", content: .stream(bad), framing: .chunked)
        rig.settle()
        guard case .body(.source(WireError.unsendableFieldValue)) = failed.error else {
            Issue.record("got \(String(describing: failed.error))")
            return
        }
        #expect(bad.isClosed && rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("A body of chunks arrives whole, however little the connection holds at a time", arguments: [1, 3, 10, 64])
    func narrowChunks(capacity: Int) {
        let rig = EngineRig()
        rig.network.capacity = capacity
        rig.serve("host.test", [.receiveHead, .receiveThrough(Array("0\r\n\r\n".utf8)), .respond("ok")])
        let journal = rig.submit(
            "POST", content: .stream(ScriptedSource(texts: "alpha", "b", "gamma gamma")), framing: .chunked)
        rig.settle()
        #expect(journal.text == "ok")
        #expect(
            rig.peers.first?.text.hasSuffix("\r\n\r\n5\r\nalpha\r\n1\r\nb\r\nb\r\ngamma gamma\r\n0\r\n\r\n") == true)
        #expect(journal.sentBodyBytes.last == 17)
        #expect(journal.sentBodyBytes == journal.sentBodyBytes.sorted())
        rig.expectClean()
    }

    @Test("B5.28, B5.29: with a length the stream goes as it is, and nothing is asked of it behind that")
    func announcedLength() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .receive(count: 10), .respond("ok")])
        let source = ScriptedSource(texts: "01234", "56789", "never asked for")
        let journal = rig.submit("POST", content: .stream(source), framing: .length(10))
        rig.settle()
        #expect(journal.text == "ok")
        #expect(rig.peers.first?.text.hasSuffix("Content-Length: 10\r\n\r\n0123456789") == true)
        #expect(source.isClosed)
        #expect(source.asked == 2)
        #expect(rig.core.counts.idle == 1)
        rig.expectClean()
    }

    @Test(
        "B5.29: a piece that goes across the length is not sent, not even in part, and ends the request and its connection"
    )
    func tooLong() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .receiveEnd])
        let source = ScriptedSource(texts: "01234", "56789 and more")
        let journal = rig.submit("POST", content: .stream(source), framing: .length(10))
        rig.settle()
        guard case .body(.goesBeyond(10)) = journal.error else {
            Issue.record("got \(String(describing: journal.error))")
            return
        }
        #expect(source.isClosed)
        #expect(rig.core.counts.connections == 0)
        #expect(rig.peers.first?.text.hasSuffix("\r\n\r\n01234") == true)
        rig.expectClean()
    }

    @Test("B5.29: a stream that is too short ends the request and its connection")
    func tooShort() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .receiveEnd])
        let journal = rig.submit("POST", content: .stream(ScriptedSource(texts: "1234")), framing: .length(10))
        rig.settle()
        guard case .body(.endedEarly(4, 10)) = journal.error else {
            Issue.record("got \(String(describing: journal.error))")
            return
        }
        #expect(rig.core.counts.connections == 0)
        #expect(rig.peers.first?.sawEnd == true)
        rig.expectClean()
    }

    @Test("B5.39: a stream's own error ends the request")
    func sourceFails() {
        struct Trouble: Error {}
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .receiveEnd])
        let source = ScriptedSource([.bytes([1, 2, 3]), .failed(Trouble())])
        let journal = rig.submit("POST", content: .stream(source), framing: .chunked)
        rig.settle()
        guard case .body(.source(let error)) = journal.error else {
            Issue.record("got \(String(describing: journal.error))")
            return
        }
        #expect(error is Trouble)
        #expect(source.isClosed)
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("A stream is asked for one piece ahead of what the socket has taken")
    func backPressure() {
        let rig = EngineRig()
        rig.network.capacity = 1000
        rig.serve("host.test", [.receiveHead, .stopReading])
        let piece = SourcePiece.bytes([UInt8](repeating: 7, count: 5000))
        let source = ScriptedSource([SourcePiece](repeating: piece, count: 100))
        let journal = rig.submit("POST", content: .stream(source), framing: .chunked)
        rig.settle()
        #expect(source.asked == 2)
        journal.handle?.cancel()
        rig.settle()
        #expect(source.isClosed)
        rig.expectClean()
    }

    @Test("B6.1: a body source that supplies nothing runs into the idle time-out")
    func slowProducer() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead])
        let source = ScriptedSource()
        let journal = rig.submit("POST", content: .stream(source), framing: .chunked, idleTimeout: .seconds(5))
        rig.settle()
        rig.advance(.seconds(4))
        source.supply("a")
        rig.settle()
        rig.advance(.seconds(4))
        #expect(!journal.hasEnded)
        rig.advance(.seconds(1))
        guard case .idleTimeout(_, .waitingForBody, _) = journal.error else {
            Issue.record("got \(String(describing: journal.error))")
            return
        }
        #expect(source.isClosed)
        rig.expectClean()
    }

    @Test("B1.39: a suspended request sends nothing more")
    func suspended() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .receiveThrough(Array("0\r\n\r\n".utf8)), .respond("ok")])
        let source = ScriptedSource()
        let journal = rig.submit("POST", content: .stream(source), framing: .chunked, idleTimeout: .seconds(5))
        rig.settle()
        journal.handle?.suspend()
        rig.settle()
        source.supply("abc")
        rig.settle()
        rig.advance(.seconds(60))
        #expect(journal.sentBodyBytes.isEmpty)
        journal.handle?.resume()
        rig.settle()
        #expect(journal.sentBodyBytes == [3])
        source.supply(.end)
        rig.settle()
        #expect(journal.text == "ok")
        rig.expectClean()
    }

    // MARK: Sending again

    @Test("B6.26: a file is sent again where its connection had died unnoticed, counted from the beginning")
    func fileAgain() throws {
        let rig = EngineRig()
        rig.network.capacity = 1000
        let file = try ScratchFile(count: 20_000)
        rig.serve(
            "host.test", [.receiveHead, .respond("first"), .receiveHead, .receive(count: 3000), .reset],
            [.receiveHead, .receive(count: 20_000), .respond("second")])
        rig.submit()
        rig.settle()
        let journal = rig.submit("PUT", content: .file(try file.open()), framing: .length(20_000))
        rig.settle()
        #expect(journal.text == "second")
        #expect(firstDifference(rig.peers.last?.received.suffix(20_000) ?? [], file.bytes) == nil)
        #expect(journal.sentBodyBytes.contains(0))
        #expect(journal.sentBodyBytes.last == 20_000)
        #expect(journal.outcome?.timelines.count == 2)
        rig.expectClean()
    }

    @Test("B6.26: a stream from which nothing was taken is sent again, and one that was read from is not")
    func streamAgain() {
        let rig = EngineRig()
        let end = Array("0\r\n\r\n".utf8)
        rig.serve(
            "host.test", [.receiveHead, .respond("first"), .receiveHead, .reset],
            [.receiveHead, .receiveThrough(end), .respond("second"), .receiveHead, .receive(count: 3), .reset])
        rig.submit()
        rig.settle()
        let untouched = ScriptedSource()
        let journal = rig.submit("PUT", content: .stream(untouched), framing: .chunked)
        rig.settle()
        untouched.supply("abc")
        untouched.supply(.end)
        rig.settle()
        #expect(journal.text == "second")
        let touched = ScriptedSource([.bytes([1, 2, 3])])
        let lost = rig.submit("PUT", content: .stream(touched), framing: .chunked)
        rig.settle()
        guard case .connectionLost = lost.error else {
            Issue.record("got \(String(describing: lost.error))")
            return
        }
        #expect(touched.isClosed)
        #expect(
            lost.outcome?.again == SecondSending(attempt: 1, needsNewConnection: true),
            "the stream's owner may supply another")
        rig.expectClean()
    }

    @Test("B6.26: a request that its owner sends again goes to a new connection, whatever idle ones there are")
    func sentAgainByOwner() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 2 }
        rig.serve("host.test", [.receiveHead, .respond("first")], [.receiveHead, .respond("again")])
        rig.submit()
        rig.settle()
        #expect(rig.core.counts.idle == 1)
        let journal = rig.submit("PUT", body: [1], again: SecondSending(needsNewConnection: true))
        rig.settle()
        #expect(journal.text == "again")
        #expect(rig.network.dialled.count == 2)
        rig.expectClean()
    }
}

extension Result where Failure == SystemError {
    fileprivate var failure: SystemError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
