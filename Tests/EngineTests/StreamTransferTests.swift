// Streams on the in-memory network and its clock: what only they can show. The rules are tested with the machine, the
// kernel and TLS with stream tasks.

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("Stream transfers")
struct StreamTransferTests {
    /// A stream to host.test, and what it has been told; all on the test's thread.
    private final class Journal: StreamReceiver {
        let beginning = LoadBeginning.atOnce
        private(set) var lines: [String] = []
        private(set) var received = 0
        private(set) var sent = 0
        private(set) var captured: CapturedConnection?
        private(set) var questions: [ConnectionQuestion] = []
        let answersQuestions: Bool

        init(answersQuestions: Bool) { self.answersQuestions = answersQuestions }

        func note(_ line: String) { lines.append(line) }
        func asked(_ question: ConnectionQuestion) { questions.append(question) }
        func moved(received: Int, sent: Int) {
            self.received += received
            self.sent += sent
        }
        func waitsForConnectivity() { note("waits") }
        func readClosed() { note("read closed") }
        func writeClosed() { note("write closed") }
        func captured(_ connection: CapturedConnection) {
            captured = connection
            note("captured")
        }
        func letGo() { captured = nil }
        func finished(_ failure: StreamFailure?) { note("finished \(failure.map(Self.text) ?? "well")") }

        static func text(_ failure: StreamFailure) -> String {
            switch failure {
            case .fault(let fault): "\(fault)"
            case .engine(let error): "\(error)"
            case .known(let error): "\(error)"
            }
        }
    }

    private final class Box: Sendable {
        nonisolated(unsafe) var journal: Journal?  // Both sides run on the test's thread, one after the other.
    }

    private func open(
        _ rig: EngineRig, routes: [Route] = [.direct()], port: Int = 80, resource: Duration? = nil,
        answers: Bool = false
    ) throws -> (StreamHandle, Journal) {
        let box = Box()
        let origin = try #require(Origin(scheme: .https, host: "host.test", port: port))
        let handle = rig.core.open(
            StreamRequest(origin: origin, routes: routes, resourceDeadline: resource.map { rig.reactor.elapsed + $0 }) {
                _, _ in
                let journal = Journal(answersQuestions: answers)
                box.journal = journal
                return journal
            })
        let journal = try #require(box.journal)
        box.journal = nil
        return (handle, journal)
    }

    private func read(
        _ handle: StreamHandle, _ least: Int, _ most: Int, _ lines: Lines, timeout: Duration? = nil
    ) {
        handle.perform(
            .read(least: least, most: most, timeout: timeout) { result in
                switch result {
                case .success(let piece):
                    lines.note("\"\(String(decoding: piece.bytes, as: UTF8.self))\"\(piece.isAtEnd ? " end" : "")")
                case .failure(let failure): lines.note("read \(Journal.text(failure))")
                }
            }, late: { _ in lines.note("late") })
    }

    private func write(_ handle: StreamHandle, _ text: String, _ lines: Lines, timeout: Duration? = nil) {
        handle.perform(
            .write(Array(text.utf8), timeout: timeout) { failure in
                lines.note("write \(failure.map(Journal.text) ?? "done")")
            }, late: { _ in lines.note("late") })
    }

    private final class Lines: Sendable {
        nonisolated(unsafe) private(set) var all: [String] = []  // All on the test's thread.
        func note(_ line: String) { all.append(line) }
    }

    @Test("B15.43: a suspended stream neither reads nor sends, and its calls' time stands still")
    func suspended() throws {
        let rig = EngineRig()
        rig.serve("host.test", [.send("hello"), .receive(count: 3), .send("!"), .receiveEnd])
        let lines = Lines()
        let (handle, journal) = try open(rig)
        handle.suspend()
        read(handle, 5, 5, lines, timeout: .seconds(5))
        write(handle, "abc", lines, timeout: .seconds(5))
        rig.advance(.seconds(100))
        #expect(lines.all.isEmpty && rig.peers.first?.text == "")
        handle.resume()
        rig.settle()
        #expect(lines.all.contains("\"hello\"") && lines.all.contains("write done") && rig.peers.first?.text == "abc")
        #expect(journal.sent == 3 && journal.received >= 5)
        handle.cancel()
        rig.settle()
        #expect(journal.lines == ["finished cancelled"])
        rig.expectClean()
    }

