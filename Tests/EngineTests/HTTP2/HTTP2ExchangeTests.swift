// Requests and answers over HTTP/2: what a server sees of them, and what comes back.

import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Exchanges over HTTP/2")
struct HTTP2ExchangeTests {
    @Test("H2.1, H10.2: the first request leaves with what begins the connection, and its answer is delivered")
    func first() throws {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2()
        let journal = rig.submit(target: "/a?b")
        rig.settle()
        #expect(journal.head?.status == 200 && journal.text == "hello" && journal.error == nil)
        #expect(peers.count == 1 && peers[0].targets == ["/a?b"])
        let request = try #require(peers[0].requests.first)
        #expect(request.scheme == "http" && request.head.fields.first(.host) == "host.test" && request.isWhole)
        let timeline = try #require(journal.outcome?.timelines.last)
        #expect(timeline.protocolName == "h2" && !timeline.reused)
        #expect(timeline.requestHeadBytes > 9 && timeline.responseHeadBytes > 9 && timeline.responseBodyBytes == 5)
        rig.expectClean()
    }

    @Test(
        "H2.1, H2.3: a hundred requests at once share one connection, also where one is the limit", arguments: [1, 6])
    func many(perHost: Int) {
        let rig = EngineRig.http2(perHost: perHost)
        let peers = rig.serveHTTP2()
        let journals = (0..<100).map { rig.submit(target: "/\($0)") }
        rig.settle()
        #expect(journals.allSatisfy { $0.text == "hello" })
        #expect(peers.count == 1 && peers[0].targets == (0..<100).map { "/\($0)" })
        #expect(journals.dropFirst().allSatisfy { $0.outcome?.timelines.last?.reused == true })
        rig.expectClean()
    }

    @Test("H2.4: no more streams at once than the server allows; the others wait, in order")
    func limitedStreams() {
        var settings = HTTP2Settings()
        settings.maximumConcurrentStreams = 2
        let rig = EngineRig.http2(perHost: 1)
        let peers = rig.serveHTTP2(settings: settings) { peer, _ in peer.onWhole = { _, _ in } }
        _ = rig.submit(target: "/first")
        rig.settle()
        for number in 1...4 { rig.submit(target: "/\(number)") }
        rig.settle()
        #expect(peers.count == 1 && peers[0].targets == ["/first", "/1"])
        peers[0].answer(peers[0].requests[0])
        rig.settle()
        #expect(peers[0].targets == ["/first", "/1", "/2"])
        peers[0].onWhole = { $0.answer($1) }
        for request in peers[0].requests[1...] { peers[0].answer(request) }
        rig.settle()
        #expect(rig.journals.allSatisfy { $0.text == "hello" } && peers.count == 1)
        rig.expectClean()
    }

    @Test(
        "H2.4, H2.5: a new connection begins with as many streams as the server's last one had, and refuses nobody a place"
    )
    func limitRemembered() {
        var settings = HTTP2Settings()
        settings.maximumConcurrentStreams = 1
        let rig = EngineRig.http2(perHost: 2)
        let peers = rig.serveHTTP2(settings: settings) { peer, number in
            if number == 0 { peer.onWhole = { _, _ in } }
        }
        let first = rig.submit(target: "/first", idleTimeout: nil)
        rig.settle()
        // Bodies that cannot be sent a second time.
        let uploads = (0..<3).map { _ in
            rig.submit("POST", content: .stream(ScriptedSource(texts: "abc")), framing: .chunked)
        }
        rig.settle()
        #expect(uploads.allSatisfy { $0.text == "hello" && $0.error == nil && $0.outcome?.again == nil })
        #expect(peers.count == 2 && peers[0].targets == ["/first"])
        #expect(peers[1].requests.map(\.id.number) == [1, 3, 5], "a stream that was refused has a number, too")
        peers[0].answer(peers[0].requests[0])
        rig.settle()
        #expect(first.text == "hello")
        rig.expectClean()
    }

