// What a run leaves behind in a file: enough to make every table again, and to compare two runs.

import Foundation

/// A whole run.
struct ResultFile: Codable {
    /// Where and when it took place.
    struct Setting: Codable {
        var date: String
        var processor: String
        var cores: Int
        var kernel: String
        var system: String
        var server: String
        var pinned: Bool
        var runs: Int
        var quick: Bool
    }

    /// One contestant's runs in one scenario.
    struct Row: Codable {
        var name: String
        var client: String
        var samples: [Sample]
        var gap: String?
    }

    /// One scenario.
    struct Entry: Codable {
        var scenario: String
        var rows: [Row]
    }

    var setting: Setting
    var entries: [Entry]

    init(_ results: [ScenarioResult], setting: Setting, missing: [String]) {
        self.setting = setting
        entries = results.map { result in
            let rows = result.rows.map {
                Row(name: $0.contestant.name, client: $0.client, samples: $0.samples, gap: $0.gap)
            }
            let gaps = missing.map { Row(name: $0, client: "", samples: [], gap: "not installed") }
            return Entry(scenario: result.scenario.name, rows: rows + gaps)
        }
    }

    /// Reads a file that an earlier run has written.
    init(contentsOf path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw HarnessError("\(path) cannot be read")
        }
        self = try JSONDecoder().decode(ResultFile.self, from: data)
    }

    /// Writes it, readable and in a stable order.
    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path))
    }
}

extension ResultFile.Setting {
    /// This machine, now.
    init(server: String, runs: Int, quick: Bool) {
        func line(_ path: String, after prefix: String) -> String {
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix(prefix) } ?? ""
            return line.drop { $0 != ":" && $0 != "=" }.dropFirst()
                .trimmingCharacters(in: CharacterSet(charactersIn: " \""))
        }
        var names = utsname()
        uname(&names)
        let release = withUnsafeBytes(of: names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        self.init(
            date: String(ISO8601DateFormatter().string(from: Date()).prefix(10)),
            processor: line("/proc/cpuinfo", after: "model name"), cores: ProcessInfo.processInfo.activeProcessorCount,
            kernel: "Linux \(release), \(Self.congestionControl)",
            system: line("/etc/os-release", after: "PRETTY_NAME"), server: server,
            pinned: Processors.pair != nil, runs: runs, quick: quick)
    }

    /// How the kernel paces TCP. Measured: with "bbr", which sends by timers, a part of what the server's kernel does
    /// counts as the client's, and which client has how much of it is chance.
    private static var congestionControl: String {
        let path = "/proc/sys/net/ipv4/tcp_congestion_control"
        let name = (try? String(contentsOfFile: path, encoding: .utf8)) ?? "of an unknown kind"
        return "TCP \(name.trimmingCharacters(in: .whitespacesAndNewlines))"
    }
}