    @Test("B15.40: what has come before a reset, and was read ahead, is given to the reads")
    func reset() throws {
        let rig = EngineRig()
        rig.serve("host.test", [.send("421 too many"), .delay(.seconds(1)), .reset])
        let lines = Lines()
        let (handle, journal) = try open(rig)
        rig.settle()
        #expect(journal.received == 12)
        rig.advance(.seconds(2))
        #expect(journal.lines.isEmpty)
        read(handle, 1, 64, lines)
        rig.settle()
        #expect(lines.all == ["\"421 too many\""])
        #expect(journal.lines.count == 1 && journal.lines.first?.hasPrefix("finished ") == true)
        read(handle, 1, 64, lines)
        rig.settle()
        #expect(lines.all.count == 2 && lines.all.last != "\"\" end")
        rig.expectClean()
    }

    @Test(
        "B15.41: what is written after a read has timed out reaches the peer, also where more comes that nobody reads")
    func writtenAfterTimeout() throws {
        let rig = EngineRig()
        rig.serve("host.test", [.delay(.seconds(3)), .send("late"), .receiveEnd])
        let lines = Lines()
        let (handle, journal) = try open(rig)
        read(handle, 1, 64, lines, timeout: .seconds(1))
        rig.settle()
        rig.advance(.seconds(2))
        #expect(lines.all == ["read timedOut"])
        rig.advance(.seconds(2))
        write(handle, "abc", lines)
        handle.perform(.closeWrite, late: { _ in })
        rig.settle()
        #expect(lines.all == ["read timedOut", "write done"])
        #expect(journal.lines == ["write closed", "finished timedOut"])
        let peer = try #require(rig.peers.first)
        #expect(peer.text == "abc" && peer.sawEnd && peer.failure == nil, "not reset")
        rig.expectClean()
    }

    /// What a program would read of a captured connection.
    private final class Conduit: StreamConduit {
        nonisolated(unsafe) private(set) var lines: [String] = []  // All on the test's thread.
        let isReaderGone = false

        func accept(_ bytes: UnsafeRawBufferPointer) -> Int {
            lines.append(String(decoding: bytes, as: UTF8.self))
            return bytes.count
        }
        func inputEnded(_ error: SystemError?) { lines.append(error == nil ? "end" : "input failed") }
        func next(into buffer: UnsafeMutableRawBufferPointer) -> ConduitOutput { .none }
        func outputFailed(_ error: SystemError?) { lines.append(error == nil ? "closed" : "output failed") }
    }

    @Test("B15.51: streams that are captured behind a reset give what has come before it, and then the error")
    func capturedReset() throws {
        let rig = EngineRig()
        rig.serve("host.test", [.send("421 too many"), .delay(.seconds(1)), .reset])
        let (handle, journal) = try open(rig)
        rig.settle()
        rig.advance(.seconds(2))
        handle.perform(.capture, late: { _ in })
        rig.settle()
        #expect(journal.lines == ["captured"])
        let conduit = Conduit()
        _ = journal.captured?.begin(conduit)
        rig.settle()
        #expect(conduit.lines == ["output failed", "421 too many", "input failed"])
        journal.letGo()
        rig.expectClean()
    }

    @Test("B15.43: a peer that is not read is stopped, and one that does not read stops us")
    func pressure() throws {
        let rig = EngineRig()
        rig.network.capacity = 1_000
        let much = String(repeating: "x", count: 500_000)
        rig.serve("host.test", [.stopReading, .send(much), .resumeReading, .receiveEnd])
        let lines = Lines()
        let (handle, journal) = try open(rig)
        write(handle, much, lines)
        rig.settle()
        #expect(lines.all.isEmpty, "the peer does not read")
        #expect(journal.received == 64 << 10, "and we read no more than is allowed ahead")
        read(handle, 500_000, 500_000, lines)
        rig.settle()
        #expect(lines.all.count == 2 && journal.sent == 500_000 && journal.received == 500_000)
        handle.cancel()
        rig.settle()
        rig.expectClean()
    }

