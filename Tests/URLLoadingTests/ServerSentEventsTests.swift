// `serverSentEvents(for:)`: events as they come, over as many connections as it takes.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Server-sent events")
struct ServerSentEventsTests {
    /// Gives answers one after the other, then 204, and keeps the requests.
    private final class Desk: Sendable {
        let requests = Box<[ServerRequest]>([])
        private let answers: [ServerResponse]

        init(_ answers: ServerResponse...) { self.answers = answers }

        func answer(_ request: ServerRequest) -> ServerResponse {
            var index = 0
            requests.change { requests in
                index = requests.count
                requests.append(request)
            }
            return index < answers.count ? answers[index] : .status(204)
        }

        func fields(_ name: String) -> [String?] { requests.value.map { $0.fields.first(.init(name)) } }
    }

    private static func stream(_ text: String) -> ServerResponse {
        .bytes(Array(text.utf8), type: "text/event-stream")
    }

    private func withEvents(
        _ desk: Desk, _ body: (URLSession.ServerSentEvents, LoopbackServer) async throws -> Void
    ) async throws {
        try await withServer(router: { desk.answer($0) }) { server in
            let session = URLSession(configuration: .ephemeral)
            try await body(session.serverSentEvents(from: try server.at("/")), server)
            session.invalidateAndCancel()
        }
    }

    private func data(_ events: URLSession.ServerSentEvents) async throws -> [String] {
        var all: [String] = []
        for try await event in events { all.append(event.data) }
        return all
    }

    // MARK: Events

    @Test(
        "B5.82: an event is there before the server sends the next",
        arguments: [ServerResponse.Framing.automatic, .chunked, .untilClose], ["\n", "\r", "\r\n"])
    func asTheyCome(framing: ServerResponse.Framing, ending: String) async throws {
        let gates = (0..<3).map { _ in ServerGate() }
        let pieces =
            [ServerResponse.Piece("retry: 0\(ending)")]
            + gates.enumerated().map { .init("data: \($0)\(ending)\(ending)", when: $1) }
        let desk = Desk(ServerResponse.slow(pieces, framing: framing).adding("Content-Type", "text/event-stream"))
        try await withEvents(desk) { (events, _) async throws in
            var iterator = events.makeAsyncIterator()
            for (number, gate) in gates.enumerated() {
                gate.open()
                #expect(try await iterator.next()?.data == "\(number)")
            }
            #expect(try await iterator.next() == nil)
        }
    }

    @Test("B5.82: behind a body that came fast an event is not kept waiting for more")
    func fastThenSlow() async throws {
        let gate = ServerGate()
        // So long that it is worth gathering, and so is what is left of it.
        let long = ":\(String(repeating: "x", count: 1000))\n"
        let many = String(repeating: long, count: 2000) + "retry: 0\ndata: fast\n\n"
        let desk = Desk(
            ServerResponse.slow([.init(many), .init("data: slow\n\n\(many)", when: gate)])
                .adding("Content-Type", "text/event-stream"))
        try await withEvents(desk) { (events, _) async throws in
            var iterator = events.makeAsyncIterator()
            #expect(try await iterator.next()?.data == "fast")
            gate.open()
            #expect(try await iterator.next()?.data == "slow")
            #expect(try await iterator.next()?.data == "fast")
            #expect(try await iterator.next() == nil)
        }
    }

