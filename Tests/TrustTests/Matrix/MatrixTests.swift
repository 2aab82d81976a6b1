import Testing
import URLLoadingTrust

@Suite struct MatrixTests {
    static let cases: [MatrixCase] =
        MatrixCase.hosts + MatrixCase.constraints + MatrixCase.dates + MatrixCase.uses + MatrixCase.authorities
        + MatrixCase.strength + MatrixCase.form + MatrixCase.paths + MatrixCase.revocation

    @Test(
        "B3.25: the verdict on each chain of the matrix is the one that RFC 5280 and RFC 9525 lead to", arguments: cases
    )
    func verdicts(_ matrixCase: MatrixCase) throws {
        let chain = try matrixCase.make()
        let strict = chain.with { $0.policy.profile = .strict }
        for (judged, reason) in [(chain, matrixCase.reason), (strict, matrixCase.strictReason)] {
            let verdict = try judged.verdict()
            let found = verdict.reason.map { String(describing: $0).prefix { $0 != "(" } }.map(String.init)
            let allowed = reason.map { $0.split(separator: "|").map(String.init) }
            #expect(
                allowed.map { $0.contains(found ?? "") } ?? (found == nil),
                "\(matrixCase.name) (\(judged.policy.profile)): \(verdict.failure?.description ?? "believed")")
        }
        // Plain OpenSSL, as clients ask it, agrees or, where that is noted, says the opposite.
        let accepts = try chain.opensslAccepts()
        #expect(
            (accepts == (matrixCase.reason == nil)) == (matrixCase.openSSL == .agrees),
            "\(matrixCase.name): OpenSSL \(accepts ? "accepts" : "refuses")")
    }

    @Test("B3.15: some rules are asked for by the strict profile alone, and it drops none of the others")
    func strictOnly() {
        let strictOnly = Self.cases.filter { $0.reason == nil && $0.strictReason != nil }
        #expect(strictOnly.count >= 20)
        #expect(Self.cases.allSatisfy { $0.reason == nil || $0.strictReason != nil })
    }

    @Test("The matrix is large, and OpenSSL errs in both directions")
    func size() {
        #expect(Self.cases.count >= 120)
        #expect(Set(Self.cases.map(\.name)).count == Self.cases.count)
        let wrong = Self.cases.filter { $0.openSSL == .differs }
        #expect(wrong.contains { $0.reason == nil })
        #expect(wrong.contains { $0.reason != nil })
    }
}
