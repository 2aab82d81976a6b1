import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// Connections that leave HTTP, behind the head of a final response or of a 101.
@Suite struct DetachedConnectionTests {
    private let upgrade = [("Connection", "Upgrade"), ("Upgrade", "echo")]
    private let switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"

    /// What became of a connection that the test took over.
    private final class Taken {
        let unread: String
        let facts: DetachedConnection.Facts
        let stream: any ByteStream

        init(_ connection: consuming DetachedConnection) {
            unread = String(decoding: connection.unread, as: UTF8.self)
            facts = connection.facts
            stream = connection.takeStream()
        }

        /// What the stream brings now.
        func read() -> String? {
            var buffer = [UInt8](repeating: 0, count: 4096)
            guard stream.hasPendingInput else { return nil }
            let result = buffer.withUnsafeMutableBytes { stream.read(into: $0) }
            guard case .bytes(let count) = result else { return nil }
            return String(decoding: buffer[..<count], as: UTF8.self)
        }

        func write(_ text: String) { _ = Array(text.utf8).withUnsafeBytes { stream.write($0) } }
    }

    private func take(_ journal: Journal) throws -> Taken {
        #expect(journal.error == nil && journal.ends == 1)
        guard let connection = journal.takeConnection() else { throw Missing() }
        return Taken(connection)
    }

    private struct Missing: Error {}

    @Test("B1.70: behind a response's head the bytes are the receiver's, not decoded, with those that came with it")
    func behindHead() throws {
        let rig = EngineRig()
        rig.serve(
            "host.test",
            [
                .receiveHead,
                .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n3\r\nabc"),
                .receive(count: 4), .send("more"), .receiveEnd,
            ])
        let journal = rig.submit { _ in .pause }
        rig.settle()
        #expect(journal.head?.status == 200 && !journal.hasEnded)
        journal.handle?.detach()
        rig.settle()
        let taken = try take(journal)
        #expect(taken.unread == "3\r\nabc" && journal.body.isEmpty)
        #expect(!taken.facts.isReused && !taken.facts.isProxied && taken.facts.tls == nil)
        #expect(journal.outcome?.timelines.count == 1 && journal.outcome?.timelines.last?.responseEnd != nil)
        taken.write("ping")
        rig.settle()
        #expect(taken.read() == "more" && rig.peers.first?.text.hasSuffix("ping") == true)
        taken.stream.close()
        rig.expectClean()
    }

    @Test("B16.3: a detached connection counts no longer: a waiting request gets one at once, and the engine may go")
    func countsNoLonger() throws {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 1 }
        rig.serve("host.test", [.receiveHead, .respond("abc"), .receiveEnd], [.receiveHead, .respond("second")])
        let first = rig.submit { _ in .detach }
        let second = rig.submit()
        rig.settle()
        let taken = try take(first)
        #expect(taken.unread == "abc" && second.text == "second")
        #expect(rig.network.dialled.count == 2)
        rig.core.shutDown(immediately: true)
        rig.settle()
        #expect(rig.core.counts.connections == 0 && rig.peers.first?.sawEnd == false)
        taken.stream.close()
        rig.expectClean()
    }

    @Test("A detached connection that the receiver does not take is closed")
    func dropped() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("abc"), .receiveEnd])
        let journal = rig.submit { _ in .detach }
        rig.settle()
        #expect(rig.peers.first?.sawEnd == false)
        do { _ = journal.takeConnection() }
        rig.settle()
        #expect(rig.peers.first?.sawEnd == true)
        rig.expectClean()
    }

    @Test("RFC 9110 §7.8: a 101 to a request that asked for it gives the connection away", arguments: 1...9)
    func switched(pieces: Int) throws {
        let rig = EngineRig()
        let bytes = Array((switching + "hello").utf8)
        rig.serve(
            "host.test",
            [
                .receiveHead, .respond(""), .receiveHead, .sendInPieces(bytes, size: bytes.count / pieces),
                .receive(count: 2), .send("!"),
            ])
        rig.submit()
        rig.settle()
        let journal = rig.submit(fields: upgrade, isUpgrade: true) { _ in .detach }
        rig.settle()
        #expect(journal.head?.status == 101 && journal.outcome?.timelines.last?.status == 101)
        let taken = try take(journal)
        #expect(taken.facts.isReused)
        taken.write("yo")
        rig.settle()
        var text = taken.unread
        while let more = taken.read() { text += more }
        #expect(text == "hello!")
        taken.stream.close()
        rig.expectClean()
    }

    @Test(
        "B16.63: a 101 is an error where the request asked for none, or where the receiver wants no connection",
        arguments: [false, true])
    func unasked(isUpgrade: Bool) {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .send(switching), .receiveEnd])
        let journal = rig.submit(fields: upgrade, isUpgrade: isUpgrade)
        rig.settle()
        guard case .wire(.unexpectedSwitchOfProtocols)? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("A refusal of an upgrade is an answer like any other, and the connection goes on")
    func refused() {
        let rig = EngineRig()
        rig.serve(
            "host.test", [.receiveHead, .respond("no", status: "426 Upgrade Required"), .receiveHead, .respond("yes")])
        let journal = rig.submit(fields: upgrade, isUpgrade: true)
        rig.settle()
        #expect(journal.head?.status == 426 && journal.text == "no")
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "yes" && rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test("Where the request has not been sent whole the connection cannot become a stream")
    func unfinished() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .stopReading, .send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")])
        let journal = rig.submit("POST", body: [UInt8](repeating: 1, count: 4 << 20)) { _ in .detach }
        rig.settle()
        guard case .undetachable(.requestUnfinished)? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("A connection whose body is already being read is not detached")
    func tooLate() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")])
        let journal = rig.submit { count in count == 0 ? .more : .detach }
        rig.settle()
        guard case .undetachable(.notAtHead)? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        rig.expectClean()
    }

    @Test("A transaction that ends in the turn in which it detaches its connection closes that connection")
    func cancelled() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("abc"), .receiveEnd])
        let journal = rig.submit { _ in .detach }
        journal.onHead = { [unowned rig] in rig.core.shutDown(immediately: true) }
        rig.settle()
        #expect(journal.error.isCancelled && rig.peers.first?.sawEnd == true)
        rig.expectClean()
    }

    @Test("The trace tells that a connection has left, and not that it was closed")
    func traced() throws {
        let told = Guarded<[String]>([])
        let rig = EngineRig {
            $0.connectionObserver = { _, step in
                switch step {
                case .detached: told.withLock { $0.append("detached") }
                case .closed: told.withLock { $0.append("closed") }
                default: break
                }
            }
        }
        rig.trace = RequestTrace { step in
            if case .ended(let error) = step { told.withLock { $0.append("finished \(error == nil)") } }
        }
        rig.serve("host.test", [.receiveHead, .respond("abc"), .receiveEnd])
        let journal = rig.submit { _ in .detach }
        rig.settle()
        try take(journal).stream.close()
        rig.settle()
        #expect(told.withLock { $0 } == ["finished true", "detached"])
        rig.expectClean()
    }
}
