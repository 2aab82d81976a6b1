// The samples do their work against a server, in either language mode. What matters is that they compile at all, and
// without a warning: they are written as for Apple's platforms and import nothing but Foundation and URLLoading.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6
import URLLoadingTestSupport

/// The language mode in which a sample was compiled.
enum LanguageMode: CaseIterable {
    case swift5
    case swift6
}

@Suite("Samples of ordinary code")
struct SampleTests {
    @Test("A page with a completion handler", arguments: LanguageMode.allCases)
    func completionHandler(mode: LanguageMode) async throws {
        try await withSampleServer { server in
            let load =
                switch mode {
                case .swift5: URLLoadingSamplesSwift5.PageLoader().load
                case .swift6: URLLoadingSamplesSwift6.PageLoader().load
                }
            func result(_ path: String) async throws -> String {
                let url = try server.at(path)
                return try await withThrowingHandover { continuation in
                    load(url) { continuation.resume(with: $0) }
                }
            }
            let page = try await result("/page")
            #expect(page == "<p>hello</p>")
            switch mode {
            case .swift5:
                await #expect(throws: URLLoadingSamplesSwift5.PageLoader.Problem.status(404)) {
                    try await result("/missing")
                }
                await #expect(throws: URLLoadingSamplesSwift5.PageLoader.Problem.notText("application/json")) {
                    try await result("/notes/first")
                }
            case .swift6:
                await #expect(throws: URLLoadingSamplesSwift6.PageLoader.Problem.status(404)) {
                    try await result("/missing")
                }
                await #expect(throws: URLLoadingSamplesSwift6.PageLoader.Problem.notText("application/json")) {
                    try await result("/notes/first")
                }
            }
        }
    }

    @Test("A page by a delegate that looks at the response first", arguments: LanguageMode.allCases)
    func delegate(mode: LanguageMode) async throws {
        try await withSampleServer { server in
            func received(_ path: String) async throws -> Data {
                let url = try server.at(path)
                return try await withThrowingHandover { continuation in
                    switch mode {
                    case .swift5:
                        let receiver = URLLoadingSamplesSwift5.PageReceiver()
                        receiver.start(url) { continuation.resume(with: $0) }
                        receiver.stop()
                    case .swift6:
                        let receiver = URLLoadingSamplesSwift6.PageReceiver()
                        receiver.start(url) { continuation.resume(with: $0) }
                        receiver.stop()
                    }
                }
            }
            let page = try await received("/page")
            #expect(page == Data("<p>hello</p>".utf8))
            do {
                _ = try await received("/missing")
                Issue.record("a response that the delegate refused was delivered")
            } catch {
                #expect((error as? URLError)?.code == .cancelled)
            }
        }
    }

    @Test("JSON with async and await", arguments: LanguageMode.allCases)
    func asyncAndAwait(mode: LanguageMode) async throws {
        try await withSampleServer { server in
            let base = try server.at("/notes")
            switch mode {
            case .swift5:
                let client = URLLoadingSamplesSwift5.NoteClient(base: base)
                let note = URLLoadingSamplesSwift5.Note(title: "first", text: "kept")
                #expect(try await client.note(named: "first") == note)
                try await client.replace(note, named: "first")
                #expect(try await client.notes(named: ["first", "second"]).map(\.title) == ["first", "second"])
                await #expect(throws: URLLoadingSamplesSwift5.NoteClient.UnexpectedStatus.self) {
                    try await client.note(named: "none")
                }
            case .swift6:
                let client = URLLoadingSamplesSwift6.NoteClient(base: base)
                let note = URLLoadingSamplesSwift6.Note(title: "first", text: "kept")
                #expect(try await client.note(named: "first") == note)
                try await client.replace(note, named: "first")
                #expect(try await client.notes(named: ["first", "second"]).map(\.title) == ["first", "second"])
                await #expect(throws: URLLoadingSamplesSwift6.NoteClient.UnexpectedStatus.self) {
                    try await client.note(named: "none")
                }
            }
        }
    }

    @Test("A link's target by a delegate of one task, in the async form", arguments: LanguageMode.allCases)
    func taskDelegate(mode: LanguageMode) async throws {
        try await withSampleServer { server in
            let link = try server.at("/short")
            let target =
                switch mode {
                case .swift5: try await URLLoadingSamplesSwift5.LinkResolver().target(of: link)
                case .swift6: try await URLLoadingSamplesSwift6.LinkResolver().target(of: link)
                }
            #expect(target == (try server.at("/page")))
        }
    }

    @Test("A model on the main actor that is a task's delegate", arguments: LanguageMode.allCases)
    func mainActor(mode: LanguageMode) async throws {
        try await withSampleServer { server in
            let url = try server.at("/short")
            let (status, redirects): (String, Int)
            switch mode {
            case .swift5:
                let model = await URLLoadingSamplesSwift5.LoadModel()
                await model.load(url)
                (status, redirects) = await (model.status, model.redirects)
            case .swift6:
                let model = await URLLoadingSamplesSwift6.LoadModel()
                await model.load(url)
                (status, redirects) = await (model.status, model.redirects)
            }
            #expect(status == "12 bytes, 200")
            #expect(redirects == 1)
        }
    }

    @Test("Lines as they arrive", arguments: LanguageMode.allCases)
    func lines(mode: LanguageMode) async throws {
        try await withSampleServer { server in
            let url = try server.at("/events")
            let (events, sink) = AsyncStream.makeStream(of: String.self)
            switch mode {
            case .swift5: try await URLLoadingSamplesSwift5.EventReader(url: url).read { sink.yield($0) }
            case .swift6: try await URLLoadingSamplesSwift6.EventReader(url: url).read { sink.yield($0) }
            }
            sink.finish()
            #expect(await events.reduce(into: []) { $0.append($1) } == ["one", "two"])
        }
    }

    @Test("A file downloaded with progress, by a delegate and with a handler", arguments: LanguageMode.allCases)
    func download(mode: LanguageMode) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("samples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withSampleServer { server in
            let url = try server.at("/file.bin")
            let (steps, progress) = AsyncStream.makeStream(of: Double.self)
            let saved = try await withThrowingHandover { continuation in
                let onEnd: @Sendable (Result<URL, any Error>) -> Void = { result in
                    progress.finish()
                    continuation.resume(with: result)
                }
                switch mode {
                case .swift5:
                    let fetcher = URLLoadingSamplesSwift5.FileFetcher(
                        folder: folder, onProgress: { progress.yield($0) }, onEnd: onEnd)
                    fetcher.fetch(url)
                    fetcher.stop()
                case .swift6:
                    let fetcher = URLLoadingSamplesSwift6.FileFetcher(
                        folder: folder, onProgress: { progress.yield($0) }, onEnd: onEnd)
                    fetcher.fetch(url)
                    fetcher.stop()
                }
            }
            #expect(saved.lastPathComponent == "file.bin")
            let kept = try Data(contentsOf: saved)
            #expect(kept.count == 300_000)
            #expect(await steps.reduce(0) { max($0, $1) } == 1)
            let read = await withHandover { continuation in
                switch mode {
                case .swift5: URLLoadingSamplesSwift5.download(url) { data, _ in continuation.resume(returning: data) }
                case .swift6: URLLoadingSamplesSwift6.download(url) { data, _ in continuation.resume(returning: data) }
                }
            }
            #expect(read == kept)
        }
    }

    @Test("JSON by an upload task", arguments: LanguageMode.allCases)
    func upload(mode: LanguageMode) async throws {
        try await withSampleServer { server in
            let url = try server.at("/orders")
            let (answers, sink) = AsyncStream.makeStream(of: String.self)
            let report: @Sendable (Int, String?, (any Error)?) -> Void = { status, text, _ in
                sink.yield("\(status) \(text ?? "nothing")")
                sink.finish()
            }
            switch mode {
            case .swift5:
                try URLLoadingSamplesSwift5.upload(.init(customerId: "12", items: ["a"]), to: url, then: report)
            case .swift6:
                try URLLoadingSamplesSwift6.upload(.init(customerId: "12", items: ["a"]), to: url, then: report)
            }
            #expect(await answers.reduce(into: []) { $0.append($1) } == [#"201 {"number":1}"#])
        }
    }

    @Test("A load that would wait for a network, and has one", arguments: LanguageMode.allCases)
    func patient(mode: LanguageMode) async throws {
        try await withSampleServer { server in
            let url = try server.at("/page")
            let data = await withHandover { continuation in
                switch mode {
                case .swift5:
                    let loader = URLLoadingSamplesSwift5.PatientLoader { Issue.record("waits in spite of a network") }
                    loader.load(url) { data, _ in
                        continuation.resume(returning: data)
                        loader.stop()
                    }
                case .swift6:
                    let loader = URLLoadingSamplesSwift6.PatientLoader { Issue.record("waits in spite of a network") }
                    loader.load(url) { data, _ in
                        continuation.resume(returning: data)
                        loader.stop()
                    }
                }
            }
            #expect(data == Data("<p>hello</p>".utf8))
        }
    }

    @Test("Code from before Sendable: mutable state in a delegate, a semaphore, the reference types")
    func oldStyle() async throws {
        try await withSampleServer { server in
            let loader = OldStyleLoader()
            let address = try server.at("/short").absoluteString
            await withHandover { continuation in
                loader.whenDone = { continuation.resume() }
                loader.get(address)
            }
            #expect(loader.statusCodes == [302, 200])
            #expect(loader.responseData == Data("<p>hello</p>".utf8))
            #expect(loader.lastError == nil)

            let request = legacyRequest(try server.at("/echo"))
            #expect(request.httpMethod == "POST")
            let (data, response, error) = await withHandover { continuation in
                // A thread of its own: the sample blocks it.
                Thread.detachNewThread { continuation.resume(returning: Answer(loadSynchronously(request))) }
            }.parts
            #expect(data == Data("hello".utf8))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(error == nil)
        }
    }

    @Test("A mock from before Sendable is asked in place of the session")
    func mock() async throws {
        let session = RecordingSession(configuration: .ephemeral)
        session.answer = Data("mocked".utf8)
        let url = try #require(URL(string: "https://example.com"))
        let plain: URLSession = session
        let received = await withHandover { continuation in
            plain.dataTask(with: URLRequest(url: url)) { data, _, _ in continuation.resume(returning: data) }.cancel()
        }
        #expect(received == Data("mocked".utf8))
        #expect(session.requests.map(\.url) == [url])
        session.invalidateAndCancel()
    }
}

