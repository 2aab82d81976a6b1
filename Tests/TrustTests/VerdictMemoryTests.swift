import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite struct VerdictMemoryTests {
    private let policy = TrustPolicy(host: HostName("example.test"))

    private func judged(
        _ memory: VerdictMemory, _ chain: CertificateChain, _ policy: TrustPolicy, now: Int64? = nil
    ) throws -> (wasAsked: Bool, isTrusted: Bool) {
        var wasAsked = false
        let evaluator = AnchorsEvaluator(anchors: [try Chains.root.get().certificate])
        let verdict = memory.recall(chain, policy: policy, now: now) {
            wasAsked = true
            return evaluator.evaluate(chain, policy: policy)
        }
        return (wasAsked, verdict.isTrusted)
    }

    @Test("A good chain is judged once, also when it was parsed anew")
    func once() throws {
        let memory = VerdictMemory()
        let chain = try Chains.leaf.get().chain
        #expect(try judged(memory, chain, policy) == (true, true))
        #expect(try judged(memory, chain, policy) == (false, true))
        let again = try #require(CertificateChain(chain.certificates.map { try Certificate(der: $0.der) }))
        #expect(try judged(memory, again, policy) == (false, true))
    }

    @Test("Another host, purpose or chain is judged for itself")
    func otherQuestions() throws {
        let memory = VerdictMemory()
        let chain = try Chains.leaf.get().chain
        #expect(try judged(memory, chain, policy) == (true, true))
        #expect(try judged(memory, chain, TrustPolicy(host: HostName("other.test"))) == (true, false))
        #expect(try judged(memory, chain, TrustPolicy(host: nil, purpose: .clientAuthentication)) == (true, false))
        let other = try Chains.leaf(.server("example.test")).chain
        #expect(try judged(memory, other, policy) == (true, true))
    }

    @Test("A refusal is not remembered")
    func refusals() throws {
        let memory = VerdictMemory()
        let chain = try #require(CertificateChain([Chains.leaf.get().certificate]))
        #expect(try judged(memory, chain, policy) == (true, false))
        #expect(try judged(memory, chain, policy) == (true, false))
    }

    @Test("B3.28: a verdict ends with the validity of the first certificate of the path that ends")
    func validity() throws {
        let memory = VerdictMemory()
        let chain = try Chains.leaf.get().chain
        let ends = chain.certificates.compactMap(\.notAfter)
        let end = try #require(ends.min())
        #expect(try judged(memory, chain, policy) == (true, true))
        #expect(try judged(memory, chain, policy, now: end) == (false, true))
        #expect(try judged(memory, chain, policy, now: end + 1).wasAsked)
        let start = try #require(chain.certificates.compactMap(\.notBefore).max())
        #expect(try judged(memory, chain, policy, now: start - 1).wasAsked)
    }

    @Test("B3.41: a chosen time is judged each time")
    func chosenTime() throws {
        let memory = VerdictMemory()
        let chain = try Chains.leaf.get().chain
        var policy = policy
        policy.time = chain.leaf.notBefore.map { $0 + 10 }
        #expect(try judged(memory, chain, policy) == (true, true))
        #expect(try judged(memory, chain, policy) == (true, true))
    }

    @Test("Of more verdicts than are kept those stay that are asked for")
    func generations() throws {
        let memory = VerdictMemory()
        let chain = try Chains.leaf.get().chain
        let evaluator = AnchorsEvaluator(anchors: [try Chains.root.get().certificate])
        let verdict = evaluator.evaluate(chain, policy: policy)
        try #require(verdict.isTrusted)
        func isJudged(_ host: String) -> Bool {
            var wasAsked = false
            _ = memory.recall(chain, policy: TrustPolicy(host: HostName(host))) {
                wasAsked = true
                return verdict
            }
            return wasAsked
        }
        #expect(isJudged("used.test") && isJudged("once.test"))
        for number in 0..<1_000 {
            #expect(isJudged("h\(number).test"))
            #expect(!isJudged("used.test"))
        }
        #expect(isJudged("once.test"))
    }
}
