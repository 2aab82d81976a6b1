// Two small ways to wait for something that happens on another thread.

import Synchronization
import URLLoadingTestSupport

/// Something that happens once.
final class Signal: Sendable {
    private let outcome = Outcome<Void>()

    func raise() { outcome.succeed(()) }
    func wait() async { try? await outcome.value() }
}

/// A value that another thread delivers once.
final class Outcome<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiter: Handover<Value, any Error>?
    }

    private let state = Mutex(State())

    func succeed(_ value: Value) { settle(.success(value)) }
    func fail(_ error: any Error) { settle(.failure(error)) }

    func value() async throws -> Value {
        try await withThrowingHandover { continuation in
            let result: Result<Value, any Error>? = state.withLock { state in
                if state.result == nil { state.waiter = continuation }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }

    private func settle(_ result: Result<Value, any Error>) {
        let waiter: Handover<Value, any Error>? = state.withLock { state in
            guard state.result == nil else { return nil }
            state.result = result
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(with: result)
    }
}
