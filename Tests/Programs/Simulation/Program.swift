// A program in a simulated world: a session, tasks that come and go, and cancellations,
// suspensions and ends at any moment.

import Foundation
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTestSupport

/// What a simulated program does.
//
// `@unchecked Sendable`: one thread plays, and there is no other in the process.
final class Program: @unchecked Sendable {
    let errands: [Errand]
    let delegate: ErrandDelegate
    let requestTimeout: Double
    let resourceTimeout: Double
    let speaksHTTP2: Bool
    private(set) var session: URLSession?
    /// Nil where the session has no interceptors.
    let chain: Chain?
    /// Whether no more tasks can be made.
    private(set) var hasEnded = false
    private let world: World
    private var chance: SeededRandom
    private let queue: DelegateQueue
    /// Where its async calls run.
    private let calls: HandedTasks
    /// Whether a store of the program's own may be asked, and take its time.
    var hasOwnStores: Bool { !storeWhims.isEmpty }
    /// The moods of the stores that are the program's own.
    private let storeWhims: [Whims]

    init(_ world: World, seed: UInt64) {
        self.world = world
        var chance = SeededRandom(seed: seed, of: 3)
        world.network.weather = .drawn(&chance)
        requestTimeout = Double(Int.random(in: 3...20, using: &chance))
        resourceTimeout = Double(Int.random(in: 20...90, using: &chance))
        speaksHTTP2 = chance.chance(50)
        let errands = (0..<Int.random(in: 1...10, using: &chance)).map { Errand($0, &chance) }
        self.errands = errands
        delegate = ErrandDelegate(world, &chance)
        queue = DelegateQueue(world)

        var storeWhims: [Whims] = []
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = requestTimeout
        configuration.timeoutIntervalForResource = resourceTimeout
        configuration.httpMaximumConnectionsPerHost = [1, 2, 6].randomElement(using: &chance) ?? 6
        // A quarter of all programs spread their two hosts over two shards.
        configuration.engineShards = seed.isMultiple(of: 4) ? 2 : 1
        // A fifth of them try again, and meet a server that says that it is busy.
        if seed.isMultiple(of: 5) {
            var policy = URLSession.RetryPolicy(maximumRetries: Stage.mostRetries)
            policy.firstPause = 0.2
            configuration.retryPolicy = policy
            configuration.retryBudget = .unlimited
            world.triesAgain = true
        }
        // A third of those over HTTP/1.1 want young connections. Over HTTP/2 the network could not tell those that run
        // out from those that count.
        if seed.isMultiple(of: 3), !speaksHTTP2 { configuration.maximumConnectionLifetime = 5 }
        // A seventh of them have interceptors, and most of their errands are async calls.
        if seed.isMultiple(of: 7) {
            for errand in errands { errand.isAwaited = errand.number % 3 != 2 }
            let chain = Chain(world, errands)
            configuration.interceptors = chain.interceptors
            delegate.calls = errands.filter(\.isAwaited)
            self.chain = chain
        } else {
            chain = nil
        }
        calls = HandedTasks { [unowned world] piece in world.add(after: world.draw(.zero ... .milliseconds(1)), piece) }
        configuration.http2 = speaksHTTP2 ? .priorKnowledge : .off
        configuration.connectionProxyDictionary = [:]
        switch Int.random(in: 0..<3, using: &chance) {
        case 0: configuration.urlCache = nil
        case 1: configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        default:
            let cache = ProgramCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let whims = Whims(world, &chance)
            cache.whims = whims
            storeWhims.append(whims)
            configuration.urlCache = cache
        }
        if chance.chance(30) {
            let cookies = ProgramCookies()
            let whims = Whims(world, &chance)
            cookies.whims = whims
            storeWhims.append(whims)
            configuration.httpCookieStorage = cookies
        }
        world.network.limit = configuration.httpMaximumConnectionsPerHost
        world.network.isShared = speaksHTTP2
        // A queue of the session's own hears of several things at a time.
        let isGiven = chance.chance(50)
        let queue = queue
        configuration.makeDelegateQueue = { queue }
        self.storeWhims = storeWhims
        session = URLSession(
            configuration: configuration, delegate: delegate, delegateQueue: isGiven ? queue : nil)
        self.chance = chance
        world.tell(
            "a session over \(speaksHTTP2 ? "HTTP/2" : "HTTP/1.1"), \(configuration.httpMaximumConnectionsPerHost) connections, "
                + (configuration.engineShards == 1 ? "" : "\(configuration.engineShards) shards, ")
                + (configuration.retryPolicy == nil ? "" : "which tries again, ")
                + (configuration.maximumConnectionLifetime == nil ? "" : "none of them old, ")
                + (chain == nil ? "" : "which has interceptors, ")
                + "\(requestTimeout) and \(resourceTimeout) s, weather \(world.network.weather)")
    }

