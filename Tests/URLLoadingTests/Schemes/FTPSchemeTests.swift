// Loads of ftp and ftps URLs through sessions (behaviour 14.4, B2.47, B7.25, B7.35): tasks of each kind,
// passwords, errors and caches. What happens on the wire is tested with the machine and the engine, the ways to
// servers in `FTPWayTests`.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("The ftp scheme", .endsSessions, .timeLimit(.minutes(5)))
struct FTPSchemeTests {
    private static let large = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }

    private func server(_ change: (inout FTPServer.Options) -> Void = { _ in }) throws -> FTPServer {
        try FTPServer.start { options in
            options.files = [
                "/pub/page.html": Array("<p>".utf8), "/pub/unknown.xyz": Array("?".utf8), "/large.bin": Self.large,
            ]
            options.users = ["me": "secret"]
            change(&options)
        }
    }

    private func url(_ server: FTPServer, _ path: String, user: String = "", scheme: String = "ftp") throws -> URL {
        try #require(URL(string: "\(scheme)://\(user)127.0.0.1:\(server.port)\(path)"))
    }

    private func code(_ session: URLSession, _ url: URL) async -> URLError.Code? {
        await codeThrown { _ = try await session.data(from: url) }
    }

    // MARK: Tasks

    @Test("B14.20, B14.28: a plain response with type and length, then the data, for a delegate")
    func order() async throws {
        let server = try server()
        let delegate = RecordingDelegate()
        let task = visitor(delegate).dataTask(with: try url(server, "/pub/page.html"))
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "response 0", "data", "metrics 1", "complete nil"])
        #expect(delegate.transcript.body == "<p>")
        let response = try #require(task.response)
        #expect(!(response is HTTPURLResponse))
        #expect(response.mimeType == "text/html" && response.textEncodingName == nil)
        #expect(response.expectedContentLength == 3)
        #expect(response.suggestedFilename == "page.html")
        #expect(task.countOfBytesReceived == 3 && task.countOfBytesExpectedToReceive == 3)
    }

    @Test("B14.28: the response for an unknown extension, from a server that does not tell lengths")
    func unknown() async throws {
        let server = try server { $0.script = { $0.verb == "SIZE" ? .reply("500 no") : nil } }
        let (data, response) = try await visitor().data(from: url(server, "/pub/unknown.xyz"))
        #expect(String(decoding: data, as: UTF8.self) == "?")
        #expect(response.mimeType == "application/octet-stream" && response.expectedContentLength == -1)
    }

    @Test("B14.20: downloads, large loads by async calls, handlers and iterators")
    func kinds() async throws {
        let server = try server()
        let session = visitor()
        let place = try url(server, "/large.bin")
        let (file, response) = try await session.download(from: place)
        let downloaded = try Data(contentsOf: file)
        #expect(firstDifference(downloaded, Self.large) == nil)
        #expect(response.expectedContentLength == 2_000_000)
        try FileManager.default.removeItem(at: file)
        let (data, _) = try await session.data(from: place)
        #expect(firstDifference(data, Self.large) == nil)
        let (bytes, _) = try await session.bytes(from: url(server, "/pub/page.html"))
        var text = ""
        for try await byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        #expect(text == "<p>")
    }

    @Test("B14.24: a path that ends in a slash is a directory's list, whose MIME type says so; B14.23: ;type=d")
    func listing() async throws {
        let server = try server()
        let (data, response) = try await visitor().data(from: url(server, "/pub/"))
        #expect(response.mimeType == "text/ftp-dir-listing" && response.expectedContentLength == -1)
        #expect(String(decoding: data, as: UTF8.self).contains("page.html\r\n"))
        let (names, _) = try await visitor().data(from: url(server, "/pub;type=d"))
        #expect(String(decoding: names, as: UTF8.self) == "page.html\r\nunknown.xyz\r\n")
    }

    @Test("B14.25: upload tasks store data, files and a delegate's stream on the server")
    func uploads() async throws {
        let server = try server()
        let session = visitor()
        let request = URLRequest(url: try url(server, "/pub/new"))
        let (data, response) = try await session.upload(for: request, from: Data(Self.large))
        #expect(data.isEmpty && !(response is HTTPURLResponse) && response.expectedContentLength == 0)
        #expect(server.files["/pub/new"] == Self.large)

        let file = FileManager.default.temporaryDirectory.appending(path: "urlloading-ftp-\(UUID().uuidString)")
        try Data("from a file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try await session.upload(for: URLRequest(url: url(server, "/file")), fromFile: file)
        #expect(server.files["/file"] == Array("from a file".utf8))

        let delegate = GuestDelegate(Guest.always(.performDefaultHandling)) { InputStream(data: Data("streamed".utf8)) }
        let task = visitor(delegate).uploadTask(withStreamedRequest: URLRequest(url: try url(server, "/stream")))
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(task.error == nil)
        #expect(server.files["/stream"] == Array("streamed".utf8))
        #expect(task.countOfBytesSent == 8)
        let directory = URLRequest(url: try url(server, "/pub/"))
        #expect(
            await codeThrown { _ = try await session.upload(for: directory, from: Data("x".utf8)) } == .fileIsDirectory)
    }

    @Test("B1.39: an upload that is suspended sends nothing until it is resumed")
    func suspended() async throws {
        let held = Guarded<URLSessionTask?>(nil)
        let storing = Signal()
        let server = try server {
            $0.script = { ask in
                // Several answers before anything could be sent.
                if ask.verb == "USER" { held.value?.suspend() }
                if ask.verb == "STOR" { storing.fire() }
                return nil
            }
        }
        let delegate = RecordingDelegate()
        let session = visitor(delegate)
        let task = session.uploadTask(
            with: URLRequest(url: try url(server, "/pub/new")), from: Data(Self.large))
        held.value = task
        task.resume()
        await storing.wait()
        held.value = nil
        // This load runs on the same loop: bytes of the suspended upload would have been sent before it.
        for _ in 0..<2 { _ = try await session.data(from: url(server, "/pub/page.html")) }
        #expect(task.state == .suspended && task.countOfBytesSent == 0)
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(task.error == nil && server.files["/pub/new"] == Self.large)
    }

    @Test("B14.20: a load that is cancelled in the middle ends with −999")
    func cancelled() async throws {
        let gate = ServerGate()
        let server = try server {
            $0.script = { ask in
                guard ask.verb == "RETR" else { return nil }
                var transfer = FTPServer.Transfer()
                transfer.cutAfter = 1000
                transfer.gate = gate
                return .transfer(transfer)
            }
        }
        let delegate = RecordingDelegate(onData: { $0.cancel() })
        let task = visitor(delegate).dataTask(with: try url(server, "/large.bin"))
        task.resume()
        await delegate.transcript.completed.wait()
        gate.open()
        #expect(delegate.transcript.calls.last == "complete -999")
        #expect(try #require(task.error as? URLError).failingURL == task.originalRequest?.url)
    }

    // MARK: Users and passwords

    @Test("B14.21: the URL's user and password; their escapes are undone")
    func userInURL() async throws {
        let server = try server {
            $0.allowsAnonymous = false
            $0.users = ["me@home": "a/b"]
        }
        let (data, _) = try await visitor().data(from: url(server, "/pub/page.html", user: "me%40home:a%2Fb@"))
        #expect(data.count == 3)
        let bad = try url(server, "/pub/page.html", user: "me%0D%0ADELE:x@")
        #expect(await code(visitor(), bad) == .badURL)
    }

    @Test(
        "B14.21, B2.47: a delegate is asked by method Default, protocol ftp and no realm; its answer is used and kept")
    func delegate() async throws {
        let server = try server { $0.allowsAnonymous = false }
        let storage = URLCredentialStorage()
        let delegate = GuestDelegate(Guest.once("me", "secret"))
        let session = visitor(delegate, storage: storage)
        #expect(try await session.data(from: url(server, "/pub/page.html")).0.count == 3)
        let challenge = try #require(delegate.challenges.value.first)
        let space = challenge.protectionSpace
        #expect(space.authenticationMethod == NSURLAuthenticationMethodDefault)
        #expect(space.protocol == NSURLProtectionSpaceFTP && space.realm == nil)
        #expect(space.host == "127.0.0.1" && space.port == server.port && !space.isProxy())
        #expect(challenge.previousFailureCount == 0 && challenge.proposedCredential == nil)
        // Without a delegate the storage knows it now.
        #expect(try await visitor(storage: storage).data(from: url(server, "/pub/page.html")).0.count == 3)
    }

    @Test("B14.21, B2.47: a refused credential is shown in the next question; then it is −1013 without a response")
    func refused() async throws {
        let server = try server { $0.allowsAnonymous = false }
        let delegate = GuestDelegate(
            Guest.inTurn((.useCredential, URLCredential("me", "wrong")), (.performDefaultHandling, nil)))
        let session = visitor(delegate)
        let place = try url(server, "/pub/page.html")
        let error = await #expect(throws: URLError.self) { _ = try await session.data(from: place) }
        #expect(error?.code == .userAuthenticationRequired)
        #expect(error?.failingURL == place)
        #expect(delegate.challenges.value.map(\.previousFailureCount) == [0, 1])
        #expect(delegate.challenges.value.last?.proposedCredential?.user == "me")
        // There is no delegate to ask, and the server takes no anonymous users.
        #expect(await code(visitor(), place) == .userAuthenticationRequired)
        #expect(
            await code(visitor(), try url(server, "/pub/page.html", user: "me:wrong@")) == .userAuthenticationRequired)
        #expect(await code(visitor(), try url(server, "/pub/page.html", user: "me@")) == .userAuthenticationRequired)
        let leaving = visitor(GuestDelegate(Guest.always(.cancelAuthenticationChallenge)))
        #expect(await code(leaving, place) == .cancelled)
    }

    @Test("B2.103: a delegate that always answers the same is asked ten times by ftp, too")
    func limit() async throws {
        let server = try server { $0.allowsAnonymous = false }
        let delegate = GuestDelegate(Guest.always(.useCredential, URLCredential("me", "wrong")))
        #expect(await code(visitor(delegate), try url(server, "/pub/page.html")) == .userAuthenticationRequired)
        #expect(delegate.challenges.value.map(\.previousFailureCount) == Array(0..<10))
    }

    @Test("B14.21: a stored credential of a class of the program's may steer its task whenever it is asked something")
    func ownClass() async throws {
        let server = try server { $0.allowsAnonymous = false }
        let called = Guarded<URLSessionTask?>(nil)
        let own = OwnCredential("me", "wrong") {
            called.value?.suspend()
            called.value?.resume()
        }
        let storage = URLCredentialStorage()
        storage.set(
            own,
            for: URLProtectionSpace(
                host: "127.0.0.1", port: Int(server.port), protocol: NSURLProtectionSpaceFTP, realm: nil,
                authenticationMethod: nil))
        let (session, place) = (visitor(storage: storage), try url(server, "/pub/page.html"))
        let code = await withHandover { (continuation: Handover<URLError.Code?, Never>) in
            let task = session.dataTask(with: place) { _, _, error in
                continuation.resume(returning: (error as? URLError)?.code)
            }
            called.value = task
            task.resume()
        }
        #expect(code == .userAuthenticationRequired)
        #expect(server.commands.contains("PASS wrong"))
        called.value = nil
    }

    @Test("B14.21: without a credential the user is anonymous, also where the delegate has rejected the question")
    func anonymous() async throws {
        let server = try server()
        let delegate = GuestDelegate(Guest.always(.rejectProtectionSpace))
        #expect(try await visitor(delegate).data(from: url(server, "/pub/page.html")).0.count == 3)
        #expect(await code(visitor(), try url(server, "/pub/page.html", user: "ftp@")) == .userAuthenticationRequired)
        #expect(server.commands.filter { $0.hasPrefix("USER") } == ["USER anonymous", "USER ftp"])
    }

    // MARK: TLS

    @Test("B14.26: ftps is FTP with AUTH TLS; the session's evaluation or its delegate judges the server")
    func protected() async throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        let server = try server {
            $0.tls = .init(identity: identity)
            $0.requiresReuse = true
        }
        let place = try url(server, "/large.bin", scheme: "ftps")
        let trusting = visitor { $0.serverTrustEvaluation = .anchors(pem: root.pem) }
        let (data, _) = try await trusting.data(from: place)
        #expect(firstDifference(data, Self.large) == nil)
        let doubting = visitor { $0.serverTrustEvaluation = .anchors(pem: "") }
        #expect(await code(doubting, place) == .serverCertificateUntrusted)
        let judge = FullJudge()
        let judged = visitor(judge) { $0.serverTrustEvaluation = .anchors(pem: "") }
        let (again, _) = try await judged.data(from: place)
        #expect(firstDifference(again, Self.large) == nil)
        // Once for the certificate, once for the password, which it does not know.
        #expect(judge.transcript.calls.filter { $0.contains("trust") }.count == 1)
        let unprotected = try self.server()
        #expect(await code(trusting, try url(unprotected, "/pub/page.html", scheme: "ftps")) == .secureConnectionFailed)
    }

    @Test("B14.21, B14.26: ftps has a space of its own; what is stored there is not sent to ftp, in clear")
    func protectedPassword() async throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        let inClear = Guarded<[String]>([])
        let server = try server {
            $0.tls = .init(identity: identity)
            $0.allowsAnonymous = false
            $0.script = { ask in
                if ask.verb == "PASS", !ask.isProtected { inClear.change { $0.append(ask.argument) } }
                return nil
            }
        }
        let storage = URLCredentialStorage()
        let delegate = GuestDelegate({ challenge in
            challenge.isAboutServer ? (.performDefaultHandling, nil) : (.useCredential, URLCredential("me", "secret"))
        })
        let trusts: (URLSessionConfiguration) -> Void = { $0.serverTrustEvaluation = .anchors(pem: root.pem) }
        let place = try url(server, "/pub/page.html", scheme: "ftps")
        #expect(try await visitor(delegate, storage: storage, trusts).data(from: place).0.count == 3)
        let space = try #require(delegate.challenges.value.last?.protectionSpace)
        #expect(space.protocol == "ftps" && space.realm == nil && space.port == server.port)
        #expect(space.receivesCredentialSecurely, "B2.26")
        let ofCertificate = try #require(delegate.challenges.value.first { $0.isAboutServer }?.protectionSpace)
        #expect(ofCertificate.protocol == "https", "B2.19")
        // Without a delegate the storage knows it now, for ftps.
        #expect(try await visitor(storage: storage, trusts).data(from: place).0.count == 3)
        let plain = try url(server, "/pub/page.html")
        #expect(await code(visitor(storage: storage), plain) == .userAuthenticationRequired)
        #expect(!inClear.value.contains("secret"))
    }

    // MARK: Errors

    @Test(
        "B14.20, B14.24: failures are errors with the URL, never HTTP status codes",
        arguments: [
            ("/none", "", URLError.Code.fileDoesNotExist), ("/none/x", "", .fileDoesNotExist),
            ("/pub", "", .fileIsDirectory),
            ("/pub/page.html", "450 busy", .resourceUnavailable), ("/pub/page.html", "425 no", .cannotConnectToHost),
            ("/pub/page.html", "553 no", .noPermissionsToReadFile), ("/pub/page.html", "what", .cannotParseResponse),
            ("/pub/page.html", "501 what", .badServerResponse), ("/pub/page.html", "421 bye", .cannotConnectToHost),
            ("/a%0D%0Ab", "", .badURL), ("/a%00b", "", .badURL),
        ])
    func errors(path: String, answer: String, code: URLError.Code) async throws {
        let server = try server { $0.script = { $0.verb == "RETR" && !answer.isEmpty ? .reply(answer) : nil } }
        let place = try url(server, path)
        let session = visitor()
        let error = await #expect(throws: URLError.self) { _ = try await session.data(from: place) }
        #expect(error?.code == code)
        #expect(error?.failingURL == place)
    }

    @Test("A transfer that ends early is −1005, also for downloads; a refused connection is −1004")
    func short() async throws {
        let server = try server {
            $0.script = { ask in
                guard ask.verb == "RETR" else { return nil }
                var transfer = FTPServer.Transfer()
                transfer.cutAfter = 1000
                return .transfer(transfer)
            }
        }
        let place = try url(server, "/large.bin")
        let session = visitor()
        #expect(await code(session, place) == .networkConnectionLost)
        #expect(await codeThrown { _ = try await session.download(from: place) } == .networkConnectionLost)
        let nowhere = try #require(URL(string: "ftp://127.0.0.1:1/x"))
        #expect(await code(session, nowhere) == .cannotConnectToHost)
        let noHost = try #require(URL(string: "ftp:/x"))
        #expect(await code(session, noHost) == .badURL)
        let noPort = try #require(URL(string: "ftp://127.0.0.1:99999/x"))
        #expect(await code(session, noPort) == .badURL)
    }

    @Test("B6.1: a silent server is −1001 after the request's time-out")
    func timeOut() async throws {
        let server = try server { $0.script = { $0.verb == "SIZE" ? .silence : nil } }
        var request = URLRequest(url: try url(server, "/pub/page.html"))
        request.timeoutInterval = 0.3
        let session = visitor()
        #expect(await codeThrown { _ = try await session.data(for: request) } == .timedOut)
    }

    // MARK: Caches

    @Test("B14.27, B7.25, B7.35: nothing is stored; a policy that takes stored answers only fails")
    func caching() async throws {
        let server = try server()
        let cache = URLCache()
        let session = visitor { $0.urlCache = cache }
        var request = URLRequest(url: try url(server, "/pub/page.html"))
        request.cachePolicy = .returnCacheDataElseLoad
        for _ in 1...2 { #expect(try await session.data(for: request).0.count == 3) }
        #expect(server.commands.count { $0.hasPrefix("RETR") } == 2)
        #expect(cache.cachedResponse(for: request) == nil)
        request.cachePolicy = .returnCacheDataDontLoad
        #expect(await codeThrown { _ = try await session.data(for: request) } == .resourceUnavailable)
        #expect(server.commands.count { $0.hasPrefix("RETR") } == 2)
    }
}
