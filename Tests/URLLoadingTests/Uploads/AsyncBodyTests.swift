// Bodies of requests that are made while they are sent: what the server gets and when, when it gets it again, and how a
// sequence learns that no more is wanted.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Asynchronous bodies", .timeLimit(.minutes(5)))
struct AsyncBodyTests {
    typealias AsyncBody = URLRequest.AsyncBody

    static let protocols: [ServerHTTP2] = [.off, .required]

    /// The protocol, how the body was framed, and the body.
    private static func mirror(_ request: ServerRequest) -> ServerResponse {
        let length = request.fields.first(.contentLength) ?? request.fields.first(.transferEncoding) ?? "none"
        return .text("\(request.method) \(length) \(String(decoding: request.body, as: UTF8.self))")
    }

    private static func text(_ request: URLRequest, in session: URLSession) async throws -> String {
        String(decoding: try await session.data(for: request).0, as: UTF8.self)
    }

    private static func pieces(_ texts: String...) -> Elements<Data> { Elements(texts.map { Data($0.utf8) }) }

    private static var atOnce: URLSession.RetryPolicy {
        var policy = URLSession.RetryPolicy(maximumRetries: 1)
        policy.firstPause = 0
        return policy
    }

    // MARK: Elements

    @Test(
        "B5.96: data, arrays and single bytes are sent, in chunks or with the length that is known",
        arguments: protocols)
    func elements(use: ServerHTTP2) async throws {
        try await withHTTP2Session(use, router: Self.mirror) { server, session in
            let unknown = use.use == .off ? "chunked" : "none"
            func sent(_ body: AsyncBody) async throws -> String {
                var request = URLRequest(url: try server.at())
                request.setAsyncBody(body)
                return try await Self.text(request, in: session)
            }
            #expect(try await sent(AsyncBody(Self.pieces("one ", "", "two"))) == "POST \(unknown) one two")
            let arrays = Elements([Array("arr".utf8), Array("ay".utf8)])
            #expect(try await sent(AsyncBody(arrays, contentLength: 5)) == "POST 5 array")
            #expect(try await sent(AsyncBody(Elements(Array("bytes".utf8)))) == "POST \(unknown) bytes")
            #expect(try await sent(AsyncBody(Elements<Data>([]))) == "POST \(unknown) ")
            #expect(try await sent(AsyncBody(Elements<Data>([]), contentLength: -3)) == "POST 0 ")

            let large = [UInt8](repeating: 0x61, count: 1_000_000)
            let answer = try await sent(AsyncBody(Elements([large])))
            #expect(answer.utf8.count == "POST \(unknown) ".utf8.count + large.count)
        }
    }

    @Test(
        "B5.96, B11.4: upload(for:from:) is an upload task, and the request's own body does not count",
        arguments: protocols)
    func upload(use: ServerHTTP2) async throws {
        try await withHTTP2Session(use, router: { .echo($0) }) { server, session in
            var request = URLRequest(url: try server.at())
            request.httpMethod = "PUT"
            request.httpBody = Data("other".utf8)
            let watcher = TaskWatcher()
            let (data, _) = try await session.upload(for: request, from: Self.pieces("a", "b"), delegate: watcher)
            #expect(data == Data("ab".utf8))
            #expect(watcher.isUpload.value == true)
        }
    }

    @Test("B5.96, B5.29: a body that is shorter or longer than announced fails the load", arguments: protocols)
    func wrongLength(use: ServerHTTP2) async throws {
        try await withHTTP2Session(use, router: Self.mirror) { server, session in
            for (length, code): (Int64, URLError.Code) in [
                (2, .dataLengthExceedsMaximum), (4, .requestBodyStreamExhausted),
            ] {
                var request = URLRequest(url: try server.at())
                request.setAsyncBody(AsyncBody(contentLength: length) { Self.pieces("abc") })
                #expect(await codeThrown { _ = try await session.data(for: request) } == code)
            }
            #expect(try await Self.text(URLRequest(url: try server.at()), in: session) == "GET none ")
        }
    }

    @Test(
        "B5.96, B5.29: a body that is as long as announced is whole, though its sequence has not ended",
        arguments: protocols)
    func unfinishedSequence(use: ServerHTTP2) async throws {
        try await withHTTP2Session(use, router: Self.mirror) { server, session in
            let (sequence, continuation) = AsyncStream.makeStream(of: Data.self)
            continuation.yield(Data("abc".utf8))
            var request = URLRequest(url: try server.at())
            request.setAsyncBody(AsyncBody(sequence, contentLength: 3))
            #expect(try await Self.text(request, in: session) == "POST 3 abc")
            continuation.finish()
        }
    }

