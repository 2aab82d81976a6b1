// Reads the vector files in Tests/Vectors: bytes in, events out. The format is described at the top of
// responses.txt. A file that cannot be read, or a line that is not understood, fails the test that wants it.

import Testing
import URLLoadingTestSupport

/// One vector: what goes in, under which circumstances, and what must come out.
struct Vector: Sendable, CustomTestStringConvertible {
    var title: String
    var options: [String] = []
    var bytes: [UInt8] = []
    var events: [String] = []

    var testDescription: String { title }

    /// The arguments of every `@ name …` line.
    func options(_ name: String) -> [String] {
        options.filter { $0 == name || $0.hasPrefix(name + " ") }.map { String($0.dropFirst(name.count + 1)) }
    }

    func has(_ name: String) -> Bool { !options(name).isEmpty }

    /// The vectors of a file, in order.
    static func load(_ file: String) -> [Vector] {
        var vectors: [Vector] = []
        guard let lines = VectorText.lines(of: file) else {
            Issue.record("cannot read \(file)")
            return []
        }
        for (number, line) in lines.enumerated() {
            let body = String(line.dropFirst(2))
            switch line.first {
            case nil, "#": continue
            case "*": vectors.append(Vector(title: body))
            case "@": vectors[vectors.count - 1].options.append(body)
            case ">": vectors[vectors.count - 1].bytes += VectorText.unescape(body)
            case "=": vectors[vectors.count - 1].events.append(body)
            default: Issue.record("\(file):\(number + 1): a line that is not understood")
            }
        }
        if vectors.isEmpty { Issue.record("\(file) holds no vector") }
        return vectors
    }
}
