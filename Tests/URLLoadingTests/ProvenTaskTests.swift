// Tasks that are asked for a password on their way: bodies sent again, every kind of task, what is measured, what stays
// secret (behaviour 2.9, 2.11, 12).

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Passwords: tasks", .endsSessions, .timeLimit(.minutes(5)))
struct ProvenTaskTests {
    /// Answers with what was sent.
    private let echo: LoopbackServer.Router = { .echo($0) }

    // MARK: Bodies

    @Test("B2.96: after a challenge bodies from data and files are sent again from the start")
    func replayed() async throws {
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let file = try UploadFile(count: 300_000)
        try await withServer(router: door(inside: echo)) { server async throws in
            let url = try server.at("/").naming("u:p")
            var request = uploading(url)
            request.httpBody = bytes
            let (body, _) = try await visitor().data(for: request)
            #expect(firstDifference(body, bytes) == nil)
            let (data, _) = try await visitor().upload(for: uploading(url), from: bytes)
            #expect(firstDifference(data, bytes) == nil)
            let (upload, _) = try await visitor().upload(for: uploading(url), fromFile: file.url)
            #expect(firstDifference(upload, file.bytes) == nil)
        }
    }

    @Test("B2.96, B11.8, B11.12: after a challenge another body stream is asked for, and sent bytes are counted anew")
    func streams() async throws {
        try await withServer(router: door(inside: echo)) { server async throws in
            let delegate = GuestDelegate(Guest.once("u", "p"), streams: { InputStream(data: Data("body".utf8)) })
            visitor(delegate).uploadTask(withStreamedRequest: uploading(try server.at("/"))).resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == [
                    "stream", "sent 4 4 -1", "task HTTPBasic r 0 nobody 401", "stream", "sent 4 4 -1", "response 200",
                    "data", "complete nil",
                ])
            #expect(delegate.transcript.body == "body")
        }
    }

    @Test("B2.97, B2.98: without another stream the task fails with −1021")
    func noStream() async throws {
        try await withServer(router: door(inside: echo)) { server async throws in
            let url = try server.at("/").naming("u:p")
            let left = Guarded(1)
            let delegate = GuestDelegate(
                Guest.once("u", "p"),
                streams: {
                    left.change { $0 -= 1 }
                    return left.value < 0 ? nil : InputStream(data: Data("body".utf8))
                })
            visitor(delegate).uploadTask(withStreamedRequest: uploading(url)).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.suffix(2) == ["stream", "complete -1021"])
            // There is no delegate to be asked, and a stream is not copied.
            var request = uploading(url)
            request.httpBodyStream = InputStream(data: Data("body".utf8))
            #expect(await codeThrown { _ = try await visitor().data(for: request) } == .requestBodyStreamExhausted)
        }
    }

    @Test("B2.99: the body of the refusal is read and thrown away, and the connection used again")
    func thrownAway() async throws {
        let router: LoopbackServer.Router = { request in
            guard request.fields.first(.authorization) == nil else { return .text("secret") }
            return ServerResponse.text(String(repeating: "x", count: 2_000), status: 401)
                .adding("WWW-Authenticate", "Basic realm=\"r\"")
        }
        try await withServer(router: router) { server async throws in
            let delegate = GuestDelegate(Guest.once("u", "p"))
            visitor(delegate).dataTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == "secret")
            #expect(delegate.transcript.calls.suffix(3) == ["response 200", "data", "complete nil"])
            #expect(server.stats.connectionsAccepted == 1)
        }
    }

    // MARK: Kinds of tasks

    @Test("Tasks of every kind are let in with a credential, and deliver nothing of the refusal")
    func everyKind() async throws {
        try await withServer(router: door()) { server async throws in
            let url = try server.at("/").naming("u:p")
            let done = Signal()
            visitor().dataTask(with: url) { data, response, error in
                #expect(
                    data == Data("secret".utf8) && (response as? HTTPURLResponse)?.statusCode == 200 && error == nil)
                done.fire()
            }.resume()
            visitor().downloadTask(with: url) { file, response, _ in
                #expect(file.flatMap { try? Data(contentsOf: $0) } == Data("secret".utf8))
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
                done.fire()
            }.resume()
            visitor().uploadTask(with: uploading(url), from: Data("x".utf8)) { data, _, _ in
                #expect(data == Data("secret".utf8))
                done.fire()
            }.resume()
            await done.wait(times: 3)
            let (file, _) = try await visitor().download(from: url)
            #expect(try Data(contentsOf: file) == Data("secret".utf8))
            try FileManager.default.removeItem(at: file)
            let (bytes, response) = try await visitor().bytes(from: url)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            var text = ""
            for try await line in bytes.lines { text += line }
            #expect(text == "secret")
        }
    }

    @Test("B2.46: where no credential is let in, tasks of every kind deliver the 401")
    func everyKindDenied() async throws {
        try await withServer(router: door("r", [:])) { server async throws in
            let url = try server.at("/").naming("u:p")
            let (file, response) = try await visitor().download(from: url)
            #expect(try Data(contentsOf: file) == Data("denied".utf8))
            #expect((response as? HTTPURLResponse)?.statusCode == 401)
            try FileManager.default.removeItem(at: file)
            var text = ""
            for try await line in try await visitor().bytes(from: url).0.lines { text += line }
            #expect(text == "denied")
            let delegate = GuestDelegate(Guest.always(.rejectProtectionSpace))
            let (data, _) = try await visitor(delegate).upload(for: uploading(url), from: Data("x".utf8))
            #expect(data == Data("denied".utf8))
        }
    }

    // MARK: Measurements and secrets

    @Test("B12.5, B12.6: the metrics have an exchange for each challenge, and show no Authorization field")
    func metrics() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "p4ssw0rd"], visits)) { server async throws in
            let delegate = GuestDelegate(
                Guest.inTurn(
                    (.useCredential, URLCredential("u", "wr0ng")), (.useCredential, URLCredential("u", "p4ssw0rd"))))
            let session = visitor(delegate)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await delegate.transcript.completed.wait()
            let exchanges = try #require(delegate.metrics.value).transactionMetrics
            #expect(exchanges.map { ($0.response as? HTTPURLResponse)?.statusCode } == [401, 401, 200])
            #expect(exchanges.map(\.isReusedConnection) == [false, true, true])
            #expect(delegate.metrics.value?.redirectCount == 0)
            // The session sends it unasked now.
            let second = session.dataTask(with: try server.at("/"))
            second.resume()
            await delegate.transcript.completed.wait(times: 2)
            #expect(visits.lines.last == "GET / \(basic("u", "p4ssw0rd"))")
            let requests =
                exchanges.map(\.request) + (delegate.metrics.value?.transactionMetrics.map(\.request) ?? [])
                + [task.currentRequest, second.currentRequest].compactMap(\.self)
            #expect(requests.count == 6)
            for request in requests {
                #expect(request.value(forHTTPHeaderField: "Host") != nil)
                #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
            }
            var shown = "\(task) \(session) \(String(reflecting: task))"
            for challenge in delegate.challenges.value { shown += "\(challenge.proposedCredential as Any)" }
            for secret in ["p4ssw0rd", "wr0ng", basic("u", "p4ssw0rd"), basic("u", "wr0ng")] {
                #expect(!shown.contains(secret))
            }
        }
    }

    @Test(
        "B2.104: neither a credential nor the program's own Authorization field is sent to another origin by a redirect"
    )
    func secretsStay() async throws {
        let elsewhere = Visits()
        let open: LoopbackServer.Router = { request in
            elsewhere.note(request)
            return .text("open")
        }
        try await withServer(router: open) { second async throws in
            let target = second.url("/")
            let inside: LoopbackServer.Router = { _ in ServerResponse.status(302).adding("Location", target) }
            try await withServer(router: door(inside: inside)) { first async throws in
                #expect(try await visitor().visit(first.at("/").naming("u:p")) == "200 open")
                let delegate = GuestDelegate(Guest.once("u", "p"))
                #expect(try await visitor(delegate).visit(first.at("/")) == "200 open")
                var request = URLRequest(url: try first.at("/"))
                request.setValue(basic("u", "p"), forHTTPHeaderField: "Authorization")
                request.setValue("Basic x", forHTTPHeaderField: "Proxy-Authorization")
                #expect(try await visitor().visit(request) == "200 open")
                #expect(elsewhere.lines == ["GET /", "GET /", "GET /"])
            }
        }
    }

    // MARK: Digest

    @Test("B2.85, B2.87: later requests use the nonce again with the next count, without another challenge")
    func nonceCount() async throws {
        let gate = DigestDoor()
        let router: LoopbackServer.Router = { gate.opens(to: $0) ? .text("secret") : .denied(gate.challenge) }
        try await withServer(router: router) { server async throws in
            let delegate = GuestDelegate(Guest.once("u", "p"))
            let session = visitor(delegate)
            for path in ["/a?x=1", "/b", "/c%20d"] { #expect(try await session.visit(server.at(path)) == "200 secret") }
            #expect(gate.counts.value == ["n1 00000001", "n1 00000002", "n1 00000003"])
            #expect(delegate.transcript.calls == ["task HTTPDigest r 0 nobody 401"])
        }
    }

    @Test("B2.87: tasks side by side that share a nonce never use one of its counts twice")
    func sideBySide() async throws {
        let gate = DigestDoor()
        let router: LoopbackServer.Router = { gate.opens(to: $0) ? .text("secret") : .denied(gate.challenge) }
        try await withServer(router: router) { server async throws in
            let session = visitor(GuestDelegate(Guest.once("u", "p")))
            let url = try server.at("/")
            for round in 1...2 {
                await withTaskGroup(of: String?.self) { group in
                    for _ in 0..<40 { group.addTask { try? await session.visit(url) } }
                    for await outcome in group { #expect(outcome == "200 secret") }
                }
                // In the first round each task may have begun with the nonce by itself.
                if round == 1 { gate.counts.value = [] }
            }
            #expect(gate.counts.value.count == 40 && Set(gate.counts.value).count == 40)
        }
    }

    @Test("B2.88, B2.89: a new nonce, in a stale refusal or with a success, is used without a question")
    func otherNonce() async throws {
        let gate = DigestDoor()
        let router: LoopbackServer.Router = { request in
            if request.path == "/next", gate.opens(to: request) {
                gate.nonce.value = "n3"
                return ServerResponse.text("secret").adding("Authentication-Info", "nextnonce=\"n3\"")
            }
            let isStale = request.fields.contains(.authorization)
            return gate.opens(to: request) ? .text("secret") : .denied(gate.challenge + (isStale ? ", stale=true" : ""))
        }
        try await withServer(router: router) { server async throws in
            let delegate = GuestDelegate(Guest.once("u", "p"))
            let session = visitor(delegate)
            #expect(try await session.visit(server.at("/")) == "200 secret")
            gate.nonce.value = "n2"
            #expect(try await session.visit(server.at("/")) == "200 secret")
            #expect(try await session.visit(server.at("/next")) == "200 secret")
            #expect(try await session.visit(server.at("/")) == "200 secret")
            #expect(
                gate.counts.value == ["n1 00000001", "n1 00000002", "n2 00000001", "n2 00000002", "n3 00000001"])
            #expect(delegate.transcript.calls == ["task HTTPDigest r 0 nobody 401"])
        }
    }

    @Test("B2.82, B2.84: with qop=auth-int the proof covers the body, from data and from files")
    func bodies() async throws {
        let challenge = "Digest realm=\"r\", nonce=\"n1\", qop=\"auth-int\""
        let gate = DigestDoor()
        let router: LoopbackServer.Router = { gate.opens(to: $0) ? .echo($0) : .denied(challenge) }
        let file = try UploadFile(count: 100_000)
        try await withServer(router: router) { server async throws in
            let url = try server.at("/").naming("u:p")
            let session = visitor()
            #expect(try await session.upload(for: uploading(url), from: Data("body".utf8)).0 == Data("body".utf8))
            let (echo, _) = try await session.upload(for: uploading(url), fromFile: file.url)
            #expect(firstDifference(echo, file.bytes) == nil)
            #expect(gate.counts.value == ["n1 00000001", "n1 00000002"])
        }
    }
}
