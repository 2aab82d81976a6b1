// A network for engine tests on a virtual reactor: names, addresses, listeners and failures by script, no socket, no
// sleep. Keeps its own books: what was looked up and dialled, what was cancelled, what is open.

import URLLoadingSystem

/// An in-memory network: a resolver, a dialer and the peers behind them.
package final class MemoryNetwork {
    /// What happens to a connection attempt.
    package enum Behaviour {
        /// After `delay` it is connected; `accept` gets the peer's end.
        case accept(delay: Duration = .zero, _ accept: (MemoryStream) -> Void)
        /// After `delay` it fails.
        case fail(errno: Int32, delay: Duration = .zero)
        /// It never ends.
        case hang
        /// The first so many times it fails at once, then this happens.
        indirect case failFirst(Int, errno: Int32, then: Behaviour)
    }

    /// What happens to a look-up.
    package enum Name {
        /// After `delay` these literals are the answer.
        case addresses([String], delay: Duration = .zero)
        /// After `delay` it fails.
        case fails(ResolverFailure.Reason, delay: Duration = .zero)
        /// It never ends.
        case hangs
        /// It finds no descriptor, once; then this happens.
        indirect case lacksDescriptors(then: Name)
    }

    /// Addresses dialled, in order, as "10.0.0.1:80".
    package fileprivate(set) var dialled: [String] = []
    /// How the last of them was to be dialled.
    package fileprivate(set) var lastOptions: DialOptions?
    /// Attempts that were cancelled before their end.
    package fileprivate(set) var cancelledDials: [String] = []
    /// Names whose addresses were of no use, in order.
    package fileprivate(set) var forgotten: [String] = []
    /// Names looked up, in order.
    package fileprivate(set) var lookedUp: [String] = []
    /// Look-ups that were cancelled before their end.
    package fileprivate(set) var cancelledLookups: [String] = []
    /// Both ends of every connection.
    package let streams = OpenCounter()
    /// Bytes each direction of a new connection holds.
    package var capacity = 64 << 10

    fileprivate let reactor: Reactor
    private var behaviours: [String: Behaviour] = [:]
    private var names: [String: Name] = [:]

    /// A network on `reactor`, usually a virtual one, where every name is unknown and every address refuses.
    package init(reactor: Reactor) {
        self.reactor = reactor
    }

    /// Sets what a look-up of `host` brings.
    package func setName(_ host: String, _ name: Name) {
        names[host] = name
    }

    /// Sets what dialling `address` ("10.0.0.1:80", "[::1]:443") does, from now on.
    package func setAddress(_ address: String, _ behaviour: Behaviour) {
        behaviours[address] = behaviour
    }

    /// A name with one address, and a server behind it: the common case in one call.
    package func serve(
        _ host: String, address: String = "10.0.0.1", port: Int = 80, accept: @escaping (MemoryStream) -> Void
    ) {
        setName(host, .addresses([address]))
        if let address = SocketAddress(literal: address, port: port) {
            setAddress(address.description, .accept(accept))
        }
    }

    /// The resolver of this network.
    package func makeResolver() -> any Resolver { MemoryResolver(network: self) }

    /// The dialer of this network.
    package func makeDialer() -> any Dialer { MemoryDialer(network: self) }

    fileprivate func name(_ host: String) -> Name {
        if SocketAddress(literal: host, port: 0) != nil {
            return .addresses([host])
        }
        return names[host] ?? .fails(.noSuchHost)
    }

    fileprivate func behaviour(_ address: SocketAddress) -> Behaviour {
        behaviours[address.description] ?? .fail(errno: ECONNREFUSED)
    }
}

/// Answers look-ups from a network's script.
package final class MemoryResolver: Resolver {
    private let network: MemoryNetwork

    init(network: MemoryNetwork) {
        self.network = network
    }

    /// Nothing but literals: what a name brings, and when, is the script's affair.
    package func addressesAtHand(_ host: String, port: Int) -> [SocketAddress]? {
        SocketAddress(literal: host, port: port).map { [$0] }
    }

    /// Notes the name.
    package func forget(_ host: String, port: Int) {
        network.forgotten.append(host)
    }

    /// Looks up `host` in the script.
    package func resolve(
        _ host: String, port: Int, completion: @escaping (Result<[SocketAddress], ResolverFailure>) -> Void
    ) -> any Resolution {
        network.lookedUp.append(host)
        let step = DelayedStep(reactor: network.reactor) { [network] in network.cancelledLookups.append(host) }
        switch network.name(host) {
        case .addresses(let literals, let delay):
            let addresses = literals.compactMap { SocketAddress(literal: $0, port: port) }
            step.run(after: delay) { completion(.success(addresses)) }
        case .fails(let reason, let delay):
            let failure = ResolverFailure(reason: reason, code: 0, host: host, message: "\(reason)")
            step.run(after: delay) { completion(.failure(failure)) }
        case .hangs:
            step.hang()
        case .lacksDescriptors(let next):
            network.setName(host, next)
            let failure = ResolverFailure(
                reason: .temporary, code: 0, host: host, message: "short",
                shortage: SystemError(errno: EMFILE, call: "open"))
            step.run(after: .zero) { completion(.failure(failure)) }
        }
        return step
    }
}

/// Connects to a network's scripted peers.
package final class MemoryDialer: Dialer {
    private let network: MemoryNetwork

    init(network: MemoryNetwork) {
        self.network = network
    }

    /// Starts a connection to `address`.
    package func dial(
        _ address: SocketAddress, options: DialOptions,
        completion: @escaping (Result<any ByteStream, SystemError>) -> Void
    ) -> any DialAttempt {
        network.dialled.append(address.description)
        network.lastOptions = options
        let step = DelayedStep(reactor: network.reactor) { [network] in
            network.cancelledDials.append(address.description)
        }
        switch network.behaviour(address) {
        case .accept(let delay, let accept):
            step.run(after: delay) { [network] in
                let (client, server) = MemoryStream.pair(
                    on: network.reactor, capacity: network.capacity, first: options.localAddress, second: address,
                    counter: network.streams)
                accept(server)
                completion(.success(client))
            }
        case .fail(let number, let delay):
            step.run(after: delay) { completion(.failure(SystemError(errno: number, call: "connect"))) }
        case .hang:
            step.hang()
        case .failFirst(let times, let number, let next):
            network.setAddress(
                address.description, times > 1 ? .failFirst(times - 1, errno: number, then: next) : next)
            step.run(after: .zero) { completion(.failure(SystemError(errno: number, call: "socket"))) }
        }
        return step
    }
}

/// Something that ends after a while, unless it is cancelled; it goes on when its caller lets go of it.
private final class DelayedStep: Resolution, DialAttempt {
    private let reactor: Reactor
    private var onCancel: (() -> Void)?
    private var work: (() -> Void)?
    private var timer: LoopTimer?

    init(reactor: Reactor, onCancel: @escaping () -> Void) {
        self.reactor = reactor
        self.onCancel = onCancel
    }

    func run(after delay: Duration, _ work: @escaping () -> Void) {
        self.work = work
        reactor.hold(self)
        guard delay > .zero else { return reactor.later { self.finish() } }
        let timer = reactor.makeTimer { [weak self] in self?.finish() }
        timer.set(reactor.now + delay)
        self.timer = timer
    }

    func hang() {
        reactor.hold(self)
    }

    func cancel() {
        onCancel?()
        end()
    }

    private func finish() {
        let work = self.work
        end()
        work?()
    }

    private func end() {
        onCancel = nil
        work = nil
        timer = nil
        reactor.release(self)
    }
}
