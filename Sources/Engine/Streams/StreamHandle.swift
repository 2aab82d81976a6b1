// What the opener of a stream can still do with it, beside what every `EngineHandle` offers.

import URLLoadingPolicy
import URLLoadingSystem

/// Steers one stream from outside its loop.
package final class StreamHandle: Sendable {
    /// The number of the stream within its engine.
    package let id: LoadID
    let request: StreamRequest
    /// The way to it.
    package let port: EnginePort

    init(_ request: StreamRequest, port: EnginePort) {
        id = port.makeID()
        self.request = request
        self.port = port
    }

    /// Reads, writes or ends something behind what was asked before; on the loop, `late` gets what comes too late.
    package func perform(_ order: StreamOrder, late: @escaping @Sendable (StreamOrder) -> Void) {
        let (port, id) = (port, id)
        port.loop.run { reactor in
            if case .stream(let transfer)? = port.core(on: reactor)?.loads[id] {
                transfer.perform(order)
            } else {
                late(order)
            }
        }
    }
}

extension StreamHandle: EngineHandle {}

extension StreamHandle: LoopCommand {
    /// Starts the stream on its loop.
    package func run(on reactor: Reactor) {
        if let core = port.core(on: reactor) {
            core.start(stream: self)
        } else {
            request.makeReceiver(self, reactor).finished(.fault(.cancelled))
        }
    }

    /// Tells the receiver why nothing comes of it.
    package func couldNotRun(_ error: SystemError, on reactor: Reactor) {
        request.makeReceiver(self, reactor).finished(.engine(.localResource(error)))
    }
}

/// One thing to do with a stream. Handlers are called on the loop, once.
package enum StreamOrder: Sendable {
    /// Gives at least so many bytes, at most so many (B15.40).
    case read(
        least: Int, most: Int, timeout: Duration?, handler: @Sendable (Result<StreamPiece, StreamFailure>) -> Void)
    /// Sends these bytes (B15.42).
    case write([UInt8], timeout: Duration?, handler: @Sendable (StreamFailure?) -> Void)
    /// Ends reading (B15.49).
    case closeRead
    /// Ends writing (B15.48).
    case closeWrite
    /// Sets TLS up (B15.45).
    case startSecure
    /// Gives the connection away (B15.51).
    case capture

    /// It is not done.
    package func refuse(_ failure: StreamFailure) {
        switch self {
        case .read(_, _, _, let handler): handler(.failure(failure))
        case .write(_, _, let handler): handler(failure)
        case .closeRead, .closeWrite, .startSecure, .capture: break
        }
    }
}
