// What every server of this module has: a loop thread of its own, a core that lives there and
// listens, and the end of both.

import URLLoadingSystem

/// What listens on a server's loop. Confined to the loop's thread.
protocol ListeningCore: AnyObject, SendableMetatype {
    var reactor: Reactor { get }
    var key: ResidentKey<Self> { get }
    var listener: Listener? { get set }

    /// Takes a connection.
    func accepted(_ stream: SocketStream)
    /// Closes every connection.
    func closeConnections()
}

extension ListeningCore {
    fileprivate func listen(at address: SocketAddress, backlog: Int) -> Result<SocketAddress, SystemError> {
        do {
            let listener = try Listener(reactor: reactor, address: address, backlog: backlog)
            listener.onAccept = { [unowned self] stream in accepted(stream) }
            self.listener = listener
            return .success(listener.address)
        } catch {
            return .failure(error)
        }
    }

    fileprivate func stop() {
        listener?.close()
        listener = nil
        closeConnections()
        reactor.setResident(key, nil)
    }
}

/// The thread that a core lives on. It ends with the last reference to this object.
final class ServerThread<Core: ListeningCore>: Sendable {
    /// Where the core listens, with the port that it got.
    let address: SocketAddress
    private let loops: LoopGroup
    private let loop: Loop
    private let key: ResidentKey<Core>

    /// Makes a core on a new thread; when this returns it accepts connections.
    init(
        name: String, at wanted: SocketAddress, backlog: Int = 128,
        _ make: @escaping @Sendable (ResidentKey<Core>, Reactor, Loop) -> Core
    ) throws(SystemError) {
        let loops = LoopGroup(count: 1, name: name)
        let loop = loops.next()
        let key = ResidentKey<Core>()
        // The listener belongs to the loop's thread; this one waits for it, which takes microseconds.
        let started = Handover<Result<SocketAddress, SystemError>>()
        loop.run { reactor in
            let core = make(key, reactor, loop)
            reactor.setResident(key, core)
            started.complete(core.listen(at: wanted, backlog: backlog))
        }
        do {
            address = try started.wait().get()
        } catch {
            // The deinit, which stops it otherwise, does not run for an object that is not whole.
            loops.stop()
            throw error
        }
        self.loops = loops
        self.loop = loop
        self.key = key
    }

    deinit {
        loop.run { [key] reactor in reactor.resident(key)?.stop() }
        // Stopping waits for the loop's thread, which cannot wait for itself.
        if loop.isCurrent {
            BlockingPool.shared.run { [loops] in loops.stop() }
        } else {
            loops.stop()
        }
    }

    /// Closes the listener and every connection; when this returns nothing is left, the thread included.
    func stop() async {
        loop.run { [key] reactor in reactor.resident(key)?.stop() }
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let end: @Sendable () -> Void = { [loops] in
                loops.stop()
                continuation.resume()
            }
            // Without a helper thread this one waits, which is not the loop's.
            if !BlockingPool.shared.run(end) { end() }
        }
    }

    /// Does something on the loop, unless it has been stopped, and waits for that.
    func perform(_ body: @escaping @Sendable (Core) -> Void) async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let isTaken = loop.run { [key] reactor in
                if let core = reactor.resident(key) { body(core) }
                continuation.resume()
            }
            if !isTaken { continuation.resume() }
        }
    }
}
