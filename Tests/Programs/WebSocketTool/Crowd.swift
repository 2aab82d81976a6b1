// The client's side of many web sockets: opens them, exchanges a message on each, closes each with 1000, and counts.

import Foundation
import Synchronization
import URLLoading
import URLLoadingTestSupport

/// A crowd of web sockets.
final class Crowd: Sendable {
    private let count: Int
    private let watcher = CrowdWatcher()

    init(_ count: Int) {
        self.count = count
    }

    /// Whether everything went as it should; tells what it has cost.
    func run() async throws -> Bool {
        let server = try EchoServer()
        guard let url = URL(string: "ws://127.0.0.1:\(server.port)/") else { return false }
        // What the first ones bring with them (a thread and descriptors for each loop, tables, code that is loaded) is
        // not what each one costs.
        for _ in 0..<Self.first { try await exchangeOne(url) }
        try await settle(server)
        let start = ProcessCounts.now()
        let servedFirst = try server.report()
        let clock = ContinuousClock.now

        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = URLSession(configuration: configuration, delegate: watcher, delegateQueue: nil)
        let tasks = (0..<count).map { _ in session.webSocketTask(with: url) }
        let turns = Turns(count)
        await turns.each { number in
            tasks[number].resume()
            try await tasks[number].pong()
        }
        let opened = ContinuousClock.now
        let (whileOpen, servedOpen) = (ProcessCounts.now(), try server.report())
        await turns.each { number in try await tasks[number].exchange("message \(number)") }
        let exchanged = ContinuousClock.now
        let afterwards = ProcessCounts.now()

        for task in tasks { task.cancel(with: .normalClosure, reason: nil) }
        await watcher.ended(count)
        let closed = ContinuousClock.now
        let goodbyes = tasks.count { $0.closeCode == .normalClosure && $0.error == nil && $0.state == .completed }
        session.finishTasksAndInvalidate()
        await watcher.invalidated()
        // The kernel's part of closing is over when the descriptors are gone.
        try await until { ProcessCounts.now().descriptors <= start.descriptors }
        let end = ProcessCounts.now()
        try await until { try server.report().open == 0 }
        let served = try server.report()
        try server.end()

        let told = watcher.counts
        func perSocket(_ now: Int, _ before: Int) -> String {
            let tenths = (now - before) * 10 / count / 1024
            return "\(tenths / 10).\(abs(tenths % 10))"
        }
        print("sockets=\(count) opened=\(told.opened) closedWith1000=\(told.closed) completed=\(told.completed)")
        print("failures=\(turns.failures.count) goodbyes=\(goodbyes)")
        print("serverMessages=\(served.messages - Self.first) serverGoodbyes=\(served.closed - Self.first)")
        print("kibPerSocketOpen=\(perSocket(whileOpen.residentBytes, start.residentBytes))")
        print("kibPerSocketUsed=\(perSocket(afterwards.residentBytes, start.residentBytes))")
        print("kibPerSocketOfServer=\(perSocket(servedOpen.residentBytes, servedFirst.residentBytes))")
        print("residentKiBBefore=\(start.residentBytes >> 10) residentKiBAfter=\(end.residentBytes >> 10)")
        print("descriptorsOpen=\(whileOpen.descriptors) descriptorsLeft=\(end.descriptors - start.descriptors)")
        print("threadsOpen=\(whileOpen.threads)")
        print("msOpening=\((opened - clock).inMilliseconds) msExchanging=\((exchanged - opened).inMilliseconds)")
        print("msClosing=\((closed - exchanged).inMilliseconds)")
        for failure in Set(turns.failures).prefix(5) { print("failure: \(failure)") }
        return turns.failures.isEmpty && goodbyes == count && told.closed == count && told.opened == count
            && served.closed - Self.first == count && served.messages - Self.first == count
    }

