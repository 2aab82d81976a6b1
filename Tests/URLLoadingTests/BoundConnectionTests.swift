// NTLM, whose rounds belong to one connection (behaviour 2.10).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Passwords: NTLM", .endsSessions, .timeLimit(.minutes(5)))
struct BoundConnectionTests {
    @Test(
        "B2.93: the three messages go over one connection, which no other task gets meanwhile and which all share afterwards"
    )
    func oneConnection() async throws {
        let door = NTLMDoor()
        try await withServer(router: { door.answer($0) }) { server async throws in
            let delegate = GuestDelegate(nil)
            let session = visitor(delegate) { $0.httpMaximumConnectionsPerHost = 1 }
            let (first, second) = (try server.at("/a"), try server.at("/b"))
            let one = Task { try await session.visit(first) }
            await delegate.asked.wait()
            // The other task waits for a connection before the answer is given.
            let other = GuestDelegate(nil)
            let task = session.dataTask(with: second)
            task.delegate = other
            task.resume()
            let challenge = try #require(delegate.challenges.value.first)
            challenge.sender?.use(URLCredential("DOMAIN\\u", "p"), for: challenge)
            #expect(try await one.value == "200 ")
            guard !ProtocolUnderTest.isHTTP2 else {
                // H1.7: the rounds go over a connection of HTTP/1.1 that is theirs, though the host may have one only.
                #expect(door.visits.lines.filter { $0.hasPrefix("/a") } == ["/a - on 1", "/a 1 on 2", "/a 3 on 2"])
                return session.invalidateAndCancel()
            }
            await other.transcript.completed.wait()
            #expect(other.transcript.calls == ["response 200", "complete nil"])
            #expect(door.visits.lines == ["/a - on 1", "/a 1 on 1", "/a 3 on 1", "/b - on 1"])
            #expect(delegate.transcript.calls == ["session NTLM - 0 nobody 401"])
        }
    }

