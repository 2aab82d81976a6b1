// A bad network between a client and a server of this machine: a relay of bytes that delays, throttles, splits,
// repeats, changes and ends them as a plan says, and keeps books about it. It knows nothing of what it carries.

import URLLoadingSystem

/// Carries connections to a port of 127.0.0.1, and does to them what is planned.
package final class FaultProxy: Sendable {
    /// What is done, and what is remembered of it.
    package struct Options: Sendable {
        /// The plan for each connection, counted from 1; called on the proxy's loop.
        package var plan: @Sendable (_ connection: Int) -> FaultPlan = { _ in FaultPlan() }
        /// How many connections are remembered.
        package var keptConnections = 4096
        /// How much of what the client of each is sent is remembered.
        package var keptBytes = 0
        /// Whether that is done only for connections whose bytes are to be changed.
        package var keepsOnlyChanged = false

        /// A network without faults.
        package init() {}
    }

    /// What has happened.
    package let books: FaultBooks
    private let thread: ServerThread<FaultCore>

    /// Starts a proxy in front of a port; when this returns it accepts connections.
    package static func start(
        before port: Int, _ change: (inout Options) -> Void = { _ in }
    ) throws -> FaultProxy {
        var options = Options()
        change(&options)
        return try FaultProxy(before: port, options)
    }

    private init(before port: Int, _ options: Options) throws {
        guard let target = SocketAddress(literal: "127.0.0.1", port: port),
            let wanted = SocketAddress(literal: "127.0.0.1", port: 0)
        else { throw LoopbackServer.StartError.badAddress("port \(port)") }
        let books = FaultBooks(keptConnections: options.keptConnections)
        thread = try ServerThread(name: "loopback-faults", at: wanted, backlog: 511) { key, reactor, _ in
            FaultCore(key: key, reactor: reactor, target: target, options: options, books: books)
        }
        self.books = books
    }

    /// Closes the listener and every connection; when this returns nothing of the proxy is left, its thread included.
    package func stop() async {
        await thread.stop()
    }

    /// Where it listens.
    package var address: SocketAddress { thread.address }

    /// The port.
    package var port: Int { address.port ?? 0 }
}
