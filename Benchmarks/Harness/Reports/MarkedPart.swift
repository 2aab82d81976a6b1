// The part of a page that a program writes, between two marks.

import Foundation

/// A generated part of a page.
struct MarkedPart {
    /// What the marks call it.
    let name: String
    let page: URL

    private var begin: String { "<!-- \(name): made by Benchmarks, do not edit -->" }
    private var end: String { "<!-- end of \(name) -->" }

    /// Puts a text between the marks; a page that is not there yet has nothing else.
    func write(_ text: String) throws {
        let before = (try? String(contentsOf: page, encoding: .utf8)) ?? "\(begin)\n\(end)\n"
        guard let from = before.range(of: begin), let to = before.range(of: end), from.upperBound <= to.lowerBound
        else { throw HarnessError("\(page.path) has lost the marks around its \(name)") }
        let after = before[..<from.upperBound] + "\n\n" + text + "\n" + before[to.lowerBound...]
        try Data(after.utf8).write(to: page)
    }
}
