// Web socket tasks: a conversation, the order of its calls, messages, pings (behaviour 15.1, 15.2).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Web socket tasks", .endsSessions, .timeLimit(.minutes(5)))
struct WebSocketTaskTests {
    @Test("B1.105, B15.12, B15.24, B15.27: a conversation, from the first resume to the end")
    func conversation() async throws {
        try await withServer(router: { _ in .webSocket() }) { server in
            let scribe = WebSocketScribe()
            let session = webSocketSession(scribe)
            let url = try server.webSocket("/chat")
            let task = session.webSocketTask(with: url)
            #expect(task.state == .suspended && task.originalRequest?.url == url && task.closeCode == .invalid)
            #expect(await session.allTasks == [task])
            let (data, uploads, downloads) = await session.tasks
            #expect(data.isEmpty && uploads.isEmpty && downloads.isEmpty)
            task.resume()
            try await task.send(.string("héllo"))
            #expect(try await task.heard() == "héllo")
            try await task.send(.data(Data([0, 255, 128])))
            #expect(try await task.heard() == "[0, 255, 128]")
            #expect(await task.pingError() == "nil")
            #expect((task.response as? HTTPURLResponse)?.statusCode == 101)
            #expect(task.currentRequest?.url == url && task.response?.url == url)
            #expect(task.closeCode == .invalid && task.closeReason == nil)
            task.cancel(with: .goingAway, reason: Data("bye".utf8))
            #expect(await scribe.story() == ["created", "open nil", "close 1001 bye", "complete nil"])
            #expect(task.closeCode == .goingAway && task.closeReason == Data("bye".utf8))
            #expect(task.state == .completed && task.error == nil)
            #expect(task.countOfBytesSent == 9 && task.countOfBytesReceived == 9)
            #expect(await session.allTasks.isEmpty)
            let transaction = try #require(scribe.metrics.value?.transactionMetrics.first)
            #expect((transaction.response as? HTTPURLResponse)?.statusCode == 101)
            #expect(transaction.requestStartDate != nil && transaction.responseEndDate != nil)
            await server.wait { $0.webSocketsClosed == 1 }
        }
    }

    @Test("B15.9: calls before the handshake, or before the first resume, are carried out afterwards and in order")
    func queued() async throws {
        try await withServer(router: { _ in .webSocket() }) { server in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            let heard = Guarded<[String]>([])
            let done = Signal()
            for number in 1...3 {
                task.send(.string("\(number)")) { error in
                    heard.change { $0.append("sent \(number) \(name(error))") }
                    done.fire()
                }
            }
            task.sendPing { error in
                heard.change { $0.append("pong \(name(error))") }
                done.fire()
            }
            let early = (1...3).map { _ in Task { try await task.heard() } }
            task.resume()
            await done.wait(times: 4)
            var messages: Set<String> = []
            for call in early { messages.insert(try await call.value) }
            #expect(messages == ["1", "2", "3"])
            #expect(heard.value == ["sent 1 nil", "sent 2 nil", "sent 3 nil", "pong nil"])
            task.cancel(with: .normalClosure, reason: nil)
            #expect(await scribe.story() == ["created", "open nil", "close 1000 nil", "complete nil"])
        }
    }

