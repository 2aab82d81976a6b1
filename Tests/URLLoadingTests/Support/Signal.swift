// Waiting for events in tests, without sleeping.

import Synchronization
import TestSupport

/// Something that happens a number of times, and can be waited for.
final class Signal: Sendable {
    private struct State: Sendable {
        var count = 0
        var waiters: [(wanted: Int, continuation: Handover<Void, Never>)] = []
    }

    private let state = Mutex(State())

    /// It happened once more.
    func fire() {
        let ready = state.withLock { state in
            state.count += 1
            let ready = state.waiters.filter { $0.wanted <= state.count }
            state.waiters.removeAll { $0.wanted <= state.count }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// How often it happened.
    var count: Int { state.withLock { $0.count } }

    /// Returns when it has happened so often.
    func wait(times wanted: Int = 1) async {
        await withHandover { continuation in
            let isReady = state.withLock { state in
                if state.count >= wanted { return true }
                state.waiters.append((wanted, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}

/// A value that several threads read and write.
final class Box<Value: Sendable>: Sendable {
    private let storage: Mutex<Value>

    init(_ value: Value) { storage = Mutex(value) }

    var value: Value {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }

    func change(_ body: (inout Value) -> Void) {
        storage.withLock { value in body(&value) }
    }
}
