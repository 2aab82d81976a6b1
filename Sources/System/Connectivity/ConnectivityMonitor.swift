// Tells when the machine's network has changed, so that what waits for it need not poll.
//
// Must not know: what waits, and why.

/// Watches the machine's network for one loop.
package protocol ConnectivityMonitor: AnyObject {
    /// Whether an interface besides loopback is up and has an internet address.
    var hasInterface: Bool { get }

    /// Begins to watch: `changed` is called on the loop whenever a way to somewhere may have opened.
    func start(_ changed: @escaping () -> Void)

    /// Stops watching and forgets the closure. Idempotent.
    func stop()
}

/// Listens to the kernel's routing socket (rtnetlink). A process that may not open one looks every few seconds instead
/// (B6.20).
package final class SystemConnectivityMonitor: ConnectivityMonitor, PollTarget {
    private let reactor: Reactor
    private var descriptor: Descriptor?
    private var token: Poller.Token?
    private var changed: (() -> Void)?
    private var blindTimer: LoopTimer?

    /// Makes a monitor that has not opened anything yet.
    package init(reactor: Reactor) {
        self.reactor = reactor
    }

    deinit {
        stop()
    }

    package var hasInterface: Bool { NetworkPresence.hasInterface }

    /// Whether the kernel tells of changes; false where it has to be asked from time to time.
    package var isTold: Bool { token != nil }

    package func start(_ changed: @escaping () -> Void) {
        stop()
        self.changed = changed
        do {
            try listen()
        } catch {
            lookFromTimeToTime()
        }
    }

    package func stop() {
        changed = nil
        blindTimer = nil
        if let token { reactor.poller?.remove(token) }
        token = nil
        descriptor = nil
    }

    // MARK: Told by the kernel

    private func listen() throws(SystemError) {
        guard let poller = reactor.poller else { throw SystemError(errno: ENOTSUP, call: "epoll_ctl") }
        let opened = try Platform.routingSocket()
        token = try poller.add(self, descriptor: opened.raw, events: .listener)
        descriptor = consume opened
    }

    func pollReported(_ events: PollEvents) {
        var changes: NetworkChanges = []
        // Order: emptied first, so that a burst of messages is one change.
        while true {
            let outcome = receive()
            if outcome.failed {
                if Platform.isTemporarilyBlocked(outcome.error) { break }
                // ENOBUFS: the kernel had more to say than its queue holds. Anything else ends the telling.
                changes.insert(.unknown)
                guard outcome.error == ENOBUFS else {
                    giveUpListening()
                    break
                }
                continue
            }
            guard outcome.value > 0 else { break }
            let datagram = UnsafeRawBufferPointer(rebasing: reactor.receiveBuffer[..<outcome.value])
            changes.formUnion(NetlinkMessages.changes(in: datagram))
        }
        if changes.mayHaveOpenedAWay { changed?() }
    }

    private func receive() -> Platform.Outcome<Int> {
        switch descriptor {
        case .some(let descriptor): Platform.receive(descriptor.raw, reactor.receiveBuffer)
        case .none: Platform.Outcome(value: 0, error: 0)
        }
    }

    private func giveUpListening() {
        if let token { reactor.poller?.remove(token) }
        token = nil
        descriptor = nil
        lookFromTimeToTime()
    }

    // MARK: Asking

    private func lookFromTimeToTime() {
        let timer = reactor.makeTimer { [unowned self] in
            lookFromTimeToTime()
            changed?()
        }
        timer.set(reactor.now + Self.blindInterval)
        blindTimer = timer
    }

    /// Picked by feel: what a person would wait before trying again.
    private static let blindInterval = Duration.seconds(5)
}
