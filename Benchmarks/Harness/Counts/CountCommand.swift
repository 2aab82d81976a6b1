// `Benchmarks count`: how many instructions and allocations a unit of work takes, which depends little on what else the
// machine does. valgrind runs each work twice, with N and with a multiple of N units, and the difference leaves the
// start-up out. Thresholds are stored, and checked with some slack: compilers and C libraries differ a little.

import Foundation

/// The command and its options.
enum CountCommand {
    private static let usage = """
        usage: Benchmarks count [--check] [--update] [--only NAMES] [--thresholds FILE]
          --check            fail where a count is more than 5 % above its threshold (more where threads meet often)
          --update           store the counts as thresholds
          --only NAMES       only these counts, by the rule of --filter
          --thresholds FILE  where thresholds are stored (Benchmarks/thresholds.json)
        """

    /// How often a work is counted that is above its threshold; the least counts.
    private static let mostTries = 3

    private struct Options {
        var checks = false
        var updates = false
        var only: [String] = []
        var thresholds = "Benchmarks/thresholds.json"

        init?(_ arguments: [String]) {
            var rest = arguments[...]
            while let name = rest.popFirst() {
                switch name {
                case "--check": checks = true
                case "--update": updates = true
                case "--only":
                    guard let value = rest.popFirst() else { return nil }
                    only = value.split(separator: ",").map(String.init)
                case "--thresholds":
                    guard let value = rest.popFirst() else { return nil }
                    thresholds = value
                default: return nil
                }
            }
        }
    }

    static func run(_ arguments: [String]) throws {
        if arguments.first == "part" { return try runPart(Array(arguments.dropFirst())) }
        guard let options = Options(arguments) else {
            FileHandle.standardError.write(Data((usage + "\n").utf8))
            exit(64)
        }
        let farm = try ServerFarm(scale: .counting, usesNginx: false, contestants: [])
        defer { farm.close() }
        let works = try CountedWork.all(farm).filter { HarnessOptions.matches($0.name, options.only) }
        if works.isEmpty { throw HarnessError("no count has such a name") }

        var thresholds = try Thresholds(contentsOf: options.thresholds)
        let valgrind = try Valgrind()
        print(
            column("work", -22) + column("instructions", 14) + column("stored", 12) + column("allocations", 14)
                + column("stored", 10))
        var excesses: [String] = []
        for work in works {
            let stored = thresholds[work.name]
            func above(_ count: Count) -> [String] {
                stored.map { count.exceeds($0, slack: work.slack, units: work.units) } ?? []
            }
            var count = try valgrind.count(work)
            // Threads that meet at unlucky moments add to a count and never take from it.
            for _ in 1..<Self.mostTries where options.checks && !above(count).isEmpty {
                count = count.least(try valgrind.count(work))
            }
            let excess = above(count)
            print(line(work, count, stored) + (excess.isEmpty ? "" : "  ABOVE"))
            excesses += excess.map { "\(work.name): \($0)" }
            if options.updates { thresholds[work.name] = count }
        }
        if options.updates { try thresholds.write(to: options.thresholds) }
        if options.checks, !excesses.isEmpty {
            throw HarnessError(
                "above the thresholds of \(options.thresholds):\n  " + excesses.joined(separator: "\n  "))
        }
    }

    /// `count part NAME TIMES`: one of the pure parts, for valgrind to look at.
    private static func runPart(_ arguments: [String]) throws {
        guard arguments.count == 2, let part = PurePart(rawValue: arguments[0]), let times = Int(arguments[1]) else {
            throw HarnessError(usage)
        }
        try part.run(times: times)
    }

    private static func line(_ work: CountedWork, _ count: Count, _ stored: Count?) -> String {
        func number(_ value: Double?) -> String { value.map { Figures.short($0) } ?? "–" }
        return column(work.name, -22) + column(number(count.instructions), 14)
            + column(number(stored?.instructions), 12)
            + column(number(count.allocations), 14) + column(number(stored?.allocations), 10)
    }

    /// A text in a column, to the left where the width is negative.
    private static func column(_ text: String, _ width: Int) -> String {
        let padding = String(repeating: " ", count: max(0, abs(width) - text.count))
        return width < 0 ? text + padding : padding + text
    }
}
