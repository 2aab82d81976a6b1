// What the server answers over HTTP/2: what it answers over HTTP/1.1, on many streams at once.

import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingWire

@Suite("LoopbackServer answers over HTTP/2", .timeLimit(.minutes(5)))
struct HTTP2AnswerTests {
    /// A server that understands nothing else, and a client of it.
    private func withClient<R>(
        _ change: (inout LoopbackServer.Options) -> Void = { _ in }, router: @escaping LoopbackServer.Router,
        _ body: (LoopbackServer, HTTP2Client) async throws -> R
    ) async throws -> R {
        var options = LoopbackServer.Options()
        options.http2 = .required
        change(&options)
        return try await withServer(options, router: router) { server in
            try await body(server, HTTP2Client(port: server.port))
        }
    }

    private func answer(_ response: ServerResponse, to method: String = "GET") async throws -> HTTP2Client.Answer {
        try await withClient(router: { _ in response }) { _, client in try client.exchange(method) }
    }

    // MARK: Bodies

    @Test("A route's text is framed by its length")
    func text() async throws {
        let answer = try await answer(.text("hello", status: 404))
        #expect(answer.status == 404)
        #expect(answer.field(.contentLength) == "5")
        #expect(answer.text == "hello")
        #expect(answer.end == .finished)
    }

    @Test("Chunks are a body without a length, and trailers follow it")
    func trailers() async throws {
        var trailers = Fields()
        trailers.append("Checksum", "abc")
        let answer = try await answer(.chunks([Array("one".utf8), Array("two".utf8)], trailers: trailers))
        #expect(answer.field(.contentLength) == nil)
        #expect(answer.text == "onetwo")
        #expect(answer.trailers?.first("Checksum") == "abc")
        #expect(answer.end == .finished)
    }

    @Test("An empty body without a length ends by an empty frame")
    func emptyChunks() async throws {
        let answer = try await answer(.chunks([]))
        #expect(answer.isWhole)
        #expect(answer.text.isEmpty)
    }

    @Test("HEAD gets the fields of GET and no body; 204 has neither")
    func withoutBody() async throws {
        let head = try await answer(.text("hello"), to: "HEAD")
        #expect(head.field(.contentLength) == "5")
        #expect(head.isWhole && head.body.isEmpty)
        let nothing = try await answer(.text("ignored", status: 204))
        #expect(nothing.status == 204)
        #expect(nothing.field(.contentLength) == nil)
        #expect(nothing.isWhole && nothing.body.isEmpty)
    }

    @Test("A generated body holds the pattern through small windows", arguments: [true, false])
    func generated(isChunked: Bool) async throws {
        let length = 1_500_000
        let response = ServerResponse.generated(length: Int64(length), framing: isChunked ? .chunked : .automatic)
        var options = LoopbackServer.Options()
        options.http2 = .required
        try await withServer(options, router: { _ in response }) { server in
            var settings = HTTP2Settings.client
            settings.initialWindowSize = 20_000
            let client = try HTTP2Client(port: server.port, settings: settings, connectionWindow: 65_535)
            let answer = try client.exchange()
            #expect(answer.body.count == length)
            #expect(answer.body.withUnsafeBytes { GeneratedBytes.matches($0, at: 0) })
            #expect(answer.field(.contentLength) == (isChunked ? nil : "\(length)"))
        }
    }

    @Test("Echo answers with the body it got")
    func echo() async throws {
        // Made before there is a connection: its settings have to be acknowledged within ten seconds (H8.12).
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try await withClient(router: { .echo($0) }) { server, client in
            let answer = try client.exchange("POST", "/", [("Content-Type", "a/b")], body: body)
            #expect(firstDifference(answer.body, body) == nil)
            #expect(answer.field(.contentType) == "a/b")
            let empty = try client.exchange("POST", "/", body: [])
            #expect(empty.isWhole && empty.body.isEmpty)
            #expect(server.stats.requests == 2)
        }
    }

    @Test("A gate holds the rest of an answer, and no other answer")
    func gate() async throws {
        let gate = ServerGate()
        let router: LoopbackServer.Router = { request in
            request.path == "/slow" ? .slow([.init("first,"), .init("second", when: gate)]) : .text("quick")
        }
        try await withClient(router: router) { server, client in
            let slow = try client.send("GET", "/slow")
            try client.read { client.answers[slow]?.text == "first," }
            #expect(try client.exchange("GET", "/quick").text == "quick")
            #expect(client.answers[slow]?.isWhole == false)
            gate.open()
            #expect(try client.answer(on: slow).text == "first,second")
            #expect(await server.wait { $0.responses == 2 } != nil)
        }
    }

