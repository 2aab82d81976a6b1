// The blocks of code in a document, which must be those of the samples.

import Foundation
import Testing

/// Expects every block of Swift in a document to stand in a file of the samples.
func expectBlocks(of document: String, in sample: String, count: Int) throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(
        contentsOf: tests.deletingLastPathComponent().appendingPathComponent("docs/\(document)"), encoding: .utf8)
    let samples = lines(
        try String(contentsOf: tests.appendingPathComponent("Samples/Common/\(sample)"), encoding: .utf8))
    let blocks = text.components(separatedBy: "```swift\n").dropFirst().map {
        lines($0.components(separatedBy: "\n```").first ?? "")
    }
    #expect(blocks.count == count)
    for block in blocks {
        let isThere = samples.indices.contains { samples[$0...].starts(with: block) }
        #expect(isThere && !block.isEmpty, "\(block.first ?? "")")
    }
}

/// Without what differs by where it stands.
private func lines(_ text: String) -> [String] {
    text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
}
