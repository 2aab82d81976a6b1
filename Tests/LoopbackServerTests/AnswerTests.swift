// What the server answers to well-behaved requests, seen as bytes.

import Testing
import URLLoadingLoopbackServer
import URLLoadingWire

@Suite("LoopbackServer answers")
struct AnswerTests {
    private func exchange(_ request: String, _ response: ServerResponse) async throws -> String {
        let server = try LoopbackServer.start { _ in response }
        let client = try RawClient(port: server.port)
        try client.send(request)
        client.finishSending()
        let answer = try client.readToEnd().text
        await server.stop()
        return answer
    }

    private let get = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    @Test("A route's text is framed by its length")
    func lengthFraming() async throws {
        let answer = try await exchange(get, .text("hello"))
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(answer.contains("Content-Length: 5\r\n"))
        #expect(answer.contains("Connection: close\r\n"))
        #expect(answer.hasSuffix("\r\n\r\nhello"))
    }

    @Test("Pieces are chunks of their own, and trailers follow the last one")
    func chunks() async throws {
        var trailers = Fields()
        trailers.append("Checksum", "abc")
        let answer = try await exchange(get, .chunks([Array("one".utf8), Array("three".utf8)], trailers: trailers))
        #expect(answer.lowercased().contains("transfer-encoding: chunked\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n3\r\none\r\n5\r\nthree\r\n0\r\nChecksum: abc\r\n\r\n"))
    }

    @Test("HEAD gets the fields of GET and no body")
    func headHasNoBody() async throws {
        let answer = try await exchange(
            "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", .text("hello"))
        #expect(answer.contains("Content-Length: 5\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }

    @Test("204 has neither a body nor framing")
    func noContent() async throws {
        let answer = try await exchange(get, .text("ignored", status: 204))
        #expect(!answer.contains("Content-Length"))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }

    @Test("HTTP/1.0 gets no chunks, and the end of the connection ends the body")
    func oldVersion() async throws {
        let answer = try await exchange("GET / HTTP/1.0\r\n\r\n", .chunks([Array("one".utf8), Array("two".utf8)]))
        #expect(!answer.lowercased().contains("transfer-encoding"))
        #expect(answer.hasSuffix("\r\n\r\nonetwo"))
    }

    @Test("Echo answers with the body it got, chunked or not")
    func echo() async throws {
        let server = try LoopbackServer.start { .echo($0) }
        let client = try RawClient(port: server.port)
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Type: a/b\r\n\r\nbody")
        let first = try client.read(through: "body")
        #expect(first.contains("Content-Type: a/b\r\n"))
        try client.send(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                + "2\r\nsp\r\n3\r\nlit\r\n0\r\n\r\n")
        client.finishSending()
        #expect(try client.readToEnd().text.hasSuffix("\r\n\r\nsplit"))
        #expect(server.stats.connectionsAccepted == 1)
        await server.stop()
    }

    @Test("Connections are kept, requests numbered, and pipelined ones answered in order")
    func keepAlive() async throws {
        let server = try LoopbackServer.start { .text("[\($0.connection).\($0.number) \($0.target)]") }
        let client = try RawClient(port: server.port)
        try client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.read(through: "]").hasSuffix("[1.1 /a]"))
        try client.send("GET /b HTTP/1.1\r\nHost: a\r\n\r\nGET /c HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.read(through: "]").hasSuffix("[1.2 /b]"))
        #expect(try client.read(through: "]").hasSuffix("[1.3 /c]"))
        let stats = server.stats
        #expect(stats.requests == 3)
        #expect(stats.connectionsAccepted == 1)
        await server.stop()
    }

    @Test("A generated body holds the pattern, with either framing", arguments: [true, false])
    func generated(isChunked: Bool) async throws {
        let length: Int64 = 300_000
        let server = try LoopbackServer.start { _ in
            .generated(length: length, framing: isChunked ? .chunked : .automatic)
        }
        let client = try RawClient(port: server.port)
        try client.send(get)
        let head = try client.read(through: "\r\n\r\n")
        var body: [UInt8] = []
        if isChunked {
            while let size = Int(try client.read(through: "\r\n").dropLast(), radix: 16), size > 0 {
                body += try client.read(count: size)
                #expect(try client.read(count: 2) == [13, 10])
            }
        } else {
            #expect(head.contains("Content-Length: 300000\r\n"))
            body = try client.read(count: Int(length))
        }
        #expect(body.count == Int(length))
        #expect(body.withUnsafeBytes { GeneratedBytes.matches($0, at: 0) })
        await server.stop()
    }

    @Test("What is not HTTP is answered with 400 and counted")
    func malformed() async throws {
        let server = try LoopbackServer.start { _ in .text("never") }
        let client = try RawClient(port: server.port)
        try client.send("this is not HTTP\r\n\r\n")
        #expect(try client.readToEnd().text.hasPrefix("HTTP/1.1 400 "))
        #expect(server.stats.malformedRequests == 1)
        #expect(server.stats.requests == 0)
        await server.stop()
    }

    @Test("A server on a UNIX-domain socket answers as others do, and the socket is removed at the end")
    func unixPath() async throws {
        let path = "/tmp/loopback-\(UInt64.random(in: 0 ... .max)).socket"
        let server = try LoopbackServer.start(.init(unixPath: path)) { _ in .text("local") }
        let client = try RawClient(unixPath: path)
        try client.send(get)
        #expect(try client.readToEnd().text.hasSuffix("local"))
        await server.stop()
        #expect(throws: RawClient.ClientError.self) { try RawClient(unixPath: path) }
    }

    @Test("An early answer does not wait for the request's body")
    func earlyAnswer() async throws {
        var options = LoopbackServer.Options()
        options.earlyRouter = { request in request.path == "/full" ? .status(413).closing() : nil }
        let server = try LoopbackServer.start(options) { _ in .text("late") }
        let client = try RawClient(port: server.port)
        try client.send("POST /full HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nfirst bytes only")
        #expect(try client.readToEnd().text.hasPrefix("HTTP/1.1 413 "))
        await server.stop()
    }
}