    @Test("A gate behind the last byte holds the end of a body without a length")
    func gatedEnd() async throws {
        let gate = ServerGate()
        let response = ServerResponse.slow(
            [.init("all", after: .milliseconds(1)), .init([], when: gate)], framing: .chunked)
        try await withClient(router: { _ in response }) { _, client in
            let stream = try client.send()
            try client.read { client.answers[stream]?.text == "all" }
            #expect(client.answers[stream]?.isWhole == false)
            gate.open()
            #expect(try client.answer(on: stream).isWhole)
        }
    }

    @Test("Informational heads come before the final one")
    func informational() async throws {
        var fields = Fields()
        fields.append("Link", "</a>")
        var response = ServerResponse.text("x")
        response.informational = [ResponseHead(status: 100), ResponseHead(status: 103, fields: fields)]
        let answer = try await answer(response)
        #expect(answer.informational.map(\.status) == [100, 103])
        #expect(answer.informational.last?.fields.first("Link") == "</a>")
        #expect(answer.text == "x")
    }

    @Test("A message that was encoded as HTTP/1.1 is taken apart, and one that breaks off ends with a reset")
    func encoded() async throws {
        let message = try #require(ServerResponse.text("packed").adding("X-Own", "1").message())
        let answer = try await answer(.encoded(message))
        #expect(answer.text == "packed")
        #expect(answer.field("X-Own") == "1")
        let broken = try await self.answer(.encoded(Array(message.dropLast())))
        #expect(broken.end == .reset(.internalError))
    }

    @Test(
        "A script's message keeps its pauses, in whatever pieces it comes, and its stream ends as its connection would")
    func scripts() async throws {
        let gates = [ServerGate(), ServerGate()]
        let script: [ScriptStep] = [
            .wait(gates[0]),
            .lines("HTTP/1.1 103 Early\nLink: </a>\n\nHTTP/1.1 203 Fine\nTransfer-Encoding: chunked\n\n"),
            .sendOneByteAtATime(Array("5\r\nhello\r\n".utf8)), .wait(gates[1]),
            .lines("6\n world\n0\nX-Sum: 11\n\n"), .close,
        ]
        try await withClient(router: { _ in .script(script) }) { _, client in
            let stream = try client.send()
            gates[0].open()
            try client.read { client.answers[stream]?.text == "hello" }
            gates[1].open()
            let answer = try client.answer(on: stream)
            #expect(answer.status == 203 && answer.text == "hello world" && answer.isWhole)
            #expect(answer.informational.map(\.status) == [103])
            #expect(answer.field(.transferEncoding) == nil && answer.trailers?.first("X-Sum") == "11")
        }
        let cut = try await answer(.script([.lines("HTTP/1.1 200 OK\nContent-Length: 9\n\nhello"), .close]))
        #expect(cut.field(.contentLength) == "9" && cut.text == "hello" && cut.end == .reset(.internalError))
        let short = try await answer(.script([.lines("HTTP/1.1 200 OK\n\nhello"), .close]))
        #expect(short.text == "hello" && short.isWhole)
    }

    @Test(
        "What only HTTP/1.1 has is refused with a code that says so",
        arguments: [
            ServerResponse.script([.text("220 ready\r\n")]), .script([.delay(.zero), .halfClose]),
            .webSocket(), .status(101),
        ])
    func http11Required(response: ServerResponse) async throws {
        let answer = try await answer(response)
        #expect(answer.end == .reset(.http11Required))
    }

    @Test("A field that may not be sent is answered with the reason")
    func unsendable() async throws {
        let answer = try await answer(ServerResponse.text("x").adding("X-Bad", "a\nb"))
        #expect(answer.status == 500)
        #expect(answer.text.hasPrefix("the route's answer cannot be sent"))
    }

