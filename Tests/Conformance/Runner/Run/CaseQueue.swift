// Runs cases on several drivers at once. A driver that ends, or a case that does not, costs that case and no other.
//
// Must not know: what a case is about, and where results go.

import Synchronization
import URLLoadingTestSupport

/// What became of a case.
enum Outcome: String, Sendable, CaseIterable {
    case passed
    case failed
    /// The driver said that it cannot do what the case asks for.
    case unsupported
    /// It failed, and a list said that it would.
    case failedAsExpected = "failed as expected"
    /// It passed, though a list said that it would fail: the list is wrong.
    case passedUnexpectedly = "passed unexpectedly"

    /// Whether the run is a failure.
    var isBad: Bool { self == .failed || self == .passedUnexpectedly }
}

/// A case and what became of it.
struct CaseResult: Sendable {
    let conformanceCase: ConformanceCase
    let outcome: Outcome
    /// Why it did not pass.
    let reason: String?
    let duration: Duration
}

/// The cases of a run, handed out one after the other.
final class CaseQueue: Sendable {
    private struct State {
        var next = 0
        var results: [CaseResult?]
    }

    private let cases: [ConformanceCase]
    private let expectedFailures: Set<String>
    private let driver: String
    private let state: Mutex<State>
    private let report: @Sendable (CaseResult) -> Void

    /// `report` is told each result as it comes.
    init(
        _ cases: [ConformanceCase], expectedFailures: Set<String>, driver: String,
        report: @escaping @Sendable (CaseResult) -> Void
    ) {
        self.cases = cases
        self.expectedFailures = expectedFailures
        self.driver = driver
        self.report = report
        state = Mutex(State(results: Array(repeating: nil, count: cases.count)))
    }

    /// Runs all of them, so many at once; the results in the order of the cases.
    func run(jobs: Int) async -> [CaseResult] {
        await withTaskGroup { group in
            for _ in 0..<max(1, min(jobs, cases.count)) { group.addTask { await self.work() } }
        }
        return state.withLock { $0.results.compactMap(\.self) }
    }

    private func work() async {
        var current: DriverProcess?
        while let index = takeNext() {
            let start = ContinuousClock.now
            let failure: CaseFailure?
            do {
                let driver = try current ?? DriverProcess(driver)
                current = driver
                let run = await Self.run(cases[index], number: index, driver)
                failure = run.failure
                // The next case gets a new one after each failure, too: a driver whose output has ended, which is what
                // a case sees of its end, still counts as running until the process has been waited for.
                if run.hasEndedDriver || failure?.isUnsupported == false || !driver.isRunning { current = nil }
            } catch {
                failure = CaseFailure("the driver could not be started: \(error)")
            }
            finish(index, failure, ContinuousClock.now - start)
        }
        current?.closeInput()
        _ = await current?.exitStatus()
    }

    private enum Part {
        case ended(CaseFailure?)
        /// The time is over, and the driver ended.
        case late
        /// The case has ended before.
        case notLate
    }

    /// A case that does not end within its time is ended together with its driver. The time may be over just when the
    /// case ends by itself: then the driver has ended, and the case has not failed.
    private static func run(
        _ conformanceCase: ConformanceCase, number: Int, _ driver: DriverProcess
    ) async -> (failure: CaseFailure?, hasEndedDriver: Bool) {
        await withTaskGroup(of: Part.self) { group in
            group.addTask { .ended(await CaseRun.failure(of: conformanceCase, number: number, driver)) }
            group.addTask {
                do { try await Task.sleep(for: timeLimit) } catch { return .notLate }
                driver.end()
                return .late
            }
            let first = await group.next()
            group.cancelAll()
            let second = await group.next()
            switch (first, second) {
            case (.ended(let failure), .late): return (failure, true)
            case (.ended(let failure), _): return (failure, false)
            case (.late, .ended(let failure?)):
                return (CaseFailure("no end within \(timeLimit); \(failure.reason)"), true)
            case (.late, _), (.notLate, _), (nil, _): return (CaseFailure("no end within \(timeLimit)"), true)
            }
        }
    }

    private func takeNext() -> Int? {
        state.withLock { state in
            guard state.next < cases.count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    private func finish(_ index: Int, _ failure: CaseFailure?, _ duration: Duration) {
        let isExpected = expectedFailures.contains(cases[index].name)
        let outcome: Outcome
        if let failure {
            outcome = failure.isUnsupported ? .unsupported : isExpected ? .failedAsExpected : .failed
        } else {
            outcome = isExpected ? .passedUnexpectedly : .passed
        }
        let result = CaseResult(
            conformanceCase: cases[index], outcome: outcome, reason: failure?.reason, duration: duration)
        state.withLock { $0.results[index] = result }
        report(result)
    }

    private static let timeLimit = Duration.seconds(20)
}