    @Test(
        "H3.6, H3.5: bodies of any size arrive whole, through any windows", arguments: [0, 1, 65_535, 65_536, 300_000])
    func upload(size: Int) throws {
        let rig = EngineRig.http2()
        var settings = HTTP2Settings()
        settings.initialWindowSize = 1_000
        let peers = rig.serveHTTP2(settings: settings)
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let journal = rig.submit("POST", body: body)
        rig.settle()
        let request = try #require(peers[0].requests.first)
        #expect(journal.error == nil && journal.text == "hello")
        #expect(request.body == body && request.isWhole)
        #expect(request.head.fields.first(.contentLength) == "\(size)")
        #expect(journal.sentBodyBytes.last ?? 0 == Int64(size))
        #expect(journal.outcome?.timelines.last?.requestBodyBytes == Int64(size))
        rig.expectClean()
    }

    @Test("H9.2: a server that reads may ask much while a body is sent that always has more than the socket takes")
    func askedMuch() throws {
        let rig = EngineRig.http2()
        rig.network.capacity = 10_000
        var settings = HTTP2Settings()
        settings.initialWindowSize = 1 << 20
        var asked = 0
        let peers = rig.serveHTTP2(settings: settings) { peer, _ in
            peer.onBody = { peer, request in
                while asked < request.body.count >> 14 {
                    asked += 1
                    let ping = HTTP2FrameHeader(.ping, length: 8)
                    var bytes: [UInt8] = []
                    for _ in 0..<50 {
                        ping.encode(into: &bytes)
                        bytes += [1, 2, 3, 4, 5, 6, 7, 8]
                    }
                    peer.send(raw: bytes)
                }
            }
        }
        // The first request brings the settings.
        rig.submit()
        rig.settle()
        let body = (0..<(2 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let journal = rig.submit("POST", body: body)
        rig.settle()
        #expect(journal.error == nil && journal.text == "hello")
        let request = try #require(peers[0].requests.last)
        #expect(firstDifference(request.body, body) == nil)
        #expect(asked == 128 && peers.count == 1)
        rig.expectClean()
    }

    @Test("H3.5: a stream of unknown length has no content-length, and its end is the message's")
    func streamed() throws {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2()
        let source = ScriptedSource(texts: "one ", "", "two")
        let journal = rig.submit("POST", content: .stream(source), framing: .chunked)
        rig.settle()
        let request = try #require(peers[0].requests.first)
        #expect(String(decoding: request.body, as: UTF8.self) == "one two" && request.isWhole)
        #expect(request.head.fields.first(.contentLength) == nil)
        #expect(request.head.fields.first(.transferEncoding) == nil)
        #expect(journal.text == "hello")
        rig.expectClean()
    }

    @Test("H5.1: the end of a body of unknown length needs no window", arguments: ["", "seven b"], [false, true])
    func endWithoutWindow(text: String, comesLater: Bool) throws {
        let rig = EngineRig.http2()
        var settings = HTTP2Settings()
        settings.initialWindowSize = UInt32(text.utf8.count)
        let peers = rig.serveHTTP2(settings: settings)
        // The first request brings the settings.
        rig.submit()
        rig.settle()
        peers[0].takesBodies = false
        let pieces: [SourcePiece] = text.isEmpty ? [] : [.bytes(Array(text.utf8))]
        let source = ScriptedSource(comesLater ? pieces : pieces + [.end])
        let journal = rig.submit("POST", content: .stream(source), framing: .chunked)
        rig.settle()
        #expect(try #require(peers[0].requests.last).isWhole == !comesLater)
        if comesLater { source.supply(.end) }
        rig.settle()
        let request = try #require(peers[0].requests.last)
        #expect(String(decoding: request.body, as: UTF8.self) == text && request.isWhole)
        #expect(journal.text == "hello")
        rig.expectClean()
    }

    @Test("H4.3, H5.4: large answers arrive whole, and many at once", arguments: [1, 5])
    func download(count: Int) {
        let rig = EngineRig.http2()
        let text = String(repeating: "0123456789", count: 300_000)
        let peers = rig.serveHTTP2 { peer, _ in peer.onWhole = { $0.answer($1, body: text) } }
        let journals = (0..<count).map { _ in rig.submit() }
        rig.settle()
        #expect(journals.allSatisfy { $0.text == text && $0.error == nil })
        #expect(peers.count == 1)
        rig.expectClean()
    }

    @Test("H5.4: a receiver that takes nothing stops its own stream and no other, and gets all of it in the end")
    func backPressure() {
        let rig = EngineRig.http2()
        let size = 8 << 20
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                let isLarge = request.head.target == "/large"
                peer.answer(request, body: String(repeating: "x", count: isLarge ? size : 5))
            }
        }
        let slow = rig.submit(target: "/large", demand: { _ in .pause })
        rig.settle()
        #expect(slow.body.isEmpty && slow.head != nil && !slow.hasEnded)
        let others = (0..<10).map { _ in rig.submit(target: "/small") }
        rig.settle()
        #expect(others.allSatisfy { $0.text == "xxxxx" })
        slow.demand = { _ in .more }
        slow.handle?.resumeReading()
        rig.settle()
        #expect(slow.body.count == size && slow.error == nil)
        #expect(peers.count == 1)
        rig.expectClean()
    }

