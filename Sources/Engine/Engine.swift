// The only door into the engine that may be used from any thread.
//
// An engine belongs to one session and is pinned to one loop: its connections, transactions and TLS tickets
// live there and are reachable from nowhere else, so none of them needs a lock. What crosses the threads is a
// `TransactionRequest` on the way in and whatever the request's receiver passes on at the way out.
//
// Must not know: URLSession, delegates, Foundation.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTrust

/// Carries out the requests of one session.
package final class Engine: Sendable {
    private let port: EnginePort

    /// Makes an engine on one of the process's loops; nothing is opened before the first request.
    package convenience init(configuration: EngineConfiguration) {
        self.init(configuration: configuration, loop: LoopGroup.shared.next())
    }

    /// Makes an engine on a given loop.
    package init(configuration: EngineConfiguration, loop: Loop) {
        let port = EnginePort(loop: loop)
        self.port = port
        #if DEBUG
            // Trust does not know loops.
            FileWatch.listener.withLock { $0 = { LoopWatch.note($0) } }
        #endif
        loop.run { reactor in
            _ = LoopCore(reactor: reactor, configuration: configuration, port: port)
        }
    }

    deinit {
        shutDown(immediately: false)
    }

    /// The loop on which everything of this engine happens.
    package var loop: Loop { port.loop }

    /// Starts a request; everything that comes of it reaches the request's receiver.
    @discardableResult
    package func submit(_ request: consuming TransactionRequest) -> TransactionHandle {
        let handle = TransactionHandle(request, port: port)
        port.loop.submit(handle)
        return handle
    }

    /// Starts an FTP transfer; everything that comes of it reaches the request's receiver.
    @discardableResult
    package func submit(_ request: consuming FTPRequest) -> FTPHandle {
        let handle = FTPHandle(request, port: port)
        port.loop.submit(handle)
        return handle
    }

    /// Opens a connection outside the pool and carries a stream over it.
    @discardableResult
    package func open(_ request: StreamRequest) -> StreamHandle {
        let handle = StreamHandle(request, port: port)
        port.loop.submit(handle)
        return handle
    }

    /// Closes the connection that was kept for a request which does not come, if there is one.
    package func abandonKept(after request: RequestID) {
        port.tell { $0.abandonKept(after: request) }
    }

    /// Closes every connection that carries no request.
    package func closeIdleConnections() {
        port.tell { $0.closeIdleConnections() }
    }

    /// Ends every request that waits for a connection.
    package func cancelWaiting() {
        port.tell { $0.cancelWaiting() }
    }

    /// Ends the engine: at once, with every request cancelled, or when the last request has ended.
    package func shutDown(immediately: Bool) {
        port.tell { $0.shutDown(immediately: immediately) }
    }
}
