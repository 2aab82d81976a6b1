// What remains in the hands of the one whose request has become a web socket, beside what every `EngineHandle` offers.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// Steers one web socket from outside its loop.
package final class WebSocketHandle: Sendable {
    /// The number of the web socket within its engine.
    package let id: LoadID
    /// The way to it.
    package let port: EnginePort

    init(port: EnginePort) {
        id = port.makeID()
        self.port = port
    }

    /// Does something behind what was asked before; on the loop, `late` gets what comes too late.
    package func perform(_ order: WebSocketOrder, late: @escaping @Sendable (WebSocketOrder) -> Void) {
        let (port, id) = (port, id)
        port.loop.run { reactor in
            if case .webSocket(let transfer)? = port.core(on: reactor)?.loads[id] {
                transfer.perform(order)
            } else {
                late(order)
            }
        }
    }
}

extension WebSocketHandle: EngineHandle {}

extension TransactionHandle {
    /// Carries a web socket on the connection that this request's answer has switched to it; on the loop, while the
    /// connection is being handed over. Nothing is told before this returns; nil where the engine is gone.
    package func carry(
        _ connection: consuming DetachedConnection, as settings: WebSocketSettings, on reactor: Reactor,
        makeReceiver: (WebSocketHandle) -> any WebSocketReceiver
    ) -> WebSocketHandle? {
        guard let core = port.core(on: reactor) else { return nil }
        let unread = connection.unread
        return core.carry(connection.takeStream(), unread: unread, as: settings, makeReceiver: makeReceiver)
    }

    /// The server's host.
    package var host: String { request.origin.host }
}
