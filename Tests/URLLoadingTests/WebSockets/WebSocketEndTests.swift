// How web sockets end: close frames of either side, cancellations, losses, and errors of later calls (behaviour 15.3).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingWire

@Suite("Ends of web sockets", .endsSessions, .timeLimit(.minutes(5)))
struct WebSocketEndTests {
    private typealias CloseCode = URLSessionWebSocketTask.CloseCode

    @Test(
        "B15.26, B15.27, B15.28: the server's close frame is answered with an equal one and told, whatever its code",
        arguments: [(1000, ""), (1001, "later"), (1011, "ünd"), (3000, ""), (4999, "x"), (1005, "")])
    func serverCloses(code: Int, reason: String) async throws {
        try await withScript([.close(code, reason), .expectClose(code, reason), .end]) { server, _ in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            task.resume()
            let told = reason.isEmpty ? "nil" : reason
            #expect(await scribe.story() == ["created", "open nil", "close \(code) \(told)", "complete nil"])
            #expect(task.closeCode.rawValue == code && task.error == nil)
            #expect(task.closeReason == (reason.isEmpty ? nil : Data(reason.utf8)))
            await server.wait { $0.webSocketsClosed == 1 }
        }
    }

    @Test(
        "B15.29, B15.30: close codes and reasons that may not be sent are replaced or cut",
        arguments: [
            (1000, "fine", 1000, "fine"), (0, "gone", 1005, ""), (1005, "gone", 1005, ""), (1006, "x", 1000, "x"),
            (1015, "x", 1000, "x"), (1004, "x", 1000, "x"), (2999, "x", 1000, "x"), (5000, "x", 1000, "x"),
            (4000, String(repeating: "ü", count: 80), 4000, String(repeating: "ü", count: 61)),
        ])
    func sendable(code: Int, reason: String, sentCode: Int, sentReason: String) async throws {
        try await withScript([.expectClose(sentCode, sentReason)]) { server, record in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            task.resume()
            await scribe.opened.wait()
            task.cancel(with: try #require(CloseCode(rawValue: code)), reason: Data(reason.utf8))
            let told = sentReason.isEmpty ? "nil" : sentReason
            #expect(await scribe.story().dropFirst(2) == ["close \(sentCode) \(told)", "complete nil"])
        }
    }

    @Test(
        "B15.24: the task's close frame follows the messages before it, and a receive that waits still gets its message"
    )
    func ourGoodbye() async throws {
        let steps: [WebSocketStep] = [
            .expect(text: "last"), .expectClose(1000, "bye"), .text("parting"), .close(1000, "adieu"),
        ]
        try await withScript(steps) { server, _ in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            task.resume()
            await scribe.opened.wait()
            let parting = Guarded("")
            let heard = Signal()
            task.receive { result in
                if case .success(.string(let text)) = result { parting.value = text }
                heard.fire()
            }
            task.send(.string("last")) { _ in }
            task.cancel(with: .normalClosure, reason: Data("bye".utf8))
            #expect(await task.sendError() == posix(ENOTCONN), "nothing is sent behind it")
            #expect(await scribe.story() == ["created", "open nil", "close 1000 adieu", "complete nil"])
            await heard.wait()
            #expect(parting.value == "parting")
        }
    }

    @Test("B15.25: a plain cancellation sends a close frame without a code, tells no close, and fails calls that wait")
    func cancelled() async throws {
        try await withScript([.expectClose(1005)]) { server, record in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            task.resume()
            await scribe.opened.wait()
            let errors = Guarded<[String]>([])
            let done = Signal()
            task.receive { result in
                if case .failure(let error) = result { errors.change { $0.append("receive \(name(error))") } }
                done.fire()
            }
            task.cancel()
            #expect(await scribe.story() == ["created", "open nil", "complete -999"])
            await done.wait()
            #expect(errors.value == ["receive -999"])
            // B15.33.
            #expect(await task.sendError() == "-999")
            #expect(await task.pingError() == "-999")
            #expect(task.closeCode == .invalid && task.state == .completed)
            await record.wait { $0.ended == 1 }
        }
    }

    @Test("B15.25: before the handshake is over each kind of cancellation ends the task with -999", arguments: 0..<4)
    func cancelledEarly(step: Int) async throws {
        let asked = Signal()
        let gate = ServerGate()
        try await withServer(router: { _ in
            asked.fire()
            return ServerResponse(body: .script([.wait(gate)]))
        }) { server in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            if step > 1 {
                task.resume()
                await asked.wait()
            }
            let sent = Signal()
            task.send(.string("x")) { error in
                scribe.transcript.note("send \(name(error))")
                sent.fire()
            }
            if step.isMultiple(of: 2) { task.cancel() } else { task.cancel(with: .goingAway, reason: nil) }
            await sent.wait()
            #expect(await scribe.story() == ["created", "send -999", "complete -999"], "B15.34: calls first")
            gate.open()
        }
    }

    @Test(
        "B15.31, B15.34: a connection that ends without a close frame fails the task and all calls, and tells no close")
    func lost() async throws {
        for end in [WebSocketStep.end, .reset] {
            let gate = ServerGate()
            try await withScript([.text("kept"), .wait(gate), end]) { server, _ in
                let scribe = WebSocketScribe()
                let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
                task.resume()
                #expect(try await task.heard() == "kept")
                let errors = Guarded<[String]>([])
                let done = Signal()
                for _ in 1...2 {
                    task.receive { result in
                        if case .failure(let error) = result { errors.change { $0.append(name(error)) } }
                        done.fire()
                    }
                }
                gate.open()
                await done.wait(times: 2)
                #expect(errors.value == ["-1005", "-1005"])
                #expect(await scribe.story() == ["created", "open nil", "complete -1005"])
                #expect(task.closeCode == .invalid && task.closeReason == nil)
                // B15.33.
                #expect(await task.sendError() == "-1005")
                #expect(await task.receiveError() == "-1005")
                #expect((task.error as? URLError)?.failingURL == (try server.webSocket()))
            }
        }
    }

    @Test("B15.14, B15.33: messages that came before the end can be received after it")
    func late() async throws {
        try await withScript([.text("a"), .text("b"), .close(1000)]) { server, _ in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            task.resume()
            #expect(await scribe.story() == ["created", "open nil", "close 1000 nil", "complete nil"])
            #expect(try await task.heard() == "a")
            #expect(try await task.heard() == "b")
            #expect(await task.receiveError() == posix(ENOTCONN))
            #expect(await task.sendError() == posix(ENOTCONN))
            #expect(await task.pingError() == posix(ENOTCONN))
        }
    }

    @Test(
        "B15.55: handlers that ask for the next message get all that came before the end, and then hear of the end",
        arguments: [true, false])
    func handlersFirst(goodbye: Bool) async throws {
        let steps = (1...40).map { WebSocketStep.text("\($0)") } + [goodbye ? .close(1000) : .drop]
        try await withScript(steps) { server, _ in
            let scribe = WebSocketScribe()
            // The server has said everything before the first handler returns.
            let mayGoOn = DispatchSemaphore(value: 0)
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            @Sendable func listen() {
                task.receive { result in
                    guard case .success(.string(let text)) = result else { return scribe.transcript.note("none") }
                    if text == "1" { mayGoOn.wait() }
                    scribe.transcript.note(text)
                    listen()
                }
            }
            listen()
            task.resume()
            await server.wait { $0.webSockets == 1 && $0.webSocketsOpen == 0 }
            mayGoOn.signal()
            let story = await scribe.story()
            let messages = (1...40).map(String.init)
            let end = goodbye ? ["close 1000 nil", "complete nil"] : ["complete -1005"]
            #expect(story == ["created", "open nil"] + messages + ["none"] + end)
        }
    }

    @Test("B15.55: a handler that asks for messages for ever does not hold the end up")
    func insatiable() async throws {
        try await withScript([.text("a"), .close(1000)]) { server, _ in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            @Sendable func listen() {
                task.receive { _ in if !scribe.transcript.calls.contains("complete nil") { listen() } }
            }
            listen()
            task.resume()
            #expect(await scribe.story() == ["created", "open nil", "close 1000 nil", "complete nil"])
        }
    }

    @Test("B15.36: after both close frames it does not matter how the connection ends", arguments: [false, true])
    func withoutCloseNotify(tls: Bool) async throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        var options = LoopbackServer.Options()
        if tls { options.tls = .init(identity: identity) }
        let steps: [WebSocketStep] = [.close(1000), .expectClose(1000), .drop]
        try await withServer(options, router: { _ in .webSocket(steps) }) { server in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe, anchor: root.pem).webSocketTask(with: try server.webSocket())
            task.resume()
            let challenge = tls ? ["challenge NSURLAuthenticationMethodServerTrust"] : []
            #expect(
                await scribe.story() == ["created"] + challenge + ["open nil", "close 1000 nil", "complete nil"])
        }
    }

    /// Frames that a server must not send, with the code of the client's close frame.
    private static let faults: [(String, [UInt8], Int)] = [
        ("masked", [0x81, 0x81, 1, 2, 3, 4, 0x41 ^ 1], 1002),
        ("RSV1 without extension", [0xC1, 0x01, 0x41], 1002),
        ("RSV2", [0xA1, 0x01, 0x41], 1002),
        ("RSV3", [0x91, 0x01, 0x41], 1002),
        ("opcode 3", [0x83, 0x00], 1002),
        ("opcode 11", [0x8B, 0x00], 1002),
        ("continuation without start", [0x80, 0x01, 0x41], 1002),
        ("message inside message", [0x01, 0x01, 0x41, 0x81, 0x01, 0x41], 1002),
        ("fragmented ping", [0x09, 0x00], 1002),
        ("long ping", [0x89, 0x7E, 0x00, 0x7E], 1002),
        ("length not minimal", [0x82, 0x7E, 0x00, 0x7D], 1002),
        ("length of 64 bits", [0x82, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0], 1002),
        ("close of one byte", [0x88, 0x01, 0x03], 1002),
        ("close 999", [0x88, 0x02, 0x03, 0xE7], 1002),
        ("close 1005", [0x88, 0x02, 0x03, 0xED], 1002),
        ("close 1015", [0x88, 0x02, 0x03, 0xF7], 1002),
        ("close 2999", [0x88, 0x02, 0x0B, 0xB7], 1002),
        ("close 5000", [0x88, 0x02, 0x13, 0x88], 1002),
        ("close with a reason that is no text", [0x88, 0x03, 0x03, 0xE8, 0xFF], 1007),
        ("no text", [0x81, 0x02, 0xC3, 0x28], 1007),
        ("overlong", [0x81, 0x02, 0xC0, 0x80], 1007),
        ("surrogate", [0x81, 0x03, 0xED, 0xA0, 0x80], 1007),
        ("cut between fragments", [0x01, 0x01, 0xC3, 0x80, 0x01, 0x28], 1007),
        ("incomplete at the end", [0x81, 0x01, 0xC3], 1007),
        ("above U+10FFFF", [0x81, 0x04, 0xF4, 0x90, 0x80, 0x80], 1007),
        ("too long", [0x82, 0x7F, 0, 0, 0, 0, 0, 0x10, 0, 1], 1009),
    ]

    @Test("B15.15 to B15.19, B15.30: a breach of the protocol ends the task, and the server gets the code")
    func faults() async throws {
        for (what, bytes, code) in Self.faults {
            try await withScript([.raw(bytes), .expectClose(code)]) { server, _ in
                let scribe = WebSocketScribe()
                let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
                task.resume()
                let expected = code == 1009 ? posix(EMSGSIZE) : "-1011"
                #expect(await task.receiveError() == expected, "\(what)")
                #expect(await scribe.story() == ["created", "open nil", "complete \(expected)"], "\(what)")
                #expect(task.closeCode == .invalid, "\(what)")
                #expect(await task.sendError() == expected, "\(what): B15.33")
                if code != 1009 {
                    let cause = (task.error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? POSIXError
                    #expect(cause?.code == .EPROTO, "\(what)")
                    #expect((task.error as? URLError)?.failingURL == (try server.webSocket()))
                }
            }
        }
    }

    @Test("B15.19, B15.20: the size of a message is that of all its fragments, and its limit can be changed")
    func sizes() async throws {
        let fragments: [WebSocketStep] = [
            .frame(.binary, [1, 2, 3], isFinal: false), .frame(.ping, []),
            .frame(.continuation, [4, 5], isFinal: false),
        ]
        try await withScript(
            fragments + [.frame(.continuation, [6])] + fragments + [.frame(.continuation, [6, 7]), .expectAnything]
        ) { server, record in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            #expect(task.maximumMessageSize == 1_048_576)
            task.maximumMessageSize = 6
            task.resume()
            #expect(try await task.heard() == "[1, 2, 3, 4, 5, 6]")
            #expect(await task.receiveError() == posix(EMSGSIZE))
            #expect(await scribe.story() == ["created", "open nil", "complete \(posix(EMSGSIZE))"])
            #expect((task.error as? POSIXError)?.code == .EMSGSIZE)
            await record.wait { $0.events.contains(.close(WebSocketClose(code: 1009))) }
        }
    }

    @Test("A session that is invalidated waits for its web sockets, or ends them")
    func invalidation() async throws {
        try await withServer(router: { _ in .webSocket() }) { server in
            let scribe = WebSocketScribe()
            let session = webSocketSession(scribe)
            let task = session.webSocketTask(with: try server.webSocket())
            task.resume()
            session.finishTasksAndInvalidate()
            try await task.send(.string("x"))
            #expect(try await task.heard() == "x")
            task.cancel(with: .normalClosure, reason: nil)
            await scribe.transcript.invalidated.wait()
            #expect(
                scribe.transcript.calls == ["created", "open nil", "close 1000 nil", "complete nil", "invalid"])
            let late = session.webSocketTask(with: try server.webSocket())
            late.resume()
            #expect(await late.receiveError() == "-999")
        }
    }

    @Test("Many web sockets that are cancelled at any moment leave nothing behind, and every call is answered")
    func stress() async throws {
        try await withServer(router: { _ in .webSocket() }) { server in
            let scribe = WebSocketScribe()
            let session = webSocketSession(scribe) { $0.httpMaximumConnectionsPerHost = 32 }
            let answered = Signal()
            let count = 200
            for number in 0..<count {
                let task = session.webSocketTask(with: try server.webSocket())
                task.resume()
                for _ in 0..<3 { task.send(.string("\(number)")) { _ in answered.fire() } }
                for _ in 0..<2 { task.receive { _ in answered.fire() } }
                task.sendPing { _ in answered.fire() }
                if number % 3 == 0 { await Task.yield() }
                if number % 2 == 0 { task.cancel() } else { task.cancel(with: .goingAway, reason: nil) }
            }
            await answered.wait(times: count * 6)
            session.finishTasksAndInvalidate()
            await scribe.transcript.invalidated.wait()
            await server.wait { $0.webSocketsOpen == 0 }
        }
    }
}