    @Test("An answer that closes says so by GOAWAY, and the others are finished")
    func closing() async throws {
        let gate = ServerGate()
        let router: LoopbackServer.Router = { request in
            request.path == "/last" ? .text("last").closing() : .slow([.init("a"), .init("b", when: gate)])
        }
        try await withClient(router: router) { server, client in
            let slow = try client.send()
            #expect(try client.exchange("GET", "/last").text == "last")
            try client.read { client.goodbye == .noError }
            gate.open()
            #expect(try client.answer(on: slow).text == "ab")
            try client.readToEnd()
            #expect(client.fault == nil)
            #expect(server.stats.connectionsLost == 0)
        }
    }

    // MARK: Requests

    @Test("A route knows of a request over HTTP/2 what it knows over HTTP/1.1, with the protocol and the stream")
    func requests() async throws {
        let router: LoopbackServer.Router = { request in
            let host = request.fields.first(.host) ?? ""
            return .text(
                "\(request.connection).\(request.number) \(request.protocolName) \(request.stream ?? 0) "
                    + "\(request.method) \(request.path) \(request.query ?? "") \(host) \(request.body.count)")
        }
        try await withClient(router: router) { server, client in
            #expect(try client.exchange("GET", "/a?b").text == "1.1 h2 1 GET /a b server.test 0")
            #expect(try client.exchange("PUT", "/c", body: [1, 2]).text == "1.2 h2 3 PUT /c  server.test 2")
            let stats = try #require(await server.wait { $0.responses == 2 })
            #expect(stats.requestsBegun == 2)
            #expect(stats.requests == 2)
            #expect(stats.connectionsAccepted == 1)
            #expect(stats.http2Connections == 1)
            #expect(stats.mostStreamsAtOnce == 1)
        }
    }

    @Test("A hundred requests are answered at once, those of the last first")
    func manyAtOnce() async throws {
        let gates = (0..<100).map { _ in ServerGate() }
        let router: LoopbackServer.Router = { request in
            .slow([.init("\(request.path)", when: gates[Int(request.path.dropFirst()) ?? 0])])
        }
        try await withClient(router: router) { server, client in
            let streams = try (0..<100).map { try client.send("GET", "/\($0)") }
            #expect(await server.wait { $0.mostStreamsAtOnce == 100 } != nil)
            for (index, stream) in streams.enumerated().reversed() {
                gates[index].open()
                #expect(try client.answer(on: stream).text == "/\(index)")
            }
            #expect(await server.wait { $0.responses == 100 } != nil)
        }
    }

    @Test("Large bodies on several streams take turns")
    func turns() async throws {
        let bodies = (0..<8).map { [UInt8](repeating: UInt8($0), count: 300_000 + $0) }
        try await withClient(router: { .echo($0) }) { _, client in
            let streams = try bodies.map { try client.send("POST", "/", body: $0) }
            for (stream, body) in zip(streams, bodies) {
                let answer = try client.answer(on: stream)
                #expect(firstDifference(answer.body, body) == nil)
            }
        }
    }

    @Test("An early answer does not wait for the request's body, which is read nevertheless")
    func earlyAnswer() async throws {
        let change: (inout LoopbackServer.Options) -> Void = { options in
            options.earlyRouter = { $0.path == "/full" ? .status(413) : nil }
        }
        try await withClient(change, router: { _ in .text("late") }) { server, client in
            let stream = try client.send("POST", "/full", body: [1], isOpen: true)
            let answer = try client.answer(on: stream)
            #expect(answer.status == 413)
            // A client stops its body itself when it has a whole answer.
            #expect(await server.wait { $0.streamsReset == 1 } != nil)
            #expect(server.stats.requests == 0)
        }
    }

    @Test("A body behind a gate stays unread: its window is not opened again")
    func bodyGate() async throws {
        let gate = ServerGate()
        let change: (inout LoopbackServer.Options) -> Void = { options in
            options.http2.settings.initialWindowSize = 100_000
            options.bodyGate = { $0.path == "/held" ? gate : nil }
        }
        let body = [UInt8](repeating: 3, count: 250_000)
        try await withClient(change, router: { .text("\($0.body.count)") }) { server, client in
            // The server's settings have to be known before the stream is opened.
            let first = try client.exchange("GET", "/")
            #expect(first.text == "0")
            let held = try client.send("POST", "/held", body: body)
            #expect(try client.exchange("POST", "/", body: body).text == "250000")
            #expect(client.answers[held]?.isWhole == false)
            #expect(server.stats.requests == 2)
            gate.open()
            #expect(try client.answer(on: held).text == "250000")
        }
    }

