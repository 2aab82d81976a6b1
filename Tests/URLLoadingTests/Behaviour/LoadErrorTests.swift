// Behaviour chapter 17 beside the table of mistakes: what errors carry, and which codes are never used.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Errors of loads")
struct LoadErrorTests {
    @Test("B17.2: after a redirect the failing URL is the one that was being loaded")
    func failingURL() async throws {
        try await withServer(
            router: { $0.path == "/" ? ServerResponse.status(302).adding("Location", "/next#end") : .script([.close]) }
        ) { server in
            let load = try await Load(server.at())
            #expect(load.code == .networkConnectionLost)
            #expect(load.error?.failingURL?.absoluteString == server.url("/next#end"))
        }
    }

    @Test("B17.9: a task reports one error, and its property is the same")
    func oneError() async throws {
        try await withServer(router: { _ in .script([.close]) }) { server in
            let notebook = Notebook()
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            let task = try session.dataTask(with: server.at())
            task.resume()
            await notebook.ended.wait()
            #expect(task.error as? URLError == notebook.error as? URLError)
            #expect(task.error as NSError? == notebook.error as NSError?)
            #expect(task.state == .completed && notebook.calls == [.metrics, .completed])
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B17.22: a redirect without a target is an answer, and −1010 is not used",
        arguments: ["", " ", "http://", "//"])
    func noTarget(location: String) async throws {
        try await withServer(
            router: { _ in ServerResponse.text("here", status: 302).adding("Location", location) }
        ) { server in
            let load = try await Load(server.at())
            #expect(load.status == 302 && load.text == "here", "\(String(describing: load.error))")
        }
    }

    @Test(
        "B17.26: a length announced and nothing received is −1005, not −1014",
        .http1Only("A stream is reset, and its connection used again"))
    func nothingReceived() async throws {
        let seen = try await see("\(ok)Content-Length: 10\n\n", then: [.close])
        #expect(seen == .failure(.networkConnectionLost))
    }

    @Test("B17.19, B17.45: a load that only a cache may answer is −1008, not −2000")
    func cacheOnly() async throws {
        try await withServer(router: { _ in .text("x") }) { server in
            let url = try server.at()
            let load = await Load(URLRequest(url: url, cachePolicy: .returnCacheDataDontLoad))
            #expect(load.code == .resourceUnavailable && load.error?.failingURL == url)
            #expect(server.stats.requests == 0)
        }
    }

    @Test("B17.31: a body stream that is shorter than announced is −1021, and no whole request arrives")
    func shortStream() async throws {
        try await withServer(router: { _ in .text("x") }) { server in
            var request = try URLRequest("POST", server.at())
            request.setValue("10", forHTTPHeaderField: "Content-Length")
            request.httpBodyStream = InputStream(data: Data("short".utf8))
            let load = await Load(request)
            #expect(load.code == .requestBodyStreamExhausted)
            #expect(load.message.contains("5 of 10"), "\(load.message)")
            #expect(server.stats.requests == 0)
        }
    }

    @Test("B5.33, B17.36: GET with a body is −1103, before anything is opened, with what to do in place of it")
    func bodyOfGET() async throws {
        try await withServer(router: { _ in .text("x") }) { server in
            let load = try await Load(URLRequest("GET", server.at(), body: "x"))
            #expect(load.code == .dataLengthExceedsMaximum && load.message == "resource exceeds maximum size")
            let suggestion = load.error?.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String
            #expect(suggestion?.hasPrefix("A GET sends no body: set httpMethod to POST or PUT") == true)
            #expect(server.stats.connectionsAccepted == 0)
        }
    }

    @Test(
        "B17.52: without any network neither a name nor an address is reached, and fetch says why",
        .enabled(if: Namespace.isAllowed, "this machine does not allow a network of its own for a process"))
    func noNetwork() async throws {
        // A name service that cannot be reached has the exit code of a name that does not exist, as with curl.
        for (url, code) in [("http://shop.example/", Int32(6)), ("http://192.0.2.1/", 7)] {
            let run = try await Namespace.run(url)
            #expect(
                run.exitCode == code && run.complaints.contains("is this machine on a network?"), "\(run.complaints)")
        }
    }

