// One scenario as a table: the lines, the ratios and the promises, in words. Where it is shown decides how it looks.

/// The text of one scenario's table.
struct Table {
    let scenario: Scenario
    let header: [String]
    let lines: [[String]]
    /// The clients that are not in the table, and why.
    let gaps: [String]
    /// Each promise with what came of it; nil where a figure is missing.
    let promises: [(text: String, isKept: Bool?)]

    /// The table of an entry; the whole run is there for promises that compare scenarios.
    init(_ scenario: Scenario, _ entry: ResultFile.Entry, of run: [ResultFile.Entry]) {
        self.scenario = scenario
        let summaries = entry.rows.map(Summary.init)
        let ours = summaries.first { $0.row.name == Contestant.ours }?.cpu?.median
        header = [
            "client", scenario.unit.rateSymbol, "p50 µs", "p99 µs", "CPU, \(scenario.unit.symbol)", "±",
            scenario.memory.heading, "ours / theirs",
        ]
        lines = summaries.compactMap { Table.line($0, scenario, ours: ours) }
        gaps = entry.rows.compactMap { row in row.gap.map { "\(row.name): \($0)" } }
        promises = scenario.bars.map { Table.outcome(of: $0, summaries, run, scenario) }
    }

    private static func line(_ summary: Summary, _ scenario: Scenario, ours: Double?) -> [String]? {
        func text(_ figures: Figures?) -> String { figures.map { Figures.short($0.median) } ?? "–" }
        guard let cpu = summary.cpu else { return nil }
        let ratio = ours.map { Figures.short($0 / cpu.median) } ?? "–"
        return [
            summary.row.name, text(summary.rate), text(summary.p50), text(summary.p99), text(cpu),
            String(Int(cpu.spread.rounded())) + " %", summary.memory.map { scenario.memory.text($0.median) } ?? "–",
            ratio,
        ]
    }

    private static func outcome(
        of bar: Bar, _ summaries: [Summary], _ run: [ResultFile.Entry], _ scenario: Scenario
    ) -> (text: String, isKept: Bool?) {
        func figure(_ name: String) -> Double? {
            summaries.first { $0.row.name == name }?.median(of: bar.figure)
        }
        let ours = figure(Contestant.name(of: bar.interface))
        let what = bar.interface.map { "\(bar.figure.rawValue) by \($0)" } ?? bar.figure.rawValue
        switch bar.measure {
        case .atMost(let factor, let peer):
            let ratio = ratio(ours, figure(peer))
            let text = "\(what) ≤ \(Figures.short(factor)) × \(peer)"
            return (told(text, ratio), ratio.map { $0 <= factor })
        case .atLeast(let factor, let peer):
            let ratio = ratio(ours, figure(peer))
            let text = "\(what) ≥ \(Figures.short(factor)) × \(peer)"
            return (told(text, ratio), ratio.map { $0 >= factor })
        case .atMostOurs(let factor, let name):
            let ratio = ratio(ours, Self.ours(bar.figure, in: name, of: run))
            let text = "\(what) ≤ \(Figures.short(factor)) × ours in \(name)"
            return (told(text, ratio), ratio.map { $0 <= factor })
        case .atMostAboveOurs(let excess, let name):
            let other = Self.ours(bar.figure, in: name, of: run)
            let difference = ours.flatMap { ours in other.map { ours - $0 } }
            let text =
                "\(what) ≤ ours in \(name) + \(Figures.short(excess)) \(bar.figure.symbol(in: scenario))"
            return (told(text, difference), difference.map { $0 <= excess })
        case .below(let limit):
            let text = "\(what) < \(Figures.short(limit)) \(bar.figure.symbol(in: scenario))"
            return (told(text, ours), ours.map { $0 < limit })
        case .above(let limit):
            let text = "\(what) > \(Figures.short(limit)) \(bar.figure.symbol(in: scenario))"
            return (told(text, ours), ours.map { $0 > limit })
        }
    }

    /// This library's own figure in another scenario.
    private static func ours(_ figure: Bar.Figure, in name: String, of run: [ResultFile.Entry]) -> Double? {
        let rows = run.first { $0.scenario == name }?.rows
        return rows?.first { $0.name == Contestant.ours }.flatMap { Summary($0).median(of: figure) }
    }

    private static func ratio(_ ours: Double?, _ theirs: Double?) -> Double? {
        guard let ours, let theirs, theirs > 0 else { return nil }
        return ours / theirs
    }

    private static func told(_ text: String, _ value: Double?) -> String {
        "\(text): \(value.map(Figures.short) ?? "not known")"
    }
}

/// One row's medians.
struct Summary {
    let row: ResultFile.Row
    let rate: Figures?
    let p50: Figures?
    let p99: Figures?
    let cpu: Figures?
    let memory: Figures?

    init(_ row: ResultFile.Row) {
        self.row = row
        rate = Figures(row.samples.map(\.rate))
        p50 = Figures(row.samples.compactMap(\.p50))
        p99 = Figures(row.samples.compactMap(\.p99))
        cpu = Figures(row.samples.map(\.cpu))
        memory = Figures(row.samples.compactMap(\.memory))
    }

    func median(of figure: Bar.Figure) -> Double? {
        switch figure {
        case .cpu: cpu?.median
        case .rate: rate?.median
        case .p50: p50?.median
        case .memory: memory?.median
        }
    }
}

extension Bar.Figure {
    /// The unit in which a scenario's table has the figure.
    fileprivate func symbol(in scenario: Scenario) -> String {
        switch self {
        case .cpu: scenario.unit.symbol
        case .rate: scenario.unit.rateSymbol
        case .p50: "µs"
        case .memory: scenario.memory == .peak ? "MiB" : "KiB each"
        }
    }
}

extension Scenario.Memory {
    var heading: String {
        switch self {
        case .peak: "memory, MiB"
        case .peakPerConnection: "KiB a request in flight"
        case .restPerConnection: "KiB a connection"
        }
    }

    /// KiB, as the heading's unit has it.
    func text(_ kibibytes: Double) -> String {
        switch self {
        case .peak: Figures.short(kibibytes / 1_024)
        case .peakPerConnection, .restPerConnection: Figures.short(kibibytes)
        }
    }
}
