// A value that one thread changes and tests read and wait for. Knows nothing of what the value says.

import Synchronization

/// A value: changed on the loop, read from anywhere, awaited by tests.
final class ObservedValue<Value: Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        let condition: @Sendable (Value) -> Bool
        let continuation: UnsafeContinuation<Value?, Never>
    }

    private struct State {
        var value: Value
        var waiters: [Waiter] = []
        var cancelled: Set<Int> = []
        var nextID = 0
    }

    private let state: Mutex<State>

    init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    var current: Value { state.withLock { $0.value } }

    /// Changes the value and wakes those whose condition now holds.
    func update(_ change: (inout Value) -> Void) {
        let ready: [(Waiter, Value)] = state.withLock { state in
            change(&state.value)
            guard !state.waiters.isEmpty else { return [] }
            let value = state.value
            let ready = state.waiters.filter { $0.condition(value) }
            state.waiters.removeAll { waiter in ready.contains { $0.id == waiter.id } }
            return ready.map { ($0, value) }
        }
        for (waiter, value) in ready { waiter.continuation.resume(returning: value) }
    }

    /// Waits for the value to fulfil `condition`; nil where the waiting task is cancelled before.
    func wait(until condition: @escaping @Sendable (Value) -> Bool) async -> Value? {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                add(Waiter(id: id, condition: condition, continuation: continuation))
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func add(_ waiter: Waiter) {
        let answer: Value?? = state.withLock { state in
            if state.cancelled.remove(waiter.id) != nil { return .some(nil) }
            if waiter.condition(state.value) { return state.value }
            state.waiters.append(waiter)
            return nil
        }
        if let answer { waiter.continuation.resume(returning: answer) }
    }

    private func cancel(_ id: Int) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: nil)
    }
}
