// What is told while cases run: failures as they come, and on a terminal how far it is.
//
// Must not know: how cases run.

import Foundation
import Synchronization

/// Tells results as they come.
final class Progress: Sendable {
    private struct State {
        var done = 0
        var bad = 0
    }

    private let total: Int
    private let isTerminal: Bool
    private let state = Mutex(State())

    init(total: Int) {
        self.total = total
        isTerminal = isatty(STDERR_FILENO) == 1
    }

    /// Tells one.
    func tell(_ result: CaseResult) {
        var text = ""
        if result.outcome.isBad {
            let conformanceCase = result.conformanceCase
            text = "\(erasing)\(result.outcome.rawValue): \(conformanceCase.name) (\(conformanceCase.place))\n"
            if let reason = result.reason { text += "    \(reason)\n" }
        }
        let state = state.withLock { state in
            state.done += 1
            if result.outcome.isBad { state.bad += 1 }
            return state
        }
        if isTerminal { text += "\(erasing)\(state.done) of \(total), \(state.bad) failed" }
        FileHandle.standardError.write(Data(text.utf8))
    }

    /// Takes the progress line away.
    func end() {
        FileHandle.standardError.write(Data(erasing.utf8))
    }

    private var erasing: String { isTerminal ? "\r\u{1B}[K" : "" }
}
