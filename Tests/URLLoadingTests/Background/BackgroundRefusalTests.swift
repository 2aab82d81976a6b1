// Requests that background sessions refuse (behaviour 10.1), and what their configurations are like.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Background sessions: configurations and refusals", .timeLimit(.minutes(2)))
struct BackgroundRefusalTests {
    private let folder = BackgroundFolder()

    @Test("B10.1, B10.13, B7.23: a background configuration has its identifier, no cache, and Apple's values otherwise")
    func configuration() throws {
        let configuration = URLSessionConfiguration.background(withIdentifier: "a")
        #expect(configuration.identifier == "a")
        #expect(configuration.urlCache == nil)
        #expect(!configuration.isDiscretionary)
        #expect(configuration.sessionSendsLaunchEvents)
        #expect(configuration.sharedContainerIdentifier == nil)
        configuration.isDiscretionary = true
        configuration.sessionSendsLaunchEvents = false
        configuration.sharedContainerIdentifier = "group"
        let copy = try #require(configuration.copy() as? URLSessionConfiguration)
        #expect(copy.identifier == "a" && copy.isDiscretionary && !copy.sessionSendsLaunchEvents)
        #expect(copy.sharedContainerIdentifier == "group")
        #expect(URLSessionConfiguration.default.identifier == nil)
        #expect(URLSessionConfiguration.default.sessionSendsLaunchEvents)
    }

    @Test("B10.4, B1.94, B17.49: tasks with handlers end at once with -1, and their handlers are told")
    func handlers() async throws {
        try await withBackgroundSession(folder.configuration()) { session, _ in
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            let data = Guarded<URLError?>(nil)
            let told = Signal()
            session.dataTask(with: url) { _, _, error in
                data.value = error as? URLError
                told.fire()
            }.resume()
            session.downloadTask(with: url) { _, _, error in
                if data.value?.code != (error as? URLError)?.code { data.value = nil }
                told.fire()
            }.resume()
            await told.wait(times: 2)
            #expect(data.value?.code == .unknown)
            #expect(data.value?.localizedDescription.contains("not supported in background sessions") == true)
        }
        #expect(folder.names.isEmpty)
    }

    @Test("B1.94, B10.4: async calls throw -1")
    func asynchronous() async throws {
        try await withBackgroundSession(folder.configuration()) { session, _ in
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            #expect(await codeThrown { _ = try await session.data(from: url) } == .unknown)
            #expect(await codeThrown { _ = try await session.download(from: url) } == .unknown)
            #expect(await codeThrown { _ = try await session.bytes(from: url) } == .unknown)
        }
    }

    @Test("B10.5, B10.6: uploads from data and from streams, and stream tasks, end with -1")
    func bodies() async throws {
        try await withBackgroundSession(folder.configuration()) { session, scribe in
            var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:9/")))
            request.httpMethod = "PUT"
            session.uploadTask(with: request, from: Data("a".utf8)).resume()
            session.uploadTask(withStreamedRequest: request).resume()
            request.httpBodyStream = InputStream(data: Data("a".utf8))
            session.dataTask(with: request).resume()
            session.streamTask(withHostName: "127.0.0.1", port: 9).resume()
            await scribe.ended.wait(times: 4)
            #expect(scribe.errors.value.map(\.code) == [.unknown, .unknown, .unknown, .unknown])
        }
    }

    @Test(
        "B10.6, B11.29: an upload from data or a stream does not go on in a background session, either",
        arguments: [true, false])
    func resumedBodies(fromStream: Bool) async throws {
        let source = fromStream ? "\"isStream\":true" : "\"isStream\":false,\"body\":\"YQ==\""
        let data = """
            {"version":1,"resource":"http://127.0.0.1:9/r","url":"http://127.0.0.1:9/","method":"PUT","fields":[],
            "handlesCookies":true,\(source)}
            """
        try await withBackgroundSession(folder.configuration()) { session, scribe in
            session.uploadTask(withResumeData: Data(data.utf8)).resume()
            await scribe.ended.wait()
            let error = try #require(scribe.errors.value.first)
            #expect(error.code == .unknown)
            #expect(error.localizedDescription.contains("not supported in background sessions"))
        }
    }

    @Test("B17.13: a task with resume data that say nothing ends with the words that it has in other sessions")
    func resumeData() async throws {
        try await withBackgroundSession(folder.configuration()) { session, scribe in
            session.downloadTask(withResumeData: Data("nothing".utf8)).resume()
            await scribe.ended.wait()
            let error = try #require(scribe.errors.value.first)
            #expect(error.code == .unsupportedURL)
            #expect(error.localizedDescription.contains("resume data cannot be read"))
        }
    }