    // MARK: Acts

    /// Puts everything on the agenda that the program does by itself.
    func plan() {
        for errand in errands {
            let start = draw(5_000)
            world.add(after: start) { [self] in begin(errand) }
            if chance.chance(15) { world.add(after: start + draw([1, 100, 8_000])) { [self] in cancel(errand) } }
            if chance.chance(20) {
                let pause = start + draw([1, 100, 5_000])
                let end = pause + draw([1, 1_000, 30_000])
                world.add(after: pause) { [self] in suspend(errand) }
                world.add(after: end) { [self] in resume(errand) }
            }
            if chance.chance(15) {
                let priority = Float(Int.random(in: 0...4, using: &chance)) / 4
                world.add(after: start + draw(500)) { errand.task?.priority = priority }
            }
        }
        for second in 1...60 { world.add(after: .seconds(second)) { [self] in look() } }
        if chance.chance(30) { world.add(after: draw(8_000)) { [self] in world.stepWallClock(by: -20) } }
        if chance.chance(20) {
            world.add(after: draw(8_000)) { [self] in
                world.tell("the session flushes")
                session?.flush {}
                world.network.noteFlush()
            }
        }
        let ending = chance.chance(15) ? draw(10_000) : .seconds(6)
        let cancels = chance.chance(15)
        world.add(after: ending) { [self] in
            world.tell(cancels ? "the session is cancelled" : "the session ends with its tasks")
            // Tasks that were never begun would hold it for ever.
            for errand in errands where errand.begun == nil { begin(errand) }
            hasEnded = true
            if cancels {
                for errand in errands { note(cancelled: errand) }
                session?.invalidateAndCancel()
            } else {
                session?.finishTasksAndInvalidate()
            }
        }
    }

    private func draw(_ milliseconds: Int) -> Duration {
        .microseconds(Int64.random(in: 0...Int64(milliseconds) * 1_000, using: &chance))
    }

    private func draw(_ choices: [Int]) -> Duration { draw(choices.randomElement(using: &chance) ?? 1) }

    private func begin(_ errand: Errand) {
        guard errand.begun == nil, let session else { return }
        let url = URL(string: "http://\(errand.host)\(errand.path(0))")
        guard let url else { return world.complain("no URL") }
        var request = URLRequest(url: url)
        request.setValue("\(errand.number)", forHTTPHeaderField: "X-Number")
        if errand.hasSecret { request.setValue("\(errand.number)", forHTTPHeaderField: "X-Api-Key") }
        if !errand.isSafe, errand.form != .upload {
            request.httpMethod = "POST"
            request.httpBody = Data(errand.content)
        }
        if errand.form == .upload { request.httpMethod = "PUT" }
        errand.begun = world.now
        world.tell(
            "errand \(errand.number): \(errand.form)\(errand.isAwaited ? ", awaited," : "") \(errand.part), \(errand.length) bytes, begins"
        )
        if errand.isAwaited { return call(errand, request, session) }
        let task = make(errand, request, session)
        errand.task = task
        if delegate.errands[task.taskIdentifier] != nil { world.complain("two tasks have one identifier") }
        delegate.errands[task.taskIdentifier] = errand
        task.resume()
    }

    private func make(_ errand: Errand, _ request: URLRequest, _ session: URLSession) -> URLSessionTask {
        switch errand.form {
        case .data: return session.dataTask(with: request)
        case .download: return session.downloadTask(with: request)
        case .upload: return session.uploadTask(with: request, from: Data(errand.content))
        case .handler:
            return session.dataTask(with: request) { [self] in heard(errand, $0, $1, $2) }
        case .downloadHandler:
            return session.downloadTask(with: request) { [self] file, response, error in
                if let file { delegate.take(file, of: errand, errand.task) }
                heard(errand, nil, response, error)
            }
        }
    }