    @Test("H5.4: bodies that are held while their receivers pause arrive whole and in order", arguments: [1, 3])
    func held(count: Int) {
        let rig = EngineRig.http2()
        let bodies = (0..<count).map { number in
            (0..<150_000).map { "\(($0 + number) % 7_919) " }.joined()
        }
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { $0.answer($1, body: bodies[Int($1.head.target.dropFirst()) ?? 0]) }
        }
        var random = SeededRandom(seed: UInt64(count))
        let journals = (0..<count).map { number in
            let journal = rig.submit(target: "/\(number)")
            journal.demand = { _ in .pause }
            return journal
        }
        rig.settle()
        for _ in 0..<10_000 where journals.contains(where: { !$0.hasEnded }) {
            guard let journal = journals.randomElement(using: &random) else { break }
            journal.demand = { [pauses = random.chance(60)] _ in pauses ? .pause : .more }
            journal.handle?.resumeReading()
            rig.settle()
        }
        for (journal, body) in zip(journals, bodies) {
            #expect(firstDifference(journal.body, Array(body.utf8)) == nil)
            #expect(journal.error == nil)
        }
        #expect(peers.count == 1)
        rig.expectClean()
    }

    @Test("A body in small frames that arrive together reaches its receiver in few pieces")
    func smallFrames() {
        let rig = EngineRig.http2()
        let text = (0..<100_000).map { "\($0) " }.joined()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                peer.head(request, length: text.utf8.count)
                var rest = Array(text.utf8)[...]
                while !rest.isEmpty {
                    peer.send(request, Array(rest.prefix(1_000)), isLast: rest.count <= 1_000)
                    rest = rest.dropFirst(1_000)
                }
            }
        }
        let journal = rig.submit()
        rig.settle()
        #expect(firstDifference(journal.body, Array(text.utf8)) == nil)
        #expect(journal.pieces < text.utf8.count / 10_000)
        #expect(peers.count == 1)
        rig.expectClean()
    }

    @Test("H4.2: informational answers are told, and do not end the wait")
    func informational() {
        let rig = EngineRig.http2()
        _ = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                peer.head(request, 103, fields: [("link", "</style.css>")])
                peer.head(request, 100)
                peer.answer(request)
            }
        }
        let journal = rig.submit()
        rig.settle()
        #expect(journal.informational == [103] && journal.text == "hello")
        rig.expectClean()
    }

    @Test("H4.3: an answer without a body, and one to HEAD, whatever it says of a length")
    func noBody() {
        let rig = EngineRig.http2()
        _ = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                switch request.head.method {
                case "HEAD": peer.head(request, fields: [("content-length", "100")], ends: true)
                default: peer.head(request, 204, ends: true)
                }
            }
        }
        let (head, empty) = (rig.submit("HEAD"), rig.submit("DELETE"))
        rig.settle()
        for journal in [head, empty] {
            #expect(
                journal.error == nil && journal.hasEnded && journal.body.isEmpty && journal.framing == BodyFraming.none)
        }
        rig.expectClean()
    }

    @Test("H4.4, B16.46: trailers end a message, and are told behind its last byte", arguments: [false, true])
    func trailers(pauses: Bool) {
        let rig = EngineRig.http2()
        _ = rig.serveHTTP2 { peer, _ in
            peer.onWhole = { peer, request in
                peer.head(request)
                peer.send(request, Array("body".utf8), isLast: false)
                peer.trailers(request, [("checksum", "1")])
            }
        }
        let journal = rig.submit(demand: { _ in pauses ? .pause : .more })
        rig.settle()
        if pauses {
            #expect(journal.head != nil && journal.body.isEmpty && journal.trailers == nil)
            journal.demand = { _ in .more }
            journal.handle?.resumeReading()
            rig.settle()
        }
        #expect(journal.text == "body" && journal.error == nil && journal.trailers?.first("checksum") == "1")
        rig.expectClean()
    }

    @Test("H7.5: a whole answer ends the exchange although the body is not out; the connection goes on")
    func earlyAnswer() throws {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.takesBodies = false
            peer.onHead = { peer, request in
                if request.head.method == "POST" { peer.answer(request, 413) }
            }
            peer.onWhole = { peer, request in if request.head.method == "GET" { peer.answer(request) } }
        }
        let journal = rig.submit("POST", body: [UInt8](repeating: 1, count: 500_000))
        rig.settle()
        #expect(journal.head?.status == 413 && journal.text == "hello" && journal.error == nil)
        #expect(peers[0].requests[0].end == .reset(.cancel))
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "hello" && peers.count == 1)
        rig.expectClean()
    }

    @Test("B5.40: a body that asks for permission waits for it")
    func permission() throws {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in peer.onHead = { _, _ in } }
        let journal = rig.submit("POST", body: [1, 2, 3], fields: [("Expect", "100-continue")])
        rig.settle()
        #expect(try #require(peers[0].requests.first).body.isEmpty)
        peers[0].head(peers[0].requests[0], 100)
        rig.settle()
        #expect(peers[0].requests[0].body == [1, 2, 3] && journal.text == "hello")
        rig.expectClean()
    }

    @Test(
        "B5.40: refused with 417, the request goes once more without Expect, its body whole", arguments: [false, true])
    func expectationFailed(hasLength: Bool) throws {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onHead = { if $1.head.fields.contains("expect") { $0.head($1, 417, ends: true) } }
        }
        let source = ScriptedSource(texts: "whole")
        let journal = rig.submit(
            "POST", content: .stream(source), framing: hasLength ? .length(5) : .chunked,
            fields: [("Expect", "100-continue")])
        rig.settle()
        #expect(journal.head?.status == 200 && journal.error == nil)
        let requests = peers.peers.flatMap(\.requests)
        #expect(requests.map { $0.head.fields.contains("expect") } == [true, false])
        let last = try #require(requests.last)
        #expect(last.isWhole && last.body == Array("whole".utf8))
        #expect(journal.outcome?.timelines.map(\.status) == [417, 200])
        rig.expectClean()
    }

    @Test("H7.12, B5.40: refused with 417, the request waits for no new connection while others use this one")
    func expectationFailedBesideOthers() {
        let rig = EngineRig.http2(perHost: 1)
        let peers = rig.serveHTTP2 { peer, _ in
            peer.onHead = { if $1.head.fields.contains("expect") { $0.head($1, 417, ends: true) } }
            peer.onWhole = { peer, request in if request.head.target != "/long" { peer.answer(request) } }
        }
        let long = rig.submit(target: "/long")
        rig.settle()
        let journal = rig.submit(
            "POST", content: .stream(ScriptedSource(texts: "whole")), framing: .length(5),
            fields: [("Expect", "100-continue")])
        rig.settle()
        #expect(journal.text == "hello" && peers.count == 1 && !long.hasEnded)
        #expect(peers[0].requests.last?.body == Array("whole".utf8))
        peers[0].answer(peers[0].requests[0])
        rig.settle()
        #expect(long.text == "hello")
        rig.expectClean()
    }

    @Test("H1.7: the connection cannot become a stream of bytes, and the error says why")
    func undetachable() {
        let rig = EngineRig.http2()
        _ = rig.serveHTTP2()
        let journal = rig.submit(demand: { _ in .detach })
        rig.settle()
        guard case .undetachable(.shared)? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(journal.error?.description.contains("HTTP/2") == true)
        rig.expectClean()
    }
}
