// The command line of the harness.

/// What the harness is asked to do.
struct HarnessOptions {
    var filter: [String] = []
    var contestants: [String] = []
    var runs: Int?
    var quick = false
    var lists = false
    var checks = false
    var usesNginx = true
    var json: String?
    var from: String?
    var report: String?
    var peers = ".build/peers"

    static let usage = """
        usage: Benchmarks [options]
          --list              name the scenarios
          --filter NAMES      only these scenarios: names, or beginnings followed by *, with commas between
          --clients NAMES     only these clients, by the same rule
          --runs N            interleaved runs of each (7)
          --quick             small and once: does everything work?
          --json FILE         write the results to a file
          --report DIRECTORY  write into DIRECTORY/performance.md and performance-tables.md, and the chart
          --from FILE         take the results from a file instead of measuring
          --check             fail where a promise is not kept
          --peers DIRECTORY   where the peers are (.build/peers; make bench-peers builds them)
          --no-nginx          use our own server for everything
        """

    /// Nil where the command line is not understood.
    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            switch name {
            case "--list": lists = true
            case "--quick": quick = true
            case "--check": checks = true
            case "--no-nginx": usesNginx = false
            default:
                guard let value = rest.popFirst(), set(name, value) else { return nil }
            }
        }
    }

    private mutating func set(_ name: String, _ value: String) -> Bool {
        switch name {
        case "--filter": filter = value.split(separator: ",").map(String.init)
        case "--clients": contestants = value.split(separator: ",").map(String.init)
        case "--json": json = value
        case "--from": from = value
        case "--report": report = value
        case "--peers": peers = value
        case "--runs":
            guard let number = Int(value), number > 0 else { return false }
            runs = number
        default: return false
        }
        return true
    }

    /// Whether a name was chosen by a list of words.
    static func matches(_ name: String, _ words: [String]) -> Bool {
        words.isEmpty || words.contains { name == $0 }
            || words.contains { $0.hasSuffix("*") && name.hasPrefix($0.dropLast()) }
    }
}
