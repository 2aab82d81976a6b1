// Runs the scenarios: every contestant in turn, several times, so that what the machine does meanwhile hits all alike.

import Foundation

/// All scenarios that were chosen, with the clients that take part.
struct Contest {
    let scenarios: [Scenario]
    let contestants: [Contestant]
    /// The words by which clients were chosen; none chooses all.
    let chosen: [String]
    let runs: Int
    let farm: ServerFarm

    /// How long a client may take for one run.
    private static let patience = Duration.seconds(180)

    /// Runs everything; progress goes to standard error.
    func hold() throws -> [ScenarioResult] {
        try scenarios.enumerated().map { number, scenario in
            progress("[\(number + 1)/\(scenarios.count)] \(scenario.name): \(scenario.title)")
            return try hold(scenario)
        }
    }

    private func hold(_ scenario: Scenario) throws -> ScenarioResult {
        var rows = try entries(of: scenario).map { ContestantResult(contestant: $0) }
        // The first client must not be the only one that waits for the disk.
        for row in rows { try farm.readAhead(scenario, row.contestant) }
        for run in 0..<runs {
            // Another first one each time.
            for index in rows.indices.map({ ($0 + run) % rows.count }) where rows[index].gap == nil {
                switch try measure(scenario, rows[index].contestant) {
                case .success((let sample, let client)):
                    rows[index].samples.append(sample)
                    rows[index].client = client
                case .failure(let gap):
                    rows[index].gap = gap.description
                    if gap.isUnexpected { progress("      \(rows[index].contestant.name): \(gap.description)") }
                }
            }
            let told = rows.compactMap { row in
                row.samples.last.map { "\(row.contestant.name) \(Figures.short($0.cpu))" }
            }
            progress("      run \(run + 1) of \(runs), CPU in \(scenario.unit.symbol): \(told.joined(separator: ", "))")
        }
        return ScenarioResult(scenario: scenario, rows: rows)
    }

    private func entries(of scenario: Scenario) throws -> [Contestant] {
        let variants = try scenario.interfaces.map { try Contestant.client(interface: $0) }
        let all = contestants.filter(\.isOurs) + variants + contestants.filter { !$0.isOurs }
        return all.filter { contestant in
            HarnessOptions.matches(contestant.name, chosen) && (scenario.tasks == nil || contestant.isSession)
                && (scenario.place.isHTTP2 || contestant.name != "h2load")
                && (scenario.peers.map { contestant.isOurs || $0.contains(contestant.name) }
                    ?? (contestant.name != "websockets"))
        }
    }

    // MARK: - One run

    private func measure(
        _ scenario: Scenario, _ contestant: Contestant
    ) throws -> Result<(Sample, client: String), Gap> {
        let arguments = farm.arguments(for: scenario, contestant)
        guard case .processes(let count, _) = scenario.amount else {
            return try run(scenario, contestant, arguments)
        }
        var samples: [Sample] = []
        var client = contestant.name
        for _ in 0..<count {
            switch try run(scenario, contestant, arguments) {
            case .success((let sample, let name)):
                samples.append(sample)
                client = name
            case .failure(let gap): return .failure(gap)
            }
        }
        return .success((Sample(meanOf: samples), client))
    }

    private func run(
        _ scenario: Scenario, _ contestant: Contestant, _ arguments: [String]
    ) throws -> Result<(Sample, client: String), Gap> {
        try farm.clearAway(scenario)
        guard farm.hasServer(for: scenario) else {
            return .failure(Gap("there is no such server", isUnexpected: false))
        }
        let outcome = try ChildProcess.run(
            contestant.program, arguments, on: Processors.pair?.client, environment: contestant.environment,
            limit: Contest.patience)
        let reason = outcome.complaints.split(separator: "\n").first.map { String($0.prefix(100)) } ?? ""
        if outcome.wasStopped { return .failure(Gap("took longer than \(Contest.patience)", isUnexpected: true)) }
        if outcome.status == 69 { return .failure(Gap(reason, isUnexpected: false)) }
        guard outcome.status == 0 else { return .failure(Gap("failed: \(reason)", isUnexpected: true)) }
        guard var measurement = try? JSONDecoder().decode(Measurement.self, from: Data(outcome.output.utf8)) else {
            return .failure(Gap("printed no result", isUnexpected: true))
        }
        if case .requests(let count) = scenario.amount, measurement.requests < count {
            return .failure(Gap("made \(measurement.requests) requests of \(count)", isUnexpected: true))
        }
        // For a whole process its life counts, not what it says of itself.
        if case .processes = scenario.amount { measurement.wallSeconds = outcome.elapsed / .seconds(1) }
        let sample = Sample(measurement, of: scenario, processorSeconds: outcome.processorSeconds)
        return .success((sample, measurement.client))
    }

    private func progress(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}

/// Why a client has no figures in a scenario.
struct Gap: Error, CustomStringConvertible {
    let description: String
    let isUnexpected: Bool

    init(_ description: String, isUnexpected: Bool) {
        self.description = description
        self.isUnexpected = isUnexpected
    }
}

/// The figures of one contestant in one scenario.
struct ContestantResult {
    let contestant: Contestant
    /// What it calls itself, with its version.
    var client = ""
    var samples: [Sample] = []
    /// Why there are none.
    var gap: String?
}

/// The figures of one scenario.
struct ScenarioResult {
    let scenario: Scenario
    let rows: [ContestantResult]
}
