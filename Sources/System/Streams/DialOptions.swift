// How a socket is set up before it connects. What the program asks for holds, or there is no connection; what is only
// for speed or politeness is left out where a system refuses it.
//
// Must not know: where the socket leads, and what becomes of it.

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

    /// Sets a socket up for an address of this family (B16.13, B16.83).
    ///
    /// Fails only with what was asked for: keep-alive and no delay are tried.
    package func apply(to raw: Int32, family: SocketAddress.Family) throws(SystemError) {
        if keepAlive { _ = Platform.set(raw, level: Platform.levelSocket, option: Platform.keepAlive, to: 1) }
        // A UNIX-domain socket is on no network.
        guard family != .unix else { return }
        if noDelay { _ = Platform.set(raw, level: Platform.levelTCP, option: Platform.noDelay, to: 1) }
        if keepAlive, let probeInterval { try probe(raw, every: probeInterval) }
        if let interface {
            let outcome = Platform.bind(raw, toInterface: interface)
            if outcome.failed {
                throw SystemError(errno: outcome.error, call: "binding to the interface \(interface)")
            }
        }
        if let localAddress { try bind(raw, to: localAddress, family) }
    }

    private func probe(_ raw: Int32, every interval: Duration) throws(SystemError) {
        let seconds = Self.probeSeconds(interval)
        // While bytes of ours are unacknowledged Linux asks nothing, and sends them again for a quarter of an hour.
        let values = [
            (Platform.keepAliveIdle, seconds), (Platform.keepAliveInterval, seconds),
            (Platform.userTimeout, seconds * Self.spansUntilLost * 1_000),
        ]
        for (option, value) in values {
            let outcome = Platform.set(raw, level: Platform.levelTCP, option: option, to: value)
            if outcome.failed {
                throw SystemError(errno: outcome.error, call: "setting how often TCP asks a silent peer")
            }
        }
    }

    private func bind(
        _ raw: Int32, to local: SocketAddress, _ family: SocketAddress.Family
    ) throws(SystemError) {
        // Asked for the wrong family the system complains in several ways, some of them misleading.
        guard local.family == family else { throw SystemError(errno: EAFNOSUPPORT, call: "bind") }
        if local.port == 0 {
            Platform.bindWithoutPort(raw)
        }
        let outcome = Platform.bind(raw, to: local)
        if outcome.failed {
            throw SystemError(errno: outcome.error, call: "bind")
        }
    }

    /// The first silence, and nine questions without an answer (Linux's number).
    private static let spansUntilLost: Int32 = 10

    /// Whole seconds, rounded up, as many as Linux takes.
    private static func probeSeconds(_ interval: Duration) -> Int32 {
        let (seconds, rest) = interval.components
        return Int32(min(max(rest > 0 ? seconds &+ 1 : seconds, 1), 32_767))
    }
}
