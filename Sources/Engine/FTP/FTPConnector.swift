// Opens one connection of an FTP transfer, control or data: name, addresses, a SOCKS proxy where one stands in between.
// TLS comes later, when the control connection has agreed on it.
//
// Must not know: what is said on the connection, why it is needed, HTTP.

import URLLoadingPolicy
import URLLoadingSystem

/// One attempt to reach a server's port.
final class FTPConnector {
    private enum Step {
        case none
        case resolving(any Resolution)
        case dialling(AddressDialer)
        case talking(SOCKSDialogue)
        case done
    }

    /// How far it has come.
    private(set) var phase = EngineError.Phase.lookingUpName
    private let id: ConnectionID
    private let place: Origin
    private let proxy: ProxyServer?
    private let known: SocketAddress?
    private unowned let core: LoopCore
    private let completion: (Result<any ByteStream, EngineError>) -> Void
    private var step = Step.none

    /// `known` is where the server is if that is certain already: only that is connected to then.
    init(
        id: ConnectionID, place: Origin, route: Route, known: SocketAddress? = nil, core: LoopCore,
        completion: @escaping (Result<any ByteStream, EngineError>) -> Void
    ) {
        self.id = id
        self.place = place
        proxy = route.proxy
        self.known = known
        self.core = core
        self.completion = completion
    }

    /// Begins; the completion is called once, later, unless the connector is cancelled.
    func start() {
        if let proxy {
            guard !proxy.kind.isHTTP, proxy.path == nil else {
                return core.reactor.later { [self] in proxyFailed(.unreachable([])) }
            }
            lookUp(proxy.endpoint) { [self] in dial($0, of: proxy.endpoint) }
        } else if let known {
            dial([known], of: place)
        } else {
            lookUp(place) { [self] in dial($0, of: place) }
        }
    }

    /// Gives up; the completion is not called any more.
    func cancel() {
        switch step {
        case .none, .done: break
        case .resolving(let resolution): resolution.cancel()
        case .dialling(let dialer): dialer.cancel()
        case .talking(let dialogue): dialogue.cancel()
        }
        step = .done
    }

    private func lookUp(_ place: Origin, then next: @escaping ([SocketAddress]) -> Void) {
        if let addresses = core.resolver.addressesAtHand(place.host, port: place.port) { return next(addresses) }
        step = .resolving(
            core.resolver.resolve(place.host, port: place.port) { [self] result in
                switch result {
                case .success(let addresses): next(addresses)
                case .failure(let failure) where proxy?.endpoint == place: proxyFailed(.lookup(failure))
                case .failure(let failure): finish(.failure(.nameLookup(failure)))
                }
            })
    }

    private func dial(_ addresses: [SocketAddress], of place: Origin) {
        phase = .connecting
        let dialer = AddressDialer(connection: id, host: place.host, addresses: addresses, core: core) {
            [self] result in
            switch result {
            case .success(let stream) where proxy == nil: finish(.success(stream))
            case .success(let stream): askProxy(on: stream)
            case .failure(let error):
                if known == nil, !place.isIPLiteral { core.resolver.forget(place.host) }
                if proxy != nil, case .connect(_, let failures) = error {
                    proxyFailed(.unreachable(failures))
                } else {
                    finish(.failure(error))
                }
            }
        }
        step = .dialling(dialer)
        dialer.start()
    }

    // MARK: SOCKS

    private func askProxy(on stream: any ByteStream) {
        guard let proxy else { return }
        phase = .tunnelling
        if place.isIPLiteral || proxy.kind.resolvesHere {
            lookUp(place) { [self] addresses in
                // B13.22: SOCKS4 can express nothing but IPv4.
                let usable = addresses.first { proxy.kind.isVersion5 || $0.family == .ipv4 }
                ask(proxy, for: usable.map { .address($0.bytes) }, on: stream)
            }
        } else {
            ask(proxy, for: .name(place.host), on: stream)
        }
    }

    private func ask(_ proxy: ProxyServer, for target: SOCKSExchange.Target?, on stream: any ByteStream) {
        guard let target else {
            stream.close()
            return proxyFailed(.socks(.unsendableTarget))
        }
        let exchange = SOCKSExchange(
            isVersion5: proxy.kind.isVersion5, target: target, port: place.port, credentials: proxy.credentials)
        let dialogue = SOCKSDialogue(exchange, stream: stream, core: core) { [self] result in
            switch result {
            case .success(let stream): finish(.success(stream))
            case .failure(let reason): proxyFailed(reason)
            }
        }
        step = .talking(dialogue)
        dialogue.start()
    }

    private func proxyFailed(_ reason: ProxyFailure.Reason) {
        guard let proxy else { return }
        finish(.failure(.proxy(ProxyFailure(proxy, reason))))
    }

    private func finish(_ result: Result<any ByteStream, EngineError>) {
        if case .done = step {
            // Cancelled in between: nobody else closes it.
            if case .success(let stream) = result { stream.close() }
            return
        }
        step = .done
        completion(result)
    }
}
