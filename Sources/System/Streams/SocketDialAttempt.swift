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
        try prepare(descriptor.raw, options)
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

    private func prepare(_ raw: Int32, _ options: DialOptions) throws(SystemError) {
        if address.family != .unix && options.noDelay {
            try set(raw, level: Platform.levelTCP, option: Platform.noDelay)
        }
        if options.keepAlive {
            try set(raw, level: Platform.levelSocket, option: Platform.keepAlive)
        }
        // A UNIX-domain socket is on no network.
        guard address.family != .unix else { return }
        if options.keepAlive, let interval = options.probeInterval {
            let seconds = Self.probeSeconds(interval)
            try set(raw, level: Platform.levelTCP, option: Platform.keepAliveIdle, to: seconds)
            try set(raw, level: Platform.levelTCP, option: Platform.keepAliveInterval, to: seconds)
            // While bytes of ours are unacknowledged Linux asks nothing, and sends them again for a quarter of an hour.
            try set(
                raw, level: Platform.levelTCP, option: Platform.userTimeout, to: seconds * Self.spansUntilLost * 1_000)
        }
        if let interface = options.interface {
            let outcome = Platform.bind(raw, toInterface: interface)
            if outcome.failed {
                throw SystemError(errno: outcome.error, call: "binding to the interface \(interface)")
            }
        }
        if let local = options.localAddress {
            // Asked for the wrong family the system complains in several ways, some of them misleading.
            guard local.family == address.family else { throw SystemError(errno: EAFNOSUPPORT, call: "bind") }
            if local.port == 0 {
                Platform.bindWithoutPort(raw)
            }
            let outcome = Platform.bind(raw, to: local)
            if outcome.failed {
                throw SystemError(errno: outcome.error, call: "bind")
            }
        }
    }

    /// The first silence, and nine questions without an answer (Linux's number).
    private static let spansUntilLost: Int32 = 10

    /// Whole seconds, rounded up, as many as Linux takes.
    private static func probeSeconds(_ interval: Duration) -> Int32 {
        let (seconds, rest) = interval.components
        return Int32(min(max(rest > 0 ? seconds &+ 1 : seconds, 1), 32_767))
    }

    private func set(_ raw: Int32, level: Int32, option: Int32, to value: Int32 = 1) throws(SystemError) {
        let outcome = Platform.set(raw, level: level, option: option, to: value)
        if outcome.failed {
            throw SystemError(errno: outcome.error, call: "setsockopt")
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
