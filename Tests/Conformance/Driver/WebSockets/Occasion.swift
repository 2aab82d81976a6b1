// Something that becomes known once, and the listeners that want to know it.

import Synchronization

/// A value that is there at some time.
final class Occasion<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var listeners: [@Sendable (Value) -> Void] = []
    }

    private let state = Mutex(State())

    var value: Value? { state.withLock { $0.value } }

    /// Makes it known; later values are dropped.
    func set(_ value: Value) {
        let listeners = state.withLock { state in
            guard state.value == nil else { return state.listeners }
            state.value = value
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in listeners { listener(value) }
    }

    /// Calls when it is known, at once where it is.
    func whenKnown(_ listener: @escaping @Sendable (Value) -> Void) {
        let value = state.withLock { state in
            if state.value == nil { state.listeners.append(listener) }
            return state.value
        }
        if let value { listener(value) }
    }
}
