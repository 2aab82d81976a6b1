// Making a connection to one numeric address. Which address, how many at a time and for how long is the caller's
// matter.

/// Makes connections for one loop.
package protocol Dialer: AnyObject {
    /// Starts a connection to `address`.
    ///
    /// `completion` is called once, on the loop, never before `dial` has returned, and not after the attempt was
    /// cancelled. The attempt goes on when its caller lets go of it.
    func dial(
        _ address: SocketAddress, options: DialOptions,
        completion: @escaping (Result<any ByteStream, SystemError>) -> Void
    ) -> any DialAttempt
}

/// A connection being made.
package protocol DialAttempt: AnyObject {
    /// Gives up: the socket is closed and the completion is forgotten. Idempotent; nothing happens after the end.
    func cancel()
}

/// Connects sockets.
package final class SocketDialer: Dialer {
    private let reactor: Reactor

    /// A dialer for `reactor`'s loop.
    package init(reactor: Reactor) {
        self.reactor = reactor
    }

    /// Starts a non-blocking connect.
    ///
    /// A shortage of descriptors or memory is reported like any other failure.
    package func dial(
        _ address: SocketAddress, options: DialOptions,
        completion: @escaping (Result<any ByteStream, SystemError>) -> Void
    ) -> any DialAttempt {
        let attempt = SocketDialAttempt(address: address, reactor: reactor, completion: completion)
        attempt.start(options)
        return attempt
    }
}
