import Testing
import URLLoadingTestPrograms
import URLLoadingTrust

@Suite struct WorstCaseTests {
    // Counted work stops them, as much of it on every machine; how long that takes is measured by the tool and written
    // down in docs/trust.md.
    @Test("The work that a verdict takes is bounded, whatever the peer has sent", arguments: WorstCase.all)
    func bounded(_ worstCase: WorstCase) throws {
        let verdict = try worstCase.input().judge()
        #expect(WorstCase.kind(of: verdict) == worstCase.expected, "\(worstCase.name): \(verdict)")
    }
}
