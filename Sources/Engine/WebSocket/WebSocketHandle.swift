// What remains in the hands of the one whose request has become a web socket.
//
// Every call may come from any thread at any time, any number of times, also after the end; it is carried out on the
// loop, in the order in which it was said.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// Steers one web socket from outside its loop.
package final class WebSocketHandle: Sendable {
    let id: ConnectionID
    private let port: EnginePort

    init(id: ConnectionID, port: EnginePort) {
        self.id = id
        self.port = port
    }

    /// Does something behind what was asked before; on the loop, `late` gets what comes too late.
    package func perform(_ order: WebSocketOrder, late: @escaping @Sendable (WebSocketOrder) -> Void) {
        let (port, id) = (port, id)
        port.loop.run { reactor in
            if let transfer = reactor.resident(port.key)?.webSockets[id] {
                transfer.perform(order)
            } else {
                late(order)
            }
        }
    }

    /// Ends the web socket, unless it has ended already (B15.25).
    package func cancel() {
        tell { $0.cancel() }
    }

    /// Stops delivering and reading (B15.37).
    package func suspend() {
        tell { $0.suspend() }
    }

    /// Undoes one `suspend()`.
    package func resume() {
        tell { $0.resume() }
    }

    private func tell(_ work: @escaping @Sendable (WebSocketTransfer) -> Void) {
        port.tell { [id] core in
            if let transfer = core.webSockets[id] { work(transfer) }
        }
    }
}

extension TransactionHandle {
    /// Carries a web socket on the connection that this request's answer has switched to it; on the loop, while the
    /// connection is being handed over. Nothing is told before this returns; nil where the engine is gone.
    package func carry(
        _ connection: consuming DetachedConnection, as settings: WebSocketSettings, on reactor: Reactor,
        makeReceiver: (WebSocketHandle) -> any WebSocketReceiver
    ) -> WebSocketHandle? {
        guard let core = reactor.resident(port.key) else { return nil }
        let (id, unread) = (connection.facts.id, connection.unread)
        return core.carry(connection.takeStream(), unread: unread, id: id, as: settings, makeReceiver: makeReceiver)
    }

    /// The server's host.
    package var host: String { request.origin.host }
}
