// Waiting for what happens without a notice (a thread that the kernel no longer lists, a weak reference that is gone):
// by asking again and again, but a thousand times a second, so that the tests beside it can run.

/// Returns when the condition holds; throws when the test's time limit has passed.
package func until(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    while try await !condition() {
        try await Task.sleep(for: .milliseconds(1))
    }
}
