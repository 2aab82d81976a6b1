// `serverSentEvents(for:)`: events as they come, over as many connections as it takes.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Server-sent events")
struct ServerSentEventsTests {
    // MARK: Events

    @Test(
        "B5.82: an event is there before the server sends the next",
        arguments: [ServerResponse.Framing.automatic, .chunked, .untilClose], ["\n", "\r", "\r\n"])
    func asTheyCome(framing: ServerResponse.Framing, ending: String) async throws {
        let gates = (0..<3).map { _ in ServerGate() }
        let pieces =
            [ServerResponse.Piece("retry: 0\(ending)")]
            + gates.enumerated().map { .init("data: \($0)\(ending)\(ending)", when: $1) }
        let desk = EventDesk(.events(pieces, framing: framing))
        try await desk.serve { (events, _) async throws in
            var iterator = events.makeAsyncIterator()
            for (number, gate) in gates.enumerated() {
                gate.open()
                #expect(try await iterator.next()?.data == "\(number)")
            }
            #expect(try await iterator.next() == nil)
        }
    }

    @Test("B5.82: an event behind much data that came fast is delivered before more data comes")
    func fastThenSlow() async throws {
        let gate = ServerGate()
        // So long that it is worth gathering, and so is what is left of it.
        let long = ":\(String(repeating: "x", count: 1000))\n"
        let many = String(repeating: long, count: 2000) + "retry: 0\ndata: fast\n\n"
        let pieces = [ServerResponse.Piece(many), .init("data: slow\n\n\(many)", when: gate)]
        let desk = EventDesk(.events(pieces, framing: .automatic))
        try await desk.serve { (events, _) async throws in
            var iterator = events.makeAsyncIterator()
            #expect(try await iterator.next()?.data == "fast")
            gate.open()
            #expect(try await iterator.next()?.data == "slow")
            #expect(try await iterator.next()?.data == "fast")
            #expect(try await iterator.next() == nil)
        }
    }

    @Test("B5.82: a compressed event is there before the server sends the next")
    func compressed() async throws {
        // A gzip stream that goes on, each piece a block that is stored.
        func block(_ text: String) -> [UInt8] {
            let count = UInt8(text.utf8.count)
            return [0, count, 0, ~count, 0xFF] + Array(text.utf8)
        }
        let gates = (0..<3).map { _ in ServerGate() }
        let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        let pieces = [ServerResponse.Piece(head)] + gates.enumerated().map { .init(block("data: \($0)\n\n"), when: $1) }
        let desk = EventDesk(.events(pieces, framing: .chunked).adding("Content-Encoding", "gzip"))
        try await desk.serve { (events, _) async throws in
            var iterator = events.makeAsyncIterator()
            for (number, gate) in gates.dropLast().enumerated() {
                gate.open()
                #expect(try await iterator.next()?.data == "\(number)")
            }
            gates[2].open()
        }
    }

