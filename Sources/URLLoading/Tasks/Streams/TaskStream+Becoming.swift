// A data task that goes on as a stream task (B1.70): one task, whose face changes while its response waits for the
// delegate's answer, and which takes the connection behind the response.
//
// Must not know: how a connection leaves HTTP.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension TaskStream {
    /// Asks for the connection behind the response that waits for its answer (B1.70). It comes unless something of the
    /// request is still to be sent; then the task fails with what the engine says.
    func askForConnection() {
        guard case .delegate = task.outlet, task.kindName == .data, task.face is URLSessionDataTask else {
            let text = "Only a data task that delivers to the session's delegate can become a stream task."
            return task.hops.end(unsupported: text)
        }
        let (isOver, transaction) = task.state.withLock { ($0.isOver, $0.isAnswerStored ? nil : $0.load.transaction) }
        if isOver { return }
        guard let transaction else {
            let text = "The response came over no connection of HTTP, so there is none to become a stream task."
            return task.hops.end(unsupported: text)
        }
        transaction.detach()
    }

    /// Takes the connection, on the loop, unless the task was cancelled meanwhile; the delegate is told before anything
    /// else is.
    func take(
        _ connection: consuming DetachedConnection, _ records: [TransactionRecord], _ reactor: Reactor
    ) -> Bool {
        guard let before = task.face as? URLSessionDataTask else { return false }
        let after = URLSessionStreamTask(core: task)
        let calls = StreamCalls(host: connection.facts.origin.host, port: connection.facts.origin.port)
        let deadline = task.driver.submit { state -> Duration? in
            state.spend(exchange(&state.load, with: .none))
            state.face = after
            state.records += records
            task.become(.stream(calls))
            return state.resourceDeadline
        }
        guard let deadline else { return false }
        task.delivery.post(.becameStream(before, after), on: reactor)
        let facts = connection.facts
        let judge = task.trust.judge(ofConnectionTo: facts.origin.secured, by: facts.route)
        connection.carryStream(judge: judge, resourceDeadline: deadline) { takeUp($0, calls, on: $1) }
        return true
    }
}
