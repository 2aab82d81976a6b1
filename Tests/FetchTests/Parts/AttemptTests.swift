// One attempt and its end, whenever that comes.

import Foundation
import Testing
import URLLoading

@testable import URLLoadingFetch

@Suite("fetch: attempts", .timeLimit(.minutes(5)))
struct AttemptTests {
    /// An attempt to get what nothing listens for, and its request.
    private func prepare() throws -> (attempt: Attempt, request: PreparedRequest) {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let options = Options()
        let plan = AttemptPlan(
            number: 0, url: url, options: options, sink: MemorySink(keeps: false), heads: nil, board: nil,
            hasRetries: false, retries: RetryRules(retries: 0, delay: nil), earlierFailures: 0, lastStart: nil,
            note: { _ in })
        return (Attempt(plan), try PreparedRequest(url, options, ReadContents(body: .none, conditions: [])))
    }

    @Test("An attempt whose task is complete before it is waited for has that result, and waits for no other")
    func completeBefore() async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let (attempt, prepared) = try prepare()
        attempt.urlSession(session, task: session.dataTask(with: prepared.request), didCompleteWithError: nil)
        // A connection that was tried now would fail.
        #expect(await attempt.run(prepared, in: session).failure == nil)
    }

    @Test("An attempt that is cancelled before it begins ends as one that was interrupted")
    func cancelledBefore() async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        for _ in 0..<100 {
            let (attempt, prepared) = try prepare()
            let run = Task {
                while !Task.isCancelled { await Task.yield() }
                return await attempt.run(prepared, in: session)
            }
            run.cancel()
            #expect(await run.value.failure?.code == .interrupted)
        }
    }
}
