// What is left of a session's budget for repetitions.

import Testing
import URLLoadingPolicy

@Suite struct RetryAccountTests {
    /// How many of so many repetitions were there to be taken.
    private func taken(_ count: Int, from account: inout RetryAccount) -> Int {
        var taken = 0
        for _ in 0..<count where account.take() { taken += 1 }
        return taken
    }

    @Test("B6.36: the account is full at first, and each load pays a part of a repetition in")
    func payments() {
        var account = RetryAccount(reserve: 2, share: 0.25)
        #expect(taken(3, from: &account) == 2)
        for _ in 0..<3 { account.payIn() }
        #expect(taken(1, from: &account) == 0)
        account.payIn()
        #expect(taken(2, from: &account) == 1)
    }

    @Test("B6.36: the account holds no more than its reserve")
    func most() {
        var account = RetryAccount(reserve: 1, share: 1)
        for _ in 0..<100 { account.payIn() }
        #expect(taken(2, from: &account) == 1)
    }

    @Test(
        "An account can be made of any numbers",
        arguments: [Int.min, -1, 0, 1, .max], [-1, 0, 0.0001, 1, 2, .infinity, -.infinity, .nan] as [Double])
    func anyNumbers(reserve: Int, share: Double) {
        var account = RetryAccount(reserve: reserve, share: share)
        #expect(taken(1, from: &account) == (reserve > 0 ? 1 : 0))
        for _ in 0..<1_000 { account.payIn() }
        #expect(taken(1, from: &account) == (reserve > 1 || reserve == 1 && share >= 1 ? 1 : 0))
    }
}
