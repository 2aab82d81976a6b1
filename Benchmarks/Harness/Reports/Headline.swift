// What a reader sees first of a run: a few scenarios, and of each what every client costs beside the floor. The chart
// and the first table show it.

/// One scenario of the first table.
struct Headline {
    /// What a client costs in a scenario.
    struct Cost {
        let client: String
        /// Processor time in the scenario's unit; nil for what another run has measured.
        let cpu: Double?
        /// Processor time as a multiple of the floor of the same run.
        let ratios: ClosedRange<Double>
    }

    let scenario: Scenario
    /// In the order of `clients`; a client that has not done this work is left out.
    let costs: [Cost]

    /// The clients that are shown, in the order of the columns.
    static let clients = [
        Contestant.ours, "foundation-networking", OutsideRun.client, "libcurl-multi", "go", "hyper", "reqwest", floor,
    ]

    private static let floor = "floor"
    private static let scenarios = ["get-64", "get-64-fields", "get-64-tls", "one-by-one", "download", "download-tls"]

    /// Nil where the scenario is not shown, or the run has no floor for it.
    init?(_ scenario: Scenario, _ entry: ResultFile.Entry) {
        guard Self.scenarios.contains(scenario.name) else { return nil }
        let medians = entry.rows.compactMap { row in
            Figures(row.samples.map(\.cpu)).map { (name: row.name, cpu: $0.median) }
        }
        guard let floor = medians.first(where: { $0.name == Self.floor })?.cpu, floor > 0 else { return nil }
        self.scenario = scenario
        costs = Self.clients.compactMap { client in
            if client == OutsideRun.client {
                let run = OutsideRun.all.first { $0.scenario == scenario.name }
                return run.map { Cost(client: client, cpu: nil, ratios: $0.ratios) }
            }
            let cpu = medians.first { $0.name == client }?.cpu
            return cpu.map { Cost(client: client, cpu: $0, ratios: $0 / floor...$0 / floor) }
        }
    }

    /// What one client costs.
    func cost(of client: String) -> Cost? { costs.first { $0.client == client } }

    /// A client as readers know it.
    static func title(of client: String) -> String {
        switch client {
        case Contestant.ours: "URLLoading"
        case "foundation-networking": "FoundationNetworking"
        case "libcurl-multi": "libcurl"
        case "go": "Go"
        case floor: "floor (C)"
        default: client
        }
    }
}

extension Headline.Cost {
    /// The multiple of the floor in words.
    var multiple: String {
        let (least, most) = (Figures.brief(ratios.lowerBound), Figures.brief(ratios.upperBound))
        return least == most ? "\(least) ×" : "\(least) to \(most) ×"
    }
}
