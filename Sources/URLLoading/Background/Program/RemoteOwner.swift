// The owner of a session's transfers in its helper process, as the session speaks to it: what is said goes over the
// socket, what comes goes to the session's channel. Must not know: what messages mean, how a helper is started.

import URLLoadingPolicy
import URLLoadingSystem

/// An owner in another process.
final class RemoteOwner: TransferService {
    private let loop: Loop
    private let residence: ResidentKey<RemotePipe>
    /// The process; nil where it cannot be told, or is this one.
    let process: PeerProcess?

    private init(loop: Loop, residence: ResidentKey<RemotePipe>, process: PeerProcess?) {
        self.loop = loop
        self.residence = residence
        self.process = process
    }

    /// Connects to the helper that listens in a session's directory. `onEnd` is called once, on the loop, when a
    /// conversation that began has ended from the other side, with the reason.
    static func connect(
        directory: String, loop: Loop, channel: any TransferChannel, onEnd: @escaping @Sendable (String) -> Void,
        completion: @escaping @Sendable (Result<RemoteOwner, SystemError>) -> Void
    ) {
        let place: LocalPlace
        do throws(SystemError) {
            place = try LocalPlace(directory: directory, name: "socket")
        } catch {
            return completion(.failure(error))
        }
        loop.run { reactor in
            let residence = ResidentKey<RemotePipe>()
            _ = place.dial(on: reactor) { result in
                switch result {
                case .failure(let error): completion(.failure(error))
                case .success(let stream):
                    let pipe = TransferPipe<TransferEvent>(stream, reactor: reactor)
                    reactor.setResident(residence, RemotePipe(pipe))
                    let process = (stream as? SocketStream)?.peerProcess
                    completion(.success(RemoteOwner(loop: loop, residence: residence, process: process)))
                    pipe.start(
                        { channel.send($0) },
                        onEnd: { reason in
                            reactor.setResident(residence, nil)
                            onEnd(reason)
                        })
                }
            }
        }
    }

    deinit {
        // The session is gone; the transfers are not (B10.2).
        loop.run { [residence] reactor in
            reactor.resident(residence)?.pipe.close()
            reactor.setResident(residence, nil)
        }
    }

    func connected(_ channel: any TransferChannel) {}

    func received(_ command: TransferCommand, from channel: any TransferChannel) {
        loop.run { [residence] in $0.resident(residence)?.pipe.send(command) }
    }

    func disconnected(_ channel: any TransferChannel) {
        loop.run { [residence] reactor in
            reactor.resident(residence)?.pipe.finish()
            reactor.setResident(residence, nil)
        }
    }
}

/// What lives on the loop of a conversation.
final class RemotePipe {
    let pipe: TransferPipe<TransferEvent>

    init(_ pipe: TransferPipe<TransferEvent>) { self.pipe = pipe }
}