    /// Opens one, uses and closes it, in a session of its own.
    private func exchangeOne(_ url: URL) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let watcher = CrowdWatcher()
        let session = URLSession(configuration: configuration, delegate: watcher, delegateQueue: nil)
        let task = session.webSocketTask(with: url)
        task.resume()
        try await task.exchange("first")
        task.cancel(with: .normalClosure, reason: nil)
        session.finishTasksAndInvalidate()
        await watcher.invalidated()
    }

    /// Waits until nothing of the first ones is left, and nothing is still to come that stays.
    private func settle(_ server: EchoServer) async throws {
        // Dispatch opens a descriptor for each clock with the first timer by it, and would otherwise do so while the
        // end is waited for.
        try await Task.sleep(for: .milliseconds(1))
        try await until { try server.report().open == 0 }
        // This side closes its descriptors in its own time, without telling.
        var last = -1
        try await until {
            let now = ProcessCounts.now().descriptors
            defer { last = now }
            return now == last
        }
    }

    /// As many sessions as there can be loops.
    private static let first = 4
}

/// Does something for each of so many, a few at the same time.
private final class Turns: Sendable {
    private let count: Int
    private let collected = Mutex<[String]>([])

    init(_ count: Int) {
        self.count = count
    }

    /// What has gone wrong.
    var failures: [String] { collected.withLock { $0 } }

    func each(_ work: @escaping @Sendable (Int) async throws -> Void) async {
        await withDiscardingTaskGroup { [count] group in
            for first in 0..<min(count, Self.atOnce) {
                group.addTask {
                    for number in stride(from: first, to: count, by: Self.atOnce) {
                        do { try await work(number) } catch { self.note("\(error)") }
                    }
                }
            }
        }
    }

    private func note(_ failure: String) { collected.withLock { $0.append(failure) } }

    /// So many connections are opened at the same time, fewer than the server's backlog has room for.
    private static let atOnce = 256
}

extension URLSessionWebSocketTask {
    /// Sends a message and waits for it to come back.
    func exchange(_ text: String) async throws {
        try await send(.string(text))
        guard case .string(text) = try await receive() else { throw URLError(.cannotParseResponse) }
    }

    /// Sends a ping and waits for its pong.
    func pong() async throws {
        try await withThrowingHandover { (handover: Handover<Void, any Error>) in
            sendPing { error in
                if let error { handover.resume(throwing: error) } else { handover.resume() }
            }
        }
    }
}

extension Duration {
    fileprivate var inMilliseconds: Int { Int(self / .milliseconds(1)) }
}

/// Counts what the session's delegate is told.
private final class CrowdWatcher: NSObject, URLSessionWebSocketDelegate {
    struct Counts: Sendable {
        var opened = 0
        /// Connections that were closed with 1000.
        var closed = 0
        var completed = 0
        var isInvalid = false
    }

    private struct State {
        var counts = Counts()
        var waiters: [(holds: @Sendable (Counts) -> Bool, handover: Handover<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var counts: Counts { state.withLock { $0.counts } }

    func ended(_ count: Int) async { await wait { $0.completed >= count } }

    func invalidated() async { await wait { $0.isInvalid } }

    private func wait(_ holds: @escaping @Sendable (Counts) -> Bool) async {
        await withHandover { handover in
            let isThere = state.withLock { state in
                if holds(state.counts) { return true }
                state.waiters.append((holds, handover))
                return false
            }
            if isThere { handover.resume() }
        }
    }

    private func change(_ change: (inout Counts) -> Void) {
        let ready = state.withLock { state in
            change(&state.counts)
            let counts = state.counts
            let ready = state.waiters.filter { $0.holds(counts) }
            state.waiters.removeAll { $0.holds(counts) }
            return ready
        }
        for waiter in ready { waiter.handover.resume() }
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        change { $0.opened += 1 }
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        if closeCode == .normalClosure { change { $0.closed += 1 } }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        change { $0.completed += 1 }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        change { $0.isInvalid = true }
    }
}
