// A UNIX-domain socket by its path, for processes of one user: however long the path is, with no
// other user at either end.
//
// A socket's address holds 107 bytes of a path. A longer one goes by way of its directory, which is opened, and whose
// number below /proc/self/fd leads there. Must not know what is said over the socket.

/// Where a socket of this user is.
package final class LocalPlace: Sendable {
    /// The address as the system takes it; good as long as this object lives.
    package let address: SocketAddress
    private let path: String
    /// Kept open where the address leads through it.
    private let directory: Descriptor?

    /// The place of that name in a directory, which has to be there.
    package init(directory: String, name: String) throws(SystemError) {
        path = directory + "/" + name
        if let short = SocketAddress.unix(path) {
            address = short
            self.directory = nil
            return
        }
        let opened = Platform.openDirectory(directory)
        if opened.failed { throw SystemError(errno: opened.error, call: "open") }
        let held = Descriptor(owning: opened.value)
        guard let long = SocketAddress.unix("/proc/self/fd/\(held.raw)/\(name)") else {
            throw SystemError(errno: ENAMETOOLONG, call: "connect")
        }
        address = long
        self.directory = consume held
    }

    /// Listens there, in the place of a socket that was left. Only one process at a time may call this:
    /// a socket that is there is taken for one without a listener.
    package func listen(
        on reactor: Reactor, _ welcome: @escaping (SocketStream) -> Void
    ) throws(SystemError) -> Listener {
        Platform.remove(path: path)
        let listener = try Listener(reactor: reactor, address: address)
        listener.onAccept = { [self] stream in
            // `self`: the listener removes its path when it is closed, and has no other way to it.
            withExtendedLifetime(self) { if stream.isOwnPeer { welcome(stream) } else { stream.close() } }
        }
        return listener
    }

    /// Connects to the listener there; `EACCES` if that is another user's.
    package func dial(
        on reactor: Reactor, _ completion: @escaping (Result<any ByteStream, SystemError>) -> Void
    ) -> any DialAttempt {
        SocketDialer(reactor: reactor).dial(address, options: DialOptions(keepAlive: false, noDelay: false)) { result in
            withExtendedLifetime(self) {}
            guard case .success(let stream as SocketStream) = result, !stream.isOwnPeer else {
                return completion(result)
            }
            stream.close()
            completion(.failure(SystemError(errno: EACCES, call: "connect")))
        }
    }

    /// Removes a socket without a listener.
    package func remove() { Platform.remove(path: path) }
}

extension SocketStream {
    /// Whether the process at the other end of a UNIX-domain socket acts for this one's user.
    package var isOwnPeer: Bool { withDescriptor { Platform.isOwn(peer: $0) } ?? false }
}
