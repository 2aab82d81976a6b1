// What the submitter of a request can still do with it, beside what every `EngineHandle` offers.

import URLLoadingPolicy
import URLLoadingSystem

/// Steers one transaction from outside its loop.
package final class TransactionHandle: Sendable {
    /// The number of the transaction within its engine.
    package let id: LoadID
    let request: TransactionRequest
    /// The way to it.
    package let port: EnginePort

    init(_ request: consuming TransactionRequest, port: EnginePort) {
        id = port.makeID()
        self.request = request
        self.port = port
    }

    /// Takes the connection out of HTTP: the receiver gets it (`DetachedConnection`), and the transaction is over. Said
    /// while the response's head is not read on from.
    package func detach() {
        tell { $0.detach() }
    }

    /// Makes the connection wait for the request that `continues` this one, whose response must have been read whole;
    /// said while the response is not read on. The caller then sends that request or calls `Engine.abandonKept`.
    package func keepConnection() {
        tell { $0.keepsConnection = true }
    }

    /// Stops the idle timer while a question is open (B6.9); nests.
    package func hold() {
        tell { $0.hold() }
    }

    /// Undoes one `hold()`.
    package func unhold() {
        tell { $0.unhold() }
    }

    /// How a source's pieces reach the loop.
    func bodyDelivery(to feed: Int) -> @Sendable (SourcePiece) -> Void {
        { [port, id] piece in
            port.tell { $0.transaction(id)?.bodyArrived(piece, for: feed) }
        }
    }

    private func tell(_ work: @escaping @Sendable (Transaction) -> Void) {
        port.tell { [id] core in
            if let transaction = core.transaction(id) { work(transaction) }
        }
    }
}

extension TransactionHandle: EngineHandle {}

extension TransactionHandle: LoopCommand {
    /// Starts the transaction on its loop.
    package func run(on reactor: Reactor) {
        if let core = port.core(on: reactor) {
            core.start(self)
        } else {
            request.makeReceiver(self, reactor).finished(TransactionOutcome(error: .cancelled, last: nil))
        }
    }

    /// Tells the receiver why nothing comes of it.
    package func couldNotRun(_ error: SystemError, on reactor: Reactor) {
        request.makeReceiver(self, reactor).finished(TransactionOutcome(error: .localResource(error), last: nil))
    }
}
