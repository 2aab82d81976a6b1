// Thousands of requests, a hundred in flight, a third cancelled at a random moment: each must answer exactly once, and
// at the end nothing of them may be left.

import Foundation
import Synchronization
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// Runs many requests, cancels some, and reports what is left.
enum CancellingLoad {
    /// What was seen.
    struct Report: CustomStringConvertible {
        var answers = 0
        var cancelled = 0
        var wrong = 0
        var twice = 0
        var descriptorsLeft = 0
        var threadsLeft = 0
        var growthKiB = 0

        var description: String {
            "answers=\(answers) cancelled=\(cancelled) wrong=\(wrong) twice=\(twice) "
                + "descriptorsLeft=\(descriptorsLeft) threadsLeft=\(threadsLeft) growthKiB=\(growthKiB)"
        }
    }

    /// The package's threads; Dispatch starts and ends its own as the machine has cores to spare.
    private static var ourThreads: Int { ProcessCounts.threads(named: "url") }

    static func run(requests: Int) async throws -> Report {
        let body = [UInt8]("The answer to every question of this load.\n".utf8)
        let server = try LoopbackServer.start { request in
            request.target.hasSuffix("7") ? .slow([.init(body, after: .milliseconds(2))]) : .bytes(body)
        }
        guard let url = URL(string: server.url("/")) else { throw URLError(.badURL) }
        // The first rounds warm everything that stays: a thread for each loop, buffers, the allocator.
        for _ in 0..<4 {
            _ = try await round(requests: max(200, requests / 8), url: url, body: Data(body), server: server)
        }
        let before = ProcessCounts.now()
        let threadsBefore = ourThreads
        var report = try await round(requests: requests, url: url, body: Data(body), server: server)
        // The server has seen every connection end, and both sides close their descriptors in their own time.
        let mercy = ContinuousClock.now + .seconds(10)
        while ProcessCounts.now().descriptors > before.descriptors, ContinuousClock.now < mercy {
            try await Task.sleep(for: .milliseconds(10))
        }
        let after = ProcessCounts.now()
        report.descriptorsLeft = after.descriptors - before.descriptors
        report.threadsLeft = ourThreads - threadsBefore
        report.growthKiB = (after.residentBytes - before.residentBytes) >> 10
        await server.stop()
        return report
    }

    private static func round(requests: Int, url: URL, body: Data, server: LoopbackServer) async throws -> Report {
        let configuration = URLSessionConfiguration.ephemeral
        // What is kept on purpose is no leak.
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 20
        let session = URLSession(configuration: configuration)
        let tally = Tally(count: requests)
        await withTaskGroup { group in
            for worker in 0..<100 {
                group.addTask {
                    var random = SystemRandomNumberGenerator()
                    for number in stride(from: worker, to: requests, by: 100) {
                        await one(number, session, url, body, tally, &random)
                    }
                }
            }
        }
        session.invalidateAndCancel()
        // Cancelled exchanges close their connection; the server notices in its own time.
        _ = await server.wait { $0.connectionsOpen == 0 }
        return tally.report
    }

    private static func one(
        _ number: Int, _ session: URLSession, _ url: URL, _ body: Data, _ tally: Tally,
        _ random: inout SystemRandomNumberGenerator
    ) async {
        let target = url.appending(path: "\(number)")
        let isToBeCancelled = number % 3 == 0
        let yields = Int.random(in: 0..<200, using: &random)
        await withHandover { continuation in
            let task = session.dataTask(with: target) { data, response, error in
                if tally.note(number, data: data, response: response, error: error, expecting: body) {
                    continuation.resume()
                }
            }
            task.resume()
            guard isToBeCancelled else { return }
            Task {
                for _ in 0..<yields { await Task.yield() }
                task.cancel()
            }
        }
    }
}

/// Counts answers by request.
private final class Tally: Sendable {
    private let state: Mutex<(seen: [Bool], report: CancellingLoad.Report)>

    init(count: Int) {
        state = Mutex(([Bool](repeating: false, count: count), CancellingLoad.Report()))
    }

    var report: CancellingLoad.Report { state.withLock { $0.report } }

    /// Notes an answer; false when the request had one already.
    func note(_ number: Int, data: Data?, response: URLResponse?, error: (any Error)?, expecting body: Data) -> Bool {
        state.withLock { state in
            guard !state.seen[number] else {
                state.report.twice += 1
                return false
            }
            state.seen[number] = true
            state.report.answers += 1
            if (error as? URLError)?.code == .cancelled, number % 3 == 0 {
                state.report.cancelled += 1
            } else if error != nil || data != body || (response as? HTTPURLResponse)?.statusCode != 200 {
                state.report.wrong += 1
            }
            return true
        }
    }
}
