// The blocks of code in a document, which must be those of the samples.

import Foundation
import Testing

/// Expects every block of Swift in a document of docs/, or in a section of README.md, to stand in a file of the samples.
func expectBlocks(of document: String, section: String? = nil, in sample: String, count: Int) throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let path = section == nil ? "docs/\(document)" : document
    var text = try String(
        contentsOf: tests.deletingLastPathComponent().appendingPathComponent(path), encoding: .utf8)
    if let section {
        let rest = try #require(text.components(separatedBy: "\n## \(section)\n").dropFirst().first)
        text = rest.components(separatedBy: "\n## ").first ?? rest
    }
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
