// Body streams of data tasks (behaviour 5.3).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Body streams", .timeLimit(.minutes(5)))
struct BodyStreamTests {
    private func request(_ url: URL, _ stream: InputStream) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        request.httpBodyStream = stream
        return request
    }

    @Test("B5.28, B5.35: a stream is opened, sent as it is read, and closed")
    func openedAndClosed() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let hand = StreamHand()
            let delegate = UploadDelegate()
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: request(try server.at("/"), HandStream(hand))).resume()
            await hand.opened.wait()
            hand.supply(Array("first ".utf8))
            // The first part is at the server before there is a second one.
            await delegate.firstProgress.wait()
            hand.supply(Array("second".utf8))
            hand.end()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == "first second")
            await hand.closed.wait()
            #expect(hand.opened.count == 1)
            session.invalidateAndCancel()
        }
    }

    @Test("B5.28: a stream that lets itself be read only while it is open is sent to its end")
    func strictStream() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let session = URLSession(configuration: .ephemeral)
            let (body, _) = try await session.data(for: request(try server.at("/"), StrictStream("0123456789")))
            #expect(String(decoding: body, as: UTF8.self) == "0123456789")
            session.invalidateAndCancel()
        }
    }

    @Test("B5.35: a stream that was read before, or is being read by another task, is refused with −1021")
    func usedStreams() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let session = URLSession(configuration: .ephemeral)
            let stream = InputStream(data: Data("once".utf8))
            let request = request(try server.at("/"), stream)
            _ = try await session.data(for: request)
            #expect(await codeThrown { _ = try await session.data(for: request) } == .requestBodyStreamExhausted)

            let hand = StreamHand()
            let shared = self.request(try server.at("/"), HandStream(hand))
            async let first = session.data(for: shared)
            await hand.opened.wait()
            #expect(await codeThrown { _ = try await session.data(for: shared) } == .requestBodyStreamExhausted)
            hand.supply(Array("mine".utf8))
            hand.end()
            #expect(String(decoding: try await first.0, as: UTF8.self) == "mine")
            session.invalidateAndCancel()
        }
    }

    @Test("B5.37, B4.12: a data task sends the request's own stream first; for a second sending the delegate is asked")
    func secondSending() async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/to" ? .echo(request) : .status(308).adding("Location", "/to")
        }
        try await withServer(router: router) { server in
            let delegate = UploadDelegate(.stream { InputStream(data: Data("another".utf8)) })
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: request(try server.at("/from"), InputStream(data: Data("one".utf8)))).resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == [
                    "sent", "redirect 308", "stream", "sent", "response 200", "data", "complete nil",
                ])
            #expect(delegate.transcript.body == "another")
            session.invalidateAndCancel()

            // Without a delegate there is no other stream.
            let alone = URLSession(configuration: .ephemeral)
            let request = request(try server.at("/from"), InputStream(data: Data("one".utf8)))
            #expect(await codeThrown { _ = try await alone.data(for: request) } == .requestBodyStreamExhausted)
            alone.invalidateAndCancel()
        }
    }

    /// Leads from `/from` to `/to`, and tells there which length was announced, and which came.
    private static func leading(_ status: Int) -> LoopbackServer.Router {
        { request in
            request.path == "/to"
                ? .text("\(request.fields.first(.contentLength) ?? "none") \(request.body.count)")
                : .status(status).adding("Location", "/to")
        }
    }

    @Test(
        "B4.26, B5.28, B5.29: the length that was announced for a stream goes along with it, and is held to",
        arguments: [307, 308], [true, false])
    func lengthOverRedirect(status: Int, isUpload: Bool) async throws {
        try await withServer(router: Self.leading(status)) { server async throws in
            for (second, end) in [("two", "complete nil"), ("2", "complete -1021")] {
                let bodies = Guarded(isUpload ? ["one", second] : [second])
                let delegate = UploadDelegate(
                    .stream {
                        let next = bodies.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                        return next.map { InputStream(data: Data($0.utf8)) }
                    })
                let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
                var request = request(try server.at("/from"), InputStream(data: Data("one".utf8)))
                request.setValue("3", forHTTPHeaderField: "Content-Length")
                let task =
                    isUpload ? session.uploadTask(withStreamedRequest: request) : session.dataTask(with: request)
                task.resume()
                await delegate.transcript.completed.wait()
                #expect(delegate.transcript.calls.last == end)
                #expect(delegate.transcript.body == (second == "two" ? "3 3" : ""))
                #expect(task.countOfBytesExpectedToSend == 3)
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B4.26, B11.11: the length does not go along where a delegate gives the next request another stream")
    func lengthOfOtherStream() async throws {
        try await withServer(router: Self.leading(307)) { server async throws in
            let delegate = RecordingDelegate(onRedirect: { request, decide in
                var request = request
                #expect(request.value(forHTTPHeaderField: "Content-Length") == nil)
                request.httpBodyStream = InputStream(data: Data("longer".utf8))
                decide(request)
            })
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            var request = request(try server.at("/from"), InputStream(data: Data("one".utf8)))
            request.setValue("3", forHTTPHeaderField: "Content-Length")
            session.dataTask(with: request).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == "none 6")
            session.invalidateAndCancel()
        }
    }

    @Test("B5.37, B5.40: a stream of which nothing was read, as a redirect came in place of a 100, is sent behind it")
    func unreadStream() async throws {
        var options = LoopbackServer.Options()
        options.earlyRouter = { $0.path == "/from" ? .status(307).adding("Location", "/to") : nil }
        try await withServer(options, router: { .echo($0) }) { server async throws in
            let streams = UploadDelegate(.stream { InputStream(data: Data("supplied".utf8)) })
            let session = URLSession(configuration: .ephemeral, delegate: streams, delegateQueue: nil)
            let follower = ImpatientFollower()
            var request = request(try server.at("/from"), InputStream(data: Data("own".utf8)))
            request.setValue("100-continue", forHTTPHeaderField: "Expect")
            let task = session.uploadTask(withStreamedRequest: request)
            task.delegate = follower
            task.resume()
            await streams.transcript.completed.wait()
            #expect(streams.transcript.calls == ["stream", "sent", "response 200", "data", "complete nil"])
            #expect(streams.transcript.body == "supplied")

            let alone = URLSession(configuration: .ephemeral)
            let (own, _) = try await alone.data(for: request, delegate: follower)
            #expect(String(decoding: own, as: UTF8.self) == "own")
            let pieces = AsyncStream<Data> { pieces in
                pieces.yield(Data("a sequence".utf8))
                pieces.finish()
            }
            request.setAsyncBody(URLRequest.AsyncBody(pieces))
            let (sequence, _) = try await alone.data(for: request, delegate: follower)
            #expect(String(decoding: sequence, as: UTF8.self) == "a sequence")
            alone.invalidateAndCancel()
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B5.39: a stream that fails ends the task with −1021 over the stream's error, also where only its status says so",
        arguments: [-1, 0])
    func failingStream(count: Int) async throws {
        try await withServer(router: { .echo($0) }) { server in
            let hand = StreamHand()
            let session = URLSession(configuration: .ephemeral)
            let failing = request(try server.at("/"), HandStream(hand, failedCount: count))
            async let load = session.data(for: failing)
            await hand.opened.wait()
            hand.fail(CocoaError(.fileReadCorruptFile))
            do {
                _ = try await load
                Issue.record("the load succeeded")
            } catch {
                #expect((error as? URLError)?.code == .requestBodyStreamExhausted)
                let underlying = (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? CocoaError
                #expect(underlying?.code == .fileReadCorruptFile)
            }
            await hand.closed.wait()
            session.invalidateAndCancel()
        }
    }

    @Test("B6.1, B17.12: a load whose body stream never has bytes times out, and the error says why")
    func blockedStream() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let hand = StreamHand()
            let session = URLSession(configuration: .ephemeral)
            var request = request(try server.at("/"), HandStream(hand))
            request.timeoutInterval = 5
            let blocked = request
            do {
                _ = try await session.data(for: blocked)
                Issue.record("the load succeeded")
            } catch {
                #expect((error as? URLError)?.code == .timedOut)
                #expect("\(error.localizedDescription)".contains("more of the request's body"))
            }
            // Only now can its reader leave, and close it.
            hand.end()
            await hand.closed.wait()
            session.invalidateAndCancel()
        }
    }

    @Test("B1.41: a task that is cancelled in the middle of its body ends at once, and its stream is closed")
    func cancelledInTheMiddle() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let hand = StreamHand()
            let delegate = UploadDelegate()
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: request(try server.at("/"), HandStream(hand)))
            task.resume()
            hand.supply([1, 2, 3])
            await delegate.firstProgress.wait()
            task.cancel()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls == ["sent", "complete -999"])
            hand.end()
            await hand.closed.wait()
            session.invalidateAndCancel()
        }
    }

    @Test("B1.39: while a task is suspended nothing of its body is sent")
    func suspended() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let hand = StreamHand()
            let delegate = UploadDelegate()
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: request(try server.at("/"), HandStream(hand)))
            task.resume()
            hand.supply(Array("one ".utf8))
            await delegate.firstProgress.wait()
            task.suspend()
            // Another request of the session comes after the suspension on its loop.
            hand.supply(Array("two".utf8))
            hand.end()
            _ = try await session.data(from: try server.at("/other"))
            #expect(task.countOfBytesSent == 4)
            #expect(delegate.progress.value.map { $0[1] } == [4])
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == "one two")
            session.invalidateAndCancel()
        }
    }

    @Test("Any number of bound pairs may wait for their producers: no thread waits with them, and other bodies go out")
    func manyProducers() async throws {
        // More than there are threads for streams that block.
        let count = 80
        try await withServer(router: { .echo($0) }) { server in
            let delegate = FirstBytes()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = count + 1
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            var producers: [BoundProducer] = []
            for _ in 0..<count {
                let producer = try BoundProducer()
                producers.append(producer)
                session.dataTask(with: request(try server.at("/"), producer.input)).resume()
                producer.write("first ")
            }
            // Each has been read from, and what comes next is being waited for.
            await delegate.sent.wait(times: count)
            let other = try BoundProducer()
            other.write("alone")
            other.end()
            let (echo, _) = try await session.data(for: request(try server.at("/"), other.input))
            #expect(String(decoding: echo, as: UTF8.self) == "alone")
            for producer in producers {
                producer.write("second")
                producer.end()
            }
            await delegate.ended.wait(times: count)
            #expect(delegate.bodies == Array(repeating: "first second", count: count))
            session.invalidateAndCancel()
        }
    }

    @Test("A body that is written piece by piece through a narrow pair comes whole", arguments: [1, 7, 1000])
    func narrowPair(capacity: Int) async throws {
        let length = 300 * capacity
        try await withServer(router: { .echo($0) }) { server in
            let session = URLSession(configuration: .ephemeral)
            let producer = try BoundProducer(capacity: capacity)
            Thread.detachNewThread {
                var position = 0
                while position < length {
                    let piece = GeneratedBytes.bytes(min(3, length - position), from: Int64(position))
                    let written = producer.write(piece)
                    guard written > 0 else { break }
                    position += written
                }
                producer.end()
            }
            let (echo, _) = try await session.data(for: request(try server.at("/"), producer.input))
            #expect(firstDifference(echo, GeneratedBytes.bytes(length)) == nil)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.41, B6.1: a pair whose producer says nothing is closed when its task ends, and the producer learns of it")
    func silentProducer() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let delegate = FirstBytes()
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            let producer = try BoundProducer(capacity: 8)
            let task = session.dataTask(with: request(try server.at("/"), producer.input))
            task.resume()
            producer.write("first ")
            await delegate.sent.wait()
            task.cancel()
            await delegate.ended.wait()
            #expect((task.error as? URLError)?.code == .cancelled)
            // Writing fills the buffer until the stream is closed; a writer that waits for room is woken.
            while producer.write(Array("12345678".utf8)) > 0 {}
            #expect(producer.input.streamStatus == .closed)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B5.35: a pair that a load has not begun to read is closed when the load ends, and who writes into it learns of it",
        arguments: ["http", "nonsense"], ["PUT", "GET"])
    func neverBegun(scheme: String, method: String) async throws {
        let port = try ReservedPort()
        let session = URLSession(configuration: .ephemeral)
        let producer = try BoundProducer(capacity: 8)
        var request = request(try #require(URL(string: "\(scheme)://127.0.0.1:\(port.number)/")), producer.input)
        request.httpMethod = method
        let failing = request
        await #expect(throws: URLError.self) { try await session.data(for: failing) }
        // Without a reader's close the second write waits for ever.
        while producer.write(Array("12345678".utf8)) > 0 {}
        #expect(producer.input.streamStatus == .closed)
        session.invalidateAndCancel()
        port.keep()
    }

    @Test("B5.35: so is one of a task that is cancelled before it was begun, or whose load has a body of its own")
    func neverWanted() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let session = URLSession(configuration: .ephemeral)
            let (first, second) = (try BoundProducer(capacity: 8), try BoundProducer(capacity: 8))
            let task = session.dataTask(with: request(try server.at("/"), first.input))
            task.cancel()
            while first.write(Array("12345678".utf8)) > 0 {}
            #expect((task.error as? URLError)?.code == .cancelled)

            let (echo, _) = try await session.upload(
                for: request(try server.at("/"), second.input), from: Data("own".utf8))
            #expect(String(decoding: echo, as: UTF8.self) == "own")
            while second.write(Array("12345678".utf8)) > 0 {}
            session.invalidateAndCancel()
        }
    }

    @Test("B5.35, B1.112: so is one whose load an interceptor has answered itself")
    func answeredByInterceptor() async throws {
        let session = URLSession.intercepted([Intercepting.answering(.init(data: Data("mine".utf8)))])
        let producer = try BoundProducer(capacity: 8)
        let request = request(try #require(URL(string: "http://intercepted.test/")), producer.input)
        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "mine")
        while producer.write(Array("12345678".utf8)) > 0 {}
        session.invalidateAndCancel()
    }

    @Test("B5.35, B11.8: so is a pair that a delegate has supplied, in time or when the task was over")
    func suppliedInVain() async throws {
        let port = try ReservedPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let (first, second) = (try BoundProducer(capacity: 8), try BoundProducer(capacity: 8))
        let delegate = UploadDelegate(.stream { first.input })
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        session.uploadTask(withStreamedRequest: request).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["stream", "complete -1004"])
        while first.write(Array("12345678".utf8)) > 0 {}

        let late = LateStream()
        let other = URLSession(configuration: .ephemeral, delegate: late, delegateQueue: nil)
        let task = other.uploadTask(withStreamedRequest: request)
        task.resume()
        await late.asked.wait()
        task.cancel()
        await late.ended.wait()
        late.supply(second.input)
        while second.write(Array("12345678".utf8)) > 0 {}
        session.invalidateAndCancel()
        other.invalidateAndCancel()
        port.keep()
    }
}

