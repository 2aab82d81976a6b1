// Waiting in an async test for what comes by a callback, on any thread, once.
//
// Not a checked continuation itself: where the callback comes before the task waits, ThreadSanitizer is not told by the
// concurrency library that one came after the other, and takes what the callback brought for a race. The value goes
// through a Mutex, which it sees.

import Synchronization

/// Takes a value from a callback to the task that waits for it; a second value stops the test's process.
package struct Handover<Value: Sendable, Failure: Error>: Sendable {
    fileprivate let box: HandoverBox<Value, Failure>
    fileprivate let continuation: CheckedContinuation<Void, Never>

    /// The task goes on with this value.
    package func resume(returning value: Value) { resume(with: .success(value)) }

    /// The task goes on with this error.
    package func resume(throwing error: Failure) { resume(with: .failure(error)) }

    /// The task goes on with either.
    package func resume(with result: Result<Value, Failure>) {
        box.result.withLock { $0 = $0 ?? result }
        continuation.resume()
    }
}

extension Handover where Value == Void {
    /// The task goes on.
    package func resume() { resume(returning: ()) }
}

/// Waits for the value that `start` arranges for.
package func withHandover<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ start: (Handover<Value, Never>) -> Void
) async -> Value {
    await HandoverBox.receive(isolation: isolation, start).get()
}

/// Waits for the value or the error that `start` arranges for.
package func withThrowingHandover<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ start: (Handover<Value, any Error>) -> Void
) async throws -> Value {
    try await HandoverBox.receive(isolation: isolation, start).get()
}

private final class HandoverBox<Value: Sendable, Failure: Error>: Sendable {
    let result = Mutex<Result<Value, Failure>?>(nil)

    static func receive(
        isolation: isolated (any Actor)?, _ start: (Handover<Value, Failure>) -> Void
    ) async -> Result<Value, Failure> {
        let box = HandoverBox()
        await withCheckedContinuation(isolation: isolation) { start(Handover(box: box, continuation: $0)) }
        guard let result = box.result.withLock({ $0 }) else { preconditionFailure("resumed without a result") }
        return result
    }
}
