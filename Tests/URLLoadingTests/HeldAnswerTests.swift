// Answers about which a delegate is asked whether they are the task's: what comes of them meanwhile is kept, and their
// connection serves others.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Answers about which a delegate is asked", .endsSessions, .timeLimit(.minutes(5)))
struct HeldAnswerTests {
    /// How the body comes about which a delegate is asked.
    enum Form: CaseIterable {
        case plain, chunked, coded, empty

        func body(_ status: Int) -> ServerResponse {
            var response = ServerResponse.text(self == .empty ? "" : "asked", status: status)
            switch self {
            case .plain, .empty: break
            case .chunked: response.framing = .chunked
            case .coded: response = response.compressed()
            }
            return response
        }

        var text: String { self == .empty ? "" : "asked" }
    }

    @Test(
        "B1.31, B2.46, B2.99: a delegate that is asked for a password may load it over the only connection",
        arguments: Form.allCases, [false, true])
    func password(form: Form, agrees: Bool) async throws {
        let router: LoopbackServer.Router = { request in
            if request.target == "/token" { return .text("p") }
            if request.fields.first(.authorization) == basic("u", "p") { return .text("secret") }
            return form.body(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        }
        try await withServer(router: router) { server async throws in
            let guest = LoadingGuest(try server.at("/token"), agrees: agrees)
            let text = try await single().visit(server.at("/"), delegate: guest)
            #expect(text == (agrees ? "200 secret" : "401 \(form.text)"))
            #expect(guest.loaded.value == ["200 p"])
            #expect(server.stats.connectionsAccepted == 1)
        }
    }

    @Test(
        "B1.31, B4.3: a delegate that is asked about a redirect may load something over the only connection",
        arguments: Form.allCases, [false, true])
    func redirect(form: Form, agrees: Bool) async throws {
        let router: LoopbackServer.Router = { request in
            switch request.target {
            case "/token": .text("p")
            case "/end": .text("end")
            default: form.body(302).adding("Location", "/end")
            }
        }
        try await withServer(router: router) { server async throws in
            let guest = LoadingGuest(try server.at("/token"), agrees: agrees)
            let text = try await single().visit(server.at("/"), delegate: guest)
            #expect(text == (agrees ? "200 end" : "302 \(form.text)"))
            #expect(guest.loaded.value == ["200 p"])
            #expect(server.stats.connectionsAccepted == 1)
        }
    }

    @Test("B2.46: what is more than is kept comes when the answer is the task's", arguments: [70_000, 3_000_000])
    func long(length: Int) async throws {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let router: LoopbackServer.Router = { _ in
            var response = ServerResponse.bytes(bytes).adding("WWW-Authenticate", "Basic realm=\"r\"")
            response.status = 401
            return response
        }
        try await withServer(router: router) { server async throws in
            let guest = GuestDelegate(Guest.always(.rejectProtectionSpace))
            let (data, response) = try await visitor(guest).data(from: server.at("/"))
            #expect((response as? HTTPURLResponse)?.statusCode == 401)
            #expect(firstDifference(data, Data(bytes)) == nil)
        }
    }

    @Test(
        "B2.99: an answer that breaks off while a delegate is asked about it is a failure only where it is the task's",
        .http1Only("The connection is what breaks off"), arguments: [false, true])
    func cut(agrees: Bool) async throws {
        let gate = ServerGate()
        let router: LoopbackServer.Router = { request in
            if request.target == "/token" { return .text("p") }
            if request.fields.first(.authorization) == basic("u", "p") { return .text("secret") }
            return .script([
                .lines("HTTP/1.1 401 No\nWWW-Authenticate: Basic realm=\"r\"\nContent-Length: 9\n\nhalf"), .wait(gate),
                .reset,
            ])
        }
        try await withServer(router: router) { server async throws in
            // The load gets a connection when the broken one is given up, and not before.
            let guest = LoadingGuest(try server.at("/token"), agrees: agrees) { gate.open() }
            let end = Guarded("")
            let code = await codeThrown {
                let text = try await single().visit(server.at("/"), delegate: guest)
                end.value = text
            }
            #expect(guest.loaded.value == ["200 p"])
            #expect(end.value == (agrees ? "200 secret" : ""))
            #expect(code == (agrees ? nil : .networkConnectionLost))
        }
    }

    /// A session that has one connection to a host.
    private func single() -> URLSession { visitor { $0.httpMaximumConnectionsPerHost = 1 } }
}

/// Loads something over the session before it answers.
private final class LoadingGuest: NSObject, URLSessionTaskDelegate {
    let loaded = Guarded<[String]>([])
    private let url: URL
    private let agrees: Bool
    private let before: @Sendable () -> Void

    init(_ url: URL, agrees: Bool, before: @escaping @Sendable () -> Void = {}) {
        self.url = url
        self.agrees = agrees
        self.before = before
    }

    private func load(_ session: URLSession) async {
        before()
        let text = (try? await session.visit(url)) ?? "nothing"
        loaded.change { $0.append(text) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        await load(session)
        return agrees ? (.useCredential, URLCredential("u", "p")) : (.rejectProtectionSpace, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        await load(session)
        return agrees ? request : nil
    }
}
