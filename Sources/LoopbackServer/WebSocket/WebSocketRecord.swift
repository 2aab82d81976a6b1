// What a server writes down of the web sockets of a route: how they began, and what came on them.

import URLLoadingWire

/// A record of web sockets.
package typealias WebSocketRecord = ServerRecord<WebSocketRecordContents>

/// What has been written down of web sockets.
package struct WebSocketRecordContents: RecordContents {
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

    /// Nothing.
    package init() {}
}
