// Room in a task's state for what hardly any task has: one word, and memory of its own only where it is there.

/// A value that is mostly not there.
indirect enum Rare<Value: Sendable>: Sendable {
    case none
    case some(Value)

    /// Whether it is there.
    var exists: Bool { if case .some = self { true } else { false } }

    /// The value, where there is one.
    var value: Value? {
        get { if case .some(let value) = self { value } else { nil } }
        set { self = newValue.map { .some($0) } ?? .none }
    }
}