    @Test("B5.80: an event has its ID, its type, its data and its retry")
    func fields() async throws {
        let desk = Desk(Self.stream("id: …\nevent: tick\nretry: 1\ndata: a\ndata: b\n\ndata:\n\n"))
        try await withEvents(desk) { (events, _) async throws in
            var all: [URLSession.ServerSentEvent] = []
            for try await event in events { all.append(event) }
            #expect(
                all == [
                    .init(id: "…", type: "tick", data: "a\nb", retry: .milliseconds(1)), .init(id: "…", data: ""),
                ])
        }
        #expect(desk.fields("Last-Event-ID") == [nil, "…"])
    }

    @Test("B5.81: the request asks for a stream of events, and for no stored one")
    func request() async throws {
        let desk = Desk(Self.stream("retry: 0\n\n"))
        try await withEvents(desk) { (events, _) async throws in
            #expect(try await data(events) == [])
        }
        #expect(desk.fields("Accept") == ["text/event-stream", "text/event-stream"])
        #expect(desk.fields("Cache-Control") == ["no-store", "no-store"])
        #expect(desk.fields("Last-Event-ID") == [nil, nil])
    }

    @Test("B5.81: what the program asks for is asked for, and where it begins")
    func ownFields() async throws {
        let desk = Desk(Self.stream("retry: 0\ndata: a\n\n"), Self.stream("id\ndata: b\n\n"))
        try await withServer(router: { desk.answer($0) }) { server in
            var request = URLRequest(url: try server.at("/"))
            request.setValue("text/event-stream;version=2", forHTTPHeaderField: "Accept")
            request.setValue("41", forHTTPHeaderField: "Last-Event-ID")
            let session = URLSession(configuration: .ephemeral)
            var ids: [String] = []
            for try await event in session.serverSentEvents(for: request) { ids.append(event.id) }
            #expect(ids == ["41", ""])
            session.invalidateAndCancel()
        }
        #expect(Set(desk.fields("Accept")) == ["text/event-stream;version=2"])
        #expect(desk.fields("Last-Event-ID") == ["41", "41", nil])
    }

    @Test("Each iteration is a subscription of its own, and its loads have the delegate")
    func iterations() async throws {
        let desk = Desk(Self.stream("id: 1\nretry: 0\ndata: a\n\n"), .status(204), Self.stream("retry: 0\ndata: b\n\n"))
        try await withServer(router: { desk.answer($0) }) { server in
            let session = URLSession(configuration: .ephemeral)
            let delegate = RecordingDelegate()
            let events = session.serverSentEvents(from: try server.at("/"), delegate: delegate)
            #expect(desk.requests.value.isEmpty)
            #expect(try await data(events) == ["a"])
            #expect(try await data(events) == ["b"])
            #expect(desk.fields("Last-Event-ID") == [nil, "1", nil, nil])
            #expect(delegate.transcript.calls.count { $0.hasPrefix("response") } == 4)
            session.invalidateAndCancel()
        }
    }

    @Test("A mock's answers are read likewise")
    func mock() async throws {
        let url = try #require(URL(string: "https://api.example.com/prices"))
        let mock = URLSession.Mock()
        mock.stub(
            url, .text("retry: 0\ndata: a\n\n", headers: ["Content-Type": "text/event-stream"]), .text("", status: 204))
        #expect(try await data(mock.session().serverSentEvents(from: url)) == ["a"])
    }

    // MARK: Coming back

    @Test("B5.85, B5.83: after the end of a stream it goes on behind the last event that was whole")
    func comesBack() async throws {
        let desk = Desk(
            Self.stream("retry: 0\nid: 1\ndata: a\n\nid: 2\ndata: lost"), Self.stream("id: 3\ndata: b\n\n"),
            Self.stream("data: c\n\nid:\n\n"))
        try await withEvents(desk) { (events, _) async throws in
            #expect(try await data(events) == ["a", "b", "c"])
        }
        #expect(desk.fields("Last-Event-ID") == [nil, "1", "3", nil])
    }

    @Test("B5.86: after the loss of a connection, too")
    func loss() async throws {
        let desk = Desk(
            Self.stream("retry: 0\nid: 1\ndata: a\n\nid: 2\ndata: lost\n\n").breakingOff(.inBody(after: 40)),
            .reset(.internalError), Self.stream("data: b\n\n"))
        try await withEvents(desk) { (events, _) async throws in
            #expect(try await data(events) == ["a", "b"])
        }
        #expect(desk.fields("Last-Event-ID") == [nil, "1", "1", "1"])
    }

    @Test("B5.86: a server that is not there yet is asked again")
    func noServer() async throws {
        let port = try ReservedPort()
        let ended = Signal()
        let session = URLSession(configuration: .ephemeral)
        var events = session.serverSentEvents(
            from: try #require(URL(string: "http://127.0.0.1:\(port.number)/")), delegate: EndScribe { ended.fire() })
        events.reconnectionTime = .zero
        let load = Task { [events] in for try await _ in events {} }
        await ended.wait(times: 2)
        port.keep()
        load.cancel()
        #expect(await codeThrown { try await load.value } == .cancelled)
        session.invalidateAndCancel()
    }

    @Test("B5.90: redirects are followed, each time from the first URL on", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) async throws {
        let desk = Desk(Self.stream("retry: 0\nid: 1\ndata: a\n\n"))
        try await withServer(router: { request in
            request.path == "/" ? ServerResponse.status(status).adding("Location", "/there") : desk.answer(request)
        }) { server in
            let session = URLSession(configuration: .ephemeral)
            let url = try server.at("/")
            #expect(try await data(session.serverSentEvents(from: url)) == ["a"])
            session.invalidateAndCancel()
            #expect(server.stats.requests == 4)
        }
        #expect(desk.requests.value.map(\.path) == ["/there", "/there"])
        #expect(desk.fields("Last-Event-ID") == [nil, "1"])
    }

    @Test(
        "B5.87: a POST is sent once: the end of its answer is the end, and a loss is thrown", arguments: [true, false])
    func once(isWhole: Bool) async throws {
        let answer = Self.stream("data: a\n\ndata: b\n\n")
        let desk = Desk(isWhole ? answer : answer.breakingOff(.inBody(after: 12)))
        try await withServer(router: { desk.answer($0) }) { server in
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "POST"
            request.httpBody = Data("{}".utf8)
            let session = URLSession(configuration: .ephemeral)
            let events = session.serverSentEvents(for: request)
            #expect(!events.reconnects)
            var seen: [String] = []
            let code = await codeThrown { for try await event in events { seen.append(event.data) } }
            #expect(code == (isWhole ? nil : .networkConnectionLost))
            #expect(seen == (isWhole ? ["a", "b"] : ["a"]))
            session.invalidateAndCancel()
        }
        #expect(desk.requests.value.map(\.body) == [Array("{}".utf8)])
    }

    @Test("B5.87: whether it comes back can be said")
    func reconnects() async throws {
        let desk = Desk(Self.stream("data: a\n\n"))
        try await withEvents(desk) { (events, _) async throws in
            var events = events
            #expect(events.reconnects)
            events.reconnects = false
            #expect(try await data(events) == ["a"])
        }
        #expect(desk.requests.value.count == 1)
    }

    // MARK: Ends

    @Test("B5.84: an answer of another status ends it", arguments: [205, 210, 299, 404, 410, 500, 503])
    func otherStatus(status: Int) async throws {
        let desk = Desk(Self.stream("retry: 0\ndata: a\n\n"), ServerResponse.status(status))
        try await withEvents(desk) { (events, _) async throws in
            var iterator = events.makeAsyncIterator()
            #expect(try await iterator.next()?.data == "a")
            await #expect(throws: URLSession.ServerSentEvents.StreamError.unexpectedStatus(status)) {
                _ = try await iterator.next()
            }
            #expect(try await iterator.next() == nil, "the end stays the end")
        }
        #expect(desk.requests.value.count == 2)
    }

    @Test(
        "B5.84: only text/event-stream is a stream of events",
        arguments: [
            ("text/event-stream", true), ("text/event-stream;", true), ("Text/Event-Stream;charset=windows-1252", true),
            ("text/plain", false), ("x bogus", false), ("text/x-bogus", false), ("text/event-streams", false),
        ])
    func types(type: String, isStream: Bool) async throws {
        let desk = Desk(.bytes(Array("retry: 0\ndata: …\n\n".utf8), type: type))
        try await withEvents(desk) { (events, _) async throws in
            do {
                #expect(try await data(events) == ["…"])
                #expect(isStream)
            } catch let error as URLSession.ServerSentEvents.StreamError {
                guard case .unexpectedContentType = error else { throw error }
                #expect(!isStream)
                #expect(error.localizedDescription.contains("text/event-stream"))
            }
        }
    }

    @Test("B5.84: an answer without a type is none, nor is a file")
    func noType() async throws {
        let desk = Desk(ServerResponse(body: .bytes(Array("data: a\n\n".utf8))))
        try await withEvents(desk) { (events, _) async throws in
            await #expect(throws: URLSession.ServerSentEvents.StreamError.unexpectedContentType(nil)) {
                _ = try await data(events)
            }
        }
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: "data:text/plain,data:%20a%0A%0A"))
        await #expect(throws: URLSession.ServerSentEvents.StreamError.unexpectedContentType("text/plain")) {
            _ = try await data(session.serverSentEvents(from: url))
        }
        session.invalidateAndCancel()
    }

    @Test("B5.86: a failure that does not pass is thrown")
    func lastingFailure() async throws {
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: "gopher://example.com"))
        #expect(await codeThrown { _ = try await data(session.serverSentEvents(from: url)) } == .unsupportedURL)
        session.invalidateAndCancel()
    }

    @Test("B5.89: an event that is too long ends it, and the load")
    func tooLong() async throws {
        let gate = ServerGate()
        let pieces = [
            ServerResponse.Piece("data: short\n\ndata: \(String(repeating: "x", count: 200))"), .init("", when: gate),
        ]
        let desk = Desk(ServerResponse.slow(pieces, framing: .chunked).adding("Content-Type", "text/event-stream"))
        try await withEvents(desk) { (events, server) async throws in
            var events = events
            events.maximumEventBytes = 100
            var iterator = events.makeAsyncIterator()
            #expect(try await iterator.next()?.data == "short")
            await #expect(throws: URLSession.ServerSentEvents.StreamError.eventTooLong(limit: 100)) {
                _ = try await iterator.next()
            }
            await server.wait { $0.givenUp == 1 }
            gate.open()
        }
    }

    @Test("B5.88: who breaks off ends the load")
    func brokenOff() async throws {
        let gate = ServerGate()
        let pieces = [ServerResponse.Piece("data: a\n\n"), .init("data: b\n\n", when: gate)]
        let desk = Desk(ServerResponse.slow(pieces, framing: .chunked).adding("Content-Type", "text/event-stream"))
        try await withEvents(desk) { (events, server) async throws in
            for try await event in events {
                #expect(event.data == "a")
                break
            }
            await server.wait { $0.givenUp == 1 }
            gate.open()
        }
    }

    /// How far a load has come when it is cancelled.
    enum Stage: CaseIterable, Sendable {
        case beforeHead, inBody, waiting
    }

    @Test("B5.88: cancelling the Swift task ends it, wherever it is", arguments: Stage.allCases)
    func cancelled(stage: Stage) async throws {
        let gate = ServerGate()
        let (arrived, read, ended) = (Signal(), Signal(), Signal())
        let router: LoopbackServer.Router = { _ in
            arrived.fire()
            let pieces = [ServerResponse.Piece("retry: 3600000\ndata: a\n\n", when: stage == .beforeHead ? gate : nil)]
            let rest = stage == .inBody ? [ServerResponse.Piece("data: b\n\n", when: gate)] : []
            return ServerResponse.slow(pieces + rest, framing: .chunked).adding("Content-Type", "text/event-stream")
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .ephemeral)
            let events = session.serverSentEvents(from: try server.at("/"), delegate: EndScribe { ended.fire() })
            let load = Task { for try await _ in events { read.fire() } }
            await arrived.wait()
            if stage != .beforeHead { await read.wait() }
            if stage == .waiting { await ended.wait() }
            load.cancel()
            #expect(await codeThrown { try await load.value } == .cancelled)
            if stage != .waiting { await server.wait { $0.givenUp == 1 } }
            gate.open()
            #expect(arrived.count == 1)
            session.invalidateAndCancel()
        }
    }

    @Test("B5.88: in a task that is cancelled already no request goes out")
    func cancelledOnEntry() async throws {
        try await withServer(router: { _ in .status(204) }) { server in
            let session = URLSession(configuration: .ephemeral)
            let events = session.serverSentEvents(from: try server.at("/"))
            let start = Signal()
            let load = Task {
                await start.wait()
                for try await _ in events {}
            }
            load.cancel()
            start.fire()
            #expect(await codeThrown { try await load.value } == .cancelled)
            #expect(server.stats.connectionsAccepted == 0)
            session.invalidateAndCancel()
        }
    }
}

/// Tells that a load has ended: its metrics are the last that the delegate of an async call hears.
private final class EndScribe: NSObject, URLSessionTaskDelegate {
    private let onEnd: @Sendable () -> Void

    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        onEnd()
    }
}
