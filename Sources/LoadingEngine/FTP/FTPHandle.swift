// What remains in the hands of the one who submitted an FTP transfer. As with transactions every call may come from any
// thread at any time, any number of times, also after the end.

import LoadingPolicy
import Sockets

/// Steers one FTP transfer from outside its loop.
package final class FTPHandle: Sendable {
    /// The number of the transfer within its engine; transactions are counted with it.
    package let id: RequestID
    let request: FTPRequest
    private let port: EnginePort

    init(id: RequestID, request: consuming FTPRequest, port: EnginePort) {
        self.id = id
        self.request = request
        self.port = port
    }

    /// Ends the transfer with `EngineError.cancelled`, unless it has ended already.
    package func cancel() {
        tell { $0.cancel() }
    }

    /// Answers a `ReceiverDemand.pause`: the receiver can take more.
    package func resumeReading() {
        tell { $0.resumeReading() }
    }

    /// Stops sending and reading of data and the idle timer (B1.39, B1.40); nests.
    package func suspend() {
        tell { $0.suspend() }
    }

    /// Undoes one `suspend()`.
    package func resume() {
        tell { $0.resume() }
    }

    /// Says who we are, once for each question; nil where nobody has anything to say.
    package func answer(_ credential: PasswordCredential?) {
        tell { $0.credentialAnswered(credential) }
    }

    /// How a source's pieces reach the loop.
    var bodyDelivery: @Sendable (SourcePiece) -> Void {
        { [port, id] piece in
            port.tell { $0.ftpTransfers[id]?.bodyArrived(piece) }
        }
    }

    private func tell(_ work: @escaping @Sendable (FTPTransfer) -> Void) {
        port.tell { [id] core in
            if let transfer = core.ftpTransfers[id] { work(transfer) }
        }
    }
}

extension FTPHandle: LoopCommand {
    /// Starts the transfer on its loop.
    package func run(on reactor: Reactor) {
        if let core = reactor.resident(port.key) {
            core.start(self)
        } else {
            request.makeReceiver(self, reactor).finished(.cancelled)
        }
    }
}