    @Test("B15.41, B6.12: a read times out also while the connection is being opened; the task ends by itself never")
    func timeoutWhileConnecting() throws {
        let rig = EngineRig()
        rig.network.setName("host.test", .hangs)
        let lines = Lines()
        let (handle, journal) = try open(rig)
        read(handle, 1, 1, lines, timeout: .seconds(7))
        rig.advance(.seconds(6))
        #expect(lines.all.isEmpty)
        rig.advance(.seconds(1))
        #expect(lines.all == ["read timedOut"])
        rig.advance(.seconds(100_000))
        #expect(journal.lines.isEmpty)
        handle.cancel()
        rig.settle()
        #expect(rig.network.cancelledLookups == ["host.test"])
        rig.expectClean()
    }

    @Test("B15.41: a stream whose peer is silent in TLS ends when its reads and its writes have timed out")
    func timeoutWhileSecuring() throws {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveEnd])
        let lines = Lines()
        let (handle, journal) = try open(rig)
        handle.perform(.startSecure, late: { _ in })
        write(handle, "abc", lines, timeout: .seconds(5))
        read(handle, 1, 1, lines, timeout: .seconds(7))
        rig.settle()
        rig.advance(.seconds(6))
        #expect(lines.all == ["write timedOut"] && journal.lines.isEmpty)
        rig.advance(.seconds(1))
        rig.settle()
        #expect(lines.all == ["write timedOut", "read timedOut"] && journal.lines == ["finished timedOut"])
        #expect(rig.peers.first?.sawEnd == true, "its connection is closed")
        rig.expectClean()
    }

    @Test("B15.53: the resource time-out ends a stream whose connection never comes")
    func resourceTimeout() throws {
        let rig = EngineRig()
        rig.network.setName("host.test", .hangs)
        let (_, journal) = try open(rig, resource: .seconds(30))
        rig.advance(.seconds(30))
        #expect(journal.lines == ["finished tookTooLong"])
        rig.expectClean()
    }

    @Test("B15.54: where one way leads nowhere the next is tried")
    func ways() throws {
        let rig = EngineRig()
        rig.serve("host.test", [.send("direct"), .receiveEnd])
        let lines = Lines()
        let (handle, journal) = try open(rig, routes: [.proxied(try testProxy(.http)), .direct()])
        read(handle, 6, 6, lines)
        rig.settle()
        #expect(lines.all == ["\"direct\""])
        handle.cancel()
        rig.settle()
        #expect(journal.lines == ["finished cancelled"])
        rig.expectClean()
    }

    @Test("B15.44: an engine that ends at once cancels its streams; calls after that come late")
    func shutDown() throws {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveEnd])
        let lines = Lines()
        let (handle, journal) = try open(rig)
        read(handle, 1, 1, lines)
        rig.settle()
        rig.core.shutDown(immediately: true)
        rig.settle()
        #expect(lines.all == ["read cancelled"] && journal.lines == ["finished cancelled"])
        read(handle, 1, 1, lines)
        rig.settle()
        #expect(lines.all.last == "late")
        rig.expectClean()
    }

    @Test(
        "B15.45, B6.9: TLS waits for an answer while the calls' time stands still, and a cancelled task leaves nothing")
    func question() throws {
        let end = try TunnelEnd()
        for answers in [true, false] {
            let rig = EngineRig()
            rig.network.serve("host.test", port: 443) { [unowned rig] stream in
                guard let peer = try? TLSPeer(stream, context: end.context, answer: "secret") else { return }
                rig.keep(stream, peer)
            }
            let lines = Lines()
            let (handle, journal) = try open(rig, port: 443, answers: true)
            handle.perform(.startSecure, late: { _ in })
            write(handle, "ask\r\n\r\n", lines)
            read(handle, 6, 6, lines, timeout: .seconds(5))
            rig.advance(.seconds(100))
            #expect(lines.all.isEmpty && journal.questions.count == 1)
            guard case .peer(let question)? = journal.questions.first else { return }
            if answers { question.answer(.accept) } else { handle.cancel() }
            rig.settle()
            if answers {
                #expect(lines.all == ["write done", "\"secret\""])
                handle.cancel()
            } else {
                #expect(Set(lines.all) == ["write cancelled", "read cancelled"])
                question.answer(.accept)
            }
            rig.settle()
            #expect(journal.lines == ["finished cancelled"])
            rig.expectClean()
        }
    }

    @Test("B2.105, B3.74: a server that refuses behind its handshake says why to the stream's calls")
    func refusedBehindHandshake() throws {
        let end = try TunnelEnd(clients: .required)
        let rig = EngineRig { $0.trust = AnchorsEvaluator(anchors: [end.root]) }
        rig.network.serve("host.test", port: 443) { [unowned rig] stream in
            guard let peer = try? TLSPeer(stream, context: end.context, answer: "") else { return stream.close() }
            rig.keep(stream, peer)
        }
        let lines = Lines()
        let (handle, _) = try open(rig, port: 443)
        handle.perform(.startSecure, late: { _ in })
        read(handle, 1, 100, lines)
        rig.settle()
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.contains("requires a client certificate") == true, "\(lines.all)")
        handle.cancel()
        rig.settle()
        rig.expectClean()
    }

    @Test("B15.54: where TLS with a proxy breaks under a plain stream it is not the server's TLS that has failed")
    func brokenTLSOfProxy() throws {
        let end = try TunnelEnd("proxy.test")
        let rig = EngineRig { $0.trust = AnchorsEvaluator(anchors: [end.root]) }
        var outside: MemoryStream?
        rig.network.serve("proxy.test", address: "10.0.0.2", port: 3128) { [unowned rig] stream in
            guard let front = try? TLSFront(stream, context: end.context, rig: rig) else { return stream.close() }
            outside = stream
            let script: [ScriptedPeer.Step] = [.receiveHead, .established, .receiveEnd]
            rig.keep(front.inside, ScriptedPeer(front.inside, on: rig.reactor, script))
        }
        let lines = Lines()
        let (handle, journal) = try open(rig, routes: [.proxied(try testProxy(.https))])
        read(handle, 1, 1, lines)
        rig.settle()
        #expect(lines.all.isEmpty)
        outside?.breakTLS()
        rig.settle()
        #expect(lines.all.count == 1 && journal.lines.count == 1)
        #expect(lines.all.first?.contains("was lost (TLS with the proxy: ") == true, "\(lines.all)")
        rig.expectClean()
    }

    @Test("B15.50: the end of TLS is told also where it came right behind the last bytes")
    func endBehindPlaintext() throws {
        let outer = try TunnelEnd()
        for capacity in [100, 1_000, 65_536] {
            let rig = EngineRig { $0.trust = AnchorsEvaluator(anchors: [outer.root]) }
            rig.network.capacity = capacity
            rig.network.serve("host.test", port: 443) { [unowned rig] stream in
                guard let front = try? TLSFront(stream, context: outer.context, rig: rig) else { return stream.close() }
                // Text, close_notify and the end, all at once.
                rig.keep(front.inside, ScriptedPeer(front.inside, on: rig.reactor, [.send("last words"), .close]))
            }
            let lines = Lines()
            let (handle, journal) = try open(rig, port: 443)
            handle.perform(.startSecure, late: { _ in })
            rig.settle()
            #expect(
                journal.lines == ["read closed"], "no read waits, and nothing else would come that could be noticed")
            read(handle, 4, 4, lines)
            read(handle, 1, 100, lines)
            rig.settle()
            #expect(lines.all == ["\"last\"", "\" words\" end"])
            handle.perform(.closeWrite, late: { _ in })
            rig.settle()
            #expect(journal.lines.last == "finished well")
            rig.expectClean()
        }
    }
}
