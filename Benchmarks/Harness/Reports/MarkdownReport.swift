// What pages of the documentation show of a run. The text between two marks is replaced, what
// people wrote around it stays.

import Foundation

/// A run as the generated parts of two pages: the chart and the first table, and every table.
enum MarkdownReport {
    /// Writes into `performance.md` and `performance-tables.md` of a directory, and the chart beside them.
    static func write(_ file: ResultFile, _ scenarios: [Scenario], to directory: String) throws {
        let place = URL(fileURLWithPath: directory)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let headlines = scenarios.compactMap { scenario in
            file.entries.first { $0.scenario == scenario.name }.flatMap { Headline(scenario, $0) }
        }
        // A run of other scenarios says nothing about the first ones.
        if !headlines.isEmpty {
            try Data(BarChart.svg(headlines).utf8).write(to: place.appendingPathComponent("performance.svg"))
            let chart = "![Processor time of each client as a multiple of the floor's](performance.svg)\n"
            let parts = [chart, overview(headlines), setting(file.setting), outside(headlines)]
            try MarkedPart(name: "summary", page: place.appendingPathComponent("performance.md"))
                .write(parts.joined(separator: "\n"))
        }
        let tables = [setting(file.setting)] + file.tables(scenarios).map(text)
        try MarkedPart(name: "tables", page: place.appendingPathComponent("performance-tables.md"))
            .write(tables.joined(separator: "\n"))
    }

    private static func setting(_ setting: ResultFile.Setting) -> String {
        let pinned =
            setting.pinned ? "client and server each on a core of its own" : "client and server on the same core"
        return """
            Measured on \(setting.date): \(setting.processor), \(setting.cores) cores, \(setting.kernel), \
            \(setting.system). Server: \(setting.server); \(pinned). Medians of \(setting.runs) interleaved runs; ± is \
            half the distance of the quartiles.

            """
    }

    // MARK: The first table

    private static func overview(_ headlines: [Headline]) -> String {
        let clients = Headline.clients
        let rows = headlines.map { headline in
            ["\(headline.scenario.title), \(headline.scenario.unit.symbol)"]
                + clients.map { headline.cost(of: $0).map(cell) ?? "–" }
        }
        return MarkdownTable.text(header: ["processor time"] + clients.map { Headline.title(of: $0) }, rows)
    }

    private static func cell(_ cost: Headline.Cost) -> String {
        guard let cpu = cost.cpu else { return "(\(cost.multiple))" }
        let figure = cost.client == Contestant.ours ? "**\(Figures.short(cpu))**" : Figures.short(cpu)
        return "\(figure) · \(cost.multiple)"
    }

    /// The run that has the client which this one has not.
    private static func outside(_ headlines: [Headline]) -> String {
        let rows = headlines.compactMap { headline -> [String]? in
            guard let run = OutsideRun.all.first(where: { $0.scenario == headline.scenario.name }) else { return nil }
            let theirs = Headline.Cost(client: OutsideRun.client, cpu: nil, ratios: run.ratios)
            let (least, most) = (asGiven(run.theirs.lowerBound), asGiven(run.theirs.upperBound))
            return [
                "\(headline.scenario.title), \(headline.scenario.unit.symbol)", asGiven(run.floor),
                "\(asGiven(run.ours)) · \(Figures.brief(run.ours / run.floor)) ×",
                "\(least == most ? least : "\(least) to \(most)") · \(theirs.multiple)",
            ]
        }
        return """
            **\(OutsideRun.client)** stands in brackets, since its figures are of another run. It cannot be built where no package can be
            fetched, so it was measured elsewhere, with client and server a core each, too (version 1.33.1, default event loops, medians).
            Times of two runs cannot be compared, but multiples of the floor of each can:


            """ + MarkdownTable.text(header: ["that run", "floor (C)", "URLLoading", OutsideRun.client], rows)
    }

    /// Not more exact than it was told.
    private static func asGiven(_ figure: Double) -> String { String(format: "%g", figure) }

    // MARK: Every table

    /// The page says once for all tables which clients cannot do what; its tables leave them out.
    private static func text(_ table: Table) -> String {
        let title = "### \(table.scenario.title) (`\(table.scenario.name)`)\n\n"
        let promises = [("Kept", true), ("**Not kept**", false)].compactMap { (mark, isKept) -> String? in
            let texts = table.promises.filter { $0.isKept == isKept }.map(\.text)
            return texts.isEmpty ? nil : "\(mark): \(texts.joined(separator: "; ")). "
        }
        let kept = promises.isEmpty ? "" : "\n" + promises.joined().dropLast() + "\n"
        return title + MarkdownTable.text(header: table.header, table.lines) + kept
    }
}
