// Where credentials come from when no delegate gives them, and where accepted ones go (behaviour 2.5 to 2.7).

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Passwords: URLs and storages", .endsSessions, .timeLimit(.minutes(5)))
struct UsualCredentialTests {
    private let storage = URLCredentialStorage()

    private func space(_ server: LoopbackServer, _ realm: String = "r") -> URLProtectionSpace {
        URLProtectionSpace(
            host: server.address.host, port: server.port, protocol: "http", realm: realm,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    }

    // MARK: No delegate

    @Test("B2.45, B2.46, B2.49: without a credential the 401 with its body is the response, and no error")
    func withoutCredential() async throws {
        try await withServer(router: door()) { server async throws in
            #expect(try await visitor().visit(server.at("/")) == "401 denied")
            let url = try server.at("/")
            let (data, response, error) = await withHandover { continuation in
                visitor().dataTask(with: url) { data, response, error in
                    continuation.resume(returning: (data, response, error))
                }.resume()
            }
            #expect(data == Data("denied".utf8) && (response as? HTTPURLResponse)?.statusCode == 401 && error == nil)
        }
    }

    @Test("B2.44, B2.64: the URL's credential is tried, then the storage's for exactly this space")
    func order() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "p"], visits)) { server async throws in
            storage.set(URLCredential("u", "p"), for: space(server))
            storage.set(URLCredential("z", "z"), for: space(server, "R"))
            let session = visitor(storage: storage)
            #expect(try await session.visit(server.at("/a/x")) == "200 secret")
            #expect(visits.lines == ["GET /a/x", "GET /a/x \(basic("u", "p"))"])
            let url = try server.at("/b/x").naming("w:w")
            #expect(try await visitor(storage: storage).visit(url) == "200 secret")
            #expect(
                visits.lines.dropFirst(2) == [
                    "GET /b/x", "GET /b/x \(basic("w", "w"))", "GET /b/x \(basic("u", "p"))",
                ])
        }
    }

    @Test("B2.64, B2.70: another realm does not match, and without a storage nothing is looked up")
    func noMatch() async throws {
        try await withServer(router: door()) { server async throws in
            storage.set(URLCredential("u", "p"), for: space(server, "other"))
            #expect(try await visitor(storage: storage).visit(server.at("/")) == "401 denied")
            #expect(try await visitor(storage: nil).visit(server.at("/")) == "401 denied")
        }
    }

    @Test("B2.65: a credential for the default method answers Basic")
    func defaultMethod() async throws {
        try await withServer(router: door()) { server async throws in
            storage.set(
                URLCredential("u", "p"),
                for: URLProtectionSpace(
                    host: server.address.host, port: server.port, protocol: "http", realm: "r",
                    authenticationMethod: nil))
            let url = try server.at("/")
            #expect(try await visitor(storage: storage).visit(url) == "200 secret")
        }
    }

    // MARK: With a delegate

    @Test("B2.69, B2.36: the delegate is asked also where a credential is stored, and default handling uses it")
    func proposed() async throws {
        try await withServer(router: door()) { server async throws in
            storage.set(URLCredential("u", "p"), for: space(server))
            let delegate = GuestDelegate(Guest.always(.performDefaultHandling))
            #expect(try await visitor(delegate, storage: storage).visit(server.at("/")) == "200 secret")
            #expect(delegate.transcript.calls == ["task HTTPBasic r 0 u/p 401"])
        }
    }

    @Test("B2.48: a stored credential that is refused is not tried again; the delegate hears of it")
    func notTwice() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "new"], visits)) { server async throws in
            storage.set(URLCredential("u", "old"), for: space(server))
            #expect(try await visitor(storage: storage).visit(server.at("/")) == "401 denied")
            #expect(visits.count == 2)
            let delegate = GuestDelegate(Guest.always(.performDefaultHandling))
            #expect(try await visitor(delegate, storage: storage).visit(server.at("/")) == "401 denied")
            #expect(delegate.transcript.calls == ["task HTTPBasic r 0 u/old 401", "task HTTPBasic r 1 u/old 401"])
            #expect(visits.count == 4)
        }
    }

    @Test("B2.17, B2.48: after an acceptance counting begins anew, and what was refused before is not tried again")
    func afterAcceptance() async throws {
        let visits = Visits()
        let next = ["/a/x": "/b/y", "/b/y": "/c/z"]
        let router: LoopbackServer.Router = { request in
            let realm = request.path == "/b/y" ? "s" : "r"
            return door(realm, ["u": "new"], visits) { request in
                next[String(request.path)].map { ServerResponse.status(302).adding("Location", $0) } ?? .text("secret")
            }(request)
        }
        try await withServer(router: router) { server async throws in
            storage.set(URLCredential("u", "old"), for: space(server))
            let given = URLCredential("u", "new", .none)
            let delegate = GuestDelegate(Guest.inTurn((.performDefaultHandling, nil), (.useCredential, given)))
            #expect(try await visitor(delegate, storage: storage).visit(server.at("/a/x")) == "200 secret")
            #expect(
                delegate.transcript.calls == [
                    "task HTTPBasic r 0 u/old 401", "task HTTPBasic r 1 u/old 401", "task HTTPBasic s 0 nobody 401",
                    "task HTTPBasic r 0 nobody 401",
                ])
            #expect(visits.lines.count { $0.hasSuffix(basic("u", "old")) } == 1)
        }
    }

    @Test("B2.48: a stored credential of a class of the program's may call its task whenever it is asked something")
    func ownClass() async throws {
        try await withServer(router: door("r", ["u": "new"])) { server async throws in
            let called = Guarded<URLSessionTask?>(nil)
            storage.set(OwnCredential("u", "old") { _ = called.value?.currentRequest }, for: space(server))
            let (session, url) = (visitor(storage: storage), try server.at("/"))
            let status = await withHandover { (continuation: Handover<Int?, Never>) in
                let task = session.dataTask(with: url) { _, response, _ in
                    continuation.resume(returning: (response as? HTTPURLResponse)?.statusCode)
                }
                called.value = task
                task.resume()
            }
            #expect(status == 401)
            called.value = nil
        }
    }

    @Test("B2.67, B2.53: a delegate's credential that the server accepts becomes the default of the space")
    func stored() async throws {
        try await withServer(router: door("r", ["u": "p", "v": "q", "n": "n"])) { server async throws in
            let delegate = GuestDelegate(
                Guest.inTurn(
                    (.useCredential, URLCredential("wrong", "x", .permanent)),
                    (.useCredential, URLCredential("u", "p")), (.useCredential, URLCredential("v", "q", .permanent)),
                    (.useCredential, URLCredential("n", "n", .none))))
            #expect(try await visitor(delegate, storage: storage).visit(server.at("/")) == "200 secret")
            #expect(storage.credentials(for: space(server)) == ["u": URLCredential("u", "p")])
            #expect(try await visitor(delegate, storage: storage).visit(server.at("/")) == "200 secret")
            #expect(storage.defaultCredential(for: space(server)) == URLCredential("v", "q", .permanent))
            #expect(try await visitor(delegate, storage: storage).visit(server.at("/")) == "200 secret")
            #expect(Set(storage.credentials(for: space(server))?.keys.map(\.self) ?? []) == ["u", "v"])
            #expect(storage.defaultCredential(for: space(server))?.user == "v")
            // The sessions that come later need no delegate.
            #expect(try await visitor(storage: storage).visit(server.at("/")) == "200 secret")
        }
    }

    @Test("B2.67: a delegate's credential that the server accepts is asked nothing on a loop")
    func nothingOnLoop() async throws {
        try await withServer(router: door()) { server async throws in
            let (watched, places) = (Guarded<URLSession?>(nil), Guarded<[Bool]>([]))
            let own = OwnCredential("u", "p") {
                guard let loop = watched.value?.core.engineAtHand?.loop else { return }
                places.change { $0.append(loop.isCurrent) }
            }
            let session = visitor(GuestDelegate(Guest.always(.useCredential, own)), storage: storage)
            watched.value = session
            #expect(try await session.visit(server.at("/")) == "200 secret")
            #expect(storage.defaultCredential(for: space(server)) === own)
            #expect(!places.value.isEmpty && !places.value.contains(true))
            watched.value = nil
        }
    }

    @Test("B2.67: a user and password in the URL are not stored")
    func urlIsNotStored() async throws {
        try await withServer(router: door()) { server async throws in
            let url = try server.at("/").naming("u:p")
            #expect(try await visitor(storage: storage).visit(url) == "200 secret")
            let delegate = GuestDelegate { (.useCredential, $0.proposedCredential) }
            #expect(try await visitor(delegate, storage: storage).visit(url) == "200 secret")
            #expect(storage.allCredentials.isEmpty)
        }
    }

    // MARK: URLs

    @Test("B2.71, B2.72: the URL's user and password are sent only in answer to a challenge, decoded")
    func inURL() async throws {
        let visits = Visits()
        let router = door("r", ["u@x": "p:ä"], visits) { request in .text(request.fields.first(.host) ?? "none") }
        try await withServer(router: router) { server async throws in
            let url = try server.at("/?q").naming("u%40x:p%3A%C3%A4")
            #expect(try await visitor().visit(url) == "200 127.0.0.1:\(server.port)")
            #expect(visits.lines == ["GET /?q", "GET /?q \(basic("u@x", "p:ä"))"])
        }
    }

    @Test("B2.73: a delegate is shown the URL's credential")
    func proposedFromURL() async throws {
        try await withServer(router: door()) { server async throws in
            let delegate = GuestDelegate(Guest.always(.performDefaultHandling))
            #expect(try await visitor(delegate).visit(server.at("/").naming("u:p")) == "200 secret")
            #expect(delegate.transcript.calls == ["task HTTPBasic r 0 u/p 401"])
        }
    }

    @Test("B2.75: a URL's user without a password is shown and not tried, unless the storage has this user's password")
    func mereName() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "p"], visits)) { server async throws in
            let url = try server.at("/").naming("u")
            let delegate = GuestDelegate(Guest.always(.performDefaultHandling))
            #expect(try await visitor(delegate).visit(url) == "401 denied")
            #expect(delegate.transcript.calls == ["task HTTPBasic r 0 u/- 401"] && visits.count == 1)
            storage.setDefaultCredential(URLCredential("other", "p"), for: space(server))
            #expect(try await visitor(storage: storage).visit(url) == "401 denied")
            storage.set(URLCredential("u", "p"), for: space(server))
            #expect(try await visitor(storage: storage).visit(url) == "200 secret")
        }
    }

    @Test(
        "B2.74: a redirect within the origin keeps the URL's user, one elsewhere does not; the target's own comes first"
    )
    func redirects() async throws {
        let elsewhere = Visits()
        try await withServer(router: door("r", ["u": "p", "t": "t"], elsewhere)) { second async throws in
            let bare = second.url("/end")
            let own = bare.replacingOccurrences(of: "://", with: "://t:t@")
            let router: LoopbackServer.Router = { request in
                switch request.path {
                case "/within": ServerResponse.status(302).adding("Location", "/end")
                case "/whole", "/twice":
                    ServerResponse.status(302).adding(
                        "Location",
                        "http://\(request.fields.first(.host) ?? "")\(request.path == "/twice" ? "/whole" : "/end")")
                case "/bare": ServerResponse.status(302).adding("Location", bare)
                case "/own": ServerResponse.status(302).adding("Location", own)
                default: door()(request)
                }
            }
            try await withServer(router: router) { first async throws in
                for path in ["/within", "/whole", "/twice"] {
                    #expect(try await visitor().visit(first.at(path).naming("u:p")) == "200 secret", "\(path)")
                    let delegate = GuestDelegate(Guest.always(.performDefaultHandling))
                    #expect(try await visitor(delegate).visit(first.at(path).naming("u:p")) == "200 secret", "\(path)")
                    #expect(delegate.transcript.calls == ["task HTTPBasic r 0 u/p 401"], "\(path)")
                }
                #expect(try await visitor().visit(first.at("/bare").naming("u:p")) == "401 denied")
                #expect(elsewhere.lines == ["GET /end"])
                #expect(try await visitor().visit(first.at("/own").naming("u:p")) == "200 secret")
                #expect(elsewhere.lines.last == "GET /end \(basic("t", "t"))")
            }
        }
    }

    // MARK: Ahead of challenges

    @Test("B2.77: later requests at or below the directory carry the proof unasked; others do not")
    func ahead() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "p"], visits)) { server async throws in
            let session = visitor()
            #expect(try await session.visit(server.at("/a/b").naming("u:p")) == "200 secret")
            for path in ["/a/c", "/a/d/e", "/a/b?q"] {
                #expect(try await session.visit(server.at(path)) == "200 secret")
            }
            for path in ["/a", "/", "/ab/c"] { #expect(try await session.visit(server.at(path)) == "401 denied") }
            let proof = basic("u", "p")
            #expect(
                visits.lines == [
                    "GET /a/b", "GET /a/b \(proof)", "GET /a/c \(proof)", "GET /a/d/e \(proof)", "GET /a/b?q \(proof)",
                    "GET /a", "GET /", "GET /ab/c",
                ])
            await session.reset()
            #expect(try await session.visit(server.at("/a/c")) == "401 denied", "B1.26")
        }
    }

    @Test("B2.77: a proof is not sent ahead to another origin or by another session")
    func aheadElsewhere() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "p"], visits)) { other async throws in
            try await withServer(router: door()) { server async throws in
                let session = visitor()
                #expect(try await session.visit(server.at("/").naming("u:p")) == "200 secret")
                #expect(try await session.visit(other.at("/")) == "401 denied")
                #expect(try await visitor().visit(server.at("/")) == "401 denied")
                #expect(visits.lines == ["GET /"])
            }
        }
    }

    @Test("B2.78: a proof sent ahead and refused is forgotten, and counts as the first failure")
    func aheadRefused() async throws {
        let (password, visits) = (Guarded("p"), Visits())
        let router: LoopbackServer.Router = { door("r", ["u": password.value], visits)($0) }
        try await withServer(router: router) { server async throws in
            let delegate = GuestDelegate(
                Guest.inTurn(
                    (.useCredential, URLCredential("u", "p")), (.performDefaultHandling, nil),
                    (.useCredential, URLCredential("u", "new"))))
            let session = visitor(delegate, storage: nil)
            #expect(try await session.visit(server.at("/")) == "200 secret")
            password.value = "new"
            #expect(try await session.visit(server.at("/")) == "401 denied")
            #expect(try await session.visit(server.at("/")) == "200 secret")
            #expect(
                delegate.transcript.calls == [
                    "task HTTPBasic r 0 nobody 401", "task HTTPBasic r 1 u/p 401", "task HTTPBasic r 0 nobody 401",
                ])
            #expect(visits.lines.dropFirst(2) == ["GET / \(basic("u", "p"))", "GET /", "GET / \(basic("u", "new"))"])
        }
    }

    @Test("B2.79: the program's own Authorization field is sent first, and replaced by a credential after a refusal")
    func ownHeader() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "p"], visits)) { server async throws in
            let delegate = GuestDelegate(Guest.once("u", "p"))
            let session = visitor(delegate)
            var request = URLRequest(url: try server.at("/"))
            request.setValue(basic("u", "p"), forHTTPHeaderField: "Authorization")
            #expect(try await session.visit(request) == "200 secret")
            request.setValue("Token stale", forHTTPHeaderField: "Authorization")
            #expect(try await session.visit(request) == "200 secret")
            #expect(delegate.transcript.calls == ["task HTTPBasic r 0 nobody 401"])
            // What the session knows by now does not replace it unasked.
            #expect(try await session.visit(request) == "200 secret")
            let proof = basic("u", "p")
            #expect(
                visits.lines == [
                    "GET / \(proof)", "GET / Token stale", "GET / \(proof)", "GET / Token stale", "GET / \(proof)",
                ])
        }
    }
}
