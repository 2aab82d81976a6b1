// What came on the web sockets of a route, written on the server's loop, read and awaited by tests.

import URLLoadingWire

/// A record of web sockets.
package final class WebSocketRecord: Sendable {
    /// What has been written down.
    package struct Contents: Sendable {
        /// What was agreed on in each handshake.
        package var agreements: [WebSocketHandshake.Agreement] = []
        /// The requests that asked for them.
        package var requests: [RequestHead] = []
        /// All that came, of all web sockets, in order.
        package var events: [WebSocketReader.Event] = []
        /// The rules that clients have broken.
        package var faults: [WebSocketFault] = []
        /// What a script expected and did not get, a sentence each.
        package var problems: [String] = []
        /// How many web sockets have gone.
        package var ended = 0
    }

    private let board = Board(Contents())

    /// An empty record.
    package init() {}

    /// What has been written down until now.
    package var contents: Contents { board.current }

    /// Waits until it fulfils a condition; nil where the waiting task is cancelled before.
    @discardableResult
    package func wait(until condition: @escaping @Sendable (Contents) -> Bool) async -> Contents? {
        await board.wait(until: condition)
    }

    func write(_ change: (inout Contents) -> Void) { board.update(change) }
}
