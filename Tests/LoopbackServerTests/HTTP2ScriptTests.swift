// What only scripts do over HTTP/2: frames at the wrong moment, resets and GOAWAY. How they end connections is in
// `HTTP2ScriptEndTests`.

import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("LoopbackServer scripts over HTTP/2", .timeLimit(.minutes(5)))
struct HTTP2ScriptTests {
    private static let ok: HTTP2Frames.FieldList = [":status": "200"]
    private static let begin = HTTP2Frames.settings() + HTTP2Frames.settingsAcknowledgement

    // MARK: Resets

    @Test("An answer breaks off where it is told to, by a reset with its code")
    func breakOff() async throws {
        let router: LoopbackServer.Router = { request in
            let whole = ServerResponse.generated(length: 100_000)
            return switch request.path {
            case "/head": whole.breakingOff(.inBody(after: 0), .cancel)
            case "/body": whole.breakingOff(.inBody(after: 70_000), .internalError)
            case "/pieces": .slow([.init("one"), .init("two")]).breakingOff(.inBody(after: 4), .cancel)
            default: .reset(.refusedStream)
            }
        }
        try await withScript(router: router) { server in
            let client = try HTTP2Client(port: server.port)
            let none = try client.exchange("GET", "/")
            #expect(none.head == nil)
            #expect(none.end == .reset(.refusedStream))
            let head = try client.exchange("GET", "/head")
            #expect(head.field(.contentLength) == "100000")
            #expect(head.body.isEmpty)
            #expect(head.end == .reset(.cancel))
            let body = try client.exchange("GET", "/body")
            #expect(body.body.count == 70_000)
            #expect(body.end == .reset(.internalError))
            #expect(try client.exchange("GET", "/pieces").text == "onet")
            #expect(server.stats.responses == 0)
        }
    }

    @Test("An answer breaks off over HTTP/1.1 by the end of the connection")
    func breakOffOfHTTP1() async throws {
        let router: LoopbackServer.Router = { request in
            switch request.path {
            case "/body": .text("0123456789").breakingOff(.inBody(after: 4))
            case "/chunks": .chunks([Array("abc".utf8), Array("def".utf8)]).breakingOff(.inBody(after: 4))
            case "/end": .text("all").breakingOff(.behindEnd)
            default: .reset(.cancel)
            }
        }
        let expected = [
            "/": "", "/body": "Content-Length: 10\r\n\r\n0123", "/chunks": "\r\n\r\n3\r\nabc\r\n1\r\nd\r\n",
            "/end": "all",
        ]
        try await URLLoadingLoopbackServer.withServer(router: router) { server in
            for (path, end) in expected {
                let client = try RawClient(port: server.port)
                try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                let answer = try client.readToEnd()
                #expect(answer.text.hasSuffix(end) && answer.text.isEmpty == end.isEmpty, "\(path)")
            }
        }
    }

    @Test("What is left of a request is not wanted behind a whole answer")
    func behindEnd() async throws {
        var options = LoopbackServer.Options()
        options.http2 = .required
        options.earlyRouter = { _ in .text("enough").breakingOff(.behindEnd, .noError) }
        let raw = HTTP2Frames.headers(
            [":method": "POST", ":scheme": "http", ":path": "/", ":authority": "a"], on: 1)
        try await URLLoadingLoopbackServer.withServer(options, router: { _ in .status(500) }) { server in
            let client = try RawHTTP2(port: server.port)
            try client.send(raw)
            let end = HTTP2Frames.data(Array("enough".utf8), on: 1, ends: true) + HTTP2Frames.reset(1, .noError)
            try client.read(through: end)
            #expect(server.stats.requests == 0)
        }
    }

    @Test("The first requests are refused, the next is answered")
    func refused() async throws {
        try await withScript(router: { $0.number <= 20 ? .reset(.refusedStream) : .text("now") }) { server in
            let client = try HTTP2Client(port: server.port)
            for _ in 0..<20 {
                let answer = try client.exchange()
                #expect(answer.end == .reset(.refusedStream))
            }
            #expect(try client.exchange().text == "now")
        }
    }

