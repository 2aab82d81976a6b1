// What an option says is used: each value of the options is read by code besides the table that sets it.

import Foundation
import Testing
import URLLoadingTestSupport

@testable import URLLoadingFetch

@Suite("fetch: the use of options")
struct OptionUseTests {
    @Test("Each value that an option sets is read somewhere else than where options are set")
    func used() throws {
        let sources = ProjectFiles.root + "/Sources/Fetch"
        let names = try FileManager.default.subpathsOfDirectory(atPath: sources)
            .filter { $0.hasSuffix(".swift") && !$0.contains("Arguments/Table/") }
        let texts = try names.map { try String(contentsOfFile: sources + "/" + $0, encoding: .utf8) }
        // A comment is no use, nor is the declaration itself.
        let lines = texts.flatMap { $0.components(separatedBy: "\n") }
            .filter { !$0.contains("//") && (!$0.contains("package var ") || $0.contains("{")) }
        let words = Set(lines.flatMap { $0.split { !$0.isLetter && !$0.isNumber } })
        let values = Mirror(reflecting: Options()).children.compactMap(\.label)
        #expect(values.count > 80)
        for value in values { #expect(words.contains(value[...]), "\(value) is set, and nothing comes of it") }
    }
}
