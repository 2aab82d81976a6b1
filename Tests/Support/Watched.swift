// A value of a test that other threads change, and waiting until it is as it should be.
//
// A wait ends where its task is cancelled, which is what the time limit of a test does: what never comes is a test that
// has failed and has a name, and not a run without an end.

import Synchronization

/// A value that changes.
package final class Watched<Value: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let number: Int
        let condition: @Sendable (Value) -> Bool
        let handover: Handover<Bool, Never>
    }

    private struct State: Sendable {
        var value: Value
        var waiters: [Waiter] = []
        var nextNumber = 0
    }

    private let state: Mutex<State>

    /// A value that begins like this.
    package init(_ value: Value) { state = Mutex(State(value: value)) }

    /// What it is now.
    package var value: Value { state.withLock { $0.value } }

    /// Changes the value, and lets the waiters go on whose condition it fulfils now.
    package func change(_ body: (inout Value) -> Void) {
        let ready = state.withLock { state -> [Waiter] in
            body(&state.value)
            guard !state.waiters.isEmpty else { return [] }
            let ready = state.waiters.filter { $0.condition(state.value) }
            state.waiters.removeAll { waiter in ready.contains { $0.number == waiter.number } }
            return ready
        }
        for waiter in ready { waiter.handover.resume(returning: true) }
    }

    /// Returns when the value fulfils a condition; false where the task was cancelled before that.
    @discardableResult
    package func wait(until condition: @escaping @Sendable (Value) -> Bool) async -> Bool {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        return await withTaskCancellationHandler {
            await withHandover { handover in
                add(Waiter(number: number, condition: condition, handover: handover))
            }
        } onCancel: {
            giveUp(number)
        }
    }

    private func add(_ waiter: Waiter) {
        let answer = state.withLock { state -> Bool? in
            if waiter.condition(state.value) { return true }
            // A task is marked before its handler is called: where it was cancelled before this, no
            // handler will give it up.
            if Task.isCancelled { return false }
            state.waiters.append(waiter)
            return nil
        }
        if let answer { waiter.handover.resume(returning: answer) }
    }

    private func giveUp(_ number: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.handover.resume(returning: false)
    }
}

/// Something that happens a number of times, and can be waited for.
package final class Signal: Sendable {
    private let times = Watched(0)

    /// A signal that has not been given yet.
    package init() {}

    /// It happened once more.
    package func fire() { times.change { $0 += 1 } }

    /// How often it happened.
    package var count: Int { times.value }

    /// Returns when it has happened so often, or where the task was cancelled.
    package func wait(times wanted: Int = 1) async { await times.wait { $0 >= wanted } }
}
