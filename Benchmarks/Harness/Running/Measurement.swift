// What a client says about one run, and the figures that are made of it.

/// The line of JSON that a client prints; the curl command leaves out what it does not know.
struct Measurement: Codable, Sendable {
    var client: String
    var requests: Int
    var bytes: Int
    var errors: Int
    var wallSeconds: Double
    var userSeconds: Double?
    var systemSeconds: Double?
    var p50: Double?
    var p99: Double?
    var baseMemory: Int?
    var memory: Int?
    var peakMemory: Int?
    var threads: Int?

    enum CodingKeys: String, CodingKey {
        case client, requests, bytes, errors, threads
        case wallSeconds = "wall_s"
        case userSeconds = "user_s"
        case systemSeconds = "sys_s"
        case p50 = "p50_us"
        case p99 = "p99_us"
        case baseMemory = "base_rss_kib"
        case memory = "rss_kib"
        case peakMemory = "max_rss_kib"
    }
}

/// The figures of one run in the units of the tables.
struct Sample: Codable, Sendable {
    /// Requests, or MiB of body, in a second.
    var rate: Double
    /// µs.
    var p50: Double?
    var p99: Double?
    /// In the scenario's unit.
    var cpu: Double
    /// KiB.
    var memory: Double?
    var threads: Int?

    /// The figures of a run; `processorSeconds` stands in where the client does not know its own.
    init(_ measurement: Measurement, of scenario: Scenario, processorSeconds: Double) {
        let own = measurement.userSeconds.flatMap { user in measurement.systemSeconds.map { user + $0 } }
        let seconds = own ?? processorSeconds
        let requests = Double(max(1, measurement.requests))
        let gibibytes = Double(max(1, measurement.bytes)) / Double(1 << 30)
        let wall = max(measurement.wallSeconds, 1e-9)
        switch scenario.unit {
        case .request:
            cpu = seconds / requests * 1e6
            rate = requests / wall
        case .gibibyte:
            cpu = seconds / gibibytes
            rate = gibibytes * 1_024 / wall
        case .transfer:
            cpu = seconds / requests
            rate = gibibytes * 1_024 / wall
        case .process:
            cpu = processorSeconds * 1e3
            rate = 1 / wall
        }
        // A single request has no percentiles.
        p50 = measurement.requests > 1 ? measurement.p50 : nil
        p99 = measurement.requests > 1 ? measurement.p99 : nil
        threads = measurement.threads
        let base = Double(measurement.baseMemory ?? 0)
        let connections = Double(scenario.connections)
        switch scenario.memory {
        case .peak: memory = measurement.peakMemory.map(Double.init)
        case .peakPerConnection: memory = measurement.peakMemory.map { (Double($0) - base) / connections }
        case .restPerConnection: memory = measurement.memory.map { (Double($0) - base) / connections }
        }
    }

    /// The mean of the runs of a scenario whose runs are many processes.
    init(meanOf samples: [Sample]) {
        func mean(_ values: [Double]) -> Double? {
            values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
        }
        rate = mean(samples.map(\.rate)) ?? 0
        p50 = mean(samples.compactMap(\.p50))
        p99 = mean(samples.compactMap(\.p99))
        cpu = mean(samples.map(\.cpu)) ?? 0
        memory = mean(samples.compactMap(\.memory))
        threads = samples.compactMap(\.threads).max()
    }
}