    @Test("A script resets a stream at a moment, before its route is asked")
    func resetByScript() async throws {
        try await withScript(.beside([.until(.heads(2)), .resetStream(3, .enhanceYourCalm)])) { server in
            let client = try HTTP2Client(port: server.port)
            #expect(try client.exchange().text == "fine")
            let second = try client.exchange()
            #expect(second.end == .reset(.enhanceYourCalm))
            #expect(second.head == nil)
            #expect(try client.exchange().text == "fine")
            #expect(server.stats.requestsBegun == 3)
        }
    }

    @Test("A script resets a stream when so much of its body was written")
    func resetInBody() async throws {
        let script = HTTP2Script.beside([.until(.sent(50_000, on: 1)), .resetStream(1, .cancel)])
        try await withScript(script, router: { _ in .generated(length: 1_000_000) }) { server in
            let client = try HTTP2Client(port: server.port)
            let answer = try client.exchange()
            #expect(answer.end == .reset(.cancel))
            // Whole frames of the usual size.
            #expect(answer.body.count == 4 * 16_384)
        }
    }

    @Test("A script in place of a server can reset streams and send GOAWAY, too")
    func endsInsteadOfServer() async throws {
        let script = HTTP2Script.instead([
            .send(Self.begin), .until(.heads(2)), .resetStream(1, .refusedStream), .goAway(.internalError, last: 1),
            .until(.frames(.headers, 2)), .close,
        ])
        try await withScript(script) { server in
            let client = try HTTP2Client(port: server.port)
            let streams = try (0..<2).map { _ in try client.send() }
            try client.read { client.goodbye != nil }
            #expect(client.goodbye == .internalError)
            #expect(client.answers[streams[0]]?.end == .reset(.refusedStream))
            #expect(client.answers[streams[1]]?.end == .turnedAway(.internalError))
            #expect(server.stats.requestsBegun == 0)
        }
    }

    // MARK: GOAWAY

