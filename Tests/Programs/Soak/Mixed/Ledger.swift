// Every request that one protocol carries, from its start to its one completion. What never completes, completes twice,
// or ends as it may not is named here.

import Foundation
import Synchronization

/// What became of all requests.
final class Ledger: Sendable {
    /// The counts of one kind of request.
    struct Counts: Codable, Sendable {
        var requests = 0
        /// Answered, and every byte right.
        var right = 0
        /// Answered with what the network had made of the answer, to the byte.
        var asDelivered = 0
        /// Cancelled by the load.
        var cancelled = 0
        /// Failed, with a fault on its connection to account for it.
        var failed = 0
        /// A success whose bytes are not those that came.
        var wrong = 0
        /// Failed, and nothing accounts for it.
        var unexplained = 0
        /// No completion.
        var lost = 0
        /// Completions beyond the first.
        var twice = 0

        var isClean: Bool { wrong == 0 && unexplained == 0 && lost == 0 && twice == 0 }

        static func += (sum: inout Counts, counts: Counts) {
            sum.requests += counts.requests
            sum.right += counts.right
            sum.asDelivered += counts.asDelivered
            sum.cancelled += counts.cancelled
            sum.failed += counts.failed
            sum.wrong += counts.wrong
            sum.unexplained += counts.unexplained
            sum.lost += counts.lost
            sum.twice += counts.twice
        }
    }

    /// How a request ended.
    enum Verdict: Sendable {
        case right
        case asDelivered
        case cancelled
        case failed(String)
        case wrong(String)
        case unexplained(String)
    }

    private struct Open {
        let kind: String
        let lane: String
        let url: String
        let began: ContinuousClock.Instant
    }

    private struct State {
        var lastNumber = 0
        var open: [Int: Open] = [:]
        var kinds: [String: Counts] = [:]
        var errors: [String: Int] = [:]
        var complaints: [String] = []
        var ended = 0
    }

    let spoken: LaneProtocol
    private let state = Mutex(State())

    init(_ spoken: LaneProtocol) { self.spoken = spoken }

    /// A request begins.
    func begin(_ kind: String, _ lane: String, _ url: String) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.open[state.lastNumber] = Open(kind: kind, lane: lane, url: url, began: .now)
            state.kinds[kind, default: Counts()].requests += 1
            return state.lastNumber
        }
    }

    /// A completion has come; false where it is not the first.
    func complete(_ number: Int, _ kind: String) -> Bool {
        state.withLock { state in
            guard state.open.removeValue(forKey: number) == nil else {
                state.ended += 1
                return true
            }
            state.kinds[kind, default: Counts()].twice += 1
            complain("\(spoken.rawValue) \(kind): request \(number) completed twice", &state)
            return false
        }
    }

    /// How it ended.
    func judge(_ kind: String, _ lane: String, _ verdict: Verdict) {
        state.withLock { state in
            switch verdict {
            case .right: state.kinds[kind, default: Counts()].right += 1
            case .asDelivered: state.kinds[kind, default: Counts()].asDelivered += 1
            case .cancelled: state.kinds[kind, default: Counts()].cancelled += 1
            case .failed(let name):
                state.kinds[kind, default: Counts()].failed += 1
                state.errors[name, default: 0] += 1
            case .wrong(let text):
                state.kinds[kind, default: Counts()].wrong += 1
                complain("wrong answer: \(spoken.rawValue) \(lane) \(kind): \(text)", &state)
            case .unexplained(let text):
                state.kinds[kind, default: Counts()].unexplained += 1
                complain("unexplained: \(spoken.rawValue) \(lane) \(kind): \(text)", &state)
            }
        }
    }

    /// Whatever is open now is lost.
    func close() {
        state.withLock { state in
            for (number, open) in state.open.sorted(by: { $0.key < $1.key }) {
                state.kinds[open.kind, default: Counts()].lost += 1
                let age = Int((ContinuousClock.now - open.began) / .seconds(1))
                complain(
                    "lost answer: \(spoken.rawValue) \(open.lane) \(open.kind): request \(number), \(open.url), \(age) s",
                    &state)
            }
            state.open = [:]
        }
    }

    var kinds: [String: Counts] { state.withLock(\.kinds) }
    /// How often each error was met that a fault accounts for.
    var errors: [String: Int] { state.withLock(\.errors) }
    var complaints: [String] { state.withLock(\.complaints) }
    var endedCount: Int { state.withLock(\.ended) }

    private func complain(_ text: String, _ state: inout State) {
        if state.complaints.count < 100 { state.complaints.append(text) }
    }
}
