// One connection through the fault proxy: two streams, and two directions between them. Confined to the proxy's loop.

import URLLoadingSystem

/// Carries one connection.
final class FaultConnection: ByteStreamObserver {
    let number: Int
    private unowned let core: FaultCore
    private let client: SocketStream
    private let clientPort: Int
    private let plan: FaultPlan
    private var server: SocketStream?
    private var attempt: (any DialAttempt)?
    private var toServer: FaultDirection?
    private var toClient: FaultDirection?
    private var linger: LoopTimer?
    private var isClosed = false

    init(number: Int, client: SocketStream, plan: FaultPlan, core: FaultCore) {
        self.number = number
        self.client = client
        self.plan = plan
        self.core = core
        clientPort = client.remoteAddress?.port ?? 0
    }

    func begin() {
        client.observer = self
        attempt = core.dialer.dial(core.target, options: DialOptions()) { [weak self] result in
            self?.dialled(result)
        }
    }

    private func dialled(_ result: Result<any ByteStream, SystemError>) {
        attempt = nil
        guard !isClosed else { return }
        guard case .success(let stream) = result, let server = stream as? SocketStream else {
            client.reset()
            return close()
        }
        self.server = server
        server.observer = self
        toServer = FaultDirection(isToClient: false, plan.toServer, from: client, to: server, of: self)
        toClient = FaultDirection(isToClient: true, plan.toClient, from: server, to: client, of: self)
        pump()
    }

    func streamBecameReadable(_ stream: any ByteStream) { pump() }

    func streamBecameWritable(_ stream: any ByteStream) { pump() }

    private func pump() {
        guard let toServer, let toClient else { return }
        toServer.pump()
        if !isClosed { toClient.pump() }
        if !isClosed, toServer.isFinished, toClient.isFinished { close() }
    }

    // MARK: What directions ask for

    var reactor: Reactor { core.reactor }

    func fired(_ faults: ArraySlice<Fault>, isToClient: Bool) {
        core.books.fired(faults, isToClient: isToClient, port: clientPort, number: number)
    }

    /// Sends the client what it takes of these bytes, and notes them.
    func deliver(_ bytes: ArraySlice<UInt8>) -> IOResult {
        core.books.deliver(bytes, port: clientPort, number: number) { [client] in client.write($0) }
    }

    /// A pause is over.
    func goOn() {
        if !isClosed { pump() }
    }

    /// Ends both directions in good order: what was sent still arrives, since nothing is closed with unread bytes
    /// before both peers have had the time to see the end.
    func cut() {
        toServer?.giveUp()
        toClient?.giveUp()
        client.shutdownWrite()
        server?.shutdownWrite()
        linger = core.reactor.makeTimer { [weak self] in self?.close() }
        linger?.set(core.reactor.now + .seconds(1))
    }

    func reset() {
        client.reset()
        server?.reset()
        close()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        attempt?.cancel()
        toServer?.giveUp()
        toClient?.giveUp()
        for stream in [client, server] {
            stream?.observer = nil
            stream?.close()
        }
        core.closed(self)
    }
}
