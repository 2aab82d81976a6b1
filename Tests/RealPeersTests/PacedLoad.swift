// Requests by the clock, whatever has become of those before: what users are, and what a closed loop is not,
// since that waits while a server is slow. Only where very many are under way it waits, too: a machine that
// cannot keep up would be buried.

import Foundation
import URLLoadingTestSupport

/// A load that goes on until it is told to stop.
final class PacedLoad: Sendable {
    /// What has come of it.
    struct Outcome: Sendable {
        var answered = 0
        /// What went wrong, with the numbers of the requests.
        var failures: [String] = []
        var longest = Duration.zero
        /// From the first request to the end of the last.
        var time = Duration.zero

        /// Requests that are over.
        var over: Int { answered + failures.count }
    }

    /// What has come of it until now.
    let outcome = Watched(Outcome())
    private let rate: Int
    private let isStopped = Watched(false)

    /// So many requests a second.
    init(rate: Int) { self.rate = rate }

    /// What a quarter of a second brings, and some on a quiet machine.
    private var mostUnderWay: Int { max(16, rate / 4) }

    /// No more requests; those under way end.
    func stop() { isStopped.change { $0 = true } }

    /// Runs a request for each tick, with its number from 1 on; returns when all are over.
    func run(_ request: @escaping @Sendable (Int) async throws -> Void) async {
        let start = ContinuousClock.now
        await withDiscardingTaskGroup { group in
            var number = 0
            while !isStopped.value, !Task.isCancelled {
                await outcome.wait { [number, mostUnderWay] in number - $0.over < mostUnderWay }
                number += 1
                group.addTask { [number] in await self.carryOut(number, request) }
                try? await Task.sleep(until: start + .seconds(number) / rate)
            }
        }
        outcome.change { $0.time = ContinuousClock.now - start }
    }

    private func carryOut(_ number: Int, _ request: @Sendable (Int) async throws -> Void) async {
        let start = ContinuousClock.now
        do {
            try await request(number)
            outcome.change { outcome in
                outcome.answered += 1
                outcome.longest = max(outcome.longest, ContinuousClock.now - start)
            }
        } catch {
            outcome.change { $0.failures.append("\(number): \(error)") }
        }
    }
}
