// One session, several users: whose proof a request goes out with (behaviour 2.6 to 2.8).

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Passwords: several users", .endsSessions, .timeLimit(.minutes(5)))
struct SeveralUsersTests {
    private let first = basic("a", "1")
    private let second = basic("b", "2")

    /// Lets two users in, and tells each whose proof it had.
    private func house(_ visits: Visits) -> LoopbackServer.Router {
        door("r", ["a": "1", "b": "2"], visits) { request in
            if request.path == "/begin" { return ServerResponse.status(302).adding("Location", "/end") }
            return .text(request.fields.first(.authorization) ?? "nobody").adding("Cache-Control", "max-age=3600")
        }
    }

    /// A delegate that gives a credential for one answer.
    private func giver(_ user: String, _ password: String) -> GuestDelegate {
        GuestDelegate(Guest.always(.useCredential, URLCredential(user, password, .none)))
    }

    // MARK: URLs

    @Test(
        "B2.77, B2.71: a URL that names another user goes out without the first one's proof, and its own answers the 401"
    )
    func urls() async throws {
        let visits = Visits()
        try await withServer(router: house(visits)) { server async throws in
            let session = visitor { $0.urlCache = nil }
            #expect(try await session.visit(server.at("/x").naming("a:1")) == "200 \(first)")
            #expect(try await session.visit(server.at("/x").naming("b:2")) == "200 \(second)")
            #expect(visits.lines == ["GET /x", "GET /x \(first)", "GET /x", "GET /x \(second)"])
            // No user is named, or the one whose proof it is.
            for url in [try server.at("/x"), try server.at("/x").naming("b"), try server.at("/x").naming("b:2")] {
                #expect(try await session.visit(url) == "200 \(second)")
                #expect(visits.lines.last == "GET /x \(second)")
            }
            #expect(visits.count == 7)
            #expect(try await session.visit(server.at("/x").naming("a")) == "401 denied", "a mere name")
            #expect(try await session.visit(server.at("/x").naming("b:3")) == "401 denied", "another password")
            #expect(visits.lines.dropFirst(7) == ["GET /x", "GET /x", "GET /x \(basic("b", "3"))"])
        }
    }

    @Test("B2.77: what a cache has for one user is not the answer to a URL that names another")
    func cached() async throws {
        let visits = Visits()
        try await withServer(router: house(visits)) { server async throws in
            let session = visitor { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0) }
            #expect(try await session.visit(server.at("/x").naming("a:1")) == "200 \(first)")
            #expect(try await session.visit(server.at("/x")) == "200 \(first)")
            #expect(visits.count == 2)
            #expect(try await session.visit(server.at("/x").naming("b:2")) == "200 \(second)")
        }
    }

    // MARK: Delegates

    @Test("B2.53, B2.77: what a delegate gives for one answer goes out for no other task")
    func oneAnswer() async throws {
        let visits = Visits()
        try await withServer(router: house(visits)) { server async throws in
            let session = visitor()
            for (user, password) in [("a", "1"), ("b", "2")] {
                let delegate = giver(user, password)
                let said = try await session.visit(server.at("/x"), delegate: delegate)
                #expect(said == "200 \(basic(user, password))")
                #expect(delegate.challenges.value.map(\.previousFailureCount) == [0])
            }
            #expect(try await session.visit(server.at("/x")) == "401 denied")
            #expect(visits.lines == ["GET /x", "GET /x \(first)", "GET /x", "GET /x \(second)", "GET /x"])
        }
    }

    @Test("B2.53: it goes with a redirect of its task, about which nobody is asked again")
    func redirect() async throws {
        let visits = Visits()
        try await withServer(router: house(visits)) { server async throws in
            let (session, delegate) = (visitor(), giver("a", "1"))
            #expect(try await session.visit(server.at("/begin"), delegate: delegate) == "200 \(first)")
            #expect(delegate.challenges.value.count == 1)
            #expect(visits.lines == ["GET /begin", "GET /begin \(first)", "GET /end \(first)"])
            #expect(try await session.visit(server.at("/end")) == "401 denied")
        }
    }

    @Test("B2.53, B2.88: nor does the session remember it after a nonce of it was too old")
    func staleNonce() async throws {
        let door = DigestDoor()
        let router: LoopbackServer.Router = { request in
            guard door.opens(to: request) else { return .denied(door.challenge + ", stale=true") }
            guard request.path == "/begin" else { return .text("secret") }
            door.nonce.value = "n2"
            return .status(302).adding("Location", "/end")
        }
        try await withServer(router: router) { server async throws in
            let (session, delegate) = (visitor(), giver("u", "p"))
            #expect(try await session.visit(server.at("/begin"), delegate: delegate) == "200 secret")
            #expect(delegate.challenges.value.count == 1)
            #expect(door.counts.value == ["n1 00000001", "n1 00000002", "n2 00000001"])
            #expect(try await session.visit(server.at("/end")) == "401 denied")
        }
    }
}