    @Test("B17.54: cancelling inside any call ends the task with −999 as its last message", arguments: Call.allCases)
    func cancelInside(call: Call) async throws {
        guard call != .invalid else { return }
        try await withServer(router: { request in
            request.path == "/" ? ServerResponse.status(302).adding("Location", "/end") : .text("body")
        }) { server in
            let notebook = Notebook(act: { seen, _, task in if seen == call { task?.cancel() } })
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            try session.dataTask(with: server.at()).resume()
            await notebook.ended.wait()
            // The last message itself cannot be changed by what happens inside of it.
            let expected: URLError.Code? = call == .completed ? nil : .cancelled
            #expect((notebook.error as? URLError)?.code == expected)
            #expect(notebook.calls.last == .completed && notebook.calls.filter { $0 == .completed }.count == 1)
            session.finishTasksAndInvalidate()
            await notebook.invalidated.wait()
            #expect(notebook.calls.last == .invalid && notebook.ended.count == 1)
        }
    }

    @Test("B17.10: invalidating inside any call cancels the task and ends the session", arguments: Call.allCases)
    func invalidateInside(call: Call) async throws {
        try await withServer(router: { request in
            request.path == "/" ? ServerResponse.status(302).adding("Location", "/end") : .text("body")
        }) { server in
            let notebook = Notebook(act: { seen, session, _ in if seen == call { session.invalidateAndCancel() } })
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            try session.dataTask(with: server.at()).resume()
            await notebook.ended.wait()
            if call == .invalid { session.invalidateAndCancel() }
            await notebook.invalidated.wait()
            let wasLate = call == .completed || call == .invalid
            #expect((notebook.error as? URLError)?.code == (wasLate ? nil : .cancelled))
            #expect(notebook.calls.last == .invalid && notebook.ended.count == 1 && notebook.invalidated.count == 1)
            await server.wait { $0.connectionsOpen == 0 }
        }
    }

    @Test("B17.57: passwords of URLs are in no text, the URL itself is given as requested")
    func secrets() async throws {
        for text in ["http://user:secret@127.0.0.1:1/", "http://user:secret@no-such-host.invalid/"] {
            let load = await Load(try #require(URL(string: text)))
            #expect(load.error?.failingURL?.absoluteString == text)
            #expect(!load.message.contains("secret"))
            #expect(load.underlying?.localizedDescription.contains("secret") != true)
            let run = try await FetchRun.run(["-v", text])
            #expect(!run.complaints.contains("secret") && !run.output.contains("secret"))
        }
        let root = try CertificateFactory.root()
        let identity = try root.issue(.server("other.test")).identity
        try await withServer(LoopbackServer.Options(tls: .init(identity: identity)), router: { _ in .text("x") }) {
            server in
            let url = try #require(URL(string: "https://user:secret@127.0.0.1:\(server.port)/"))
            let load = await Load(url, in: .made { $0.serverTrustEvaluation = .anchors(pem: root.certificate.pem) })
            let suggestion = load.error?.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String
            #expect(load.code == .serverCertificateUntrusted && !load.message.contains("secret"))
            #expect(suggestion?.contains("secret") == false)
        }
    }
}

/// A network of one's own without anything in it.
enum Namespace {
    /// Whether such a network can be made here.
    static let isAllowed = (try? ChildRun(unshare, ["-rn", "true"]))?.exitCode == 0

    /// Runs fetch in it.
    static func run(_ url: String) async throws -> FetchRun {
        try await FetchRun.run(["-rn", ChildRun.path(of: "fetch"), "--max-time", "20", url], program: unshare)
    }

    private static let unshare = "/usr/bin/unshare"
}