/// What a synchronous load gave, carried from its thread.
struct Answer: Sendable {
    let parts: (Data?, URLResponse?, (any Error)?)

    init(_ parts: (Data?, URLResponse?, (any Error)?)) {
        self.parts = parts
    }
}

/// Runs `body` with a server that answers what the samples ask for.
private func withSampleServer(_ body: (LoopbackServer) async throws -> Void) async throws {
    try await withServer(
        router: { request in
            switch (request.method, request.path) {
            case ("GET", "/page"): .bytes(Array("<p>hello</p>".utf8), type: "text/html; charset=utf-8")
            case (_, "/short"): .status(302).adding("Location", "/page")
            case ("GET", "/notes/first"): .json(#"{"title":"first","text":"kept"}"#)
            case ("GET", "/notes/second"): .json(#"{"title":"second","text":"too"}"#)
            case ("PUT", "/notes/first"):
                (try? JSONDecoder().decode(URLLoadingSamplesSwift6.Note.self, from: Data(request.body))) == nil
                    ? .status(400) : .status(204)
            case ("GET", "/file.bin"): .generated(length: 300_000)
            case ("POST", "/echo"): .echo(request)
            case ("POST", "/orders"):
                (try? JSONDecoder().decode(URLLoadingSamplesSwift6.Order.self, from: Data(request.body)))?.items == [
                    "a"
                ]
                    ? .json(#"{"number":1}"#, status: 201) : .status(400)
            case ("GET", "/events"): .chunks(["data: one\n", "\nda", "ta: two\n\n"].map { Array($0.utf8) })
            default: .text("no such page", status: 404)
            }
        }, body)
}

extension LoopbackServer {
    /// A path of this server.
    fileprivate func at(_ path: String) throws -> URL {
        try #require(URL(string: url(path)))
    }
}

extension ServerResponse {
    /// A JSON text.
    fileprivate static func json(_ text: String, status: Int = 200) -> ServerResponse {
        .bytes(Array(text.utf8), type: "application/json", status: status)
    }
}
