// A folder for case files and reports, and the program that reads and writes them.

import Foundation
import URLLoadingTestSupport

/// Runs the program to its end.
func conformance(_ arguments: [String]) async throws -> ChildRun {
    try await ChildRun.run("URLLoadingConformance", arguments)
}

/// A folder of its own for a test; gone with this object.
final class CaseDirectory {
    struct Unreadable: Error {}

    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "conformance-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func path(_ name: String) -> String { path + "/" + name }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
    }

    func text(_ name: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path(name)) else { throw Unreadable() }
        return String(decoding: data, as: UTF8.self)
    }

    func json(_ name: String) throws -> JSONValue {
        var parser = JSONParser(Array(try text(name).utf8))
        return try parser.parse()
    }
}
