// Body streams of data tasks (behaviour 5.3).

import Foundation
import LoopbackServer
import Testing
import URLLoading

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

    @Test("B5.37, B4.12: a data task's own stream comes first; a delegate is asked for the second sending only")
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

            // Nobody to ask.
            let alone = URLSession(configuration: .ephemeral)
            let request = request(try server.at("/from"), InputStream(data: Data("one".utf8)))
            #expect(await codeThrown { _ = try await alone.data(for: request) } == .requestBodyStreamExhausted)
            alone.invalidateAndCancel()
        }
    }

    @Test("B5.39: a stream that fails ends the task with −1021 over the stream's error")
    func failingStream() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let hand = StreamHand()
            let session = URLSession(configuration: .ephemeral)
            let failing = request(try server.at("/"), HandStream(hand))
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

    @Test("B6.1, B17.12: a stream that never has anything ends by the time-out, with the reason in the error")
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

    @Test("B1.41: cancelled in the middle of its body a task ends at once, and its stream is closed")
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
}
