import Testing
import URLLoadingEngine
import URLLoadingSystem
import URLLoadingTestSupport

/// What happens when a connection dies under a request: behaviour 6.26 to 6.31 and 16.29.
@Suite struct ReplayTests {
    /// A rig whose first connection serves once and then dies the given way under the second request.
    private func rig(_ death: ScriptedPeer.Step) -> EngineRig {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("1"), .receiveHead, death], [.receiveHead, .respond("2")])
        rig.submit()
        rig.settle()
        return rig
    }

    @Test("B6.26: an idempotent request on a reused connection that dies is sent again, once and silently")
    func replays() {
        for death in [ScriptedPeer.Step.close, .reset] {
            for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"] {
                let rig = rig(death)
                let journal = rig.submit(method)
                rig.settle()
                #expect(journal.error == nil, "\(method)")
                #expect(journal.head?.status == 200)
                #expect(journal.outcome?.timelines.count == 2)
                #expect(rig.network.dialled.count == 2)
                rig.expectClean()
            }
        }
    }

    @Test("B6.27: a request that is not idempotent is not sent again once a byte of it was written")
    func doesNotReplay() {
        for method in ["POST", "PATCH", "purge"] {
            let rig = rig(.close)
            let journal = rig.submit(method, body: [1, 2, 3])
            rig.settle()
            #expect(journal.wireError == .closedBeforeResponse, "\(method)")
            #expect(rig.network.dialled.count == 1)
            rig.expectClean()
        }
    }

    @Test("B6.28: a fresh connection that dies is not tried again")
    func freshConnection() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .close], [.receiveHead, .respond("never")])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.wireError == .closedBeforeResponse)
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test("B6.28: a server that closes every connection at once is not dialled for ever")
    func closesAtOnce() {
        let rig = EngineRig()
        rig.serve("host.test", [.close])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.hasEnded)
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test(
        "B6.29: nothing is sent again once a byte of the response has come, behind an empty line, too",
        arguments: [["HTTP/1.1 2"], ["\r\n", "HTTP/1.1 2"]])
    func responseBegun(pieces: [String]) {
        let rig = EngineRig()
        rig.serve(
            "host.test", [.receiveHead, .respond("1"), .receiveHead] + pieces.map { .send($0) } + [.close],
            [.receiveHead, .respond("never")])
        rig.submit()
        rig.settle()
        let journal = rig.submit()
        rig.settle()
        #expect(journal.wireError == .closedInHead)
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test("B6.29: an empty line is no byte of the response", arguments: [["\r\n"], ["\r", "\n"], ["\n"]])
    func emptyLine(pieces: [String]) {
        let line = pieces.flatMap { [ScriptedPeer.Step.send($0), .delay(.seconds(1))] }
        for death in [ScriptedPeer.Step.close, .reset] {
            let rig = EngineRig()
            rig.serve(
                "host.test", [.receiveHead, .respond("1"), .receiveHead] + line + [death],
                [.receiveHead, .respond("2")])
            rig.submit()
            rig.settle()
            let journal = rig.submit()
            rig.settle()
            rig.advance(.seconds(3))
            #expect(journal.error == nil)
            #expect(journal.text == "2")
            #expect(rig.network.dialled.count == 2)
            rig.expectClean()
        }
    }

    @Test("B6.26: the second sending goes to a new connection, not to another that may have died as unnoticed")
    func newConnection() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 2 }
        let script: [ScriptedPeer.Step] = [.receiveHead, .respond("1"), .receiveHead, .close]
        rig.serve("host.test", script)
        rig.submit()
        rig.submit()
        rig.settle()
        #expect(rig.core.counts.idle == 2)
        let journal = rig.submit()
        rig.settle()
        #expect(journal.text == "1")
        #expect(journal.outcome?.timelines.map(\.reused) == [true, false])
        #expect(rig.network.dialled.count == 3)
        rig.expectClean()
    }

    /// From now on a connection to the host takes a second to open, and plays this script.
    private func openSlowly(_ rig: EngineRig, _ script: [ScriptedPeer.Step]) {
        rig.network.setAddress(
            "10.0.0.1:80",
            .accept(delay: .seconds(1)) { [unowned rig] stream in
                rig.keep(stream, ScriptedPeer(stream, on: rig.reactor, script))
            })
    }

    /// Suspends a request and resumes it.
    private func interrupt(_ journal: Journal, _ rig: EngineRig) {
        journal.handle?.suspend()
        rig.settle()
        journal.handle?.resume()
        rig.settle()
    }

    @Test("B6.26: the second sending goes to a new connection also if it is suspended while that is opened")
    func newConnectionAfterSuspension() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 3 }
        rig.serve("host.test", [.receiveHead, .respond("1"), .receiveHead, .close])
        rig.submit()
        rig.submit()
        rig.settle()
        #expect(rig.core.counts.idle == 2)
        openSlowly(rig, [.receiveHead, .respond("2")])
        let journal = rig.submit()
        rig.settle()
        #expect(rig.network.dialled.count == 3 && !journal.hasEnded)
        interrupt(journal, rig)
        rig.advance(.seconds(1))
        rig.settle()
        #expect(journal.text == "2" && journal.error == nil)
        #expect(journal.outcome?.timelines.map(\.reused) == [true, false])
        rig.expectClean()
    }

    @Test("B6.26: what its owner sends again goes to a new connection also if it is suspended while that is opened")
    func newConnectionOfOwnerAfterSuspension() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 2 }
        rig.serve("host.test", [.receiveHead, .respond("1"), .receiveHead, .close])
        rig.submit()
        rig.settle()
        openSlowly(rig, [.receiveHead, .receive(count: 1), .respond("2")])
        let journal = rig.submit("PUT", body: [1], again: SecondSending(attempt: 1, needsNewConnection: true))
        interrupt(journal, rig)
        rig.advance(.seconds(1))
        rig.settle()
        #expect(journal.text == "2" && journal.error == nil)
        rig.expectClean()
    }

    @Test("A request that is sent again goes before the others also if it is suspended meanwhile")
    func placeAfterSuspension() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 1 }
        rig.serve("host.test", [.receiveHead, .respond("1"), .receiveHead, .close])
        rig.submit()
        rig.settle()
        openSlowly(rig, [.receiveHead, .respond("2"), .receiveHead, .respond("3")])
        let journal = rig.submit()
        let other = rig.submit()
        rig.settle()
        interrupt(journal, rig)
        rig.advance(.seconds(1))
        rig.settle()
        #expect(journal.text == "2" && other.text == "3")
        rig.expectClean()
    }

    @Test("B6.26, B6.28: once: when the new connection dies as well, the loss is reported")
    func once() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("1"), .receiveHead, .close], [.receiveHead, .close])
        rig.submit()
        rig.settle()
        let journal = rig.submit()
        rig.settle()
        #expect(journal.wireError == .closedBeforeResponse)
        #expect(journal.outcome?.timelines.count == 2)
        #expect(rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test("B6.31: a 408 that crosses the request on a reused connection counts as its death")
    func requestTimeout() {
        let rig = EngineRig()
        rig.serve(
            "host.test",
            [
                .receiveHead, .respond("1"), .receiveHead,
                .send("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), .close,
            ], [.receiveHead, .respond("2")])
        rig.submit()
        rig.settle()
        let get = rig.submit()
        rig.settle()
        #expect(get.text == "2")
        #expect(get.head?.status == 200)
        rig.expectClean()
    }

    @Test("B6.31: on a fresh connection, or for a POST, a 408 is the answer")
    func requestTimeoutIsAnswer() {
        let rig = EngineRig()
        rig.serve(
            "host.test",
            [
                .receiveHead, .send("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
                .close,
            ])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.head?.status == 408)
        #expect(journal.error == nil)
        rig.expectClean()
    }

    @Test("B16.29: an early refusal on a fresh connection is the answer, an early success is not")
    func earlyResponse() {
        for (status, accepted) in [("408 Request Timeout", true), ("503 Busy", true), ("200 OK", false)] {
            let rig = EngineRig()
            defer { rig.expectClean() }
            rig.network.setName("host.test", .addresses(["10.0.0.1"]))
            rig.network.setAddress(
                "10.0.0.1:80",
                .accept { [reactor = rig.reactor] stream in
                    let bytes = Array("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n".utf8)
                    _ = bytes.withUnsafeBytes { stream.write($0) }
                    ScriptedPeer(stream, on: reactor, [.receiveHead, .close])
                })
            let journal = rig.submit()
            rig.settle()
            if accepted {
                #expect(journal.error == nil, "\(status)")
                #expect(journal.head != nil)
            } else {
                guard case .connectionLost = journal.error else {
                    Issue.record("\(status): \(String(describing: journal.error))")
                    continue
                }
            }
        }
    }

    @Test("B11.17: a response that came before the upload broke is delivered")
    func responseBeforeBreak() {
        let rig = EngineRig()
        rig.network.capacity = 1024
        rig.serve(
            "host.test",
            [.receiveHead, .stopReading, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig"), .close])
        let journal = rig.submit("POST", body: [UInt8](repeating: 7, count: 100_000))
        rig.settle()
        #expect(journal.head?.status == 413)
        #expect(journal.text == "big")
        #expect(journal.error == nil)
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }
}
