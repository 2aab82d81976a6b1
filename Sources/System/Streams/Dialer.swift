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

/// How a socket is to be set up before it connects.
package struct DialOptions: Sendable {
    /// Lets the system probe an idle connection (SO_KEEPALIVE).
    package var keepAlive: Bool
    /// After which silence it does so, and how long it waits between two probes; nil leaves it to the system.
    package var probeInterval: Duration?
    /// Sends small segments at once (TCP_NODELAY).
    package var noDelay: Bool
    /// Our end, if it matters; port 0 leaves the port to the system.
    package var localAddress: SocketAddress?
    /// The network interface to use, if it matters; needs no privilege since Linux 5.7 (SO_BINDTODEVICE).
    package var interface: String?

    /// Keep-alive and no delay on, everything else left to the system.
    package init(
        keepAlive: Bool = true, probeInterval: Duration? = nil, noDelay: Bool = true,
        localAddress: SocketAddress? = nil, interface: String? = nil
    ) {
        self.keepAlive = keepAlive
        self.probeInterval = probeInterval
        self.noDelay = noDelay
        self.localAddress = localAddress
        self.interface = interface
    }
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