    @Test("A body behind a gate stays unread over HTTP/1.1, too")
    func bodyGateOfHTTP1() async throws {
        let gate = ServerGate()
        var options = LoopbackServer.Options()
        options.bodyGate = { _ in gate }
        try await withServer(options, router: { .echo($0) }) { server in
            let client = try RawClient(port: server.port)
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody")
            let stats = try #require(await server.wait { $0.requestsBegun == 1 })
            #expect(stats.requests == 0)
            gate.open()
            #expect(try client.read(through: "body").hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("Two uploads on one connection are two uploads")
    func uploads() async throws {
        let store = UploadStore()
        try await withClient({ $0.uploads = store }, router: { _ in .status(404) }) { _, client in
            let fields = [("Upload-Complete", "?1")]
            let first = try client.send("POST", "/files", fields, body: Array("fir".utf8), isOpen: true)
            let second = try client.send("POST", "/files", fields, body: Array("second".utf8))
            #expect(try client.answer(on: second).text.hasPrefix("6 "))
            try client.sendMore(Array("st".utf8), on: first, ends: true)
            let answer = try client.answer(on: first)
            #expect(answer.text.hasPrefix("5 "))
            #expect(answer.informational.first?.fields.first("Location") == "/uploads/1")
            #expect(store.summaries.map(\.byteCount) == [6, 5])
        }
    }

    @Test("A new upload never gets the place of another, although one has been deleted")
    func uploadPlaces() async throws {
        let store = UploadStore()
        try await withClient({ $0.uploads = store }, router: { _ in .status(404) }) { (_, client) async throws in
            func create() throws -> String? {
                let answer = try client.exchange("POST", "/files", [("Upload-Complete", "?1")], body: Array("x".utf8))
                return answer.informational.first?.fields.first("Location")
            }
            #expect(try create() == "/uploads/1")
            #expect(try create() == "/uploads/2")
            #expect(try client.exchange("DELETE", "/uploads/1").status == 204)
            #expect(try create() == "/uploads/3")
            #expect(store.count == 2)
        }
    }

    @Test("A request that breaks the rules of HTTP is reset and counted, and the connection lives on")
    func malformed() async throws {
        let record = HTTP2Record()
        try await withClient({ $0.http2.record = record }, router: { _ in .text("fine") }) { server, client in
            let raw = try RawClient(port: server.port)
            var bytes: [UInt8] = []
            HTTP2FrameEncoder.encodePreface(into: &bytes)
            bytes += HTTP2Frames.settings()
            bytes += HTTP2Frames.headers([":method": "GET", ":scheme": "http", "X": "y"], on: 1, ends: true)
            try raw.send(bytes)
            let contents = try #require(await record.wait { !$0.faults.isEmpty })
            #expect(contents.faults.map(\.reason) == [.malformed])
            #expect(server.stats.malformedRequests == 1)
            #expect(server.stats.requestsBegun == 0)
            #expect(try client.exchange().text == "fine")
        }
    }

    @Test("A client that leaves with streams open is counted as lost, one without is not")
    func clientLeaves() async throws {
        let gate = ServerGate()
        try await withClient(router: { $0.path == "/" ? .text("x") : .slow([.init("a", when: gate)]) }) {
            server, client in
            #expect(try client.exchange().text == "x")
            do {
                let other = try HTTP2Client(port: server.port)
                try other.send("GET", "/slow")
                #expect(await server.wait { $0.requests == 2 } != nil)
            }
            #expect(await server.wait { $0.connectionsLost == 1 && $0.connectionsOpen == 1 } != nil)
            gate.open()
            #expect(try client.exchange().text == "x")
        }
    }

    @Test("Settings of the server's choice are announced and held")
    func settings() async throws {
        let change: (inout LoopbackServer.Options) -> Void = { options in
            options.http2.settings.maximumConcurrentStreams = 3
            options.http2.settings.headerTableSize = 64
            options.http2.settings.maximumFrameSize = 20_000
        }
        try await withClient(change, router: { .text("\($0.bodyByteCount)") }) { _, client in
            for _ in 0..<4 {
                let small = try client.exchange("POST", "/", body: [1, 2])
                #expect(small.text == "2")
            }
            #expect(client.capacity == 3)
            let large = try client.exchange("POST", "/", body: [UInt8](repeating: 0, count: 100_000))
            #expect(large.text == "100000")
        }
    }
}
