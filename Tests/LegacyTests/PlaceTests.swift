// Where a connection's delegate is called: run loops, modes, queues.

import Foundation
import Testing
import URLLoading
import URLLoadingLegacy
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Places of a connection's delegate", .timeLimit(.minutes(3)))
struct PlaceTests {
    private static let mode = RunLoop.Mode("legacy.test")

    /// Takes what is not Sendable to another thread.
    private struct Carried<Value>: @unchecked Sendable {
        // Safe to share: what is called of a connection or a run loop may be called from any thread.
        let value: Value
    }

    @Test("run(mode:before:) returns after messages, so that a program can wait for a flag of its own")
    @available(*, deprecated)
    func flag() async throws {
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let request = try server.request()
            let lines = await onRunLoop {
                let recorder = Recorder()
                let isOver = Guarded(false)
                recorder.hook = { word, _ in if word == "finish" { isOver.value = true } }
                // Something else in the mode keeps the loop from ending by itself.
                let keeper = Keeper()
                let connection = NSURLConnection(request: request, delegate: recorder)
                while !isOver.value { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
                keeper.leave()
                connection?.cancel()
                return recorder.notes
            }.lines
            #expect(lines.last == "finish")
        }
    }

    @Test("Messages come in the modes in which the connection is scheduled, and in no other")
    @available(*, deprecated)
    func modes() async throws {
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let request = try server.request()
            let (usual, own) = await onRunLoop { () -> ([String], [String]) in
                let recorder = Recorder()
                let connection = NSURLConnection(request: request, delegate: recorder, startImmediately: false)
                connection?.schedule(in: .current, forMode: Self.mode)
                connection?.schedule(in: .current, forMode: Self.mode)
                connection?.start()
                connection?.start()
                runLoop()
                let usual = recorder.notes.lines
                while RunLoop.current.run(mode: Self.mode, before: .distantFuture) {}
                return (usual, recorder.notes.lines)
            }
            #expect(usual.isEmpty)
            #expect(own == ["send /", "storage", "response 200", "data", "store", "finish"])
        }
    }

    @Test("Messages wait while the connection is scheduled nowhere")
    @available(*, deprecated)
    func unscheduling() async throws {
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let request = try server.request()
            let (before, after) = await onRunLoop { () -> ([String], [String]) in
                let recorder = Recorder()
                recorder.hook = { word, connection in
                    if word == "response" { connection.unschedule(from: .current, forMode: .default) }
                }
                let connection = NSURLConnection(request: request, delegate: recorder)
                runLoop()
                let before = recorder.notes.lines
                connection?.schedule(in: .current, forMode: .common)
                runLoop()
                return (before, recorder.notes.lines)
            }
            #expect(before == ["send /", "storage", "response 200"])
            #expect(after == before + ["data", "store", "finish"])
        }
    }

    @Test("A connection that is scheduled and never started leaves its mode when it is let go of")
    @available(*, deprecated)
    func neverStarted() async throws {
        let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
        let watch = Watch()
        // Returns when the mode is empty.
        await onRunLoop {
            let connection = NSURLConnection(request: request, delegate: Recorder(), startImmediately: false)
            connection?.schedule(in: .current, forMode: .default)
            watch.note(connection, nil)
        }
        #expect(watch.isEmpty)
    }

    @Test("A connection is told on the thread in whose run loop it is scheduled", arguments: [true, false])
    @available(*, deprecated)
    func anotherThread(isMain: Bool) async throws {
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let request = try server.request()
            let recorder = Recorder()
            let ended = DispatchSemaphore(value: 0)
            let isThere = Guarded(false)
            let thread = Guarded<ObjectIdentifier?>(nil)
            recorder.hook = { word, _ in
                guard word == "finish" else { return }
                isThere.value = thread.value == ObjectIdentifier(Thread.current)
                ended.signal()
            }
            // A thread that runs its loop for us.
            let started = DispatchSemaphore(value: 0)
            let loop = Guarded<Carried<RunLoop>?>(nil)
            let mayEnd = Guarded(false)
            let other = Thread {
                thread.value = ObjectIdentifier(Thread.current)
                loop.value = Carried(value: RunLoop.current)
                let keeper = Keeper()
                started.signal()
                while !mayEnd.value { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
                keeper.leave()
            }
            other.start()
            await onRunLoop {
                started.wait()
                guard let there = loop.value?.value else { return }
                let connection = NSURLConnection(request: request, delegate: recorder, startImmediately: false)
                connection?.schedule(in: there, forMode: .default)
                if isMain { connection?.schedule(in: .main, forMode: Self.mode) }
                connection?.start()
                ended.wait()
                mayEnd.value = true
                there._stop()
            }
            #expect(isThere.value)
            #expect(recorder.notes.lines == ["send /", "storage", "response 200", "data", "store", "finish"])
            #expect(!recorder.notes.overlapped.value)
        }
    }

    @Test("A queue takes the place of the run loop; calls do not overlap", arguments: [1, 8])
    @available(*, deprecated)
    func queue(width: Int) async throws {
        try await withServer(.alone(), router: { _ in .generated(length: 1 << 20) }) { server async throws in
            let request = try server.request()
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = width
            let recorder = Recorder()
            let ended = DispatchSemaphore(value: 0)
            let isThere = Guarded(true)
            recorder.hook = { word, _ in
                if OperationQueue.current !== queue { isThere.value = false }
                if word == "finish" { ended.signal() }
            }
            let watch = Watch()
            await onRunLoop {
                let connection = NSURLConnection(request: request, delegate: recorder)
                watch.note(connection, nil)
                connection?.setDelegateQueue(queue)
                ended.wait()
            }
            #expect(isThere.value)
            #expect(!recorder.notes.overlapped.value)
            #expect(recorder.notes.lines == ["send /", "storage", "response 200", "data", "store", "finish"])
            #expect(recorder.body.value.count == 1 << 20)
            try await until { watch.isEmpty }
        }
    }

    @Test(
        "A queue whose operations the program cancels, and one that takes the place of a suspended queue, deliver everything"
    )
    @available(*, deprecated)
    func lostOperations() async throws {
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let request = try server.request()
            for moves in [false, true] {
                let (recorder, ended) = (Recorder(), Signal())
                recorder.hook = { word, _ in if word == "finish" { ended.fire() } }
                let queue = OperationQueue()
                queue.maxConcurrentOperationCount = 1
                queue.isSuspended = true
                let connection = NSURLConnection(request: request, delegate: recorder, startImmediately: false)
                connection?.setDelegateQueue(queue)
                connection?.start()
                #expect(queue.operationCount == 1)
                if moves {
                    connection?.setDelegateQueue(OperationQueue())
                } else {
                    queue.cancelAllOperations()
                    queue.isSuspended = false
                }
                await ended.wait()
                #expect(recorder.notes.lines == ["send /", "storage", "response 200", "data", "store", "finish"])
                #expect(!recorder.notes.overlapped.value)
                queue.isSuspended = false
            }
        }
    }

    @Test("From the run loop to a queue and back, within callbacks")
    @available(*, deprecated)
    func moving() async throws {
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let request = try server.request()
            let recorder = Recorder()
            let queue = OperationQueue()
            let places = Guarded<[String]>([])
            let loop = Guarded<Carried<RunLoop>?>(nil)
            recorder.hook = { word, connection in
                let place = OperationQueue.current === queue ? "queue" : "loop"
                places.change { $0.append("\(word) \(place)") }
                if word == "storage" { connection.setDelegateQueue(queue) }
                if word == "response", let loop = loop.value?.value {
                    connection.setDelegateQueue(nil)
                    connection.schedule(in: loop, forMode: .default)
                }
            }
            await onRunLoop {
                loop.value = Carried(value: RunLoop.current)
                let keeper = Keeper()
                let connection = NSURLConnection(request: request, delegate: recorder)
                while recorder.notes.lines.last != "finish" {
                    _ = RunLoop.current.run(mode: .default, before: .distantFuture)
                }
                keeper.leave()
                withExtendedLifetime(connection) {}
            }
            #expect(
                places.value == [
                    "send loop", "storage loop", "response queue", "data loop", "store loop", "finish loop",
                ])
        }
    }

    @Test("A callback that runs its run loop hears what follows", arguments: ["send", "response", "data"])
    @available(*, deprecated)
    func nested(in place: String) async throws {
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let request = try server.request()
            let recorder = Recorder()
            recorder.hook = { [weak recorder] word, _ in
                guard word == place else { return }
                // The request itself waits for what this callback says.
                if place == "send" {
                    _ = RunLoop.current.run(mode: .default, before: Date())
                    return
                }
                while recorder?.notes.lines.last != "finish" {
                    _ = RunLoop.current.run(mode: .default, before: .distantFuture)
                }
            }
            await onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) }
            #expect(recorder.notes.lines.suffix(4) == ["response 200", "data", "store", "finish"])
        }
    }

    @Test("A command-line program on its main thread", arguments: ["flag", "run"])
    func program(mode: String) async throws {
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let ended = try await ChildRun.run(
                testProgram: "legacy", [mode, server.url()], changing: ["http_proxy": nil])
            #expect(ended.outputText == "hello true\n")
            #expect(ended.exitCode == 0)
        }
    }
}
