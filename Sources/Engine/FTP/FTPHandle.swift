// What the submitter of an FTP transfer can still do with it, beside what every `EngineHandle` offers.

import URLLoadingPolicy
import URLLoadingSystem

/// Steers one FTP transfer from outside its loop.
package final class FTPHandle: Sendable {
    /// The number of the transfer within its engine.
    package let id: LoadID
    let request: FTPRequest
    /// The way to it.
    package let port: EnginePort

    init(_ request: consuming FTPRequest, port: EnginePort) {
        id = port.makeID()
        self.request = request
        self.port = port
    }

    /// Answers a question for a name and a password, once for each question; nil where there is no answer.
    package func answer(_ credential: PasswordCredential?) {
        tell { $0.credentialAnswered(credential) }
    }

    /// How a source's pieces reach the loop.
    var bodyDelivery: @Sendable (SourcePiece) -> Void {
        { [port, id] piece in
            port.tell { core in
                if case .ftp(let transfer)? = core.loads[id] { transfer.bodyArrived(piece) }
            }
        }
    }

    private func tell(_ work: @escaping @Sendable (FTPTransfer) -> Void) {
        port.tell { [id] core in
            if case .ftp(let transfer)? = core.loads[id] { work(transfer) }
        }
    }
}

extension FTPHandle: EngineHandle {}

extension FTPHandle: LoopCommand {
    /// Starts the transfer on its loop.
    package func run(on reactor: Reactor) {
        if let core = port.core(on: reactor) {
            core.start(ftp: self)
        } else {
            request.makeReceiver(self, reactor).finished(.cancelled)
        }
    }

    /// Tells the receiver why nothing comes of it.
    package func couldNotRun(_ error: SystemError, on reactor: Reactor) {
        request.makeReceiver(self, reactor).finished(.localResource(error))
    }
}
