// Reads a stream of server-sent events, over as many loads as it takes: each is a task of its own, and between two of
// them nothing is open. `EventStreamMachine` says what follows, `EventStreamDecoder` what the bytes mean.

import Foundation
import URLLoadingPolicy
import URLLoadingWire

/// One iteration over server-sent events.
struct EventSubscription: Sendable {
    private enum Phase: Sendable {
        case asking
        case reading
        case waiting(Duration)
        case over
    }

    private let events: URLSession.ServerSentEvents
    private var machine: EventStreamMachine
    private var decoder: EventStreamDecoder
    private var phase = Phase.asking
    /// The body that is read, while the phase is `reading`. It is read in its place: a copy would share what waits in
    /// it, and all of that would be copied for each piece that is taken.
    private var pieces: BodyPieces?
    /// The piece that is being read, and how far.
    private var bytes: [UInt8] = []
    private var offset = 0

    init(_ events: URLSession.ServerSentEvents) {
        self.events = events
        machine = EventStreamMachine(comesBack: events.reconnects)
        decoder = EventStreamDecoder(
            lastEventID: events.request.value(forHTTPHeaderField: Self.lastEventIDField) ?? "",
            limit: max(0, events.maximumEventBytes))
    }

    /// The next event, nil where there are no more; throws what ended it all, once.
    mutating func next(isolation: isolated (any Actor)?) async throws -> URLSession.ServerSentEvent? {
        while true {
            switch phase {
            case .over: return nil
            case .asking: try await ask(isolation: isolation)
            case .reading:
                if let event = try takeEvent() { return event }
                try await read(isolation: isolation)
            case .waiting(let time):
                phase = .asking
                await Pause.wait(time, isolation: isolation)
                guard Task.isCancelled else { continue }
                phase = .over
                throw LoadFailure.cancelled(events.request.url)
            }
        }
    }

    // MARK: Steps

    private mutating func ask(isolation: isolated (any Actor)?) async throws {
        phase = .over
        decoder.begin()
        let (pieces, response): (BodyPieces, URLResponse)
        do {
            (pieces, response) = try await load(nextRequest(), isolation: isolation)
        } catch {
            return try failed(error)
        }
        let http = response as? HTTPURLResponse
        switch machine.answered(status: http?.statusCode, isEventStream: response.mimeType == Self.type) {
        case .read: (phase, self.pieces) = (.reading, pieces)
        case .end: break
        case .refuseStatus: throw URLSession.ServerSentEvents.StreamError.unexpectedStatus(http?.statusCode ?? 0)
        case .refuseType: throw URLSession.ServerSentEvents.StreamError.unexpectedContentType(response.mimeType)
        }
    }

    private func load(
        _ request: URLRequest, isolation: isolated (any Actor)?
    ) async throws -> (BodyPieces, URLResponse) {
        if let interceptors = events.session.interceptors {
            let (bytes, response) = try await InterceptedLoad.bytes(
                events.session, interceptors, request, events.delegate)
            return (BodyPieces(bytes.source), response)
        }
        let feed = events.session.makeFeed(request, scope: .body, delegate: events.delegate)
        let response = try await feed.start(isolation: isolation)
        return (BodyPieces(feed), response)
    }

    private func nextRequest() -> URLRequest {
        var request = events.request
        if request.value(forHTTPHeaderField: "Accept") == nil {
            request.setValue(Self.type, forHTTPHeaderField: "Accept")
        }
        request.setValue("no-store", forHTTPHeaderField: "Cache-Control")
        request.cachePolicy = .reloadIgnoringLocalCacheData
        let id = decoder.lastEventID
        if id != request.value(forHTTPHeaderField: Self.lastEventIDField) {
            // RFC 9110 §5.5: no field holds control characters, and a request that has some ends the sequence.
            let isSent = !id.isEmpty && !id.utf8.contains(where: Tokens.isControl)
            request.setValue(isSent ? id : nil, forHTTPHeaderField: Self.lastEventIDField)
        }
        return request
    }

    private mutating func read(isolation: isolated (any Actor)?) async throws {
        phase = .over
        let piece: Data?
        do {
            piece = try await pieces?.next(isolation: isolation)
        } catch {
            pieces = nil
            return try failed(error)
        }
        if let piece {
            machine.received()
            (bytes, offset) = (Array(piece), 0)
            phase = .reading
        } else {
            pieces = nil
            goOn(with: machine.ended(reconnectionTime: reconnectionTime, random: Self.random))
        }
    }

    private mutating func takeEvent() throws -> URLSession.ServerSentEvent? {
        // A span of it is lent while the rest of this value changes.
        let bytes = bytes
        do throws(EventStreamDecoder.TooLong) {
            if let event = try decoder.next(bytes.span.bytes, offset: &offset) {
                return URLSession.ServerSentEvent(event)
            }
        } catch {
            (phase, pieces) = (.over, nil)
            throw URLSession.ServerSentEvents.StreamError.eventTooLong(limit: error.limit)
        }
        (self.bytes, offset) = ([], 0)
        return nil
    }

    private mutating func failed(_ error: any Error) throws {
        let sequel = machine.failed(
            code: FailureCode.of(error), reconnectionTime: reconnectionTime, random: Self.random)
        if sequel == .over { throw error }
        goOn(with: sequel)
    }

    private mutating func goOn(with sequel: EventStreamMachine.Sequel) {
        switch sequel {
        case .askAgain(let milliseconds): phase = .waiting(.milliseconds(milliseconds))
        case .over: phase = .over
        }
    }

    /// In milliseconds.
    private var reconnectionTime: Int64 {
        decoder.reconnectionTime ?? Int64(clamping: events.reconnectionTime.attoseconds / 1_000_000_000_000_000)
    }

    private static var random: UInt32 { .random(in: .min ... .max) }
    private static let type = "text/event-stream"
    private static let lastEventIDField = "Last-Event-ID"
}

extension URLSession.ServerSentEvent {
    fileprivate init(_ event: EventStreamDecoder.Event) {
        self.init(
            id: event.id, type: event.type, data: event.data, retry: event.retry.map { .milliseconds($0) })
    }
}
