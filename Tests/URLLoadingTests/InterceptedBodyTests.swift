// Bodies on their way through interceptors: where they are, how they become what the caller has asked for, and when
// they go (behaviour 1.10).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Bodies that interceptors see", .timeLimit(.minutes(2)))
struct InterceptedBodyTests {
    private typealias Body = URLSession.InterceptedAnswer.Body

    /// A body of the program's.
    enum Kind: CaseIterable {
        case data, file, pieces
    }

    private func temporaryFile(_ text: String) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("body-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        return file
    }

    /// "onetwo", with nothing in between.
    private static func pieces() -> AsyncStream<Data> {
        AsyncStream { stream in
            for text in ["", "one", "", "two", ""] { stream.yield(Data(text.utf8)) }
            stream.finish()
        }
    }

    // MARK: Where they are

    @Test(
        "B1.114: an answer's body is in memory for data and uploads, in a file for downloads, still to come for bytes",
        arguments: InterceptorTests.Call.allCases)
    func kinds(call: InterceptorTests.Call) async throws {
        try await withServer(router: { _ in .text("the body") }) { server in
            let file = Guarded<URL?>(nil)
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    let answer = try await next(request)
                    file.value = answer.body.file
                    return answer
                }
            ])
            let (text, _) = try await call.load(server.at(), in: session)
            #expect(text == "the body")
            #expect((file.value != nil) == (call == .downloadFor || call == .downloadFrom))
        }
    }

    @Test(
        "B1.114: a body that interceptors read and replace by other bodies reaches the caller whole",
        arguments: InterceptorTests.Call.allCases)
    func readThrough(call: InterceptorTests.Call) async throws {
        try await withServer(router: { _ in .generated(length: 700_000) }) { server in
            let count = Guarded(0)
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    var answer = try await next(request)
                    answer.body = Body(
                        pieces: answer.body.map { piece in
                            count.change { $0 += piece.count }
                            return Data(piece.map { $0 ^ 1 })
                        })
                    return answer
                },
                Intercepting { request, next in
                    let answer = try await next(request)
                    let whole = try await answer.body.collected()
                    return URLSession.InterceptedAnswer(answer.response, body: Body(data: whole))
                },
            ])
            let request = URLRequest(url: try server.at())
            let wanted = Data((0..<700_000).map { GeneratedBytes.byte(at: Int64($0)) ^ 1 })
            let body: Data
            switch call {
            case .downloadFor, .downloadFrom:
                let (file, _) = try await session.download(for: request)
                defer { try? FileManager.default.removeItem(at: file) }
                body = try Data(contentsOf: file)
            case .bytesFor, .bytesFrom:
                let (bytes, _) = try await session.bytes(for: request)
                var pieces = Data()
                for try await piece in bytes.chunks { pieces += piece }
                body = pieces
            case .dataFor, .dataFrom: (body, _) = try await session.data(for: request)
            case .uploadData, .uploadFile:
                var request = request
                request.httpMethod = "POST"
                (body, _) = try await session.upload(for: request, from: Data("x".utf8))
            }
            #expect(body == wanted && count.value == 700_000)
        }
    }

    @Test(
        "B1.114: a body of any kind becomes what the caller wants", arguments: InterceptorTests.Call.allCases,
        Kind.allCases)
    func converted(call: InterceptorTests.Call, kind: Kind) async throws {
        let file = try temporaryFile("onetwo")
        defer { try? FileManager.default.removeItem(at: file) }
        let body =
            switch kind {
            case .data: Body(data: Data("onetwo".utf8))
            case .file: Body(file: file)
            case .pieces: Body(pieces: Self.pieces())
            }
        let session = URLSession.intercepted([Intercepting.answering(body)])
        let url = try #require(URL(string: "http://nowhere.example/"))
        let (text, _) = try await call.load(url, in: session)
        #expect(text == "onetwo")
    }

    @Test("B1.114: pieces are never empty, and a body in memory or in a file can be read again")
    func pieces() async throws {
        let file = try temporaryFile(String(repeating: "x", count: 200_000))
        defer { try? FileManager.default.removeItem(at: file) }
        for (body, length) in [
            (Body(data: Data("one".utf8)), 3), (Body(data: Data()), 0), (Body(file: file), 200_000),
        ] {
            for _ in 0..<2 {
                var read = 0
                for try await piece in body {
                    #expect(!piece.isEmpty)
                    read += piece.count
                }
                #expect(read == length)
            }
        }
        var texts: [String] = []
        for try await piece in Body(pieces: Self.pieces()) { texts.append(String(decoding: piece, as: UTF8.self)) }
        #expect(texts == ["one", "two"])
    }

    @Test("B1.114: an interceptor reads the bytes of a body as they come")
    func streaming() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("first "), .init("second", when: gate)]) }) { server in
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    var answer = try await next(request)
                    answer.body = Body(pieces: answer.body.map { $0 })
                    return answer
                }
            ])
            let (bytes, _) = try await session.bytes(from: try server.at())
            var pieces = bytes.chunks.makeAsyncIterator()
            #expect(try await pieces.next() == Data("first ".utf8))
            #expect(bytes.task.state == .running)
            gate.open()
            #expect(try await pieces.next() == Data("second".utf8))
            #expect(try await pieces.next() == nil)
        }
    }

    @Test("B1.114: a sequence may read its body while it is asked for its iterator: that reading finds the end")
    func readInside() async throws {
        /// Has a reading of the body ask for a piece before it makes its iterator.
        struct Inquisitive: AsyncSequence, Sendable {
            typealias Element = Data
            let reading: Guarded<Body.Iterator?>
            let found: Guarded<[Data?]>

            func makeAsyncIterator() -> AsyncStream<Data>.Iterator {
                let place = WaitingTasks()
                Task(executorPreference: place.executor) {
                    guard var reading = reading.value else { return }
                    let piece = try? await reading.next()
                    found.change { $0.append(piece) }
                }
                while found.value.isEmpty { place.runNext() }
                return InterceptedBodyTests.pieces().makeAsyncIterator()
            }
        }
        let sequence = Inquisitive(reading: Guarded(nil), found: Guarded([]))
        var reading = Body(pieces: sequence).makeAsyncIterator()
        sequence.reading.value = reading
        #expect(try await reading.next() == Data("one".utf8))
        #expect(sequence.found.value == [nil])
        sequence.reading.value = nil
    }

    @Test("B1.114: the error that breaks a body off is thrown once, after the bytes before it")
    func broken() async throws {
        struct Torn: Error {}
        let body = Body(
            pieces: AsyncThrowingStream<Data, any Error> { stream in
                stream.yield(Data("one".utf8))
                stream.finish(throwing: Torn())
            })
        let url = try #require(URL(string: "http://nowhere.example/"))
        let (bytes, _) = try await URLSession.intercepted([Intercepting.answering(body)]).bytes(from: url)
        var pieces = bytes.chunks.makeAsyncIterator()
        #expect(try await pieces.next() == Data("one".utf8))
        await #expect(throws: Torn.self) { try await pieces.next() }
        #expect(try await pieces.next() == nil)
        #expect(bytes.task.state == .suspended, "B1.119: one that never begins")
    }

    @Test("B1.114: a response that is not HTTP's reaches the caller", arguments: InterceptorTests.Call.allCases)
    func otherResponse(call: InterceptorTests.Call) async throws {
        let session = URLSession.intercepted([
            Intercepting { request, _ in
                let response = URLResponse(
                    url: try #require(request.url), mimeType: "x/y", expectedContentLength: -5, textEncodingName: nil)
                return URLSession.InterceptedAnswer(response, body: Body(data: Data("it".utf8)))
            }
        ])
        let (text, status) = try await call.load(try #require(URL(string: "http://nowhere.example/")), in: session)
        #expect(text == "it" && status == nil)
    }

    @Test("B1.114: a body's file that cannot be read fails the load with the error of a file URL")
    func unreadable() async throws {
        let missing = FileManager.default.temporaryDirectory.appendingPathComponent("none-\(UUID().uuidString)")
        let folder = FileManager.default.temporaryDirectory
        let remote = try #require(URL(string: "http://nowhere.example/"))
        for (file, code) in [
            (missing, URLError.Code.fileDoesNotExist), (folder, .fileIsDirectory), (remote, .unsupportedURL),
        ] {
            let session = URLSession.intercepted([Intercepting.answering(Body(file: file))])
            #expect(await Load(remote, in: session).code == code)
        }
    }

    @Test("B1.114: collecting a body that is longer than the limit throws", arguments: Kind.allCases)
    func limit(kind: Kind) async throws {
        let file = try temporaryFile("onetwo")
        defer { try? FileManager.default.removeItem(at: file) }
        for (limit, code) in [
            (6, nil), (5, URLError.Code.dataLengthExceedsMaximum), (0, .dataLengthExceedsMaximum),
            (-1, .dataLengthExceedsMaximum), (.min, .dataLengthExceedsMaximum), (.max, nil),
        ] {
            let body =
                switch kind {
                case .data: Body(data: Data("onetwo".utf8))
                case .file: Body(file: file)
                case .pieces: Body(pieces: Self.pieces())
                }
            let thrown = await codeThrown { _ = try await body.collected(upTo: limit) }
            #expect(thrown == code, "\(limit)")
        }
    }

    // MARK: When they go

    @Test("B1.115: the file of a download's answer that an interceptor drops is removed; the caller's stays")
    func files() async throws {
        try await withServer(router: { .text(String($0.path)) }) { server in
            let files = Guarded<[URL]>([])
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    var answer = try await next(request)
                    for _ in 0..<3 {
                        if let file = answer.body.file { files.change { $0.append(file) } }
                        answer = try await next(request)
                    }
                    if let file = answer.body.file { files.change { $0.append(file) } }
                    return answer
                }
            ])
            let (file, _) = try await session.download(from: try server.at("/page"))
            defer { try? FileManager.default.removeItem(at: file) }
            #expect(files.value.count == 4 && files.value.last == file)
            #expect(files.value.map { FileManager.default.fileExists(atPath: $0.path) } == [false, false, false, true])
            #expect(try Data(contentsOf: file) == Data("/page".utf8))
        }
    }

    @Test("B1.115: a download gets the program's own file from an interceptor; other calls leave it where it is")
    func ownFile() async throws {
        let own = try temporaryFile("mine")
        defer { try? FileManager.default.removeItem(at: own) }
        let session = URLSession.intercepted([Intercepting.answering(Body(file: own))])
        let url = try #require(URL(string: "http://nowhere.example/"))
        #expect(await Load(url, in: session).text == "mine")
        #expect(try await session.download(from: url).0 == own)
        #expect(try Data(contentsOf: own) == Data("mine".utf8))
    }

    @Test("B1.115: a body that is dropped before its end is not read any further", arguments: [false, true])
    func dropped(wrapped: Bool) async throws {
        try await withServer(router: { _ in .generated(length: 50_000_000) }) { server in
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    // The first answer is dropped, and with it its body.
                    _ = try await next(request)
                    var answer = try await next(request)
                    if wrapped { answer.body = Body(pieces: answer.body.map { $0 }) }
                    return answer
                }
            ])
            let (bytes, _) = try await session.bytes(from: try server.at())
            await server.wait { $0.givenUp == 1 }
            for try await _ in bytes { break }
            await server.wait { $0.givenUp == 2 }
            // The server can see its connection closed before the task has ended.
            try await until { bytes.task.state == .completed }
            #expect((bytes.task.error as? URLError)?.code == .cancelled, "B1.119")
        }
    }

    @Test(
        "B1.117: cancelling a load stops reading a program's body that never ends",
        arguments: InterceptorTests.Call.allCases, [true, false])
    func endless(call: InterceptorTests.Call, isEmpty: Bool) async throws {
        /// Pieces without end, whether or not the load is cancelled.
        struct Endless: AsyncSequence, AsyncIteratorProtocol, Sendable {
            let piece: Data
            let asked: Signal
            func makeAsyncIterator() -> Endless { self }
            func next() async -> Data? {
                asked.fire()
                await Task.yield()
                return piece
            }
        }
        let asked = Signal()
        let endless = Endless(piece: isEmpty ? Data() : Data("x".utf8), asked: asked)
        let session = URLSession.intercepted([Intercepting.answering(Body(pieces: endless))])
        let url = try #require(URL(string: "http://nowhere.example/"))
        let task = Task { try await call.load(url, in: session) }
        await asked.wait(times: 20)
        task.cancel()
        let code = await codeThrown { _ = try await task.value }
        #expect(code == .cancelled)
    }

    // MARK: What is sent

    @Test("B1.118: an interceptor's second call sends data, and forms with files, again")
    func sentAgain() async throws {
        let file = try temporaryFile("photo")
        defer { try? FileManager.default.removeItem(at: file) }
        let lengths = Guarded<[Int]>([])
        try await withServer(router: { request in
            lengths.change { $0.append(request.body.count) }
            return .text("taken")
        }) { server in
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    _ = try await next(request)
                    return try await next(request)
                }
            ])
            var form = URLRequest.MultipartForm()
            try form.append(file: file, name: "photo")
            var request = URLRequest(url: try server.at())
            request.setMultipartForm(form)
            #expect(await Load(request, in: session).status == 200)
            #expect(await Load(URLRequest("POST", try server.at(), body: "text"), in: session).status == 200)
            #expect(lengths.value.count == 4 && lengths.value[0] == lengths.value[1])
            #expect(lengths.value[0] > 5 && lengths.value[2...] == [4, 4])
        }
    }

    @Test(
        "B1.118: a body stream is sent once; the interceptor gives another stream for a second call",
        arguments: [false, true])
    func streams(supplies: Bool) async throws {
        let bodies = Guarded<[String]>([])
        try await withServer(router: { request in
            bodies.change { $0.append(String(decoding: request.body, as: UTF8.self)) }
            return .text("again", status: 401)
        }) { server in
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    var request = request
                    let answer = try await next(request)
                    #expect(answer.statusCode == 401)
                    if supplies { request.httpBodyStream = InputStream(data: Data("second".utf8)) }
                    return try await next(request)
                }
            ])
            var request = URLRequest("POST", try server.at())
            request.httpBodyStream = InputStream(data: Data("first".utf8))
            let load = await Load(request, in: session)
            #expect(load.code == (supplies ? nil : .requestBodyStreamExhausted))
            #expect(load.error?.failingURL == (supplies ? nil : request.url))
            #expect(bodies.value == (supplies ? ["first", "second"] : ["first"]))
        }
    }

    @Test("B1.119: the task of the bytes is that of the last load in the chain")
    func task() async throws {
        try await withServer(router: { _ in .text("body") }) { server in
            let session = URLSession.intercepted([
                Intercepting { request, next in
                    _ = try await next(request)
                    return try await next(request)
                }
            ])
            let (bytes, response) = try await session.bytes(from: try server.at())
            #expect(bytes.task.response == response && bytes.task.taskIdentifier == 2)
        }
    }
}