    @Test("B5.80: an event has its ID, its type, its data and its retry")
    func fields() async throws {
        let desk = EventDesk(.events("id: …\nevent: tick\nretry: 1\ndata: a\ndata: b\n\ndata:\n\n"))
        try await desk.serve { (events, _) async throws in
            var all: [URLSession.ServerSentEvent] = []
            for try await event in events { all.append(event) }
            #expect(
                all == [
                    .init(id: "…", type: "tick", data: "a\nb", retry: .milliseconds(1)), .init(id: "…", data: ""),
                ])
        }
        #expect(desk.fields("Last-Event-ID") == [nil, "…"])
    }

    @Test("B5.81: the request has Accept: text/event-stream and Cache-Control: no-store")
    func request() async throws {
        let desk = EventDesk(.events("retry: 0\n\n"))
        try await desk.serve { (events, _) async throws in
            #expect(try await events.allData() == [])
        }
        #expect(desk.fields("Accept") == ["text/event-stream", "text/event-stream"])
        #expect(desk.fields("Cache-Control") == ["no-store", "no-store"])
        #expect(desk.fields("Last-Event-ID") == [nil, nil])
    }

    @Test("B5.81: the program's own Accept and Last-Event-ID are sent")
    func ownFields() async throws {
        let desk = EventDesk(.events("retry: 0\ndata: a\n\n"), .events("id\ndata: b\n\n"))
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
        let desk = EventDesk(.events("id: 1\nretry: 0\ndata: a\n\n"), .status(204), .events("retry: 0\ndata: b\n\n"))
        try await withServer(router: { desk.answer($0) }) { server in
            let session = URLSession(configuration: .ephemeral)
            let delegate = RecordingDelegate()
            let events = session.serverSentEvents(from: try server.at("/"), delegate: delegate)
            #expect(desk.requests.value.isEmpty)
            #expect(try await events.allData() == ["a"])
            #expect(try await events.allData() == ["b"])
            #expect(desk.fields("Last-Event-ID") == [nil, "1", nil, nil])
            #expect(delegate.transcript.calls.count { $0.hasPrefix("response") } == 4)
            session.invalidateAndCancel()
        }
    }

    @Test("A mock's answers are read as events too")
    func mock() async throws {
        let url = try #require(URL(string: "https://api.example.com/prices"))
        let mock = URLSession.Mock()
        mock.stub(
            url, .text("retry: 0\ndata: a\n\n", headers: ["Content-Type": "text/event-stream"]), .text("", status: 204))
        #expect(try await mock.session().serverSentEvents(from: url).allData() == ["a"])
    }

    // MARK: Coming back

    @Test("B5.85, B5.83: after the end of a stream the sequence asks again, behind the last whole event")
    func comesBack() async throws {
        let desk = EventDesk(
            .events("retry: 0\nid: 1\ndata: a\n\nid: 2\ndata: lost"), .events("id: 3\ndata: b\n\n"),
            .events("data: c\n\nid:\n\n"))
        try await desk.serve { (events, _) async throws in
            #expect(try await events.allData() == ["a", "b", "c"])
        }
        #expect(desk.fields("Last-Event-ID") == [nil, "1", "3", nil])
    }

    @Test("B5.85: an ID that no field can hold is told, and the sequence asks again without it")
    func unsendableID() async throws {
        let desk = EventDesk(.events("retry: 0\nid: a\u{1}b\ndata: a\n\n"), .events("data: b\n\nid: 3\n\n"))
        try await desk.serve { (events, _) async throws in
            var ids: [String] = []
            for try await event in events { ids.append(event.id) }
            #expect(ids == ["a\u{1}b", "a\u{1}b"])
        }
        #expect(desk.fields("Last-Event-ID") == [nil, nil, "3"])
    }

    @Test("B5.86: after the loss of a connection the sequence asks again, too")
    func loss() async throws {
        let desk = EventDesk(
            .events("retry: 0\nid: 1\ndata: a\n\nid: 2\ndata: lost\n\n").breakingOff(.inBody(after: 40)),
            .reset(.internalError), .events("data: b\n\n"))
        try await desk.serve { (events, _) async throws in
            #expect(try await events.allData() == ["a", "b"])
        }
        #expect(desk.fields("Last-Event-ID") == [nil, "1", "1", "1"])
    }

    @Test("B5.86: after a refused connection the sequence asks again")
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

    @Test("B5.86: after a resolver's failure the sequence asks again")
    func noAddress() async throws {
        let asked = Guarded(0)
        try await withServer(router: { _ in asked.value < 3 ? .status(500) : .status(204) }) { server in
            let session = URLSession.made {
                $0.hostResolver = { _ in
                    asked.change { $0 += 1 }
                    guard asked.value == 3 else { throw URLError(.dnsLookupFailed) }
                    return URLSessionConfiguration.HostAddresses(["127.0.0.1"], timeToLive: 0)
                }
            }
            var events = session.serverSentEvents(from: try server.at("/", host: "events.test"))
            events.reconnectionTime = .zero
            #expect(try await events.allData().isEmpty)
            #expect(asked.value == 3)
            session.invalidateAndCancel()
        }
    }

    @Test("B5.90: redirects are followed, each time from the first URL on", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) async throws {
        let desk = EventDesk(.events("retry: 0\nid: 1\ndata: a\n\n"))
        try await withServer(router: { request in
            request.path == "/" ? ServerResponse.status(status).adding("Location", "/there") : desk.answer(request)
        }) { server in
            let session = URLSession(configuration: .ephemeral)
            let url = try server.at("/")
            #expect(try await session.serverSentEvents(from: url).allData() == ["a"])
            session.invalidateAndCancel()
            #expect(server.stats.requests == 4)
        }
        #expect(desk.requests.value.map(\.path) == ["/there", "/there"])
        #expect(desk.fields("Last-Event-ID") == [nil, "1"])
    }

    @Test(
        "B5.87: a POST is sent once: the end of its answer ends the sequence, and a loss is thrown",
        arguments: [true, false])
    func once(isWhole: Bool) async throws {
        let answer = ServerResponse.events("data: a\n\ndata: b\n\n")
        let desk = EventDesk(isWhole ? answer : answer.breakingOff(.inBody(after: 12)))
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

    @Test("B5.87: a program can switch reconnecting off")
    func reconnects() async throws {
        let desk = EventDesk(.events("data: a\n\n"))
        try await desk.serve { (events, _) async throws in
            var events = events
            #expect(events.reconnects)
            events.reconnects = false
            #expect(try await events.allData() == ["a"])
        }
        #expect(desk.requests.value.count == 1)
    }
}
