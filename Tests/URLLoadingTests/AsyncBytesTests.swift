// `bytes(for:)`, its bytes and its chunks (behaviour 1.7).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Bodies as sequences of bytes")
struct AsyncBytesTests {
    @Test("B1.92: bytes(for:) returns when the head has come; its task runs on until the body has come")
    func returnsWithTheHead() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("hello", when: gate)]) }) { server in
            let session = URLSession(configuration: .default)
            let (bytes, response) = try await session.bytes(for: URLRequest(url: try server.at("/")))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(bytes.task.state == .running)
            #expect(bytes.task.response == response)
            #expect(await session.allTasks == [bytes.task])
            gate.open()
            var collected: [UInt8] = []
            for try await byte in bytes { collected.append(byte) }
            #expect(collected == Array("hello".utf8))
            #expect(bytes.task.state == .completed)
        }
    }

    @Test("Every byte comes, in order", arguments: [ServerResponse.Framing.automatic, .chunked, .untilClose])
    func everyByte(framing: ServerResponse.Framing) async throws {
        try await withServer(router: { _ in .generated(length: 1_000_000, framing: framing) }) { server in
            let session = URLSession(configuration: .default)
            let (bytes, _) = try await session.bytes(from: try server.at("/"))
            var position: Int64 = 0
            var wrong = 0
            for try await byte in bytes {
                if byte != GeneratedBytes.byte(at: position) { wrong += 1 }
                position += 1
            }
            #expect(position == 1_000_000)
            #expect(wrong == 0)
        }
    }

    @Test("Chunks are the body as it came, none of them empty")
    func chunks() async throws {
        try await withServer(router: { _ in .generated(length: 1_000_000) }) { server in
            let session = URLSession(configuration: .default)
            let (bytes, _) = try await session.bytes(from: try server.at("/"))
            var position: Int64 = 0
            for try await chunk in bytes.chunks {
                #expect(!chunk.isEmpty)
                #expect(chunk.withUnsafeBytes { GeneratedBytes.matches($0, at: position) })
                position += Int64(chunk.count)
            }
            #expect(position == 1_000_000)
        }
    }

    @Test("An empty body is an empty sequence", arguments: [200, 204])
    func emptyBody(status: Int) async throws {
        try await withServer(router: { _ in .status(status) }) { server in
            let session = URLSession(configuration: .default)
            let (bytes, _) = try await session.bytes(from: try server.at("/"))
            for try await _ in bytes { Issue.record("a byte") }
            var iterator = bytes.makeAsyncIterator()
            #expect(try await iterator.next() == nil, "the end stays the end")
        }
    }

    @Test("B1.74: the error that breaks a body off is thrown once, after the bytes before it")
    func brokenBody() async throws {
        let gate = ServerGate()
        let steps: [ScriptStep] = [
            .lines("HTTP/1.1 200 OK\nContent-Length: 10\n\n"), .text("12345"), .wait(gate), .close,
        ]
        try await withServer(router: { _ in .script(steps) }) { server in
            let session = URLSession(configuration: .default)
            let (bytes, _) = try await session.bytes(from: try server.at("/"))
            gate.open()
            var iterator = bytes.makeAsyncIterator()
            var collected: [UInt8] = []
            let code = await codeThrown {
                while let byte = try await iterator.next() { collected.append(byte) }
            }
            #expect(code == .networkConnectionLost)
            #expect(collected == Array("12345".utf8))
            #expect(try await iterator.next() == nil)
            #expect((bytes.task.error as? URLError)?.code == .networkConnectionLost)
        }
    }

    @Test("B1.88: an error before the head is thrown by the call")
    func errorBeforeTheHead() async throws {
        let session = URLSession(configuration: .default)
        let url = try #require(URL(string: "gopher://example.com"))
        #expect(await codeThrown { _ = try await session.bytes(from: url) } == .unsupportedURL)
    }

    @Test("The first line of a server-sent event is seen before the second is sent", arguments: ["\n", "\r\n", "\r"])
    func serverSentEvents(ending: String) async throws {
        let gates = [ServerGate(), ServerGate()]
        let router: LoopbackServer.Router = { _ in
            .slow([
                .init("event: a\(ending)"), .init("data: b\(ending)\(ending)", when: gates[0]),
                .init("data: c\(ending)", when: gates[1]),
            ])
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .default)
            let (bytes, _) = try await session.bytes(from: try server.at("/"))
            var lines = bytes.lines(keepingEmpty: true).makeAsyncIterator()
            #expect(try await lines.next() == "event: a")
            gates[0].open()
            #expect(try await lines.next() == "data: b")
            #expect(try await lines.next() == "")
            gates[1].open()
            #expect(try await lines.next() == "data: c")
            #expect(try await lines.next() == nil)
        }
    }

    // MARK: How a sequence and its transfer end each other

    @Test("B1.92: ending the iteration cancels the task, also while the sequence is held")
    func droppedIteration() async throws {
        try await withServer(router: { _ in .generated(length: 50_000_000) }) { server in
            let session = URLSession(configuration: .default)
            let (bytes, _) = try await session.bytes(from: try server.at("/"))
            for try await _ in bytes { break }
            await server.wait { $0.givenUp == 1 }
            #expect(await codeThrown { for try await _ in bytes.chunks {} } == .cancelled)
            #expect((bytes.task.error as? URLError)?.code == .cancelled)
        }
    }

    @Test("B1.121, B1.92: an iteration that goes leaves the transfer to another one, and the last one ends it")
    func severalIterations() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("1"), .init("2", when: gate)]) }) { server in
            let session = URLSession(configuration: .default)
            let (bytes, _) = try await session.bytes(from: try server.at("/"))
            var iterator = bytes.makeAsyncIterator()
            #expect(try await iterator.next() == UInt8(ascii: "1"))
            _ = bytes.makeAsyncIterator()
            _ = bytes.chunks.makeAsyncIterator()
            #expect(bytes.task.state == .running)
            gate.open()
            #expect(try await iterator.next() == UInt8(ascii: "2"))
            #expect(try await iterator.next() == nil)
        }
        try await withServer(router: { _ in .generated(length: 50_000_000) }) { server in
            let session = URLSession(configuration: .default)
            let (bytes, _) = try await session.bytes(from: try server.at("/"))
            func readAByte(of iterators: [URLSession.AsyncBytes.Iterator]) async throws {
                for var iterator in iterators { _ = try await iterator.next() }
            }
            try await readAByte(of: [bytes.makeAsyncIterator(), bytes.makeAsyncIterator()])
            await server.wait { $0.givenUp == 1 }
            try await until { bytes.task.state == .completed }
            #expect((bytes.task.error as? URLError)?.code == .cancelled)
        }
    }

    @Test("B1.92: a sequence that is let go of unread cancels its task")
    func droppedSequence() async throws {
        try await withServer(router: { _ in .generated(length: 50_000_000) }) { server in
            let session = URLSession(configuration: .default)
            func ask() async throws { _ = try await session.bytes(from: try server.at("/")) }
            try await ask()
            await server.wait { $0.givenUp == 1 }
        }
    }

    @Test("B1.92, B1.89: cancelling the Swift task cancels the transfer, in the head", arguments: [true, false])
    func cancelledSwiftTask(inHead: Bool) async throws {
        let gate = ServerGate()
        let arrived = Signal()
        let router: LoopbackServer.Router = { _ in
            arrived.fire()
            return inHead
                ? .script([.wait(gate)])
                : .script([.lines("HTTP/1.1 200 OK\nContent-Length: 10\n\n"), .text("12345"), .wait(gate)])
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .default)
            let url = try server.at("/")
            let read = Signal()
            let load = Task {
                for try await _ in try await session.bytes(from: url).0 { read.fire() }
            }
            await arrived.wait()
            if !inHead { await read.wait(times: 5) }
            load.cancel()
            #expect(await codeThrown { try await load.value } == .cancelled)
            await server.wait { $0.givenUp == 1 }
            gate.open()
        }
    }

    @Test("B1.90: bytes(from:) in a Swift task that is cancelled already sends no request")
    func cancelledOnEntry() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let session = URLSession(configuration: .default)
            let url = try server.at("/")
            let start = Signal()
            let load = Task {
                await start.wait()
                _ = try await session.bytes(from: url)
            }
            load.cancel()
            start.fire()
            #expect(await codeThrown { try await load.value } == .cancelled)
            #expect(server.stats.connectionsAccepted == 0)
        }
    }

    @Test("Cancelling AsyncBytes.task ends the iteration with URLError.cancelled")
    func cancelledTask() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("1"), .init("2", when: gate)]) }) { server in
            let session = URLSession(configuration: .default)
            let (bytes, _) = try await session.bytes(from: try server.at("/"))
            var iterator = bytes.makeAsyncIterator()
            #expect(try await iterator.next() == UInt8(ascii: "1"))
            bytes.task.cancel()
            #expect(await codeThrown { _ = try await iterator.next() } == .cancelled)
            gate.open()
        }
    }

    @Test("Back-pressure: the server stops sending while no bytes are read, and goes on when reading does")
    func backPressure() async throws {
        try await withServer(router: { _ in .generated(length: 50_000_000) }) { server in
            let session = URLSession(configuration: .default)
            let (bytes, _) = try await session.bytes(from: try server.at("/"))
            await server.wait { $0.blockedWriters > 0 }
            #expect(bytes.task.countOfBytesReceived < 5_000_000)
            var count = 0
            for try await chunk in bytes.chunks { count += chunk.count }
            #expect(count == 50_000_000)
        }
    }

    @Test("A suspended task stops the server from sending")
    func suspended() async throws {
        try await withServer(router: { _ in .generated(length: 50_000_000) }) { server in
            let session = URLSession(configuration: .default)
            let (bytes, _) = try await session.bytes(from: try server.at("/"))
            bytes.task.suspend()
            await server.wait { $0.blockedWriters > 0 }
            bytes.task.resume()
            var count = 0
            for try await chunk in bytes.chunks { count += chunk.count }
            #expect(count == 50_000_000)
        }
    }

    @Test(
        "No task is left when a body was read, read in part, or not read at all", arguments: ["read", "left", "kept"])
    func nothingIsLeft(how: String) async throws {
        try await withServer(router: { _ in .generated(length: 2_000_000) }) { server in
            let session = URLSession(configuration: .default)
            func load() async throws -> WeakTask {
                let (bytes, _) = try await session.bytes(from: try server.at("/"))
                if how == "read" { for try await _ in bytes.chunks {} }
                if how == "left" { for try await _ in bytes.chunks { break } }
                return WeakTask(bytes.task)
            }
            let task = try await load()
            try await until { !task.exists }
            #expect(await session.allTasks.isEmpty)
        }
    }

    // MARK: Delegates

    @Test("B1.93: the delegate of the call is asked about the response and sees the body too")
    func delegate() async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/from" ? ServerResponse.status(302).adding("Location", "/to") : .text("hello")
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .default)
            let delegate = RecordingDelegate()
            let (bytes, response) = try await session.bytes(from: try server.at("/from"), delegate: delegate)
            #expect(response.url?.path == "/to")
            var text = ""
            for try await character in bytes.characters { text.append(character) }
            #expect(text == "hello")
            #expect(
                delegate.transcript.calls == [
                    "created 1", "redirect 302 GET /to", "response 200", "data", "metrics 2",
                ])
        }
    }

    @Test("B4.3: a redirect that the delegate refuses is the response, with its body")
    func refusedRedirect() async throws {
        let router: LoopbackServer.Router = { _ in
            ServerResponse.text("over there", status: 302).adding("Location", "/to")
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .default)
            let delegate = RecordingDelegate(onRedirect: { $1(nil) })
            let (bytes, response) = try await session.bytes(from: try server.at("/"), delegate: delegate)
            #expect((response as? HTTPURLResponse)?.statusCode == 302)
            var lines: [String] = []
            for try await line in bytes.lines { lines.append(line) }
            #expect(lines == ["over there"])
        }
    }

    @Test("B1.66: a delegate that refuses the response makes the call throw URLError.cancelled")
    func refusedResponse() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let session = URLSession(configuration: .default)
            let url = try server.at("/")
            let delegate = RecordingDelegate(onResponse: { $1(.cancel) })
            #expect(await codeThrown { _ = try await session.bytes(from: url, delegate: delegate) } == .cancelled)
        }
    }

    @Test("B1.21: on an ended session the call throws URLError.cancelled")
    func endedSession() async throws {
        let session = URLSession(configuration: .default)
        session.invalidateAndCancel()
        let url = try #require(URL(string: "http://127.0.0.1/"))
        #expect(await codeThrown { _ = try await session.bytes(from: url) } == .cancelled)
    }
}

/// Looks whether a task is still there.
private final class WeakTask: @unchecked Sendable {
    // Set once; weak references may be read from any thread.
    private weak var task: URLSessionTask?

    init(_ task: URLSessionTask) { self.task = task }

    var exists: Bool { task != nil }
}
