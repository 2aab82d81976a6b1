// What a connection's machine has decided and its driver has not heard yet. It decides nothing and, once warm,
// allocates nothing.

/// Actions that wait to be pulled; its memory is used again.
struct HTTP2ActionLine: ~Copyable {
    private var actions: [HTTP2ConnectionMachine.Action] = []
    private var taken = 0

    var isEmpty: Bool { actions.isEmpty }

    mutating func add(_ action: HTTP2ConnectionMachine.Action) { actions.append(action) }

    mutating func next() -> HTTP2ConnectionMachine.Action? {
        guard taken < actions.count else { return nil }
        let action = actions[taken]
        taken += 1
        if taken == actions.count {
            actions.removeAll(keepingCapacity: true)
            taken = 0
        }
        return action
    }
}
