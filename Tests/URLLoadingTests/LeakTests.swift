// What must be gone when it is no longer needed (behaviour B1.13, B1.14, B1.97).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Leaks")
struct LeakTests {
    @Test(
        "B1.13, B1.97: session, task and delegates are released when the work is done", .timeLimit(.minutes(5)),
        arguments: ["delegate", "handler", "holding", "async", "cancelled", "unresumed"], [true, false])
    func everythingGoes(kind: String, invalidates: Bool) async throws {
        // A task that was never resumed keeps its session until this is ended, as on Apple's platforms.
        guard invalidates || kind != "unresumed" else { return }
        try await withServer(router: { _ in .text("hello") }) { server async throws in
            let watch = try await load(try server.at("/"), kind: kind, invalidates: invalidates)
            try await until { watch.isEmpty }
            await server.wait { $0.connectionsOpen == 0 }
        }
    }

    private func load(_ url: URL, kind: String, invalidates: Bool) async throws -> ReleaseWatch {
        let watch = ReleaseWatch()
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
        watch.session = session
        watch.delegate = delegate
        switch kind {
        case "handler":
            await withHandover { continuation in
                let task = session.dataTask(with: url) { _, _, _ in continuation.resume() }
                task.delegate = AsyncDelegate()
                watch.task = task
                task.resume()
            }
        case "holding":
            // As a program's object does that keeps its task, and is kept by the task's handler.
            let held = Guarded<URLSessionTask?>(nil)
            await withHandover { continuation in
                held.value = session.dataTask(with: url) { _, _, _ in
                    withExtendedLifetime(held) { continuation.resume() }
                }
                watch.task = held.value
                held.value?.resume()
            }
        case "async":
            _ = try await session.data(from: url, delegate: AsyncDelegate())
        default:
            let task = session.dataTask(with: url)
            _ = task.progress
            watch.task = task
            if kind != "unresumed" { task.resume() }
            if kind == "cancelled" { task.cancel() }
            if kind != "unresumed" { await delegate.transcript.completed.wait() }
        }
        if invalidates {
            session.invalidateAndCancel()
            await delegate.transcript.invalidated.wait()
        }
        return watch
    }

    @Test(
        "B1.21: a task that an ended session has made goes with its last reference, unless it is about to end",
        .timeLimit(.minutes(5)), arguments: ["unresumed", "resumed", "cancelled"])
    func ofEndedSession(kind: String) async throws {
        let session = URLSession(configuration: .ephemeral)
        session.invalidateAndCancel()
        let watch = try make(kind, of: session)
        if kind == "unresumed" { #expect(watch.isEmpty) } else { try await until { watch.isEmpty } }
    }

    private func make(_ kind: String, of session: URLSession) throws -> ReleaseWatch {
        let watch = ReleaseWatch()
        let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1:9/")))
        _ = task.progress
        watch.task = task
        switch kind {
        case "resumed": task.resume()
        case "cancelled": task.cancel()
        default: break
        }
        return watch
    }

    @Test(
        "B1.97: loads from FTP servers leave nothing behind", .timeLimit(.minutes(5)),
        arguments: ["delegate", "handler", "async", "cancelled"])
    func ftp(kind: String) async throws {
        let server = try FTPServer.start { $0.files = ["/hello": Array("hello".utf8)] }
        let url = try #require(URL(string: "ftp://127.0.0.1:\(server.port)/hello"))
        let watch = try await load(url, kind: kind, invalidates: true)
        try await until { watch.isEmpty }
    }

    @Test(
        "B1.97: a task that was asked for a password leaves nothing behind", .timeLimit(.minutes(5)),
        arguments: [true, false])
    func asked(isRight: Bool) async throws {
        try await withServer(router: door("r", isRight ? ["u": "p"] : [:])) { server async throws in
            let watch = try await ask(try server.at("/"))
            try await until { watch.isEmpty }
            await server.wait { $0.connectionsOpen == 0 }
        }
    }

    private func ask(_ url: URL) async throws -> ReleaseWatch {
        let (watch, delegate) = (ReleaseWatch(), AsyncGuest())
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        watch.session = session
        watch.delegate = delegate
        _ = try await session.visit(url)
        session.finishTasksAndInvalidate()
        return watch
    }

    @Test(
        "B1.97: web sockets leave nothing behind, however they end", .timeLimit(.minutes(5)),
        arguments: ["closed", "cancelled", "refused", "invalidated"])
    func webSocket(ending: String) async throws {
        try await withServer(router: { _ in ending == "refused" ? .status(404) : .webSocket() }) {
            server async throws in
            let watch = try await talk(try server.webSocket(), ending)
            try await until { watch.isEmpty }
            await server.wait { $0.connectionsOpen == 0 }
        }
    }

    private func talk(_ url: URL, _ ending: String) async throws -> ReleaseWatch {
        let (watch, delegate) = (ReleaseWatch(), WebSocketScribe())
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        watch.session = session
        watch.delegate = delegate
        let task = session.webSocketTask(with: url)
        watch.task = task
        task.resume()
        if ending != "refused" {
            try await task.send(.string("hello"))
            #expect(try await task.heard() == "hello")
            // This call waits for a message that never comes.
            task.receive { _ in }
        }
        switch ending {
        case "closed": task.cancel(with: .normalClosure, reason: nil)
        case "cancelled": task.cancel()
        case "invalidated": session.invalidateAndCancel()
        default: break
        }
        if ending != "invalidated" { session.finishTasksAndInvalidate() }
        await delegate.transcript.invalidated.wait()
        return watch
    }

    @Test(
        "B1.97, B10.40: background sessions leave nothing behind, nor do their helpers", .timeLimit(.minutes(5)),
        arguments: ["finished", "cancelled", "invalidated"], [true, false])
    func background(ending: String, helper: Bool) async throws {
        let folder = BackgroundFolder()
        let gate = ServerGate()
        if ending == "finished" { gate.open() }
        try await withServer(router: { _ in .slow([.init("hello", when: gate)]) }) { server async throws in
            let watch = try await transfer(server, folder.configuration(helper: helper), ending)
            try await until { watch.isEmpty }
            try await until { folder.helpers.isEmpty }
            await server.wait { $0.connectionsOpen == 0 }
        }
        #expect(folder.names.isEmpty)
    }

    private func transfer(
        _ server: LoopbackServer, _ configuration: URLSessionConfiguration, _ ending: String
    ) async throws -> ReleaseWatch {
        let (watch, delegate) = (ReleaseWatch(), BackgroundScribe())
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        watch.session = session
        watch.delegate = delegate
        let task = session.downloadTask(with: try server.at("/"))
        watch.task = task
        task.resume()
        await server.wait { $0.requests == 1 }
        switch ending {
        case "cancelled": task.cancel()
        case "invalidated": session.invalidateAndCancel()
        default: break
        }
        await delegate.ended.wait()
        if ending != "invalidated" { session.finishTasksAndInvalidate() }
        await delegate.transcript.invalidated.wait()
        return watch
    }
}