    @Test(
        "B2.8, B2.93: over https, too, a server without HTTP/2 is asked on one connection, and later requests need no answer"
    )
    func httpsWithoutHTTP2() async throws {
        let (door, (_, identity)) = (NTLMDoor(), try CertificateFactory.server("localhost"))
        var options = LoopbackServer.Options(tls: ServerTLS(identity: identity))
        options.http2 = .off
        try await withServer(options, router: { door.answer($0) }) { server async throws in
            let delegate = GuestDelegate {
                $0.isAboutServer ? (.performDefaultHandling, nil) : (.useCredential, URLCredential("DOMAIN\\u", "p"))
            }
            let session = visitor(delegate) {
                $0.serverTrustEvaluation = .dangerouslyAcceptAnyCertificate
                $0.http2 = .offered
            }
            for path in ["/a", "/b", "/c"] { #expect(try await session.visit(server.at(path)) == "200 ") }
            #expect(door.visits.lines == ["/a - on 1", "/a 1 on 1", "/a 3 on 1", "/b - on 1", "/c - on 1"])
            #expect(delegate.challenges.value.filter { !$0.isAboutServer }.count == 1)
        }
    }

    @Test(
        "B7.104: answers over a connection that NTLM has proven are not stored, unless they are public",
        .http1Only("A task without a proof of its own goes on over HTTP/2, where the user is not known"))
    func storedAnswers() async throws {
        let door = NTLMDoor()
        let router: LoopbackServer.Router = { request in
            let answer = door.answer(request)
            guard answer.status == 200 else { return answer }
            return answer.adding("Cache-Control", request.path == "/public" ? "public, max-age=3600" : "max-age=3600")
        }
        try await withServer(router: router) { server async throws in
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let session = visitor {
                $0.urlCache = cache
                $0.httpMaximumConnectionsPerHost = 1
            }
            #expect(try await session.visit(server.at("/first").naming("u:p")) == "200 ")
            for path in ["/own", "/public"] { #expect(try await session.visit(server.at(path)) == "200 ") }
            #expect(door.visits.lines.suffix(2) == ["/own - on 1", "/public - on 1"])
            let other = visitor { $0.urlCache = cache }
            #expect(try await other.visit(server.at("/own")) == "401 denied")
            #expect(try await other.visit(server.at("/public")) == "200 ")
        }
    }

    @Test("B2.93: tasks side by side keep their rounds apart")
    func sideBySide() async throws {
        let door = NTLMDoor()
        try await withServer(router: { door.answer($0) }) { server async throws in
            let session = visitor { $0.httpMaximumConnectionsPerHost = 4 }
            let urls = try (0..<12).map { try server.at("/\($0)").naming("u:p") }
            await withTaskGroup(of: String?.self) { group in
                for url in urls { group.addTask { try? await session.visit(url) } }
                for await outcome in group { #expect(outcome == "200 ") }
            }
            for number in 0..<12 {
                let rounds = door.visits.lines.filter { $0.hasPrefix("/\(number) ") && !$0.contains(" - ") }
                #expect(Set(rounds.map { $0.split(separator: " ").last }).count <= 1, "\(rounds)")
            }
        }
    }

    private func posting(to server: LoopbackServer) throws -> URLRequest {
        var request = URLRequest(url: try server.at("/").naming("u:p"))
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        return request
    }

    @Test("B2.93, B2.96: the first message goes without the request's body, and the third with all of it")
    func body() async throws {
        let (door, lengths) = (NTLMDoor(), Guarded<[Int]>([]))
        let router: LoopbackServer.Router = { request in
            lengths.change { $0.append(request.body.count) }
            return door.answer(request)
        }
        try await withServer(router: router) { server async throws in
            #expect(try await visitor().visit(posting(to: server)) == "200 body")
            #expect(lengths.value == [4, 0, 4])
        }
    }

    @Test(
        "B2.93, B2.96: a server that refuses a request before it has its body gets it with the third message, an unread stream",
        .http1Only("What is refused early there costs no connection")
    )
    func refusedEarly() async throws {
        let door = NTLMDoor()
        var options = LoopbackServer.Options()
        options.earlyRouter = { NTLMDoor.kind(of: $0) == "3" ? nil : door.answer($0) }
        try await withServer(options, router: { door.answer($0) }) { server async throws in
            var request = try posting(to: server)
            request.setValue("100-continue", forHTTPHeaderField: "Expect")
            #expect(try await visitor().visit(request) == "200 body")
            #expect(door.visits.lines.map { $0.prefix(3) } == ["/ -", "/ 1", "/ 3"])
            request.httpBody = nil
            let delegate = GuestDelegate(
                Guest.always(.useCredential, URLCredential("u", "p")),
                streams: { InputStream(data: Data("body".utf8)) })
            visitor(delegate).uploadTask(withStreamedRequest: request).resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == [
                    "stream", "session NTLM - 0 u/p 401", "sent 4 4 -1", "response 200", "data", "complete nil",
                ])
            #expect(delegate.transcript.body == "body")
        }
    }

    @Test(
        "B2.93: where the first message is not refused, its answer is none to the request, which goes out with its body"
    )
    func notRefused() async throws {
        let (door, lengths) = (NTLMDoor(), Guarded<[Int]>([]))
        let router: LoopbackServer.Router = { request in
            var count = 0
            lengths.change { lengths in
                lengths.append(request.body.count)
                count = lengths.count
            }
            if count > 2 { return .echo(request) }
            return NTLMDoor.kind(of: request) == "1" ? .text("nothing") : door.answer(request)
        }
        try await withServer(router: router) { server async throws in
            let storage = URLCredentialStorage()
            let delegate = GuestDelegate(Guest.always(.useCredential, URLCredential("u", "p")))
            #expect(try await visitor(delegate, storage: storage).visit(posting(to: server)) == "200 body")
            #expect(lengths.value == [4, 0, 4])
            #expect(storage.allCredentials.isEmpty, "Nothing was proven")
        }
    }

    @Test(
        "B2.16, B2.93: when the connection ends with the second message the rounds begin anew, and no failure is counted",
        .http1Only("The numbers of the connections are HTTP/1.1's"))
    func begunAnew() async throws {
        let door = NTLMDoor(closings: 1)
        try await withServer(router: { door.answer($0) }) { server async throws in
            let delegate = GuestDelegate(Guest.once("u", "p"))
            #expect(try await visitor(delegate).visit(server.at("/")) == "200 ")
            #expect(door.visits.lines == ["/ - on 1", "/ 1 on 1", "/ 1 on 2", "/ 3 on 2"])
            #expect(delegate.transcript.calls == ["session NTLM - 0 nobody 401"])
        }
    }

    @Test(
        "B2.93: when a server closes the connection in the middle of the rounds again and again its refusal is delivered",
        .http1Only("The numbers of the connections are HTTP/1.1's"))
    func closed() async throws {
        let door = NTLMDoor(closings: 9)
        try await withServer(router: { door.answer($0) }) { server async throws in
            let url = try server.at("/").naming("u:p")
            #expect(try await visitor().visit(url) == "401 denied")
            #expect(door.visits.lines == ["/ - on 1", "/ 1 on 1", "/ 1 on 2", "/ 1 on 3", "/ 3 on 4"])
        }
    }

    @Test("B2.67, B2.93: a server that lets NTLM's first message pass has checked no password, and none is stored")
    func passedUnchecked() async throws {
        let router: LoopbackServer.Router = { NTLMDoor.kind(of: $0) == "1" ? .text("open") : .denied("NTLM") }
        try await withServer(router: router) { server async throws in
            let storage = URLCredentialStorage()
            let delegate = GuestDelegate(Guest.once("u", "wrong"))
            #expect(try await visitor(delegate, storage: storage).visit(server.at("/")) == "200 open")
            #expect(delegate.transcript.calls == ["session NTLM - 0 nobody 401"])
            #expect(storage.allCredentials.isEmpty)
        }
    }

    @Test("NTLM is not begun without a credential for it; the next scheme is asked about")
    func notWithoutCredential() async throws {
        let router: LoopbackServer.Router = { request in
            request.fields.first(.authorization) == basic("u", "p")
                ? .text("secret") : .denied("NTLM", "Basic realm=\"r\"")
        }
        try await withServer(router: router) { server async throws in
            let (url, storage) = (try server.at("/"), URLCredentialStorage())
            storage.set(
                URLCredential("u", "p"),
                for: URLProtectionSpace(
                    host: server.address.host, port: server.port, protocol: "http", realm: "r",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
            #expect(try await visitor(storage: storage).visit(url) == "200 secret")
            let delegate = GuestDelegate(Guest.always(.performDefaultHandling))
            #expect(try await visitor(delegate).visit(url) == "401 denied")
            #expect(
                delegate.transcript.calls == ["session NTLM - 0 nobody 401", "task HTTPBasic r 0 nobody 401"])
        }
    }
}