    @Test(
        "B5.96, B5.29: where an element ends at the announced length the sequence is asked for no more, though it has more",
        arguments: protocols)
    func surplus(use: ServerHTTP2) async throws {
        try await withHTTP2Session(use, router: Self.mirror) { server, session in
            let asked = Guarded(0)
            let elements = Elements(["ab", "c", "d", "e"].map { Data($0.utf8) }) { asked.change { $0 += 1 } }
            var request = URLRequest(url: try server.at())
            request.setAsyncBody(AsyncBody(elements, contentLength: 3))
            #expect(try await Self.text(request, in: session) == "POST 3 abc")
            #expect(asked.value == 2)
        }
    }

    @Test("B5.96: a reader of the stream gets what lies behind the announced length, if it asks")
    func surplusByHand() throws {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.setAsyncBody(AsyncBody(Self.pieces("ab", "c", "d", "", "e"), contentLength: 3))
        let stream = try #require(request.httpBodyStream)
        stream.open()
        #expect((1...4).map { _ in Self.read(stream, 100) } == [3, 1, 1, 0])
    }

    @Test("B5.96: a mock and a reader of the stream get the whole body")
    func otherReaders() async throws {
        var request = URLRequest(url: try #require(URL(string: "https://mocked.test/")))
        request.setAsyncBody(AsyncBody { Self.pieces("mo", "ck") })
        let mock = URLSession.Mock()
        mock.stub(where: { _ in true }, .answering { .text(String(decoding: $0.httpBody ?? Data(), as: UTF8.self)) })
        let session = mock.session()
        #expect(try await Self.text(request, in: session) == "mock")
        session.invalidateAndCancel()
    }

    // MARK: Again

    @Test(
        "B5.97: a body that is made by a closure is made again after a redirect and by a retry policy",
        arguments: protocols)
    func again(use: ServerHTTP2) async throws {
        let tries = Guarded(0)
        let router: LoopbackServer.Router = { request in
            switch request.path {
            case "/from": return .status(308).adding("Location", "/to")
            case "/busy":
                tries.change { $0 += 1 }
                return tries.value == 1 ? .status(503) : .echo(request)
            default: return .echo(request)
            }
        }
        try await withHTTP2Session(use, router: router) { server, session in
            let made = Guarded(0)
            let body = AsyncBody {
                made.change { $0 += 1 }
                return Self.pieces("again ", "and again")
            }
            var request = URLRequest(url: try server.at("/from"))
            request.setAsyncBody(body)
            #expect(try await Self.text(request, in: session) == "again and again")
            #expect(made.value == 2)

            request.url = try server.at("/busy")
            request.httpMethod = "PUT"
            request.retryPolicy = Self.atOnce
            #expect(try await Self.text(request, in: session) == "again and again")
            #expect(made.value == 4 && tries.value == 2)
        }
    }

    @Test(
        "B5.97: a sequence is read once; for a second sending a delegate is asked, and without one the load fails",
        arguments: protocols)
    func once(use: ServerHTTP2) async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/from" ? .status(308).adding("Location", "/to") : .echo(request)
        }
        try await withHTTP2Session(use, router: router) { server, session in
            var request = URLRequest(url: try server.at("/from"))
            request.setAsyncBody(AsyncBody(Self.pieces("once")))
            let alone = request
            #expect(await codeThrown { _ = try await session.data(for: alone) } == .requestBodyStreamExhausted)

            let delegate = UploadDelegate(.stream { InputStream(data: Data("another".utf8)) })
            let (data, _) = try await session.upload(for: request, from: Self.pieces("one"), delegate: delegate)
            #expect(data == Data("another".utf8))

            request.url = try server.at("/to")
            request.setAsyncBody(AsyncBody(Self.pieces("mine")))
            let shared = request
            #expect(try await Self.text(shared, in: session) == "mine")
            let error = await #expect(throws: URLError.self) { try await session.data(for: shared) }
            #expect(error?.code == .requestBodyStreamExhausted)
            #expect(error?.localizedDescription.contains("has been used before") == true)
        }
    }

    // MARK: Demand

    @Test("B5.98: a sequence is read no further than is wanted, and elements that come at once are one piece")
    func demand() throws {
        let asked = Guarded(0)
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        let element = [UInt8](repeating: 1, count: 16 * 1024)
        request.setAsyncBody(AsyncBody(Elements(Array(repeating: element, count: 20)) { asked.change { $0 += 1 } }))
        let stream = try #require(request.httpBodyStream)
        stream.open()
        #expect(asked.value == 0)
        #expect(Self.read(stream, 10) == 10)
        #expect(asked.value == 4, "64 KiB, and then no more is asked for")
        #expect(Self.read(stream, 1 << 20) == 64 * 1024 - 10)
        #expect(asked.value == 4)
        #expect(Self.read(stream, 1 << 20) == 64 * 1024)
        #expect(asked.value == 8)
        stream.close()
        #expect(Self.read(stream, 10) == -1)

        request.setAsyncBody(AsyncBody(Self.pieces("a", "b", "c")))
        let short = try #require(request.httpBodyStream)
        short.open()
        #expect(Self.read(short, 10) == 3)
        #expect(Self.read(short, 10) == 0 && short.streamStatus == .atEnd)
    }

    @Test("B5.98: a large element is sent in parts, small ones together, and one that is alone does not wait for more")
    func pieces() throws {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.setAsyncBody(AsyncBody(Elements([[UInt8](repeating: 2, count: 200_000)])))
        let stream = try #require(request.httpBodyStream)
        stream.open()
        var counts: [Int] = []
        while let count = Optional(Self.read(stream, 1 << 20)), count > 0 { counts.append(count) }
        #expect(counts == [65_536, 65_536, 65_536, 3_392])

        let bytes = (0..<150_000).map { UInt8(truncatingIfNeeded: $0) }
        request.setAsyncBody(AsyncBody(Elements(bytes)))
        let single = try #require(request.httpBodyStream)
        single.open()
        var whole: [UInt8] = []
        for expected in [65_536, 65_536, 18_928, 0] {
            let piece = [UInt8](unsafeUninitializedCapacity: 1 << 17) { buffer, count in
                count = max(buffer.baseAddress.map { single.read($0, maxLength: buffer.count) } ?? -1, 0)
            }
            #expect(piece.count == expected)
            whole += piece
        }
        #expect(whole == bytes)

        let (sequence, continuation) = AsyncStream.makeStream(of: Data.self)
        request.setAsyncBody(AsyncBody(sequence))
        let slow = try #require(request.httpBodyStream)
        slow.open()
        continuation.yield(Data("early".utf8))
        #expect(Self.read(slow, 100) == 5)
        continuation.yield(Data("late".utf8))
        continuation.finish()
        #expect(Self.read(slow, 100) == 4)
        #expect(Self.read(slow, 100) == 0)
    }

    private static func read(_ stream: InputStream, _ count: Int) -> Int {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { buffer in
            buffer.baseAddress.map { stream.read($0, maxLength: count) } ?? -1
        }
    }

    @Test("B5.98: a sequence that waits to be asked for more hears that it is given up")
    func givenUpBetweenElements() async throws {
        let url = try #require(URL(string: "http://users.example/"))
        for _ in 0..<20 {
            let (sequence, continuation) = AsyncStream.makeStream(of: Data.self)
            let ended = Signal()
            continuation.onTermination = { if case .cancelled = $0 { ended.fire() } }
            var request = URLRequest(url: url)
            request.setAsyncBody(AsyncBody(sequence))
            let stream = try #require(request.httpBodyStream)
            stream.open()
            // So many are a piece: no more is asked for before they have been read.
            continuation.yield(Data(count: 65_536))
            #expect(Self.read(stream, 100) == 100)
            stream.close()
            // The request holds the sequence all the while.
            await ended.wait()
            #expect(request.httpBodyStream != nil)
        }
    }

    /// Gives pieces without end, whatever it hears, and says when its iterator has gone.
    private struct Stubborn: AsyncSequence, Sendable {
        let asked = Guarded(0)
        let gone = Signal()

        func makeAsyncIterator() -> Iterator { Iterator(asked: asked, end: End(gone: gone)) }

        struct Iterator: AsyncIteratorProtocol {
            let asked: Guarded<Int>
            let end: End

            mutating func next() async -> Data? {
                asked.withLock { $0 += 1 }
                return Data(count: 65_536)
            }
        }

        final class End: Sendable {
            let gone: Signal
            init(gone: Signal) { self.gone = gone }
            deinit { gone.fire() }
        }
    }

    @Test("B5.98: a sequence that goes on all the same is asked once more, and not where it was made for one sending")
    func asksInVain() async throws {
        let url = try #require(URL(string: "http://users.example/"))
        for (isRenewable, length) in [(false, nil), (true, nil), (false, 65_536)] as [(Bool, Int64?)] {
            let sequence = Stubborn()
            var request = URLRequest(url: url)
            request.setAsyncBody(
                isRenewable
                    ? AsyncBody(contentLength: length) { sequence } : AsyncBody(sequence, contentLength: length))
            let stream = try #require(request.httpBodyStream)
            stream.open()
            #expect(Self.read(stream, 100) == 100)
            stream.close()
            await sequence.gone.wait()
            let isAskedAgain = !isRenewable && length == nil
            #expect(sequence.asked.withLock { $0 } == (isAskedAgain ? 2 : 1), "\(isRenewable), \(length ?? -1)")
        }
    }

    @Test("B5.98: a load of a mock that is cancelled gives its sequence up")
    func cancelledMock() async throws {
        let mock = URLSession.Mock()
        let url = try #require(URL(string: "http://users.example/"))
        mock.stub(url, .text("never"))
        let (sequence, continuation) = AsyncStream.makeStream(of: Data.self)
        let (asked, ended) = (Signal(), Signal())
        continuation.onTermination = { _ in ended.fire() }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setAsyncBody(
            AsyncBody(
                sequence.map { data in
                    asked.fire()
                    return data
                }))
        let task = mock.session().dataTask(with: request)
        task.resume()
        continuation.yield(Data("first".utf8))
        await asked.wait()
        task.cancel()
        await ended.wait()
    }

    @Test("B5.98: a sequence that throws fails the load, with its error underneath", arguments: protocols)
    func failingSequence(use: ServerHTTP2) async throws {
        try await withHTTP2Session(use, router: Self.mirror) { server, session in
            var request = URLRequest(url: try server.at())
            request.setAsyncBody(
                AsyncBody(
                    AsyncThrowingStream(Data.self) { continuation in
                        continuation.yield(Data("some".utf8))
                        continuation.finish(throwing: Trouble())
                    }))
            let failing = request
            let error = await #expect(throws: URLError.self) { try await session.data(for: failing) }
            #expect(error?.code == .requestBodyStreamExhausted)
            #expect(error?.userInfo[NSUnderlyingErrorKey] is Trouble)
        }
    }

    @Test(
        "B5.98: the task that reads a sequence is cancelled with the load, and by an answer that wants no more",
        arguments: protocols)
    func cancelled(use: ServerHTTP2) async throws {
        let early: @Sendable (ServerRequest) -> ServerResponse? = { $0.path == "/refused" ? .status(413) : nil }
        try await withHTTP2Session(use, server: { $0.earlyRouter = early }, router: Self.mirror) { server, session in
            for path in ["/refused", "/cancelled"] {
                let (sequence, continuation) = AsyncStream.makeStream(of: Data.self)
                let ended = Signal()
                continuation.onTermination = { if case .cancelled = $0 { ended.fire() } }
                continuation.yield(Data("some".utf8))
                var request = URLRequest(url: try server.at(path))
                request.httpMethod = "POST"
                let url = request
                let load = Task { try await session.upload(for: url, from: sequence) }
                if path == "/cancelled" {
                    await server.wait { $0.requestsBegun == 2 }
                    load.cancel()
                    #expect(await codeThrown { _ = try await load.value } == .cancelled)
                } else {
                    let (_, response) = try await load.value
                    #expect((response as? HTTPURLResponse)?.statusCode == 413)
                }
                await ended.wait()
            }
        }
    }

    @Test("B5.98: what a sequence does when it is cancelled may wait for another load", arguments: protocols)
    func slowCancellation(use: ServerHTTP2) async throws {
        let (isRead, isCancelled) = (Signal(), Signal())
        let isFree = DispatchSemaphore(value: 0)
        let sequence = AsyncStream<Data>(unfolding: {
            await withTaskCancellationHandler { () async -> Data? in
                isRead.fire()
                await isCancelled.wait()
                return nil
            } onCancel: {
                isFree.wait()
                isCancelled.fire()
            }
        })
        try await withHTTP2Session(use, router: Self.mirror) { server, session in
            var request = URLRequest(url: try server.at())
            request.httpMethod = "POST"
            let post = request
            let load = Task { try await session.upload(for: post, from: sequence) }
            await isRead.wait()
            load.cancel()
            #expect(await codeThrown { _ = try await load.value } == .cancelled)
            _ = try await session.data(from: server.at())
            isFree.signal()
            await isCancelled.wait()
        }
    }

    // MARK: Both directions at once

    @Test("B5.100: the response is read while the body is still being sent", arguments: protocols)
    func duplex(use: ServerHTTP2) async throws {
        let gate = ServerGate()
        let early: @Sendable (ServerRequest) -> ServerResponse? = { _ in
            var response = ServerResponse.status(200)
            response.body = .pieces([.init("first "), .init("second", when: gate)])
            response.framing = .chunked
            return response
        }
        try await withHTTP2Session(use, server: { $0.earlyRouter = early }, router: Self.mirror) { server, session in
            let (sequence, continuation) = AsyncStream.makeStream(of: Data.self)
            continuation.yield(Data("question".utf8))
            var request = URLRequest(url: try server.at())
            request.setAsyncBody(AsyncBody(sequence))
            let (bytes, response) = try await session.bytes(for: request)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            var iterator = bytes.chunks.makeAsyncIterator()
            #expect(try await iterator.next() == Data("first ".utf8))
            #expect(server.stats.requests == 0, "the body is not whole")
            continuation.yield(Data("another question".utf8))
            continuation.finish()
            await server.wait { $0.requests == 1 }
            gate.open()
            #expect(try await iterator.next() == Data("second".utf8))
            #expect(try await iterator.next() == nil)
        }
    }

    // MARK: Trailers

    private static func trailers(_ request: ServerRequest) -> ServerResponse {
        let trailers = (0..<request.trailers.count).map {
            "\(request.trailers.name(at: $0).lowercased())=\(request.trailers.value(at: $0))"
        }
        let announced = request.fields.first(.trailer) ?? "none"
        let length = request.fields.first(.contentLength) ?? "unknown"
        return .text("\(String(decoding: request.body, as: UTF8.self)) \(announced) \(length) \(trailers)")
    }

    @Test("B5.99: trailer fields are announced and sent behind a body without a length", arguments: protocols)
    func sentTrailers(use: ServerHTTP2) async throws {
        try await withHTTP2Session(use, router: Self.trailers) { server, session in
            func sent(_ names: [String], _ values: [String: String]) async throws -> String {
                var body = AsyncBody(contentLength: 4) { Self.pieces("bo", "dy") }
                try body.setTrailers(named: names) { values }
                var request = URLRequest(url: try server.at())
                request.setValue("4", forHTTPHeaderField: "Content-Length")
                request.setAsyncBody(body)
                return try await Self.text(request, in: session)
            }
            let both = try await sent(["X-Sum", "X-Count"], ["x-sum": "11", "X-Count": "4"])
            #expect(both == #"body X-Sum, X-Count unknown ["x-count=4", "x-sum=11"]"#)
            let leftOut = try await sent(["X-Sum"], [:])
            #expect(leftOut == "body X-Sum unknown []")
            let none = try await sent([], ["ignored": "1"])
            #expect(none == "body none 4 []")
        }
    }

    @Test(
        "B5.99: a field that may not be a trailer is refused, at the latest when it would be sent",
        arguments: protocols)
    func refusedTrailers(use: ServerHTTP2) async throws {
        var body = AsyncBody(Self.pieces("body"))
        for name in [
            "Content-Length", "authorization", "Transfer-Encoding", "Host", "TE", "Cookie", "", "a b", ":path",
        ] {
            let error = #expect(throws: AsyncBody.TrailerError.self) { try body.setTrailers(named: [name]) { [:] } }
            #expect(error == AsyncBody.TrailerError(name: name, problem: .notAllowed))
        }
        try await withHTTP2Session(use, router: Self.trailers) { server, session in
            func failure(_ make: @escaping @Sendable () throws -> [String: String]) async throws -> (any Error)? {
                var body = AsyncBody { Self.pieces("body") }
                try body.setTrailers(named: ["X-Sum"], make)
                var request = URLRequest(url: try server.at())
                request.setAsyncBody(body)
                let failing = request
                let error = await #expect(throws: URLError.self) { try await session.data(for: failing) }
                #expect(error?.code == .requestBodyStreamExhausted)
                return error?.userInfo[NSUnderlyingErrorKey] as? any Error
            }
            let other = try await failure { ["Other": "1"] } as? AsyncBody.TrailerError
            #expect(other == AsyncBody.TrailerError(name: "Other", problem: .notAnnounced))
            let split = try await failure { ["X-Sum": "1\r\nX-Other: 2"] } as? AsyncBody.TrailerError
            #expect(split == AsyncBody.TrailerError(name: "X-Sum", problem: .malformedValue))
            let trouble = try await failure { throw Trouble() }
            #expect(trouble is Trouble)
        }
    }

    @Test(
        "B16.46, H4.4: a response's trailers are there when the body has ended, apart from the fields of its head",
        arguments: protocols)
    func receivedTrailers(use: ServerHTTP2) async throws {
        let gate = ServerGate()
        let router: LoopbackServer.Router = { request in
            var response = ServerResponse.status(200)
            response.body = .pieces([.init("a"), .init("b", when: request.path == "/slow" ? gate : nil)])
            guard request.path != "/none" else { return response }
            return response.addingTrailer("X-Sum", "1").addingTrailer("etag", "2").addingTrailer("X-Sum", "3")
        }
        try await withHTTP2Session(use, router: router) { server, session in
            let (data, response) = try await session.data(from: server.at())
            let answer = try #require(response as? HTTPURLResponse)
            #expect(data == Data("ab".utf8))
            #expect(answer.value(forHTTPTrailerField: "x-SUM") == "1, 3")
            #expect(answer.trailerFields["Etag"] == "2" && answer.trailerFields.count == 2)
            #expect(answer.value(forHTTPHeaderField: "X-Sum") == nil)

            let (bytes, slow) = try await session.bytes(from: server.at("/slow"))
            let slowAnswer = try #require(slow as? HTTPURLResponse)
            var iterator = bytes.makeAsyncIterator()
            #expect(try await iterator.next() == 0x61)
            #expect(slowAnswer.trailerFields.isEmpty)
            gate.open()
            #expect(try await iterator.next() == 0x62)
            #expect(try await iterator.next() == nil)
            #expect(slowAnswer.value(forHTTPTrailerField: "X-Sum") == "1, 3")

            let none = try await session.data(from: server.at("/none")).1 as? HTTPURLResponse
            #expect(none?.trailerFields == [:] && none?.value(forHTTPTrailerField: "X-Sum") == nil)
        }
    }

    @Test(
        "B5.101, B5.13: TE: trailers is sent where the program accepts trailers, also after a redirect",
        arguments: protocols)
    func wantsTrailers(use: ServerHTTP2) async throws {
        let router: LoopbackServer.Router = { request in
            if request.path == "/from" { return .status(302).adding("Location", "/") }
            let fields = request.fields
            return .text("\(fields.combined(.te) ?? "none"), \(fields.combined(.connection) ?? "none")")
        }
        try await withHTTP2Session(use, router: router) { server, session in
            let isHTTP1 = use.use == .off
            var request = URLRequest(url: try server.at("/from"))
            request.setValue("trailers", forHTTPHeaderField: "TE")
            #expect(try await Self.text(request, in: session) == (isHTTP1 ? "none, keep-alive" : "none, none"))
            request.acceptsTrailers = true
            let asked = isHTTP1 ? "trailers, keep-alive, TE" : "trailers, none"
            #expect(try await Self.text(request, in: session) == asked)
            request.url = try server.at()
            #expect(try await Self.text(request, in: session) == asked)
        }
    }
}

private struct Trouble: Error {}

/// Elements that come without waiting.
private struct Elements<Element: Sendable>: AsyncSequence, Sendable {
    private let elements: [Element]
    private let willGive: @Sendable () -> Void

    init(_ elements: [Element], willGive: @escaping @Sendable () -> Void = {}) {
        self.elements = elements
        self.willGive = willGive
    }

    func makeAsyncIterator() -> Iterator { Iterator(rest: elements[...], willGive: willGive) }

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Element>
        let willGive: @Sendable () -> Void

        mutating func next() async -> Element? {
            guard let first = rest.popFirst() else { return nil }
            willGive()
            return first
        }
    }
}

/// Notes which kind of task was made.
private final class TaskWatcher: NSObject, URLSessionTaskDelegate {
    let isUpload = Guarded<Bool?>(nil)

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        isUpload.value = task is URLSessionUploadTask
    }
}
