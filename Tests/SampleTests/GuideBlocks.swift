// The blocks of code in all documents, which must be those of the samples: what is shown compiles.

import Foundation
import Testing
import URLLoadingTestSupport

@Suite("The code in the documents")
struct GuideBlocks {
    private static let package = URL(fileURLWithPath: ProjectFiles.root)

    @Test("Every block of Swift in README.md, docs and the articles is compiled as part of the samples")
    func blocks() throws {
        let samples = try Self.files("Tests/Samples", suffix: ".swift").map(Self.lines)
        let documents =
            ["README.md", "CONTRIBUTING.md", "Compatibility/README.md"]
            .map { Self.package.appendingPathComponent($0) }
            + (try Self.files("docs", suffix: ".md")) + (try Self.files("Sources/URLLoading", suffix: ".md"))
        var count = 0
        for document in documents {
            let text = try String(contentsOf: document, encoding: .utf8)
            for block in text.components(separatedBy: "```swift\n").dropFirst() {
                let wanted = Self.lines(block.components(separatedBy: "\n```").first ?? "")
                count += 1
                #expect(
                    samples.contains { sample in
                        sample.indices.contains { sample[$0...].starts(with: wanted) }
                    }, "\(document.lastPathComponent): \(wanted.first ?? "")")
            }
        }
        #expect(count > 40)
    }

    private static func files(_ folder: String, suffix: String) throws -> [URL] {
        let place = package.appendingPathComponent(folder)
        return try FileManager.default.subpathsOfDirectory(atPath: place.path)
            .filter { $0.hasSuffix(suffix) }.map(place.appendingPathComponent)
    }

    private static func lines(_ file: URL) throws -> [String] {
        lines(try String(contentsOf: file, encoding: .utf8))
    }

    /// Without what differs by where it stands.
    private static func lines(_ text: String) -> [String] {
        text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.hasPrefix("// swift-format-ignore") }
    }
}
