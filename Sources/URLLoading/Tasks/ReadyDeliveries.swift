// Tasks for whose delegates pieces of bodies have come, on their way into the relay's line.
//
// A queue that has run dry is woken by the first piece, and on a busy machine its thread at once takes the loop's place:
// the second piece of what one turn reads would wake it again. So tasks get in line at the turn's end.
//
// Must not know: what is delivered, and to whom.

import Sockets

/// The tasks that have something new for their delegates since a turn of one loop began; confined to it.
final class ReadyDeliveries: TurnObserver {
    private static let key = ResidentKey<ReadyDeliveries>()

    private unowned let reactor: Reactor
    private var tasks: [TaskCore] = []

    private init(reactor: Reactor) {
        self.reactor = reactor
    }

    /// Those of a loop.
    static func of(_ reactor: Reactor) -> ReadyDeliveries {
        if let made = reactor.resident(key) { return made }
        let new = ReadyDeliveries(reactor: reactor)
        reactor.setResident(key, new)
        return new
    }

    func add(_ task: TaskCore) {
        if tasks.isEmpty { reactor.atEndOfTurn(self) }
        tasks.append(task)
    }

    func turnEnded() {
        let ready = tasks
        tasks = []
        for task in ready { task.getInLine() }
    }
}
