// Stream tasks in plain text: calls, ends, errors, limits (behaviour 15.4).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Stream tasks", .endsSessions, .timeLimit(.minutes(5)))
struct StreamTaskTests {
    private static let echo: @Sendable (RawConnection) throws -> Void = { peer in
        while true { try peer.send(peer.line() + "\r\n") }
    }

    @Test("B15.39, B1.106: a conversation, from the first resume to the end of both sides")
    func conversation() async throws {
        try await withRawServer { peer in
            try peer.send("hello \(peer.line())\r\n")
            try peer.send(peer.rest())
        } _: { server in
            let scribe = StreamScribe()
            let session = streamSession(scribe)
            let task = session.streamTask(withHostName: "127.0.0.1", port: server.port)
            #expect(task.originalRequest == nil && task.currentRequest == nil && task.state == .suspended)
            #expect(await session.allTasks == [task])
            let (data, uploads, downloads) = await session.tasks
            #expect(data.isEmpty && uploads.isEmpty && downloads.isEmpty)
            task.resume()
            try await task.say("you\r\n")
            #expect(try await task.line() == "hello you")
            try await task.say("more")
            task.closeWrite()
            #expect(try await task.rest() == Data("more".utf8))
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls == ["write closed", "read closed", "complete nil"])
            #expect(task.state == .completed && task.error == nil && task.response == nil)
            #expect(task.countOfBytesSent == 9 && task.countOfBytesReceived == 15)
            #expect(await session.allTasks.isEmpty)
            // B15.40: the end is there again and again.
            let (after, isAtEnd) = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
            #expect(after == Data() && isAtEnd)
        }
    }

    @Test("B15.43: handlers come on the delegate queue, those of reads and of writes each in order")
    func order() async throws {
        try await withRawServer(Self.echo) { server in
            let session = streamSession()
            let queue = session.delegateQueue
            let task = session.streamTask(withHostName: "127.0.0.1", port: server.port)
            let (reads, writes, done) = (Guarded<[String]>([]), Guarded<[Int]>([]), Signal())
            for number in 0..<20 {
                task.readData(ofMinLength: 4, maxLength: 4, timeout: 60) { data, _, error in
                    let place = OperationQueue.current === queue ? "" : " elsewhere"
                    reads.change { $0.append(String(decoding: data ?? Data(), as: UTF8.self) + place) }
                    done.fire()
                }
                task.write(Data("\(number + 10)\r\n".utf8), timeout: 60) { error in
                    if error == nil, OperationQueue.current === queue { writes.change { $0.append(number) } }
                    done.fire()
                }
            }
            #expect(reads.value.isEmpty, "nothing happens before the task is resumed")
            task.resume()
            await done.wait(times: 40)
            #expect(reads.value == (10..<30).map { "\($0)\r\n" })
            #expect(writes.value == Array(0..<20))
            task.cancel()
        }
    }

    @Test("B15.48: closeWrite ends the task's own side, and the peer's side goes on")
    func halfClose() async throws {
        let sent = pattern(3 << 20)
        try await withRawServer { peer in
            let received = try peer.rest()
            try peer.send(received)
        } _: { server in
            let scribe = StreamScribe()
            let task = streamSession(scribe).streamTask(withHostName: "127.0.0.1", port: server.port)
            task.resume()
            task.write(Data(sent), timeout: 0) { _ in }
            task.closeWrite()
            #expect(await task.writeError()?.code == Int(EPIPE), "nothing is written behind it")
            let received = try await task.rest()
            #expect(firstDifference(received, sent) == nil)
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls == ["write closed", "read closed", "complete nil"])
        }
    }

    @Test("B15.49, B17.55: closeRead ends reading, and writing goes on")
    func closeRead() async throws {
        let received = Guarded<[UInt8]>([])
        let sent = Signal()
        try await withRawServer { peer in
            _ = try peer.line()
            try peer.send(pattern(2 << 20))
            sent.fire()
            received.value = try peer.rest()
        } _: { server in
            let scribe = StreamScribe()
            let task = streamSession(scribe).streamTask(withHostName: "127.0.0.1", port: server.port)
            task.resume()
            task.closeRead()
            await scribe.closed.wait()
            let error = await task.readError()
            #expect(error?.domain == NSPOSIXErrorDomain && error?.code == Int(ENOTCONN))
            try await task.say("go\r\n")
            // What comes is read and dropped, or the peer could not send it all.
            await sent.wait()
            try await task.say("still there")
            task.closeWrite()
            await scribe.transcript.completed.wait()
            await server.ended()
            #expect(received.value == Array("still there".utf8))
            #expect(scribe.transcript.calls == ["read closed", "write closed", "complete nil"])
        }
    }

    @Test("B15.50: the peer's end is told also while no read waits, and what came before it can be read")
    func peerEnds() async throws {
        let heard = Guarded("")
        try await withRawServer { peer in
            try peer.send("last words")
            try peer.finish()
            heard.value = try peer.line()
        } _: { server in
            let scribe = StreamScribe()
            let task = streamSession(scribe).streamTask(withHostName: "127.0.0.1", port: server.port)
            task.resume()
            await scribe.closed.wait()
            #expect(scribe.transcript.calls == ["read closed"])
            #expect(try await task.rest() == Data("last words".utf8))
            try await task.say("heard\r\n")
            task.closeWrite()
            await scribe.transcript.completed.wait()
            await server.ended()
            #expect(heard.value == "heard")
        }
    }

    @Test("B15.42, B15.43: eight megabytes go both ways at once, as fast as the slower side takes them")
    func pressure() async throws {
        let sent = pattern(8 << 20)
        let received = Guarded<[UInt8]>([])
        try await withRawServer { peer in
            // Reads nothing before all has been taken from it.
            try peer.send(sent)
            try peer.finish()
            received.value = try peer.rest()
        } _: { server in
            let task = streamSession().streamTask(withHostName: "127.0.0.1", port: server.port)
            task.resume()
            async let writing: Void = task.write(Data(sent), timeout: 0)
            var all = Data()
            while true {
                let (data, isAtEnd) = try await task.readData(ofMinLength: 100_000, maxLength: 150_000, timeout: 0)
                all += data ?? Data()
                if isAtEnd { break }
            }
            try await writing
            task.closeWrite()
            await server.ended()
            #expect(firstDifference(all, sent) == nil)
            #expect(firstDifference(received.value, sent) == nil)
        }
    }

    @Test("B15.44: cancelling ends all calls that wait, in order, and then the task", arguments: [true, false])
    func cancelled(isResumed: Bool) async throws {
        try await withRawServer {
            try _ = $0.rest()
        } _: { server in
            let scribe = StreamScribe()
            let task = streamSession(scribe).streamTask(withHostName: "127.0.0.1", port: server.port)
            if isResumed {
                task.resume()
                try await task.say("there\r\n")
            }
            for number in 0..<3 {
                task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) { data, _, error in
                    scribe.transcript.note("read \(number) \(data == nil) \(Transcript.text(error))")
                }
            }
            task.cancel()
            await scribe.transcript.completed.wait()
            #expect(
                scribe.transcript.calls == [
                    "read 0 true -999", "read 1 true -999", "read 2 true -999", "complete -999",
                ])
            #expect(await task.readError()?.code == NSURLErrorCancelled)
            #expect(await task.writeError()?.code == NSURLErrorCancelled)
        }
    }

    @Test("B15.41, B6.12: a read that is not done in time fails, and all after it; writes go on")
    func timeout() async throws {
        let heard = Guarded("")
        try await withRawServer {
            heard.value = try $0.line()
        } _: { server in
            let scribe = StreamScribe()
            let task = streamSession(scribe).streamTask(withHostName: "127.0.0.1", port: server.port)
            task.resume()
            #expect(await task.readError(timeout: 0.05)?.code == NSURLErrorTimedOut)
            #expect(await task.readError()?.code == NSURLErrorTimedOut)
            try await task.say("still writing\r\n")
            task.closeWrite()
            await scribe.transcript.completed.wait()
            await server.ended()
            #expect(heard.value == "still writing" && (task.error as? URLError)?.code == .timedOut)
        }
    }

    @Test("B15.53: a stream without traffic is ended by the resource time-out only")
    func resourceTimeout() async throws {
        try await withRawServer {
            try _ = $0.rest()
        } _: { server in
            let scribe = StreamScribe()
            let session = streamSession(scribe) {
                $0.timeoutIntervalForRequest = 0.01
                $0.timeoutIntervalForResource = 0.3
            }
            let task = session.streamTask(withHostName: "127.0.0.1", port: server.port)
            task.resume()
            #expect(await task.readError(timeout: 0)?.code == NSURLErrorTimedOut)
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls == ["complete -1001"])
        }
    }

    @Test("B15.44: a connection that is reset fails all calls that wait")
    func reset() async throws {
        try await withRawServer {
            _ = try $0.line()
            $0.reset()
        } _: { server in
            let scribe = StreamScribe()
            let task = streamSession(scribe).streamTask(withHostName: "127.0.0.1", port: server.port)
            task.resume()
            try await task.say("now\r\n")
            #expect(await task.readError()?.code == NSURLErrorNetworkConnectionLost)
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls == ["complete -1005"])
        }
    }

    @Test("B15.44: at a port without a listener all calls fail, and the task with them")
    func refused() async {
        let scribe = StreamScribe()
        let task = streamSession(scribe).streamTask(withHostName: "127.0.0.1", port: 1)
        task.resume()
        #expect(await task.readError()?.code == NSURLErrorCannotConnectToHost)
        #expect(await task.writeError()?.code == NSURLErrorCannotConnectToHost)
        await scribe.transcript.completed.wait()
        #expect(scribe.transcript.calls == ["complete -1004"])
    }

    @Test(
        "An impossible host or port ends the task with -1000",
        arguments: [("", 80), ("127.0.0.1", 0), ("127.0.0.1", -1), ("127.0.0.1", 65_536), ("a b", 80), ("h", .max)])
    func impossible(host: String, port: Int) async {
        let scribe = StreamScribe()
        let task = streamSession(scribe).streamTask(withHostName: host, port: port)
        task.resume()
        #expect(await task.readError()?.code == NSURLErrorBadURL)
        await scribe.transcript.completed.wait()
        #expect(scribe.transcript.calls == ["complete -1000"])
    }

    @Test("Impossible lengths fail the call alone", arguments: [(-1, 5), (5, 4), (0, -1), (.min, .max)])
    func misuse(least: Int, most: Int) async throws {
        try await withRawServer(Self.echo) { server in
            let task = streamSession().streamTask(withHostName: "127.0.0.1", port: server.port)
            task.resume()
            do {
                _ = try await task.readData(ofMinLength: least, maxLength: most, timeout: 0)
                Issue.record("such a read must fail")
            } catch {
                #expect((error as NSError).code == Int(EINVAL))
            }
            try await task.say("fine\r\n")
            let (data, _) = try await task.readData(ofMinLength: 6, maxLength: .max, timeout: .infinity)
            #expect(data == Data("fine\r\n".utf8))
            task.cancel()
        }
    }

    @Test("B1.15, B1.16: an ending session waits for a stream, or cancels it", arguments: [true, false])
    func invalidation(cancels: Bool) async throws {
        try await withRawServer(Self.echo) { server in
            let scribe = StreamScribe()
            let session = streamSession(scribe)
            let task = session.streamTask(withHostName: "127.0.0.1", port: server.port)
            task.resume()
            if cancels {
                session.invalidateAndCancel()
                #expect(await task.readError()?.code == NSURLErrorCancelled)
            } else {
                session.finishTasksAndInvalidate()
                try await task.say("still\r\n")
                #expect(try await task.line() == "still")
                task.closeWrite()
                #expect(try await task.rest().isEmpty)
            }
            await scribe.transcript.invalidated.wait()
            let late = session.streamTask(withHostName: "127.0.0.1", port: server.port)
            late.resume()
            #expect(await late.readError()?.code == NSURLErrorCancelled)
        }
    }

    @Test("B16.3: a stream does not count against the limit per host")
    func uncounted() async throws {
        try await withServer(router: { .text($0.target) }) { server in
            let session = streamSession { $0.httpMaximumConnectionsPerHost = 1 }
            let task = session.streamTask(withHostName: "127.0.0.1", port: server.port)
            task.resume()
            try await task.say("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await task.line() == "HTTP/1.1 200 OK")
            #expect(try await session.visit(try server.at("/data")) == "200 /data")
            #expect(server.stats.connectionsOpen == 2)
            task.cancel()
        }
    }

    @Test("B15.47: TLS cannot be stopped, and a task without a session answers every call with an error")
    @available(*, deprecated)
    func mock() async {
        let task = URLSessionStreamTask()
        task.resume()
        task.startSecureConnection()
        task.stopSecureConnection()
        task.captureStreams()
        #expect(await task.readError()?.code == NSURLErrorUnsupportedURL)
        #expect(await task.writeError()?.code == NSURLErrorUnsupportedURL)
    }
}
