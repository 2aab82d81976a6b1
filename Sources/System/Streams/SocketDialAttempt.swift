// One connect() from the making of the socket to its end. While it is under way the socket's registration keeps the
// attempt alive, or the reactor where there is none; the attempt keeps the stream, and the stream knows the attempt
// weakly.

/// A socket being connected.
final class SocketDialAttempt: DialAttempt {
    // `@exclusivity(unchecked)`: as in `Reactor`; nothing is called while a property is being changed.
    private let address: SocketAddress
    private let reactor: Reactor
    @exclusivity(unchecked) private var completion: ((Result<any ByteStream, SystemError>) -> Void)?
    @exclusivity(unchecked) private var stream: SocketStream?
    @exclusivity(unchecked) private var retry: LoopTimer?

    /// A UNIX-domain listener whose queue is full answers EAGAIN and reports nothing later.
    ///
    /// Picked by feel.
    private static let queueFullRetry = Duration.milliseconds(10)

    init(
        address: SocketAddress, reactor: Reactor, completion: @escaping (Result<any ByteStream, SystemError>) -> Void
    ) {
        self.address = address
        self.reactor = reactor
        self.completion = completion
    }

    func start(_ options: DialOptions) {
        do throws(SystemError) {
            try connect(options)
        } catch {
            finishLater(.failure(error))
        }
    }

    func cancel() {
        completion = nil
        if retry != nil {
            retry = nil
            reactor.release(self)
        }
        let stream = stream
        self.stream = nil
        stream?.close()
    }

    // MARK: Private steps

    private func connect(_ options: DialOptions) throws(SystemError) {
        let descriptor = try Platform.socket(family: address.systemFamily)
        try DescriptorLimit.check(descriptor.raw, call: "socket")
        try options.apply(to: descriptor.raw, family: address.family)
        switch Platform.connect(descriptor.raw, to: address) {
        case 0:
            let stream = try SocketStream(connected: descriptor, remote: address, reactor: reactor)
            finishLater(.success(stream))
        case EINPROGRESS:
            stream = try SocketStream(connecting: descriptor, remote: address, attempt: self, reactor: reactor)
        case EAGAIN where address.family == .unix:
            let timer = reactor.makeTimer { [weak self] in self?.tryAgain(options) }
            timer.set(reactor.now + Self.queueFullRetry)
            retry = timer
            reactor.hold(self)
        case let error:
            throw SystemError(errno: error, call: "connect")
        }
    }

    private func tryAgain(_ options: DialOptions) {
        retry = nil
        reactor.release(self)
        start(options)
    }

    // MARK: The end

    /// The connect under way is over; 0 means that the socket is connected.
    func connectEnded(error: Int32) {
        guard let stream else { return }
        self.stream = nil
        if error == 0 {
            finish(.success(stream))
        } else {
            stream.close()
            finish(.failure(SystemError(errno: error, call: "connect")))
        }
    }

    /// A result that was there at once still waits for the end of the turn.
    private func finishLater(_ result: Result<SocketStream, SystemError>) {
        reactor.later { self.finish(result) }
    }

    private func finish(_ result: Result<SocketStream, SystemError>) {
        guard let completion else {
            if case .success(let stream) = result {
                stream.close()
            }
            return
        }
        self.completion = nil
        completion(result.map { $0 as any ByteStream })
    }
}
