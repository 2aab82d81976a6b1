// What is counted: the pure parts by themselves, and whole requests through the public API.

import Foundation

/// A program that does so many units of some work.
struct CountedWork {
    let name: String
    let program: String
    /// Units of the shorter of the two runs.
    let units: Int
    /// How many times as many the longer run has. Threads meet at other moments in every run, and the difference of
    /// two runs that are nearly as long has the deviations of both.
    var growth = 2
    /// How far a count may be above its threshold. Where threads meet often, counts are not the same in every run.
    var slack = 1.05
    /// The command line for so many units, asked for before each run.
    let arguments: (Int) throws -> [String]

    /// Everything that has a threshold.
    static func all(_ farm: ServerFarm) throws -> [CountedWork] {
        try PurePart.allCases.map(pure) + requests(farm)
    }

    private static func pure(_ part: PurePart) throws -> CountedWork {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return CountedWork(name: part.rawValue, program: program, units: part.units) {
            ["count", "part", part.rawValue, "\($0)"]
        }
    }

    /// One at a time, over one kept connection or over a new one each, so that every run is like the other.
    private static func requests(_ farm: ServerFarm) throws -> [CountedWork] {
        func work(
            _ name: String, _ place: Scenario.Place, _ operation: String = "get", interface: String? = nil,
            addition: String? = nil, units: Int, growth: Int = 2, slack: Double = 1.05
        ) throws -> CountedWork {
            let client = try Contestant.client(interface: interface)
            return CountedWork(name: name, program: client.program, units: units, growth: growth, slack: slack) {
                count in
                let scenario = Scenario(
                    name: name, title: name, operation: operation, place: place, warmup: 20, amount: .requests(count))
                return farm.arguments(for: scenario, client) + (addition.map { ["--addition", $0] } ?? [])
            }
        }
        let small = Scenario.Place(server: .scripted, path: "/small")
        return [
            try work("get", small, units: 200, growth: 8),
            try work("get-completion", small, interface: "completion", units: 200, growth: 8, slack: 1.15),
            try work("get-delegate", small, interface: "delegate", units: 200, growth: 8, slack: 1.25),
            try work("get-with-hooks", small, addition: "hooks", units: 200, growth: 8),
            try work("get-with-log", small, addition: "log", units: 200, growth: 8),
            try work("get-with-retries", small, addition: "retries", units: 200, growth: 8),
            try work("get-with-interceptor", small, addition: "interceptor", units: 200, growth: 8),
            try work("get-fields", Scenario.Place(server: .scripted, path: "/fields"), units: 200, growth: 8),
            try work("get-tls", Scenario.Place(server: .scriptedTLS, path: "/small"), units: 200, growth: 8),
            try work("connect", Scenario.Place(server: .scripted, path: "/close"), units: 200, growth: 8),
            try work("connect-tls-resumed", Scenario.Place(server: .scriptedTLS, path: "/close"), units: 50, growth: 4),
            try work("get-http2", Scenario.Place(server: .scriptedHTTP2, path: "/small"), units: 200, growth: 8),
            try work(
                "get-http2-fields", Scenario.Place(server: .scriptedHTTP2, path: "/fields"), units: 200, growth: 8),
            try work("get-8-mib", Scenario.Place(server: .scripted, path: "/large"), units: 10, slack: 1.15),
            try work(
                "download-8-mib", Scenario.Place(server: .scripted, path: "/large"), "download", units: 10, slack: 1.5),
            try work(
                "download-8-mib-chunks", Scenario.Place(server: .scripted, path: "/large"), "download",
                interface: "chunks", units: 10, slack: 1.5),
            try work(
                "download-8-mib-bytes", Scenario.Place(server: .scripted, path: "/large"), "download",
                interface: "bytes", units: 10, slack: 1.5),
        ]
    }
}
