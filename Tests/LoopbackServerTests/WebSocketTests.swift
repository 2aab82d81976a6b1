// The server's web sockets, seen by a client that knows frames and keeps no rule.

import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingWire

@Suite("LoopbackServer web sockets")
struct WebSocketTests {
    private let goodbye = WebSocketClose(code: 1000, reason: Array("bye".utf8))

    private func server(_ route: WebSocketRoute) throws -> LoopbackServer {
        try LoopbackServer.start { _ in .webSocket(route) }
    }

    @Test("Echo sends messages back as they came, answers pings, and answers a close frame with its code and reason")
    func echo() async throws {
        let server = try server(WebSocketRoute())
        let client = try WebSocketClient(port: server.port)
        try client.send("text")
        try client.send(.message(WebSocketMessage(.binary, [0, 255, 128])))
        try client.send(.ping([1, 2]))
        try client.send(.close(goodbye))
        #expect(try client.next() == .message(WebSocketMessage(text: "text")))
        #expect(try client.next() == .message(WebSocketMessage(.binary, [0, 255, 128])))
        #expect(try client.next() == .pong([1, 2]))
        #expect(try client.next() == .close(goodbye))
        #expect(try client.raw.readToEnd().end == .finished)
        client.raw.finishSending()
        let stats = try #require(await server.wait { $0.webSocketsOpen == 0 })
        #expect(stats.webSockets == 1)
        #expect(stats.webSocketMessages == 2)
        #expect(stats.webSocketsClosed == 1)
        #expect(stats.webSocketsFailed == 0)
        #expect(stats.connectionsLost == 0)
        await server.stop()
    }