    private func call(_ errand: Errand, _ request: URLRequest, _ session: URLSession) {
        errand.call = Task(executorPreference: calls) { [self] in
            do {
                let (data, response) = try await load(errand, request, session)
                heard(errand, data, response, nil)
            } catch {
                heard(errand, nil, nil, error)
            }
        }
    }

    private func load(
        _ errand: Errand, _ request: URLRequest, _ session: URLSession
    ) async throws -> (Data, URLResponse) {
        switch errand.form {
        case .data: return try await session.data(for: request)
        case .upload: return try await session.upload(for: request, from: Data(errand.content))
        case .handler:
            let (bytes, response) = try await session.bytes(for: request)
            var body = Data()
            for try await piece in bytes.chunks { body += piece }
            return (body, response)
        case .download, .downloadHandler:
            let (file, response) = try await session.download(for: request)
            delegate.take(file, of: errand)
            try FileManager.default.removeItem(at: file)
            return (errand.data, response)
        }
    }

    private func heard(_ errand: Errand, _ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        world.tell("errand \(errand.number) hears its end, \(ErrandDelegate.name(error))")
        if let data { errand.data = data }
        if let response = response as? HTTPURLResponse { errand.responses = [response] }
        if errand.ends > 0 { world.complain("errand \(errand.number): a handler is called twice") }
        delegate.end(errand, error, errand.isAwaited ? nil : errand.task)
    }

    private func note(cancelled errand: Errand) {
        guard errand.ends == 0 else { return }
        errand.isCancelled = true
        if errand.cancelledAt == nil { errand.cancelledAt = world.now }
    }

    private func cancel(_ errand: Errand) {
        guard errand.begun != nil else { return }
        world.tell("errand \(errand.number) is cancelled")
        note(cancelled: errand)
        if let call = errand.call { call.cancel() } else { errand.task?.cancel() }
    }

    private func suspend(_ errand: Errand) {
        // Of an async call only the present task could be suspended, and whether another follows is not known.
        guard let task = errand.task, !errand.isAwaited else { return }
        world.tell("errand \(errand.number) is suspended")
        errand.wasSuspended = true
        errand.suspendedSince = world.now
        task.suspend()
    }

    private func resume(_ errand: Errand) {
        guard let task = errand.task, errand.wasSuspended else { return }
        world.tell("errand \(errand.number) is resumed")
        errand.suspendedSince = nil
        task.resume()
    }

    /// Whether what nothing hinders is under way.
    private func look() {
        guard storeWhims.allSatisfy({ $0.unanswered == 0 }) else { return }
        // The connection on which a task was asked for serves it until its end, as far as the program can tell.
        var served: [Int: Int] = [:]
        for errand in errands where errand.ends == 0 { errand.connections.last.map { served[$0, default: 0] += 1 } }
        let unseen = errands.count { $0.ends == 0 && $0.askedAt == nil && $0.form == .upload }
        for errand in errands {
            // An upload is seen when all of it has come.
            let waits =
                errand.ends == 0 && errand.form != .upload && errand.askedAt == nil && errand.suspendedSince == nil
                && !errand.isCancelled
                && errand.responses.isEmpty && errand.begun.map { world.now - $0 > .seconds(3) } ?? false
            errand.looks =
                waits && world.network.hasRoom(for: errand.host, served, unseen: unseen) ? errand.looks + 1 : 0
            if errand.looks == 3 { world.complain("errand \(errand.number) waits, and there is room for it") }
        }
    }

    // MARK: The end

    /// Lets go of everything; answers what of it is still there.
    func letGo() -> [Weak] {
        var watched: [Weak] = [Weak("session", session)]
        for errand in errands {
            watched.append(Weak("task \(errand.number)", errand.task))
            errand.task = nil
            errand.call = nil
            errand.data = Data()
        }
        session = nil
        return watched
    }
}

/// Something that ought to go.
struct Weak {
    let name: String
    weak var object: AnyObject?

    init(_ name: String, _ object: AnyObject?) {
        self.name = name
        self.object = object
    }
}
