// What a data task has become, where a delegate has wanted it to go on as something else. It is looked at for every
// step of every task, and hardly ever there.

/// What a data task has become (B1.68, B1.70).
final class TaskChange: Sendable {
    let outlet: TaskOutlet?
    let kind: TaskKind?

    private init(outlet: TaskOutlet?, kind: TaskKind?) {
        self.outlet = outlet
        self.kind = kind
    }

    /// Its body goes to a file.
    static func download() -> TaskChange { TaskChange(outlet: .file(.delegate), kind: nil) }

    /// It is a connection.
    static func stream(_ calls: StreamCalls) -> TaskChange { TaskChange(outlet: nil, kind: .stream(calls)) }
}