    @Test("A GOAWAY that turns streams away, with a code")
    func goAway() async throws {
        let script = HTTP2Script.beside([.until(.heads(3)), .goAway(.enhanceYourCalm, last: 3)])
        let gate = ServerGate()
        try await withScript(script, router: { _ in .slow([.init("late", when: gate)]) }) { server in
            let client = try HTTP2Client(port: server.port)
            let streams = try (0..<3).map { _ in try client.send() }
            try client.read { client.goodbye != nil }
            #expect(client.goodbye == .enhanceYourCalm)
            #expect(client.answers[5]?.end == .turnedAway(.enhanceYourCalm))
            gate.open()
            for stream in streams.prefix(2) { #expect(try client.answer(on: stream).text == "late") }
            try client.readToEnd()
        }
    }

    @Test("A graceful end: a GOAWAY that announces, then the one that counts")
    func gracefulEnd() async throws {
        let gate = ServerGate()
        let script = HTTP2Script.beside([
            .until(.answers(1)), .goAway(last: HTTP2FlowWindow.largest), .send(HTTP2Frames.ping(9)),
            .until(.acknowledgements(.ping, 1)), .wait(gate), .goAway(),
        ])
        let record = HTTP2Record()
        try await withScript(script, record) { server in
            let client = try RawHTTP2(port: server.port)
            try client.request(on: 1)
            try client.read(through: HTTP2Frames.ping(9))
            try client.send(HTTP2Frames.ping(9, isAnswer: true))
            // A client that has not read the first GOAWAY yet may still open a stream.
            try client.request(on: 3)
            try client.read(through: HTTP2Frames.frame(.data, flags: 1, on: 3, Array("fine".utf8)))
            gate.open()
            try client.read(through: HTTP2Frames.goAway(last: 3))
            try client.readToEnd()
            #expect(record.contents.faults.isEmpty)
            #expect(record.contents.ends.map(\.stream) == [1, 3])
        }
    }

    // MARK: Settings and windows

    @Test("Settings change in the middle: no streams, then more")
    func changedSettings() async throws {
        let gate = ServerGate()
        let most = HTTP2Settings.Identifier.maximumConcurrentStreams
        let script = HTTP2Script.beside([
            .until(.requests(1)), .send(HTTP2Frames.settings([most: 0])), .until(.acknowledgements(.settings, 2)),
            .wait(gate), .send(HTTP2Frames.settings([most: 7])),
        ])
        try await withScript(script) { server in
            let client = try HTTP2Client(port: server.port)
            #expect(try client.exchange().text == "fine")
            try client.read { client.capacity == 0 }
            gate.open()
            try client.read { client.capacity == 7 }
            #expect(try client.exchange().text == "fine")
        }
    }

    @Test("What a client announces and acknowledges is written down")
    func record() async throws {
        let record = HTTP2Record()
        try await withScript(nil, record) { server in
            var settings = HTTP2Settings.client
            settings.initialWindowSize = 123_456
            let client = try HTTP2Client(port: server.port, settings: settings)
            #expect(try client.exchange().text == "fine")
            let stream = try client.send("POST", "/", body: [1, 2, 3], isOpen: true)
            try client.cancel(stream)
            let contents = try #require(await record.wait { !$0.ends.isEmpty && !$0.frames(.resetStream).isEmpty })
            let first = try #require(contents.frames.first)
            #expect(first.type == .settings)
            let window = HTTP2Settings.Identifier.initialWindowSize
            #expect(first.settings.contains { $0.identifier == window && $0.value == 123_456 })
            #expect(contents.frames(.windowUpdate).first?.increment == 983_041)
            #expect(contents.frames(.resetStream).map(\.code) == [.cancel])
            #expect(contents.frames(.resetStream).map(\.header.stream) == [stream])
            #expect(contents.frames(.data).map(\.header.length) == [3])
            #expect(contents.frames.contains { $0.type == .settings && $0.isAcknowledgement })
            #expect(contents.faults.isEmpty)
            #expect(server.stats.streamsReset == 1)
        }
    }

    @Test("How streams end is written down where the client goes away, too")
    func lostStreams() async throws {
        let record = HTTP2Record()
        try await withScript(nil, record, router: { _ in .script([]) }) { server in
            do {
                let client = try HTTP2Client(port: server.port)
                try client.send()
                #expect(await server.wait { $0.requests == 1 } != nil)
            }
            let contents = try #require(await record.wait { !$0.ends.isEmpty })
            #expect(contents.ends.map(\.end) == [.connectionLost])
        }
    }

    @Test("DATA beyond the window is sent where a script wants it")
    func beyondWindow() async throws {
        let data = HTTP2Frames.data([UInt8](repeating: 0, count: 16_384), on: 1)
        let script = HTTP2Script.beside([
            .until(.heads(1)), .send(HTTP2Frames.headers(Self.ok, on: 1)), .send(data, times: 100),
        ])
        try await withScript(script, router: { _ in .script([]) }) { server in
            var settings = HTTP2Settings.client
            settings.initialWindowSize = 70_000
            let client = try HTTP2Client(port: server.port, settings: settings)
            client.takes = false
            let answer = try client.exchange()
            #expect(answer.end == .faulted(.stream(1, .windowOverrun)))
            #expect(answer.body.count == 4 * 16_384)
        }
    }

    // MARK: Raw conversations

    @Test("A flood of pings is written as fast as the client reads")
    func pingFlood() async throws {
        let script = HTTP2Script.instead([.send(HTTP2Frames.settings()), .send(HTTP2Frames.ping(1), times: 50_000)])
        try await withScript(script) { server in
            let client = try HTTP2Client(port: server.port)
            try client.readToEnd()
            // By which of the two depends on how many come in one piece.
            let reason = try #require(client.fault?.reason)
            #expect([.uselessFrames, .unreadAnswers].contains(reason))
        }
    }

    @Test(
        "Everything that a script says arrives as it is",
        arguments: [
            ([HTTP2Frames.headers(ok, on: 1, ends: true)], HTTP2Fault.Reason.notHTTP2),
            ([begin, HTTP2Frames.headers(block: [0x80], on: 1, ends: true)], .compression),
            ([begin, HTTP2Frames.windowUpdate(0)], .emptyUpdate),
            ([begin, HTTP2Frames.pushPromise(ok, promising: 2, on: 1)], .push),
            ([begin, HTTP2Frames.frame(.data, flags: 8, on: 1, [9, 0])], .padding),
            ([begin, HTTP2Frames.frame(.continuation, on: 1)], .brokenBlock),
            ([begin, HTTP2Frames.frame(.ping, [1, 2])], .frameSize),
            ([begin, HTTP2Frames.data([1], on: 99)], .idleStream),
        ])
    func wrongFrames(bytes: [[UInt8]], reason: HTTP2Fault.Reason) async throws {
        let steps: [HTTP2Step] = [.until(.heads(1))] + bytes.map { .send($0) }
        try await withScript(.instead(steps)) { server in
            let client = try HTTP2Client(port: server.port)
            try client.send()
            try client.readToEnd()
            #expect(client.fault?.reason == reason)
            #expect(server.stats.requestsBegun == 0)
        }
    }

    @Test("Padding, CONTINUATION and unknown frames around a good answer")
    func unusualFrames() async throws {
        let fields: HTTP2Frames.FieldList = [":status": "200", "x-long": String(repeating: "y", count: 500)]
        let script = HTTP2Script.instead([
            .send(Self.begin), .until(.requests(1)), .until(.received(3, on: 1)),
            .send(HTTP2Frames.frame(type: 0xEE, flags: 0xFF, on: 77, [1, 2, 3])),
            .send(HTTP2Frames.headers(fields, on: 1, padding: 10, frames: 4)),
            .send(HTTP2Frames.data(Array("pad".utf8), on: 1, padding: 255)),
            .send(HTTP2Frames.frame(.priority, on: 1, [0, 0, 0, 0, 1])),
            .send(HTTP2Frames.data([], on: 1, ends: true, padding: 0)), .until(.end), .drop,
        ])
        try await withScript(script) { server in
            do {
                let client = try HTTP2Client(port: server.port)
                let answer = try client.exchange("POST", "/", body: [1, 2, 3])
                #expect(answer.text == "pad")
                #expect(answer.field("x-long")?.count == 500)
            }
            #expect(await server.wait { $0.connectionsOpen == 0 } != nil)
            #expect(server.stats.connectionsLost == 0)
        }
    }

    @Test("A body that is longer or shorter than its head says", arguments: ["2", "9"])
    func wrongLength(length: String) async throws {
        let router: LoopbackServer.Router = { _ in
            .slow([.init("four")], framing: .untilClose).adding("Content-Length", length)
        }
        try await withScript(router: router) { server in
            let client = try HTTP2Client(port: server.port)
            let answer = try client.exchange()
            #expect(answer.end == .faulted(.stream(1, .bodyLength)))
        }
    }

    @Test("A route answers with steps of its own, and the others are answered as ever")
    func routeWithSteps() async throws {
        let router: LoopbackServer.Router = { request in
            guard request.path == "/odd", let stream = request.stream else { return .text("even") }
            return .http2([
                .send(HTTP2Frames.headers(Self.ok, on: stream)), .send(HTTP2Frames.data([1], on: stream)),
                .delay(.milliseconds(1)), .resetStream(stream, .connectError),
            ])
        }
        try await withScript(router: router) { server in
            let client = try HTTP2Client(port: server.port)
            let odd = try client.send("GET", "/odd")
            #expect(try client.exchange().text == "even")
            let answer = try client.answer(on: odd)
            #expect(answer.body == [1])
            #expect(answer.end == .reset(.connectError))
        }
        try await URLLoadingLoopbackServer.withServer(router: { _ in .http2([]) }) { server in
            let old = try RawClient(port: server.port)
            try old.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try old.read(through: "\r\n").hasPrefix("HTTP/1.1 500 "))
        }
    }
}
