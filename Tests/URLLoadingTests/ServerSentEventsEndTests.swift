// How a sequence of server-sent events ends: by answers that are none, by events that are too long, and by
// the program that listens.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Server-sent events: ends")
struct ServerSentEventsEndTests {
    @Test(
        "B5.84: an answer with another status ends the sequence with an error",
        arguments: [205, 210, 299, 404, 410, 500, 503])
    func otherStatus(status: Int) async throws {
        let desk = EventDesk(.events("retry: 0\ndata: a\n\n"), ServerResponse.status(status))
        try await desk.serve { (events, _) async throws in
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
        let desk = EventDesk(.bytes(Array("retry: 0\ndata: …\n\n".utf8), type: type))
        try await desk.serve { (events, _) async throws in
            do {
                #expect(try await events.allData() == ["…"])
                #expect(isStream)
            } catch let error as URLSession.ServerSentEvents.StreamError {
                guard case .unexpectedContentType = error else { throw error }
                #expect(!isStream)
                #expect(error.localizedDescription.contains("text/event-stream"))
            }
        }
    }

    @Test("B5.84: an answer without a type, or from a data URL, is no stream of events")
    func noType() async throws {
        let desk = EventDesk(ServerResponse(body: .bytes(Array("data: a\n\n".utf8))))
        try await desk.serve { (events, _) async throws in
            await #expect(throws: URLSession.ServerSentEvents.StreamError.unexpectedContentType(nil)) {
                _ = try await events.allData()
            }
        }
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: "data:text/plain,data:%20a%0A%0A"))
        await #expect(throws: URLSession.ServerSentEvents.StreamError.unexpectedContentType("text/plain")) {
            _ = try await session.serverSentEvents(from: url).allData()
        }
        session.invalidateAndCancel()
    }

    @Test("B5.86: a failure that does not pass is thrown")
    func lastingFailure() async throws {
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: "gopher://example.com"))
        #expect(await codeThrown { _ = try await session.serverSentEvents(from: url).allData() } == .unsupportedURL)
        session.invalidateAndCancel()
    }

    @Test("B5.86: an address that would have to be proved does not come by waiting")
    func noProof() async throws {
        let session = URLSession(configuration: .ephemeral)
        var request = URLRequest(url: try #require(URL(string: "http://events.test/")))
        request.requiresDNSSECValidation = true
        let events = session.serverSentEvents(for: request)
        #expect(await codeThrown { _ = try await events.allData() } == .dnsLookupFailed)
        session.invalidateAndCancel()
    }

    @Test("B5.89: an event that is too long ends the sequence and its load")
    func tooLong() async throws {
        let gate = ServerGate()
        let pieces = [
            ServerResponse.Piece("data: short\n\ndata: \(String(repeating: "x", count: 200))"), .init("", when: gate),
        ]
        let desk = EventDesk(.events(pieces, framing: .chunked))
        try await desk.serve { (events, server) async throws in
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

    @Test("B5.86: a compressed stream that is cut off within its coding is asked for again, with the last ID")
    func cutOffInCoding() async throws {
        let packed = try #require(Gzip.compress(Array("retry: 0\nid: 1\ndata: a\n\n".utf8)))
        let cut = ServerResponse.bytes(Array(packed.dropLast(8)), type: "text/event-stream")
        let desk = EventDesk(cut.adding("Content-Encoding", "gzip"), .events("data: b\n\n"))
        try await desk.serve { (events, _) async throws in #expect(try await events.allData() == ["a", "b"]) }
        #expect(desk.fields("Last-Event-ID") == [nil, "1", "1"])
    }

    @Test("B5.88: leaving the loop over events ends the load")
    func brokenOff() async throws {
        let gate = ServerGate()
        let pieces = [ServerResponse.Piece("data: a\n\n"), .init("data: b\n\n", when: gate)]
        let desk = EventDesk(.events(pieces, framing: .chunked))
        try await desk.serve { (events, server) async throws in
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

    @Test("B5.88: cancelling the Swift task ends the sequence in every state", arguments: Stage.allCases)
    func cancelled(stage: Stage) async throws {
        let gate = ServerGate()
        let (arrived, read, ended) = (Signal(), Signal(), Signal())
        let router: LoopbackServer.Router = { _ in
            arrived.fire()
            let pieces = [ServerResponse.Piece("retry: 3600000\ndata: a\n\n", when: stage == .beforeHead ? gate : nil)]
            let rest = stage == .inBody ? [ServerResponse.Piece("data: b\n\n", when: gate)] : []
            return .events(pieces + rest, framing: .chunked)
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

    @Test("B5.88: iterating in a Swift task that is cancelled already sends no request")
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