    @Test(
        "B10.5, B14.8: a URL that names no file of this machine ends its upload with -1002, and no other task",
        arguments: ["https://h.example/file", "file://other/proc/self/status"])
    func fileName(source: String) async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            try await withBackgroundSession(folder.configuration(helper: true)) { session, scribe in
                var request = URLRequest(url: try server.at("/"))
                request.httpMethod = "PUT"
                let source = try #require(URL(string: source))
                session.uploadTask(with: request, fromFile: source).resume()
                await scribe.ended.wait()
                session.downloadTask(with: try server.at("/")).resume()
                await scribe.ended.wait(times: 2)
                #expect(scribe.transcript.calls == ["end 1 -1002", "file 2 hello", "end 2 nil"])
            }
        }
    }

    @Test("B10.7: other schemes end with -1002", arguments: ["data:,a", "file:///etc/hostname", "ftp://127.0.0.1:9/a"])
    func schemes(_ text: String) async throws {
        try await withBackgroundSession(folder.configuration()) { session, scribe in
            session.downloadTask(with: try #require(URL(string: text))).resume()
            await scribe.ended.wait()
            #expect(scribe.errors.value.map(\.code) == [.unsupportedURL])
        }
    }

    @Test("B10.3: a session without a delegate could tell no result, so its tasks begin nothing")
    func noDelegate() async throws {
        let session = URLSession(configuration: folder.configuration())
        defer { session.invalidateAndCancel() }
        let task = session.downloadTask(with: try #require(URL(string: "http://127.0.0.1:9/")))
        task.resume()
        try await until { task.state == .completed }
        #expect((task.error as? URLError)?.code == .unknown)
    }

    @Test("B14.33, B10.7: custom protocol classes are not asked")
    func protocolClasses() async throws {
        let configuration = folder.configuration()
        configuration.protocolClasses = [NeverAsked.self]
        try await withServer(router: { _ in .text("hello") }) { server in
            try await withBackgroundSession(configuration) { session, scribe in
                session.downloadTask(with: try server.at("/")).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 hello", "end 1 nil"])
            }
        }
    }

    @Test("B10.28: tasks have no delegates of their own")
    func taskDelegate() async throws {
        try await withBackgroundSession(folder.configuration()) { session, _ in
            let task = session.downloadTask(with: try #require(URL(string: "http://127.0.0.1:9/")))
            task.delegate = BackgroundScribe()
            #expect(task.delegate == nil)
            task.cancel()
        }
    }

    @Test("B10.25, B1.22: a second session with the identifier takes no tasks until the first has gone")
    func twice() async throws {
        let url = try #require(URL(string: "data:,"))
        let first = BackgroundScribe()
        let one = URLSession(configuration: folder.configuration(), delegate: first, delegateQueue: nil)
        try await withBackgroundSession(folder.configuration()) { session, scribe in
            session.downloadTask(with: try #require(URL(string: "http://127.0.0.1:9/"))).resume()
            await scribe.ended.wait()
            #expect(scribe.errors.value.map(\.code) == [.backgroundSessionInUseByAnotherProcess])
        }
        one.invalidateAndCancel()
        await first.transcript.invalidated.wait()
        try await withBackgroundSession(folder.configuration()) { session, scribe in
            session.downloadTask(with: url).resume()
            await scribe.ended.wait()
            // The other session is gone: it is its URL's scheme that the task fails by.
            #expect(scribe.errors.value.map(\.code) == [.unsupportedURL])
        }
    }

    @Test("B10.30: where the session's directory cannot be made, tasks end with an error that names it")
    func unusableDirectory() async throws {
        let configuration = folder.configuration()
        configuration.backgroundStateDirectory = URL(fileURLWithPath: "/proc/none")
        try await withBackgroundSession(configuration) { session, scribe in
            session.downloadTask(with: try #require(URL(string: "http://127.0.0.1:9/"))).resume()
            await scribe.ended.wait()
            let error = try #require(scribe.errors.value.first)
            #expect(error.code == .cannotCreateFile)
            #expect(error.localizedDescription.contains("/proc/none"))
        }
    }
}

/// Would carry everything, and fails.
private final class NeverAsked: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func startLoading() { client?.urlProtocol(self, didFailWithError: URLError(.badURL)) }
    override func stopLoading() {}
}
