// The interceptors of a session, and which of them a load begins with: one that an interceptor begins goes to those
// after it, so that no interceptor waits for itself.
//
// Must not know: what they do with a request.

import Synchronization

/// The interceptors of a session that has some.
final class SessionInterceptors: Sendable {
    private let all: [any URLSession.Interceptor]
    /// What it is known by where it is only noted. An address might be another session's later.
    private let number = SessionInterceptors.numbers.add(1, ordering: .relaxed).newValue

    /// How many interceptors of which session the code that runs here stands behind.
    @TaskLocal private static var passed: [Int: Int] = [:]
    private static let numbers = Atomic<Int>(0)

    init?(_ values: ConfigurationValues) {
        guard !values.interceptors.isEmpty else { return nil }
        all = values.interceptors
    }

    /// The position of the first interceptor for a load that begins here.
    var first: Int { Self.passed[number] ?? 0 }

    /// Whether there is no interceptor at a position.
    func isEnd(_ position: Int) -> Bool { position >= all.count }

    /// Calls the one at a position.
    func intercept(_ request: URLRequest, _ load: InterceptedLoad, at position: Int) async throws
        -> URLSession.InterceptedAnswer
    {
        var passed = Self.passed
        passed[number] = position + 1
        let next = URLSession.InterceptorChain(load: load, position: position + 1)
        return try await Self.$passed.withValue(passed) {
            try await all[position].intercept(request, next: next)
        }
    }
}
