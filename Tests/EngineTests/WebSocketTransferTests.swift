// Web sockets on in-memory streams and the virtual clock: what only they can show. The rules are tested with the
// machine and the codec, the kernel and TLS with web socket tasks.

import Testing
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@testable import URLLoadingEngine

@Suite("Web socket transfers")
struct WebSocketTransferTests {
    /// What a web socket has told.
    private final class Journal: WebSocketReceiver {
        private(set) var lines: [String] = []
        private(set) var unclaimed: [WebSocketMessage] = []

        func moved(received: Int, sent: Int) {}
        func closing(_ close: WebSocketClose) { lines.append("closing \(close.code)") }
        func finished(_ failure: WebSocketFailure, unclaimed: [WebSocketMessage]) {
            lines.append("finished \(Rig.text(failure))")
            self.unclaimed = unclaimed
        }
    }

    /// One web socket and its peer; all on the test's thread.
    private final class Rig {
        let engine = EngineRig()
        let journal = Journal()
        let ours: MemoryStream
        let peer: ScriptedPeer
        let handle: WebSocketHandle
        let notes = Notes()

        init(
            _ steps: [ScriptedPeer.Step] = [], capacity: Int = 64 << 10, unread: [UInt8] = [],
            resource: Duration? = nil, maximum: Int = 1 << 20, readLimit: Int = .max
        ) {
            let theirs: MemoryStream
            (ours, theirs) = MemoryStream.pair(on: engine.reactor, capacity: capacity)
            ours.readLimit = readLimit
            peer = ScriptedPeer(theirs, on: engine.reactor, steps)
            let (reactor, journal) = (engine.reactor, journal)
            let settings = WebSocketSettings(
                host: "host.test", maximumMessageSize: maximum,
                resourceDeadline: resource.map { reactor.elapsed + $0 })
            handle = engine.core.carry(ours, unread: unread, as: settings) { _ in journal }
        }

        deinit { engine.reactor.tearDown() }

        var lines: [String] { journal.lines }
        var unclaimed: [WebSocketMessage] { journal.unclaimed }

        static func text(_ failure: WebSocketFailure) -> String {
            switch failure {
            case .end(.fault(let fault)): "fault \(fault.closeCode)"
            case .end(let end): "\(end)"
            case .engine(let error): "\(error)"
            case .known(let error): "\(error)"
            }
        }

        func send(_ message: WebSocketMessage) {
            let notes = notes
            handle.perform(
                .send(message) { notes.note("sent \($0.map(Self.text) ?? "well")") }, late: { _ in notes.note("late") })
        }

        func receive() {
            let notes = notes
            handle.perform(
                .receive { result in
                    switch result {
                    case .success(let message): notes.note(String(decoding: message.bytes, as: UTF8.self))
                    case .failure(let failure): notes.note("received \(Self.text(failure))")
                    }
                }, late: { _ in notes.note("late") })
        }

        func close(_ code: Int) { handle.perform(.close(WebSocketClose(code: code)), late: { _ in }) }

        /// The frames that have arrived at the peer, masks undone.
        var frames: [WebSocketReader.Event] {
            var reader = WebSocketReader(.server, maximumMessageSize: 1 << 30)
            var (events, offset): ([WebSocketReader.Event], Int) = ([], 0)
            let bytes = peer.received
            while let event = try? bytes.withUnsafeBytes({ try reader.next($0.bytes, offset: &offset) }),
                event != .needMore
            { events.append(event) }
            return events
        }
    }

    private func frame(_ opcode: WebSocketOpcode, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = []
        WebSocketFrameEncoder.encode(opcode, payload, isFinal: isFinal, mask: nil, into: &bytes)
        return bytes
    }

    private func text(_ text: String) -> [UInt8] { frame(.text, Array(text.utf8)) }

