// A listening socket, for servers on this module's own loops. Not part of the client's path.

/// Accepts connections on one loop.
package final class Listener: PollTarget {
    /// Called on the loop with each connection.
    ///
    /// The stream has no observer yet: set one, then look at `hasPendingInput`. Without a receiver connections are
    /// closed.
    package var onAccept: ((SocketStream) -> Void)?

    /// Where it listens; the port is the real one when 0 was asked for.
    package let address: SocketAddress

    private let reactor: Reactor
    private var descriptor: Descriptor
    private var token: Poller.Token?
    private var retry: LoopTimer?
    private var isAccepting = false

    /// Connections taken before others on the loop get their turn.
    ///
    /// Picked by feel.
    private static let batchSize = 64
    /// How long to wait when descriptors or memory have run out.
    ///
    /// Picked by feel.
    private static let shortageRetry = Duration.milliseconds(50)

    /// Binds and listens.
    ///
    /// A UNIX-domain path is created here, for this user only, and removed by `close()`.
    package init(reactor: Reactor, address: SocketAddress, backlog: Int = 128) throws(SystemError) {
        let descriptor = try Platform.socket(family: address.systemFamily)
        if address.family != .unix {
            // A server that restarts must not wait for the last one's connections to be forgotten.
            _ = Platform.set(descriptor.raw, level: Platform.levelSocket, option: Platform.reuseAddress, to: 1)
        } else if Platform.restrictToOwner(socket: descriptor.raw).failed {
            throw SystemError(errno: EACCES, call: "fchmod")
        }
        let bound = Platform.bind(descriptor.raw, to: address)
        if bound.failed {
            throw SystemError(errno: bound.error, call: "bind")
        }
        let listening = Platform.listen(descriptor.raw, backlog: Int32(clamping: backlog))
        if listening.failed {
            throw SystemError(errno: listening.error, call: "listen")
        }
        self.reactor = reactor
        self.address = SocketAddress.local(of: descriptor.raw) ?? address
        self.descriptor = descriptor
        guard let poller = reactor.poller else {
            throw SystemError(errno: ENOTSUP, call: "epoll_ctl")
        }
        token = try poller.add(self, descriptor: self.descriptor.raw, events: .listener)
    }

    deinit {
        close()
    }

    /// Stops listening; connections that were not accepted are refused.
    ///
    /// Idempotent.
    package func close() {
        guard descriptor.isOpen else { return }
        if let token {
            reactor.poller?.remove(token)
        }
        token = nil
        retry = nil
        onAccept = nil
        // A child that another thread is just starting has a copy of the descriptor until it becomes another program: a
        // client that connects meanwhile would be taken, and lost.
        Platform.stopListening(descriptor.raw)
        descriptor.close()
        if address.family == .unix {
            Platform.remove(path: address.host)
        }
    }

    func pollReported(_ events: PollEvents) {
        acceptSome()
    }

    // MARK: Accepting

    private func acceptSome() {
        // A batch that is under way, or a pause, goes on by itself.
        guard !isAccepting, retry == nil else { return }
        isAccepting = true
        for _ in 0..<Self.batchSize {
            guard descriptor.isOpen, acceptOne() else {
                isAccepting = false
                return
            }
        }
        reactor.later { [weak self] in
            self?.isAccepting = false
            self?.acceptSome()
        }
    }

    /// False when there is nothing more to accept for now.
    private func acceptOne() -> Bool {
        var remote: SocketAddress?
        let outcome = Platform.accept(descriptor.raw, &remote)
        if !outcome.failed {
            welcome(Descriptor(owning: outcome.value), remote)
            return true
        }
        if Platform.isTemporarilyBlocked(outcome.error) {
            return false
        }
        if Platform.isAboutOnePeer(outcome.error) {
            return true
        }
        pause()
        return false
    }

    private func welcome(_ descriptor: consuming Descriptor, _ remote: SocketAddress?) {
        guard let onAccept else { return }
        if address.family != .unix {
            _ = Platform.set(descriptor.raw, level: Platform.levelTCP, option: Platform.noDelay, to: 1)
        }
        // A stream that cannot be registered is dropped: the peer sees its connection end.
        if let stream = try? SocketStream(connected: descriptor, remote: remote, reactor: reactor) {
            onAccept(stream)
        }
    }

    /// Descriptors or memory have run out: connections wait in the system's queue until there are some again.
    private func pause() {
        let timer = reactor.makeTimer { [weak self] in
            self?.retry = nil
            self?.acceptSome()
        }
        timer.set(reactor.now + Self.shortageRetry)
        retry = timer
    }
}
