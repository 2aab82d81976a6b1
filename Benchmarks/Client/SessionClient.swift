// The client that is measured. It knows the URL Loading System's API and nothing else, so the same source with another
// import line is also FoundationNetworking's client: it is compiled with FOUNDATION_NETWORKING there.

import Foundation
import Synchronization

#if FOUNDATION_NETWORKING
    import FoundationNetworking
#else
    import URLLoading
#endif

/// A session, or several, and the workers that keep them busy.
final class SessionClient: Sendable {
    #if FOUNDATION_NETWORKING
        static let name = "FoundationNetworking"
    #else
        static let name = "URLLoading"
    #endif

    private let options: ClientOptions
    private let urls: [URL]
    private let sessions: [URLSession]
    private let workers: DelegateWorkers?

    init(_ options: ClientOptions, urls: [URL]) {
        self.options = options
        self.urls = urls
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = options.connections
        // Under valgrind a request among thousands waits longer than a minute.
        configuration.timeoutIntervalForRequest = 3_600
        // The cache is what is measured, or it is not there; no other client has one.
        let isCached = options.interface == .cached
        configuration.urlCache = nil
        #if !FOUNDATION_NETWORKING
            if isCached { configuration.urlCache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0) }
        #endif
        if isCached { configuration.requestCachePolicy = .returnCacheDataElseLoad }
        #if FOUNDATION_NETWORKING
            // Nor are cookies.
            configuration.httpShouldSetCookies = false
            if options.wantsHTTP2 { Console.unsupported("HTTP/2 by choice") }
        #else
            configuration.http2 = options.wantsHTTP2 ? .offered : .off
            if options.wantsHTTP2 { configuration.httpMaximumConnectionsPerHost = 1 }
        #endif
        options.addition?.apply(to: configuration)
        // A delegate that is not needed would be told of every request's metrics.
        let usesDelegate =
            options.interface == .delegate || (options.operation, options.interface) == (.download, .standard)
        workers = usesDelegate ? DelegateWorkers() : nil
        sessions = (0..<options.sessions).map { [workers] _ in
            URLSession(configuration: configuration, delegate: workers, delegateQueue: nil)
        }
    }

    /// Where one session is enough.
    private var session: URLSession { sessions[0] }

    /// Keeps as many requests going as there are tasks until the phase is over.
    func run(_ phase: Phase) async {
        switch (options.operation, options.interface) {
        case (.get, .standard) where options.fields > 0 || options.readsFields:
            await runTasks(phase) { [options] session, url in
                try await FieldTransfers.get(url, options, by: session)
            }
        case (.get, .standard), (.get, .executor), (.get, .cached):
            await runTasks(phase) { session, url in
                let (body, response) = try await session.data(from: url)
                try SessionClient.check(response)
                return body.count
            }
        case (.get, .completion):
            await runChains(phase)
        case (.get, .delegate), (.download, .standard), (.download, .delegate):
            await workers?.run(phase, count: options.tasks, urls: urls, session: session)
        case (.download, .chunks), (.download, .bytes):
            await runTasks(phase) { [options] session, url in
                try await Streaming.read(url, byByte: options.interface == .bytes, by: session)
            }
        case (.get, .chunks), (.get, .bytes), (.download, .completion), (.save, .completion), (.save, .delegate),
            (.save, .chunks), (.save, .bytes), (.download, .executor), (.save, .executor), (.upload, .executor),
            (.download, .cached), (.save, .cached), (.upload, .cached), (.upload, .completion), (.upload, .delegate),
            (.upload, .chunks), (.upload, .bytes), (.websocket, .executor), (.websocket, .cached),
            (.websocket, .completion), (.websocket, .delegate), (.websocket, .chunks), (.websocket, .bytes):
            Console.unsupported("this operation by that interface")
        case (.websocket, .standard):
            await WebSocketTransfer.run(phase, at: urls[0], by: session)
        case (.save, .standard):
            await runTasks(phase) { [options] session, url in
                try await FileTransfers.save(url, to: options.file, by: session)
            }
        case (.upload, .standard):
            await runTasks(phase) { [options] session, url in
                try await FileTransfers.upload(options.file, to: url, by: session)
            }
        }
    }

    /// Throws where an answer is not a 200.
    static func check(_ response: URLResponse?) throws {
        let status = (response as? HTTPURLResponse)?.statusCode
        if status != 200 { throw UnexpectedStatus(status: status) }
    }

    // MARK: - Workers

    /// So many tasks, each with one request at a time.
    private func runTasks(
        _ phase: Phase, _ load: @escaping @Sendable (URLSession, URL) async throws -> Int
    ) async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<options.tasks {
                let work: @Sendable () async -> Void = { [urls, sessions] in
                    while true {
                        let start = Moment.now
                        guard let number = phase.take(at: start) else { return }
                        do {
                            let bytes = try await load(sessions[number % sessions.count], urls[number % urls.count])
                            phase.finished(since: start, bytes: bytes)
                        } catch {
                            phase.failed("\(error)")
                        }
                    }
                }
                if let executor {
                    group.addTask(executorPreference: executor, operation: work)
                } else {
                    group.addTask(operation: work)
                }
            }
        }
    }

    /// Where the workers run; nil for the pool.
    private var executor: (any TaskExecutor)? {
        guard options.interface == .executor else { return nil }
        #if FOUNDATION_NETWORKING
            Console.unsupported("an executor of the session's own")
        #else
            return session.taskExecutor
        #endif
    }

    /// So many chains: every completion handler starts the next request.
    private func runChains(_ phase: Phase) async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<options.tasks {
                group.addTask { [self] in
                    await withCheckedContinuation { continuation in
                        goOn(phase) { continuation.resume() }
                    }
                }
            }
        }
    }

    private func goOn(_ phase: Phase, ended: @escaping @Sendable () -> Void) {
        let start = Moment.now
        guard let number = phase.take(at: start) else { return ended() }
        let task = session.dataTask(with: urls[number % urls.count]) { [self] body, response, error in
            do {
                if let error { throw error }
                try SessionClient.check(response)
                phase.finished(since: start, bytes: body?.count ?? 0)
            } catch {
                phase.failed("\(error)")
            }
            goOn(phase, ended: ended)
        }
        task.resume()
    }
}

/// An answer that is not the one that was asked for.
struct UnexpectedStatus: Error {
    let status: Int?
}
