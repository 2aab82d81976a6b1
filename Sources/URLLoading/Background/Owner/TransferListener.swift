// The helper's side of the socket: each process of this user that connects becomes a channel of the owner of the
// transfers. Two programs at once are the owner's business (B10.32).
//
// Everything reaches the owner in the order in which it was said and happened, so that a program's end is heard before
// the greeting of its next run. Must not know: what messages mean.

import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

/// Listens for programs.
final class TransferListener: Sendable {
    private let service: any TransferService
    private let loop: Loop
    private let place: LocalPlace
    private let residence = ResidentKey<ListenerHolder>()
    private let count = Atomic<Int>(0)
    private let onEmpty: @Sendable () -> Void

    /// A listener in a session's directory, whose lock the caller has; `onEmpty` is called, on the loop, whenever the
    /// last program has gone.
    init(
        directory: String, service: any TransferService, loop: Loop, onEmpty: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        place = try LocalPlace(directory: directory, name: "socket")
        self.service = service
        self.loop = loop
        self.onEmpty = onEmpty
    }

    /// Programs that are connected now.
    var connections: Int { count.load(ordering: .acquiring) }

    /// Begins to listen; says what is in the way of that.
    func start(_ completion: @escaping @Sendable (SystemError?) -> Void) {
        loop.run { [self] reactor in
            do throws(SystemError) {
                let listener = try place.listen(on: reactor) { [self] stream in welcome(stream, reactor) }
                reactor.setResident(residence, ListenerHolder(listener))
                completion(nil)
            } catch {
                completion(error)
            }
        }
    }

    /// Stops listening and removes the socket; connections stay.
    func stop(_ completion: @escaping @Sendable () -> Void) {
        loop.run { [self] reactor in
            reactor.resident(residence)?.listener.close()
            reactor.setResident(residence, nil)
            place.remove()
            completion()
        }
    }

    private func welcome(_ stream: SocketStream, _ reactor: Reactor) {
        count.wrappingAdd(1, ordering: .acquiringAndReleasing)
        let channel = SocketTransferChannel(loop: loop, service: service) { [self] in
            if count.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { onEmpty() }
        }
        channel.open(stream, reactor)
    }
}

private final class ListenerHolder {
    let listener: Listener

    init(_ listener: Listener) { self.listener = listener }
}

private final class PipeHolder {
    let pipe: TransferPipe<TransferCommand>

    init(_ pipe: TransferPipe<TransferCommand>) { self.pipe = pipe }
}

/// A program at the other end of a socket.
final class SocketTransferChannel: TransferChannel {
    private let loop: Loop
    private let service: any TransferService
    private let residence = ResidentKey<PipeHolder>()
    private let onGone: @Sendable () -> Void

    init(loop: Loop, service: any TransferService, onGone: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.service = service
        self.onGone = onGone
    }

    func open(_ stream: SocketStream, _ reactor: Reactor) {
        let pipe = TransferPipe<TransferCommand>(stream, reactor: reactor)
        reactor.setResident(residence, PipeHolder(pipe))
        service.connected(self)
        pipe.start(
            { [self] command in service.received(command, from: self) },
            onEnd: { [self] _ in leave(reactor) })
    }

    private func leave(_ reactor: Reactor) {
        guard reactor.resident(residence) != nil else { return }
        reactor.setResident(residence, nil)
        service.disconnected(self)
        onGone()
    }

    func send(_ event: TransferEvent) {
        loop.run { [residence] in
            $0.resident(residence)?.pipe.send(event, mayBeLeftOut: event.mayBeLeftOut)
        }
    }

    func close() {
        loop.run { [self] reactor in
            guard let pipe = reactor.resident(residence)?.pipe else { return }
            pipe.finish()
            leave(reactor)
        }
    }
}

extension TransferEvent {
    /// Whether a side that is slow can do without: another report follows.
    var mayBeLeftOut: Bool {
        switch self {
        case .progress: true
        case .met, .welcome, .refused, .tasks, .accepted, .redirected, .responded, .resumedAt, .resumeData, .challenged,
            .withdrawn, .news, .allDelivered, .invalidated:
            false
        }
    }
}
