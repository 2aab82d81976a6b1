// The tool: judges each of the worst cases and prints how much processor time that takes. Run it from a release build.

import URLLoadingSystem
import URLLoadingTrust

/// Measures the worst cases; an argument is a part of the names of those that are wanted.
enum WorstCases {
    static func run(_ words: [String]) throws {
        let wanted = words.first ?? ""
        var worst = 0.0
        for worstCase in WorstCase.all where wanted.isEmpty || worstCase.name.contains(wanted) {
            let input = try worstCase.input()
            var most = 0.0
            var kind = WorstCase.Verdict.refused
            for _ in 0..<3 {
                let start = processorMilliseconds()
                kind = WorstCase.kind(of: try input.judge())
                most = max(most, processorMilliseconds() - start)
            }
            worst = max(worst, most)
            let mark = kind == worstCase.expected ? "" : " (not \(worstCase.expected))"
            print("| \(worstCase.name) | \(kind)\(mark) | \(text(most)) |")
            fflush(nil)
        }
        print("worst: \(text(worst)) ms")
    }

    /// The time this process has had, which other processes do not add to.
    private static func processorMilliseconds() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
        return Double(now.tv_sec) * 1_000 + Double(now.tv_nsec) / 1_000_000
    }

    private static func text(_ milliseconds: Double) -> String {
        let tenths = Int((milliseconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
