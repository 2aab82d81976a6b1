// Exercises against servers that mean harm, or are of two minds: one that lays an answer ready before it is asked, one
// to which another server sends on, one that does not end what it has begun, and one that wants to be asked otherwise.

import Foundation
import Synchronization
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

/// What holds forged answers back until their exercise wants them.
enum ForgedAnswers {
    private static let gates = Mutex<[Int: ServerGate]>([:])

    static func gate(_ number: Int) -> ServerGate {
        gates.withLock { gates in
            let gate = gates[number] ?? ServerGate()
            gates[number] = gate
            return gate
        }
    }

    static func forget(_ number: Int) { gates.withLock { $0[number] = nil } }

    /// An answer, and behind it, when the gate is open, one that no request has asked for: over HTTP/2 on the stream
    /// that the next request will open.
    static func answer(_ number: Int, to request: ServerRequest) -> ServerResponse {
        if let stream = request.stream {
            return .http2([
                .send(frames("ready", on: stream)), .wait(gate(number)), .send(frames("forged", on: stream + 2)),
            ])
        }
        return .script([
            .lines("HTTP/1.1 200 OK\nContent-Length: 5\n\nready"), .wait(gate(number)),
            .lines("HTTP/1.1 200 OK\nContent-Length: 6\n\nforged"), .waitForClose, .close,
        ])
    }

    private static func frames(_ body: String, on stream: UInt32) -> [UInt8] {
        HTTP2Frames.headers([":status": "200", "content-length": "\(body.utf8.count)"], on: stream)
            + HTTP2Frames.data(Array(body.utf8), on: stream, ends: true)
    }
}

extension Lane {
    /// B16.9: no answer is older than its request.
    ///
    /// With a session of its own, or another request might be on its way when the forged answer is sent; and without a
    /// network in between, or the exercise would not know when it has come.
    func answerAhead(_ what: String, _ number: Int, _ random: inout SeededRandom) async throws {
        guard kind.faults.isEmpty else { return }
        let session = anotherSession()
        defer {
            session.finishTasksAndInvalidate()
            ForgedAnswers.forget(number)
        }
        func load(_ place: String, in session: URLSession, _ body: [UInt8]) async throws -> Bool {
            let before = ContinuousClock.now
            let ending = await self.load(try request(place), what, as: .handler, in: session)
            return judge(ending, what, .init(body: body), since: before)
        }
        guard try await load("/ahead/\(number)", in: session, Array("ready".utf8)) else { return }
        ForgedAnswers.gate(number).open()
        let length = Self.length(&random)
        let body = SoakBody.bytes(number, length: length)
        // The server has one loop, which tells of sockets before it runs what others have sent it: it may answer a
        // first request before it sends the forged answer, and a second one only afterwards.
        for _ in 0..<2 {
            guard try await load("/body/\(number)/\(length)", in: self.session, body) else { return }
        }
        _ = try await load("/body/\(number)/\(length)", in: session, body)
    }

    /// B4.27: a request that is sent on to another origin bears nothing secret there.
    func stranger(_ what: String) async throws {
        guard kind.faults.isEmpty else { return }
        let configuration = configuration
        configuration.httpAdditionalHeaders = [
            "Authorization": "Bearer secret", "Cookie": "sid=secret", "X-API-Key": "secret",
        ]
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        let before = ContinuousClock.now
        let ending = await load(try request("/stranger/\(strangerPort)"), what, as: .handler, in: session)
        // H1.3: what is not under TLS is asked in HTTP/1.1, unless a session knows better.
        let last = kind.isSecure ? LaneProtocol.http1 : nil
        judge(ending, what, .init(body: Array("nothing".utf8), lastProtocol: last), since: before)
    }

    /// H7.4, B17.16: an answer that ends before its end is none. Over HTTP/2 its stream is reset, and others go on;
    /// over HTTP/1.1 there is only the end of the connection for it.
    func brokenOff(_ what: String, _ number: Int, _ random: inout SeededRandom) async throws {
        let length = max(1, Self.length(&random))
        let point = Int.random(in: 0..<length, using: &random)
        let before = ContinuousClock.now
        let ending = await load(
            try request("/broken/\(number)/\(length)/\(point)"), what,
            as: Form.allCases.randomElement(using: &random) ?? .handler)
        judge(ending, what, .init(body: SoakBody.bytes(number, length: length), isBrokenOff: true), since: before)
    }

    /// H7.7: a server that wants HTTP/1.1 is asked in it. With a session of its own, since
    /// sessions remember such servers.
    func fallBack(_ what: String, _ number: Int) async throws {
        let session = anotherSession()
        defer { session.finishTasksAndInvalidate() }
        let before = ContinuousClock.now
        let ending = await load(try request("/http1/\(number)"), what, as: .handler, in: session)
        judge(ending, what, .init(body: Array("\(number) over http/1.1".utf8), lastProtocol: .http1), since: before)
    }

    /// What the other server says of the secrets that it was told.
    static func told(_ request: ServerRequest) -> ServerResponse {
        let secrets = ["Authorization", "Cookie", "X-API-Key"].filter { request.fields.first($0) != nil }
        return .text(secrets.isEmpty ? "nothing" : "\(secrets)")
    }
}
