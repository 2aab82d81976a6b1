// The benchmark harness: gives the same work to this library's client and to every peer that is installed, in turn, and
// says what it cost. `Benchmarks serve` is what it starts as a child. `Benchmarks count` and `Benchmarks growth` count
// instructions: of one unit of work, and of one while there is more and more of it.

import Foundation

/// The program.
@main
enum Benchmarks {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case "serve": try ServeCommand.run(directory: arguments.dropFirst().first ?? ".")
            case "count": try CountCommand.run(Array(arguments.dropFirst()))
            case "growth":
                raiseDescriptorLimit()
                try GrowthCommand.run(Array(arguments.dropFirst()))
            default:
                guard let options = HarnessOptions(arguments) else {
                    complain(HarnessOptions.usage)
                    exit(64)
                }
                exit(try run(options) ? 0 : 1)
            }
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    /// Whether every promise was kept, as far as that was asked for.
    private static func run(_ options: HarnessOptions) throws -> Bool {
        let scale = options.quick ? Scale.quick : Scale.full
        let scenarios = Scenario.all(scale)
        if options.lists {
            for scenario in scenarios {
                print(scenario.name.padding(toLength: 22, withPad: " ", startingAt: 0) + scenario.title)
            }
            return true
        }
        let file = try options.from.map(ResultFile.init(contentsOf:)) ?? measure(scenarios, scale, options)
        print(TextReport.text(file, scenarios))
        if let path = options.json { try file.write(to: path) }
        if let directory = options.report { try MarkdownReport.write(file, scenarios, to: directory) }
        let kept = file.tables(scenarios).flatMap(\.promises).allSatisfy { $0.isKept != false }
        return kept || !options.checks
    }

    private static func measure(
        _ scenarios: [Scenario], _ scale: Scale, _ options: HarnessOptions
    ) throws -> ResultFile {
        let chosen = scenarios.filter { HarnessOptions.matches($0.name, options.filter) }
        if chosen.isEmpty { throw HarnessError("no scenario has such a name; --list names them") }
        let peers = Contestant.peers(in: URL(fileURLWithPath: options.peers))
        if !peers.missing.isEmpty {
            complain(
                "not installed, and gaps in the tables: \(peers.missing.joined(separator: ", ")) (make bench-peers)")
        }
        let contestants = try [Contestant.client()] + peers.present
        let runs = options.runs ?? (options.quick ? 1 : 7)

        #if DEBUG
            complain("this is a debug build: its figures say nothing; use swift run -c release")
        #endif
        raiseDescriptorLimit()
        let farm = try ServerFarm(scale: scale, usesNginx: options.usesNginx, contestants: contestants)
        defer { farm.close() }
        let results = try Contest(
            scenarios: chosen, contestants: contestants, chosen: options.contestants, runs: runs, farm: farm
        ).hold()
        return ResultFile(
            results, setting: .init(server: farm.fastServer, runs: runs, quick: options.quick), missing: peers.missing)
    }

    /// Children inherit it.
    private static func raiseDescriptorLimit() {
        let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        if getrlimit(descriptors, &limit) == 0 {
            limit.rlim_cur = limit.rlim_max
            setrlimit(descriptors, &limit)
        }
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
