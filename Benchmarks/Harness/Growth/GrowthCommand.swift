// `Benchmarks growth`: what one unit of work costs while there is more and more of it, in instructions, which depend
// little on what else the machine does. Nothing may grow faster than its work.

import Foundation

/// The command and its options.
enum GrowthCommand {
    private static let usage = """
        usage: Benchmarks growth [--list] [--only NAMES] [--results FILE] [--report DIRECTORY] [--check]
          --list              name the series
          --only NAMES        only these series, by the rule of --filter; what the file has of others stays
          --most N            no size above this one
          --results FILE      where results are kept (.build/growth.json)
          --report DIRECTORY  write what the file has to DIRECTORY/growth.md, and its plot
          --check             fail where something grows faster than its work
        """

    private struct Options {
        var lists = false
        var checks = false
        var only: [String] = []
        var most = Int.max
        var results = ".build/growth.json"
        var report: String?

        init?(_ arguments: [String]) {
            var rest = arguments[...]
            while let name = rest.popFirst() {
                switch name {
                case "--list": lists = true
                case "--check": checks = true
                default:
                    guard let value = rest.popFirst(), set(name, value) else { return nil }
                }
            }
        }

        private mutating func set(_ name: String, _ value: String) -> Bool {
            switch name {
            case "--only": only = value.split(separator: ",").map(String.init)
            case "--most":
                guard let number = Int(value) else { return false }
                most = number
            case "--results": results = value
            case "--report": report = value
            default: return false
            }
            return true
        }
    }

    static func run(_ arguments: [String]) throws {
        if arguments.first == "part" { return try runPart(Array(arguments.dropFirst())) }
        guard let options = Options(arguments) else { throw HarnessError(usage) }
        let farm = try ServerFarm(scale: .counting, usesNginx: false, contestants: [])
        defer { farm.close() }
        let all = try GrowthCatalogue.all(farm)
        let chosen = all.filter { HarnessOptions.matches($0.name, options.only) }
        if chosen.isEmpty { throw HarnessError("no series has such a name; --list names them") }
        if options.lists { return chosen.forEach { print($0.name + ": " + $0.title) } }

        var results = try GrowthResults(contentsOf: options.results)
        let valgrind = try Valgrind()
        for series in chosen {
            results[series.name] = try count(series, by: valgrind, most: options.most)
            try results.write(to: options.results)
        }
        let ordered = all.compactMap { results[$0.name] }
        if let report = options.report { try GrowthReport.write(ordered, to: report) }
        let excesses = chosen.compactMap { results[$0.name] }.filter { !$0.isProportional }
        if options.checks, !excesses.isEmpty {
            throw HarnessError("grows faster than its work: " + excesses.map(\.name).joined(separator: ", "))
        }
    }

    private static func count(_ series: GrowthSeries, by valgrind: Valgrind, most: Int) throws -> GrowthResult {
        print("\(series.name): \(series.title)")
        let points = try series.sizes.filter { $0 <= most }.map { size in
            let point = try GrowthResult.Point(size: size, instructions: valgrind.instructions(series.work(size)))
            print("  \(Figures.short(Double(size))): \(Figures.short(point.instructions))")
            return point
        }
        let result = GrowthResult(name: series.name, title: series.title, cost: series.cost, points: points)
        print("  slope \(result.slope.map { String(format: "%.2f", $0) } ?? "–")")
        return result
    }

    /// `growth part NAME SIZE TIMES DIRECTORY`: one of the parts, for valgrind to look at.
    private static func runPart(_ arguments: [String]) throws {
        guard arguments.count == 4, let part = GrowthPart(rawValue: arguments[0]), let size = Int(arguments[1]),
            let times = Int(arguments[2]), size > 0, times >= 0
        else { throw HarnessError(usage) }
        try part.run(size: size, times: times, directory: arguments[3])
    }
}

/// What was counted, by the name of the series; a file that is not there yet is empty.
private struct GrowthResults {
    private var results: [String: GrowthResult] = [:]

    init(contentsOf path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else { return }
        results = try JSONDecoder().decode([String: GrowthResult].self, from: data)
    }

    subscript(name: String) -> GrowthResult? {
        get { results[name] }
        set { results[name] = newValue }
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(results).write(to: URL(fileURLWithPath: path))
    }
}
