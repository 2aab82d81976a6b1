// Exercises against servers that mean harm: one that lays an answer ready before it is asked, and one to which another
// server sends on.

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

    /// An answer, and behind it, when the gate is open, one that nobody has asked for.
    static func answer(_ number: Int) -> ServerResponse {
        .script([
            .lines("HTTP/1.1 200 OK\nContent-Length: 5\n\nready"), .wait(gate(number)),
            .lines("HTTP/1.1 200 OK\nContent-Length: 6\n\nforged"), .waitForClose, .close,
        ])
    }
}

extension Lane {
    /// B16.9: no answer is older than its request.
    ///
    /// With a session of its own, or another request might be on its way when the forged answer is sent; and without a
    /// network in between, or nobody would know when it has come.
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
        // The server has one loop, which tells of sockets before it runs what others have sent it: it may answer a first
        // request before it sends the forged answer, and a second one only afterwards.
        for _ in 0..<2 {
            guard try await load("/body/\(number)/\(length)", in: self.session, body) else { return }
        }
        _ = try await load("/body/\(number)/\(length)", in: session, body)
    }

    /// B4.27: who is sent on to another origin bears nothing secret there.
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
        judge(ending, what, .init(body: Array("nothing".utf8)), since: before)
    }

    /// What the other server says of the secrets that it was told.
    static func told(_ request: ServerRequest) -> ServerResponse {
        let secrets = ["Authorization", "Cookie", "X-API-Key"].filter { request.fields.first($0) != nil }
        return .text(secrets.isEmpty ? "nothing" : "\(secrets)")
    }
}