/// Follows redirects without what their requests expect: no second goes by until the body is
/// sent. Has no stream to give.
private final class ImpatientFollower: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        var request = request
        request.setValue(nil, forHTTPHeaderField: "Expect")
        return request
    }
}

/// Supplies its stream when the test says so.
private final class LateStream: NSObject, URLSessionTaskDelegate {
    let asked = Signal()
    let ended = Signal()
    private let handler = Guarded<(@Sendable (InputStream?) -> Void)?>(nil)

    func supply(_ stream: InputStream) { handler.value?(stream) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        handler.change { $0 = completionHandler }
        asked.fire()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ended.fire()
    }
}

/// The program's end of a bound pair.
//
// `@unchecked Sendable`: both ends of the library's pairs keep their state behind Mutexes; Foundation's stream classes,
// their parents, are never Sendable.
private final class BoundProducer: @unchecked Sendable {
    let input: InputStream
    private let output: OutputStream

    init(capacity: Int = 64) throws {
        var (input, output): (InputStream?, OutputStream?) = (nil, nil)
        Stream.getBoundStreams(withBufferSize: capacity, inputStream: &input, outputStream: &output)
        self.input = try #require(input)
        self.output = try #require(output)
        self.output.open()
    }

    func write(_ text: String) { _ = write(Array(text.utf8)) }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Int { output.write(bytes, maxLength: bytes.count) }

    func end() { output.close() }
}

/// Hears when the first bytes of each body have been sent, and collects what comes back.
private final class FirstBytes: NSObject, URLSessionDataDelegate {
    let sent = Signal()
    let ended = Signal()
    private let state = Guarded<(begun: Set<Int>, bodies: [Int: Data])>(([], [:]))

    var bodies: [String] { state.withLock { $0.bodies.values.map { String(decoding: $0, as: UTF8.self) } } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        if state.withLock({ $0.begun.insert(task.taskIdentifier).inserted }) { sent.fire() }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.bodies[dataTask.taskIdentifier, default: Data()] += data }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ended.fire()
    }
}