    @Test("A request that does not ask for a web socket is answered with 426, and the connection stays")
    func refusal() async throws {
        let server = try server(WebSocketRoute())
        let client = try RawClient(port: server.port)
        for _ in 0..<2 {
            try client.send("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n")
            let head = try client.read(through: "\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 426 "))
            #expect(head.contains("\r\nSec-WebSocket-Version: 13\r\n"))
        }
        #expect(server.stats.webSockets == 0)
        await server.stop()
    }

    @Test("Of the common protocols the server's first is chosen; without a common one there is none")
    func protocols() async throws {
        var route = WebSocketRoute()
        route.protocols = ["chat.v2", "chat.v1"]
        let server = try server(route)
        #expect(try WebSocketClient(port: server.port, protocols: ["chat.v1", "chat.v2"]).subprotocol == "chat.v2")
        #expect(try WebSocketClient(port: server.port, protocols: ["other"]).subprotocol == nil)
        await server.stop()
    }

    @Test("Compression is agreed on where the route wants it, and messages are compressed both ways")
    func compression() async throws {
        var route = WebSocketRoute()
        route.compresses = true
        let server = try server(route)
        let client = try WebSocketClient(port: server.port, compression: DeflateParameters())
        #expect(client.compression == DeflateAgreement())
        let text = String(repeating: "again and ", count: 1000)
        for _ in 0..<3 {
            try client.sendCompressed(text)
            #expect(try client.next() == .message(WebSocketMessage(text: text)))
        }
        #expect(server.stats.bytesReceived < 2000)
        #expect(server.stats.bytesWritten < 2000)
        #expect(try WebSocketClient(port: server.port).compression == nil)
        await server.stop()
    }

    @Test("A script sends frames and bytes, waits for what it expects, and ends the connection as it says")
    func script() async throws {
        let gate = ServerGate()
        let record = WebSocketRecord()
        let server = try LoopbackServer.start { _ in
            .webSocket(
                [
                    .text("one"), .frame(.binary, [1], isFinal: false), .frame(.ping, [9]),
                    .frame(.continuation, [2]), .expect(.pong([9])), .expect(text: "go"), .wait(gate),
                    .raw([0x83, 0]), .close(4000, "enough"), .expectClose(1000, "bye"), .drop,
                ], record: record)
        }
        let client = try WebSocketClient(port: server.port)
        #expect(try client.next() == .message(WebSocketMessage(text: "one")))
        #expect(try client.next() == .ping([9]))
        try client.send(.pong([9]))
        #expect(try client.next() == .message(WebSocketMessage(.binary, [1, 2])))
        try client.send("go")
        await record.wait { $0.events.count == 2 }
        gate.open()
        #expect(throws: WebSocketFault.reservedOpcode) { try client.next() }
        try client.send(.close(goodbye))
        #expect(try client.raw.readToEnd().end == .finished)
        let contents = try #require(await record.wait { $0.ended == 1 })
        #expect(contents.events == [.pong([9]), .message(WebSocketMessage(text: "go")), .close(goodbye)])
        #expect(contents.problems.isEmpty)
        #expect(contents.requests.first?.target == "/socket")
        await server.stop()
    }

    @Test("What a script does not expect is a problem that the test can read")
    func unexpected() async throws {
        let record = WebSocketRecord()
        let server = try LoopbackServer.start { _ in .webSocket([.expect(text: "this")], record: record) }
        let client = try WebSocketClient(port: server.port)
        try client.send("that")
        guard case .close(let close) = try client.next() else { return #expect(Bool(false), "no close frame") }
        #expect(close.code == 1008)
        #expect(record.contents.problems.count == 1)
        #expect(server.stats.webSocketsFailed == 1)
        await server.stop()
    }

    @Test("The server sends its close frame first, and ends the connection when the client has answered")
    func serverCloses() async throws {
        let server = try LoopbackServer.start { _ in .webSocket([.close(1001, "restart")]) }
        let client = try WebSocketClient(port: server.port)
        let close = WebSocketClose(code: 1001, reason: Array("restart".utf8))
        #expect(try client.next() == .close(close))
        #expect(server.stats.webSocketsOpen == 1)
        try client.send(.close(close))
        #expect(try client.raw.readToEnd().end == .finished)
        client.raw.finishSending()
        #expect(await server.wait { $0.webSocketsClosed == 1 && $0.connectionsOpen == 0 } != nil)
        await server.stop()
    }

    @Test("A drop and a reset send no close frame")
    func abrupt() async throws {
        let server = try LoopbackServer.start { request in
            .webSocket([.text("x"), .expect(text: "y"), request.connection == 1 ? .drop : .reset])
        }
        for end in [RawClient.End.finished, .reset] {
            let client = try WebSocketClient(port: server.port)
            #expect(try client.next() == .message(WebSocketMessage(text: "x")))
            try client.send("y")
            #expect(try client.raw.readToEnd() == ("", end))
        }
        #expect(await server.wait { $0.webSocketsOpen == 0 } != nil)
        #expect(server.stats.webSocketsClosed == 0)
        await server.stop()
    }

    @Test("A client that breaks a rule is told which kind of")
    func fault() async throws {
        let record = WebSocketRecord()
        let server = try server(WebSocketRoute(record: record))
        let client = try WebSocketClient(port: server.port)
        // No mask.
        try client.raw.send([0x81, 1, 0x78])
        #expect(try client.next() == .close(WebSocketClose(code: 1002)))
        #expect(record.contents.faults == [.unmaskedByClient])
        #expect(server.stats.webSocketsFailed == 1)
        await server.stop()
    }

    @Test("A route can answer each message with steps")
    func reactions() async throws {
        let server = try server(
            WebSocketRoute(
                .react { event in
                    guard case .message(let message) = event else { return [] }
                    return message == WebSocketMessage(text: "end")
                        ? [.close(1000, "bye")] : [.send(message), .binary(Array(message.bytes.reversed()))]
                }))
        let client = try WebSocketClient(port: server.port)
        try client.send("abc")
        #expect(try client.next() == .message(WebSocketMessage(text: "abc")))
        #expect(try client.next() == .message(WebSocketMessage(.binary, Array("cba".utf8))))
        try client.send("end")
        #expect(try client.next() == .close(goodbye))
        await server.stop()
    }

    @Test("The answer to the handshake can be made wrong")
    func wrongAnswer() async throws {
        var route = WebSocketRoute()
        route.changesAnswer = { $0.fields.replace("Sec-WebSocket-Accept", with: "wrong") }
        let server = try server(route)
        #expect(throws: WebSocketHandshake.Refusal.wrongAccept) { try WebSocketClient(port: server.port) }
        await server.stop()
    }

    @Test("A client that does not read is not read either, and large messages come back whole")
    func backPressure() async throws {
        var options = LoopbackServer.Options()
        options.sendBufferBytes = 64 << 10
        let server = try LoopbackServer.start(options) { _ in .webSocket() }
        let client = try WebSocketClient(port: server.port, receiveBuffer: 64 << 10)
        let large = WebSocketMessage(.binary, GeneratedBytes.bytes(3 << 20))
        try client.send(.message(large))
        #expect(await server.wait { $0.blockedWriters == 1 } != nil)
        #expect(try client.next() == .message(large))
        try client.send("behind it")
        #expect(try client.next() == .message(WebSocketMessage(text: "behind it")))
        #expect(await server.wait { $0.blockedWriters == 0 } != nil)
        await server.stop()
    }

    @Test("A script can leave what comes in the kernel, and read it later")
    func unread() async throws {
        let gate = ServerGate()
        let record = WebSocketRecord()
        let server = try LoopbackServer.start { _ in
            .webSocket(
                [.stopReading, .text("sent"), .wait(gate), .startReading, .expect(text: "late")], record: record)
        }
        let client = try WebSocketClient(port: server.port)
        #expect(try client.next() == .message(WebSocketMessage(text: "sent")))
        try client.send("late")
        #expect(record.contents.events.isEmpty)
        gate.open()
        #expect(await record.wait { $0.events == [.message(WebSocketMessage(text: "late"))] } != nil)
        await server.stop()
    }

    @Test("Over TLS frames are frames, and the end is announced by close_notify")
    func secure() async throws {
        let (root, identity) = try CertificateFactory.server("server.test")
        let server = try LoopbackServer.start(.init(tls: ServerTLS(identity: identity))) { _ in .webSocket() }
        let client = try SecureClient(port: server.port, anchors: [root])
        var bytes = try WebSocketClient.request().bytes
        WebSocketFrameEncoder.encode(.message(WebSocketMessage(text: "safe")), mask: WebSocketMask(7), into: &bytes)
        WebSocketFrameEncoder.encode(.close(goodbye), mask: WebSocketMask(8), into: &bytes)
        try client.send(bytes)
        let answer = try client.readBytesToEnd()
        var frames: [UInt8] = []
        WebSocketFrameEncoder.encode(.message(WebSocketMessage(text: "safe")), mask: nil, into: &frames)
        WebSocketFrameEncoder.encode(.close(goodbye), mask: nil, into: &frames)
        #expect(answer.starts(with: Array("HTTP/1.1 101 ".utf8)))
        #expect(answer.suffix(frames.count).elementsEqual(frames))
        #expect(client.sawCloseNotify)
        await server.stop()
    }
}
