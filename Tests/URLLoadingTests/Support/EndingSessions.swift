// Sessions that a test makes in passing are ended with it: one that is never invalidated keeps its delegate (B1.13).

import Testing
import URLLoading

/// The sessions of the test that is running.
enum GuestBook {
    @TaskLocal fileprivate static var current: Guarded<[URLSession]>?

    /// Notes a session of a test that says `.endsSessions`, and fails every other test.
    static func sign(_ session: URLSession) {
        if let current {
            current.change { $0.append(session) }
        } else {
            Issue.record("a test that makes sessions in passing says .endsSessions")
        }
    }
}

/// Invalidates the sessions in a test's book at the end of the test.
struct EndsSessions: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // This is called for suites too, whose tests have books of their own.
        guard testCase != nil else { return try await function() }
        let book = Guarded<[URLSession]>([])
        defer { for session in book.value { session.invalidateAndCancel() } }
        try await GuestBook.$current.withValue(book) { try await function() }
    }
}

extension Trait where Self == EndsSessions {
    /// Sessions that `visitor` makes end with the test.
    static var endsSessions: EndsSessions { EndsSessions() }
}
