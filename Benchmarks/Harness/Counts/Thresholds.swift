// The stored counts.

import Foundation

/// Counts by the name of the work; a file that is not there yet is empty.
struct Thresholds {
    private var counts: [String: Count] = [:]

    init(contentsOf path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else { return }
        counts = try JSONDecoder().decode([String: Count].self, from: data)
    }

    subscript(name: String) -> Count? {
        get { counts[name] }
        set { counts[name] = newValue }
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try (encoder.encode(counts) + Data("\n".utf8)).write(to: URL(fileURLWithPath: path))
    }
}
