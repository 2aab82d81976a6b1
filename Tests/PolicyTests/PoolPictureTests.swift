// The picture of a connection's states in docs/states.md is the pool's own: its arrows are the
// changes that random walks see.

import Testing
import URLLoadingTestSupport

@testable import URLLoadingPolicy

@Suite("The picture of a pooled connection's states") struct PoolPictureTests {
    @Test("docs/states.md shows the changes of state that occur, and no others")
    func picture() throws {
        let page = try #require(ProjectFiles.text(of: "docs/states.md"))
        let section = try #require(page.components(separatedBy: "\n## A connection of the pool\n").last)
        let picture = try #require(section.components(separatedBy: "```").dropFirst().first)
        var drawn: Set<[String]> = []
        for line in picture.split(separator: "\n") where line.contains(" --> ") && !line.contains("[*]") {
            let change = line.prefix { $0 != ":" }.components(separatedBy: " --> ")
            drawn.insert(change.map { $0.trimmingCharacters(in: .whitespaces) })
        }
        var seen: Set<[String]> = []
        // The walks with shared and with old connections have every change among them.
        for walk in PoolRandomWalkTests.walks.suffix(6) {
            for change in try PoolRandomWalkTests.taken(walk).transitions { seen.insert(change.map { "\($0)" }) }
        }
        #expect(seen.subtracting(drawn) == [], "not drawn")
        // Fewer steps under a sanitizer may miss a rare one.
        if !Sanitizer.isActive { #expect(drawn.subtracting(seen) == [], "never seen") }
    }
}
