// What the machine of a web socket and its driver say to each other about calls and about the end. It knows neither the
// errors that the application gets for it nor which code makes the calls.

import URLLoadingWire

/// A call of the application's, numbered by the driver.
package struct WebSocketCall: Sendable, Hashable {
    /// The number; never the same twice on one web socket.
    package let number: Int

    /// Makes a call.
    package init(_ number: Int) { self.number = number }
}

/// How a web socket ended, and what calls are told that did not get what they wanted.
package enum WebSocketEnd: Sendable, Equatable {
    /// Both sides, or we alone and long enough ago, have said goodbye (B15.24, B15.26).
    case closed
    /// The connection ended without a close frame (B15.31).
    case lost
    /// The application has cancelled (B15.25).
    case cancelled
    /// The peer has broken a rule, or sent too much (B15.17 to B15.19).
    case fault(WebSocketFault)
}