    @Test("What is sent in one turn leaves with one system call, each frame under a mask of its own (B15.15)")
    func coalesced() {
        let rig = Rig()
        for _ in 0..<10 { rig.send(WebSocketMessage(text: "same text")) }
        rig.engine.settle()
        #expect(rig.ours.writeCount == 1)
        #expect(rig.notes.all == Array(repeating: "sent well", count: 10))
        #expect(rig.frames == Array(repeating: .message(WebSocketMessage(text: "same text")), count: 10))
        let size = 2 + 4 + 9
        let masks = Set((0..<10).map { Array(rig.peer.received[($0 * size + 2)..<($0 * size + 6)]) })
        #expect(masks.count == 10)
    }

    @Test("B15.13: a send is done when the stream has its last byte, and those behind it later")
    func confirmed() {
        let rig = Rig([.stopReading], capacity: 1000)
        rig.engine.settle()
        rig.send(WebSocketMessage(.binary, Array(repeating: 1, count: 900)))
        rig.send(WebSocketMessage(.binary, Array(repeating: 2, count: 900)))
        rig.send(WebSocketMessage(.binary, Array(repeating: 3, count: 100_000)))
        rig.engine.settle()
        #expect(rig.notes.all == ["sent well"])
        rig.peer.add([.resumeReading])
        rig.engine.settle()
        #expect(rig.notes.all == ["sent well", "sent well", "sent well"])
        #expect(
            rig.frames.map { if case .message(let message) = $0 { message.bytes.count } else { -1 } }
                == [900, 900, 100_000])
    }

    @Test("A pong and a close frame go out after a large message that is under way, not inside it")
    func behindLarge() {
        let rig = Rig([.stopReading], capacity: 1000)
        rig.engine.settle()
        rig.send(WebSocketMessage(.binary, Array(repeating: 7, count: 200_000)))
        rig.engine.settle()
        rig.peer.add([.send(frame(.ping, [5]))])
        rig.engine.settle()
        rig.close(1000)
        rig.engine.settle()
        rig.peer.add([.resumeReading])
        rig.engine.settle()
        #expect(
            rig.frames == [
                .message(WebSocketMessage(.binary, Array(repeating: 7, count: 200_000))), .pong([5]),
                .close(WebSocketClose(code: 1000)),
            ])
        rig.peer.add([.send(frame(.close, [3, 0xE8])), .close])
        rig.engine.settle()
        #expect(rig.lines == ["closing 1000", "finished closed"])
    }

    @Test("B15.14: without a call to receive no more than a little is read; with calls all of it comes")
    func backPressure() {
        let message = String(repeating: "x", count: 10_000)
        let rig = Rig([.send(Array(repeating: text(message), count: 100).flatMap(\.self))], capacity: 4096)
        rig.engine.settle()
        #expect(rig.ours.hasPendingInput, "the stream is not read any more")
        #expect(!rig.peer.isDone, "and the peer cannot send any more")
        for _ in 0..<100 { rig.receive() }
        rig.engine.settle()
        #expect(rig.notes.all == Array(repeating: message, count: 100))
        #expect(rig.peer.isDone)
    }

    @Test("B15.35, B6.11: nothing is polled: days later an open web socket is as it was")
    func idle() {
        let rig = Rig()
        rig.receive()
        rig.engine.advance(.seconds(86_400 * 30))
        #expect(rig.lines.isEmpty && rig.notes.all.isEmpty)
        #expect(rig.ours.writeCount == 0)
        rig.peer.add([.send(text("still there"))])
        rig.engine.settle()
        #expect(rig.notes.all == ["still there"])
    }

    @Test("B6.11: the resource's deadline ends a web socket, with a close frame and the reason")
    func deadline() {
        let rig = Rig(resource: .seconds(60))
        rig.receive()
        rig.engine.advance(.seconds(59))
        #expect(rig.notes.all.isEmpty)
        rig.engine.advance(.seconds(2))
        let reason =
            "The transfer took longer than its time-out; after 60.0 seconds with host.test it was exchanging messages."
        #expect(rig.notes.all == ["received \(reason)"])
        #expect(rig.lines == ["finished \(reason)"])
        #expect(rig.frames == [.close(.withoutCode)])
    }

    @Test("B15.24: a peer has five seconds to answer our close frame, and our side ends only then")
    func patience() {
        let rig = Rig()
        rig.close(1001)
        rig.engine.advance(.milliseconds(4900))
        #expect(rig.lines.isEmpty && !rig.peer.sawEnd, "there are proxies that end all with the first end")
        rig.engine.advance(.milliseconds(200))
        #expect(rig.lines == ["closing 1001", "finished closed"])
        #expect(rig.peer.sawEnd)
        rig.engine.advance(.seconds(20))
        #expect(!rig.ours.isOpen)
    }

    @Test("The close frame of a peer that leaves is read although a write of ours has failed meanwhile")
    func goodbyeBeforeFailure() {
        let rig = Rig([.stopReading, .send(frame(.close, [3, 0xE9])), .close])
        for _ in 0..<3 { rig.send(WebSocketMessage(text: "x")) }
        rig.engine.settle()
        rig.send(WebSocketMessage(text: "late"))
        rig.engine.settle()
        #expect(rig.lines == ["closing 1001", "finished closed"])
    }

    @Test(
        "B15.26, B15.55: messages and the goodbye behind them that nobody has fetched are not lost where a write fails",
        arguments: [false, true])
    func messagesBeforeFailure(isSuspended: Bool) {
        // More than the machine reads ahead.
        let messages = (0..<40).map { "\($0) " + String(repeating: "x", count: 4000) }
        let goodbye = frame(.close, [3, 0xE8])
        let rig = Rig([.send(messages.flatMap { text($0) } + goodbye), .close], capacity: 1 << 20)
        if isSuspended { rig.handle.suspend() }
        rig.engine.settle()
        #expect(rig.lines.isEmpty)
        // The first is swallowed by the peer's kernel.
        for _ in 0..<2 {
            rig.send(WebSocketMessage(text: "late"))
            rig.engine.settle()
        }
        #expect(rig.lines == ["closing 1000", "finished closed"])
        #expect(rig.unclaimed.map { String(decoding: $0.bytes, as: UTF8.self) } == messages)
    }

    @Test("Bytes that came with the answer to the handshake come first, wherever they were cut")
    func unread() {
        let bytes = text("first") + frame(.ping, [1]) + text("second")
        for split in 0...bytes.count {
            let rig = Rig([.send(Array(bytes[split...]))], unread: Array(bytes[..<split]))
            rig.receive()
            rig.receive()
            rig.engine.settle()
            #expect(rig.notes.all == ["first", "second"])
            #expect(rig.frames == [.pong([1])])
        }
    }

    @Test("A lost connection tells how many bytes it has brought, those with the answer to the handshake too")
    func lostAfter() {
        let rig = Rig([.send(text("second")), .delay(.seconds(1)), .reset], unread: text("first"))
        for _ in 0..<3 { rig.receive() }
        rig.engine.settle()
        rig.engine.advance(.seconds(2))
        #expect(rig.notes.all.prefix(2) == ["first", "second"])
        #expect(
            rig.lines.first?.contains("after \((text("first") + text("second")).count) bytes") == true, "\(rig.lines)")
    }

    @Test("B3.10, B3.74: where TLS breaks under an open web socket its error, and its calls', say so")
    func brokenTLS() throws {
        let end = try TunnelEnd()
        let rig = EngineRig { $0.trust = AnchorsEvaluator(anchors: [end.root]) }
        var server: MemoryStream?
        rig.network.serve("host.test", port: 443) { [unowned rig] stream in
            guard let front = try? TLSFront(stream, context: end.context, rig: rig) else { return stream.close() }
            server = stream
            let switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
            let script: [ScriptedPeer.Step] = [.receiveHead, .send(switching), .receiveEnd]
            rig.keep(front.inside, ScriptedPeer(front.inside, on: rig.reactor, script))
        }
        let request = rig.submit(
            fields: [("Connection", "Upgrade"), ("Upgrade", "websocket")], isUpgrade: true, scheme: .https
        ) { _ in .detach }
        rig.settle()
        guard let connection = request.takeConnection() else {
            Issue.record("\(String(describing: request.error))")
            return
        }
        let journal = Journal()
        let notes = Notes()
        let handle = rig.core.carry(connection.takeStream(), as: WebSocketSettings(host: "host.test")) { _ in journal }
        handle.perform(
            .receive { result in
                if case .failure(let failure) = result { notes.note("finished \(Rig.text(failure))") }
            }, late: { _ in notes.note("late") })
        rig.settle()
        #expect(journal.lines.isEmpty && notes.all.isEmpty)
        server?.breakTLS()
        rig.settle()
        #expect(journal.lines.count == 1 && notes.all == journal.lines)
        #expect(journal.lines.first?.hasPrefix("finished TLS with host.test failed: ") == true, "\(journal.lines)")
        rig.expectClean()
    }

    @Test("Messages that are fetched one by one are read where they lie: what is behind them moves a few times only")
    func rest() {
        // More than the machine reads ahead.
        let messages = (0..<1000).map { "\($0) " + String(repeating: "x", count: 1000) }
        let rig = Rig(unread: messages.flatMap { text($0) })
        guard case .webSocket(let transfer)? = rig.engine.core.loads[rig.handle.id] else {
            Issue.record("nothing carries the web socket")
            return
        }
        // Where the memory begins, of which the rest is a part.
        var places: [UInt] = []
        for _ in messages {
            rig.receive()
            rig.engine.settle()
            let begin = UInt(transfer.unread.startIndex)
            let place = transfer.unread.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) &- begin }
            if places.last != place { places.append(place) }
        }
        #expect(rig.notes.all == messages)
        #expect(transfer.unread.isEmpty)
        #expect(places.count < 30)
    }

    @Test("B15.16, B15.17: invalid text is refused however it is cut, with control frames between the fragments")
    func cutText() {
        let good = frame(.text, [0xC3], isFinal: false) + frame(.ping, []) + frame(.continuation, [0xA9])
        let bad = frame(.text, [0x41, 0xE2, 0x82], isFinal: false) + frame(.pong, []) + frame(.continuation, [0x28])
        for size in 1...(good.count + bad.count) {
            let rig = Rig([.send(good + bad)], readLimit: size)
            rig.receive()
            rig.receive()
            rig.engine.settle()
            #expect(rig.notes.all == ["é", "received fault 1007"], "\(size)")
            #expect(rig.frames.last == .close(WebSocketClose(code: 1007)), "\(size)")
            #expect(rig.lines == ["finished fault 1007"])
        }
    }

    @Test("B15.37: a suspended web socket reads nothing, so that pings wait too; what is sent is sent")
    func suspended() {
        let rig = Rig()
        rig.handle.suspend()
        rig.receive()
        rig.peer.add([.send(text("waiting") + frame(.ping, [7]))])
        rig.send(WebSocketMessage(text: "out"))
        rig.engine.advance(.seconds(100))
        #expect(rig.notes.all == ["sent well"])
        #expect(rig.frames == [.message(WebSocketMessage(text: "out"))])
        rig.handle.resume()
        rig.engine.settle()
        #expect(rig.notes.all == ["sent well", "waiting"])
        #expect(rig.frames.last == .pong([7]))
    }

    @Test("The end of an engine ends its web sockets, and messages that no call has asked for are handed over")
    func shutDown() {
        let rig = Rig([.send(text("unclaimed") + frame(.close, [3, 0xE8])), .receiveEnd, .close])
        rig.engine.settle()
        #expect(rig.unclaimed == [WebSocketMessage(text: "unclaimed")])
        let cancelled = Rig()
        cancelled.receive()
        cancelled.engine.settle()
        cancelled.engine.core.shutDown(immediately: true)
        cancelled.engine.settle()
        #expect(cancelled.notes.all == ["received cancelled"] && cancelled.lines == ["finished cancelled"])
    }
}