    @Test("B15.14: several calls wait, each gets one message, in order; messages that no call has asked for wait too")
    func receives() async throws {
        let gate = ServerGate()
        try await withScript([.wait(gate)] + (1...6).map { .text("\($0)") }) { server, record in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            let heard = Guarded<[String]>([])
            let done = Signal()
            for _ in 1...3 {
                task.receive { result in
                    heard.change { heard in
                        switch result {
                        case .success(.string(let text)): heard.append(text)
                        case .success, .failure: heard.append("\(result)")
                        }
                    }
                    done.fire()
                }
            }
            task.resume()
            await scribe.opened.wait()
            gate.open()
            await done.wait(times: 3)
            #expect(heard.value == ["1", "2", "3"])
            for number in 4...6 { #expect(try await task.heard() == "\(number)") }
            task.cancel()
            #expect(await scribe.story() == ["created", "open nil", "complete -999"])
            await record.wait { $0.ended == 1 }
            #expect(record.contents.events == [.close(.withoutCode)], "B15.25")
        }
    }

    @Test("B15.13: a send completes also while the server does not read")
    func sends() async throws {
        let gate = ServerGate()
        try await withScript([.stopReading, .wait(gate), .startReading, .expect(text: "hello")]) { server, _ in
            let task = webSocketSession().webSocketTask(with: try server.webSocket())
            task.resume()
            try await task.send(.string("hello"))
            gate.open()
            task.cancel(with: .normalClosure, reason: nil)
            #expect(await task.receiveError() == posix(ENOTCONN))
        }
    }

    @Test("B15.12: large messages of either kind, several at once, come back as they went", arguments: [false, true])
    func large(tls: Bool) async throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        var options = LoopbackServer.Options()
        if tls { options.tls = .init(identity: identity) }
        try await withServer(options, router: { _ in .webSocket() }) { server in
            let task = webSocketSession(anchor: root.pem).webSocketTask(with: try server.webSocket())
            task.maximumMessageSize = 8 << 20
            task.resume()
            let sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000, 3 << 20]
            for size in sizes { task.send(.data(Data(pattern(size)))) { _ in } }
            task.send(.string(String(repeating: "ü", count: 100_000))) { _ in }
            for size in sizes {
                guard case .data(let data) = try await task.receive() else {
                    Issue.record("no data")
                    continue
                }
                #expect(firstDifference(data, pattern(size)) == nil, "\(size)")
            }
            #expect(try await task.heard() == String(repeating: "ü", count: 100_000))
            task.cancel(with: .normalClosure, reason: nil)
            #expect(await task.receiveError() == posix(ENOTCONN))
        }
    }

    @Test("B15.22: pings are answered, also while messages wait that no call has asked for")
    func answersPings() async throws {
        let steps: [WebSocketStep] = [
            .text("unasked"), .frame(.ping, [1, 2, 3]), .frame(.pong, [9]), .expect(.pong([1, 2, 3])),
            .frame(.ping, []), .expect(.pong([])), .text("done"), .expectClose(1000),
        ]
        try await withScript(steps) { server, _ in
            let task = webSocketSession().webSocketTask(with: try server.webSocket())
            task.resume()
            #expect(await task.hears("unasked", "done"))
            task.cancel(with: .normalClosure, reason: nil)
            #expect(await task.receiveError() == posix(ENOTCONN))
        }
    }

    @Test("B15.21, B15.23: pongs end pings in order, and a pong for a later ping ends those before it too")
    func pings() async throws {
        let gate = ServerGate()
        var route = WebSocketRoute(
            .script([.expectAnything, .expectAnything, .frame(.pong, [0, 0, 0, 0, 0, 0, 0, 2]), .wait(gate), .end]))
        route.answersPings = false
        let asked = route
        try await withServer(router: { _ in .webSocket(asked) }) { server in
            let task = webSocketSession().webSocketTask(with: try server.webSocket())
            task.resume()
            let order = Guarded<[String]>([])
            let done = Signal()
            for number in 1...3 {
                task.sendPing { error in
                    order.change { $0.append("\(number) \(name(error))") }
                    done.fire()
                }
            }
            await done.wait(times: 2)
            #expect(order.value == ["1 nil", "2 nil"])
            gate.open()
            await done.wait(times: 3)
            #expect(order.value.last == "3 -1005", "B15.34: a ping without a pong fails with the connection")
        }
    }

    @Test("B15.37: a suspended web socket delivers no messages and answers no pings until it is resumed")
    func suspended() async throws {
        let pinged = ServerGate()
        let steps: [WebSocketStep] = [
            .text("first"), .wait(pinged), .frame(.ping, [7]), .text("second"), .expect(text: "still sent"),
            .expect(.pong([7])), .expectClose(1000),
        ]
        try await withScript(steps) { server, record in
            let task = webSocketSession().webSocketTask(with: try server.webSocket())
            task.resume()
            #expect(try await task.heard() == "first")
            task.suspend()
            #expect(task.state == .suspended)
            // Sent behind the suspension on the same loop: when it is done, the suspension is.
            try await task.send(.string("still sent"))
            pinged.open()
            let second = Task { try await task.heard() }
            await record.wait { $0.events.contains(.message(WebSocketMessage(text: "still sent"))) }
            #expect(!record.contents.events.contains(.pong([7])))
            task.resume()
            #expect(try await second.value == "second")
            await record.wait { $0.events.contains(.pong([7])) }
            task.cancel(with: .normalClosure, reason: nil)
            #expect(await task.receiveError() == posix(ENOTCONN))
        }
    }

    @Test("A task's own delegate hears of its web socket, in place of the session's")
    func taskDelegate() async throws {
        try await withServer(router: { _ in .webSocket() }) { server in
            let (own, common) = (WebSocketScribe(), WebSocketScribe())
            let task = webSocketSession(common).webSocketTask(with: try server.webSocket())
            task.delegate = own
            task.resume()
            await own.opened.wait()
            task.cancel(with: .normalClosure, reason: nil)
            #expect(await own.story() == ["open nil", "close 1000 nil", "complete nil"])
            #expect(common.transcript.calls == ["created"])
        }
    }

    @Test("A web socket works with a delegate without methods for web sockets, and without a delegate")
    func otherDelegates() async throws {
        try await withServer(router: { _ in .webSocket() }) { server in
            let silent = SilentDelegate()
            for session in [webSocketSession(silent), webSocketSession()] {
                let task = session.webSocketTask(with: try server.webSocket())
                task.resume()
                try await task.send(.string("x"))
                #expect(try await task.heard() == "x")
                task.cancel(with: .normalClosure, reason: nil)
                #expect(await task.receiveError() == posix(ENOTCONN))
            }
            await silent.transcript.completed.wait()
            #expect(silent.transcript.calls == ["complete nil"])
        }
    }

    @Test("Messages come as a sequence, which ends with a normal close")
    func sequence() async throws {
        try await withScript([.text("a"), .binary([1]), .text("b"), .close(1000)]) { server, _ in
            let task = webSocketSession().webSocketTask(with: try server.webSocket())
            task.resume()
            var heard: [String] = []
            for try await message in task.messages {
                switch message {
                case .string(let text): heard.append(text)
                case .data(let data): heard.append("\(data.count)")
                }
            }
            #expect(heard == ["a", "1", "b"])
            #expect(task.closeCode == .normalClosure)
        }
    }

    @Test("The sequence of messages throws a close other than the normal one, and the task's failure")
    func sequenceThrows() async throws {
        try await withScript([.text("a"), .close(4001, "enough")]) { server, _ in
            let task = webSocketSession().webSocketTask(with: try server.webSocket())
            task.resume()
            var count = 0
            do {
                for try await _ in task.messages { count += 1 }
                Issue.record("it ended well")
            } catch let error as URLSessionWebSocketTask.ClosureError {
                #expect(error.closeCode.rawValue == 4001 && error.reason == Data("enough".utf8))
            }
            #expect(count == 1)
        }
        try await withScript([.end]) { server, _ in
            let task = webSocketSession().webSocketTask(with: try server.webSocket())
            task.resume()
            #expect(await codeThrown { for try await _ in task.messages {} } == .networkConnectionLost)
        }
    }

    @Test(
        "B15.57: the sequence of messages ends with the conversation after the program's own goodbye",
        arguments: [
            (WebSocketStep.close(1000), "nil"), (WebSocketStep.drop, "nil"),
            (WebSocketStep.close(4001, "enough"), "4001 enough"),
        ])
    func sequenceAfterGoodbye(answer: WebSocketStep, expected: String) async throws {
        // The iteration nearly always asks for the next message before the server has answered its goodbye;
        // it ends alike otherwise.
        try await withScript([.text("a"), .expectClose(1000), answer]) { server, _ in
            let task = webSocketSession().webSocketTask(with: try server.webSocket())
            task.resume()
            let iteration = Task { () async -> String in
                do {
                    for try await _ in task.messages { task.cancel(with: .normalClosure, reason: nil) }
                    return "nil"
                } catch let error as URLSessionWebSocketTask.ClosureError {
                    let reason = error.reason.map { String(decoding: $0, as: UTF8.self) }
                    return "\(error.closeCode.rawValue) \(reason ?? "nil")"
                } catch {
                    return name(error)
                }
            }
            #expect(await iteration.value == expected)
        }
    }

    @Test("Cancelling the Swift task that iterates cancels the web socket")
    func sequenceCancelled() async throws {
        try await withServer(router: { _ in .webSocket() }) { server in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            task.resume()
            await scribe.opened.wait()
            let iteration = Task { for try await _ in task.messages {} }
            iteration.cancel()
            #expect(await codeThrown { try await iteration.value } == .cancelled)
            #expect(await scribe.story() == ["created", "open nil", "complete -999"])
        }
    }

    @Test("EventHandlers' closures hear of web sockets too")
    func eventHandlers() async throws {
        try await withServer(router: { _ in .webSocket() }) { server in
            let handlers = URLSession.EventHandlers()
            let heard = Guarded<[String]>([])
            let done = Signal()
            handlers.didOpenWebSocket = { _, _, chosen in heard.change { $0.append("open \(chosen ?? "nil")") } }
            handlers.didCloseWebSocket = { _, _, code, reason in
                heard.change { $0.append("close \(code.rawValue) \(reason?.count ?? 0)") }
            }
            handlers.didComplete = { _, _, error in
                heard.change { $0.append("complete \(name(error))") }
                done.fire()
            }
            let task = webSocketSession(handlers).webSocketTask(with: try server.webSocket())
            task.resume()
            try await task.send(.string("x"))
            task.cancel(with: .goingAway, reason: Data("bye".utf8))
            await done.wait()
            #expect(heard.value == ["open nil", "close 1001 3", "complete nil"])
        }
    }

    @available(*, deprecated)
    @Test("A web socket task without a session fails its calls")
    func mock() async {
        let task = URLSessionWebSocketTask()
        #expect(await task.receiveError() == "-1002")
        #expect(await task.sendError() == "-1002")
        #expect(await task.pingError() == "-1002")
        #expect(task.maximumMessageSize == 1 << 20 && task.closeCode == .invalid && task.closeReason == nil)
    }

    @Test("CloseCode takes every number, and equal numbers are equal")
    func closeCodes() {
        for number in [0, 999, 1000, 1001, 1004, 1005, 1015, 3000, 4001, 70_000, -1] {
            let code = URLSessionWebSocketTask.CloseCode(rawValue: number)
            #expect(code?.rawValue == number)
        }
        #expect(URLSessionWebSocketTask.CloseCode(rawValue: 1000) == .normalClosure)
        #expect(URLSessionWebSocketTask.CloseCode.other(1000) == .normalClosure)
        #expect(Set([URLSessionWebSocketTask.CloseCode.other(1001), .goingAway]).count == 1)
    }
}

extension URLSessionWebSocketTask {
    /// Whether these messages come, one after the other.
    fileprivate func hears(_ texts: String...) async -> Bool {
        for text in texts {
            guard let heard = try? await self.heard(), heard == text else { return false }
        }
        return true
    }
}
