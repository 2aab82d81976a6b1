// Opens one connection: name, addresses, TLS; reports the connection or the reason why there is none.
//
// The steps are objects of their own (`AddressDialer`, `TLSHandshake`), each of which can be cancelled; this file
// only strings them together and notes when each happened.
//
// Must not know: which request the connection is for (the pool binds late), nor who answers what the handshake asks.

import HTTPWire
import LoadingPolicy
import Sockets
import TLS

/// One attempt to open a connection for a pool key.
final class Connector {
    // `@exclusivity(unchecked)`: as in `Transaction`.
    let id: ConnectionID
    let key: PoolKey
    /// Whether it was begun for a request whose receiver answers questions.
    let isForAsking: Bool
    @exclusivity(unchecked) private(set) var phase = EngineError.Phase.lookingUpName
    private unowned let core: LoopCore
    private let completion: (Result<HTTP1Connection, EngineError>) -> Void
    @exclusivity(unchecked) private var setup = ConnectionSetup()
    @exclusivity(unchecked) private var step = Step.none
    @exclusivity(unchecked) private var question: TLSHandshake.Question?
    /// How often somebody was asked; tells late answers from the one that is awaited.
    @exclusivity(unchecked) private var timesAsked = 0

    private enum Step {
        case none
        case resolving(any Resolution)
        case dialling(AddressDialer)
        case shakingHands(TLSHandshake)
        case done
    }

    init(
        id: ConnectionID, key: PoolKey, isForAsking: Bool, core: LoopCore,
        completion: @escaping (Result<HTTP1Connection, EngineError>) -> Void
    ) {
        self.id = id
        self.key = key
        self.isForAsking = isForAsking
        self.core = core
        self.completion = completion
    }

    /// Begins; the completion is called once, later, unless the connector is cancelled.
    func start() {
        switch key.route {
        case .direct(let path?):
            guard let address = SocketAddress.unix(path) else {
                // A path that is too long for the system has no address.
                return core.reactor.later { [self] in finish(.failure(.connect(host: key.origin.host, []))) }
            }
            connect(to: [address])
        case .direct(nil):
            findAddresses()
        }
    }

    /// Gives up; the completion is not called any more.
    func cancel() {
        switch step {
        case .none, .done: break
        case .resolving(let resolution): resolution.cancel()
        case .dialling(let dialer): dialer.cancel()
        case .shakingHands(let handshake): handshake.cancel()
        }
        step = .done
    }

    // MARK: Questions

    /// Whether the handshake waits for an answer.
    var isAsking: Bool { question != nil }

    /// What the handshake waits for, to be put to somebody; what was put before is void.
    func nextQuestion() -> ConnectionQuestion? {
        timesAsked += 1
        let reply = QuestionReply(port: core.port, connection: id, number: timesAsked)
        switch question {
        case .peer(let chain, let policy):
            return .peer(
                PeerQuestion(
                    origin: key.origin, chain: chain, policy: policy, evaluator: core.configuration.trust,
                    reply: reply))
        case .identity(let issuers):
            return .identity(
                IdentityQuestion(
                    origin: key.origin, acceptableIssuers: issuers, usual: core.identity(for: key.origin, issuers),
                    reply: reply))
        case nil:
            return nil
        }
    }

    /// Whether this is the question that is open.
    func awaits(_ number: Int) -> Bool { question != nil && number == timesAsked }

    /// Goes on with the answer to the open question, or with what is done when nobody is asked.
    func answer(_ answer: QuestionAnswer?) {
        guard question != nil, case .shakingHands(let handshake) = step else { return }
        question = nil
        if answer?.isCancellation == true {
            handshake.cancel()
            finish(.failure(.cancelled))
        } else {
            handshake.answer(answer)
        }
    }

    /// Whether somebody is asked.
    private func ask(_ asked: TLSHandshake.Question) -> Bool {
        question = asked
        if core.pool.asked(self) { return true }
        question = nil
        return false
    }

    // MARK: Steps

    private func findAddresses() {
        let host = key.origin.host
        if !key.origin.isIPLiteral {
            setup.lookup.begin(core.reactor.nanoseconds)
            core.trace?.hooks.lookupStarted?(host)
        }
        if let addresses = core.resolver.addressesAtHand(host, port: key.origin.port) {
            return found(.success(addresses))
        }
        step = .resolving(core.resolver.resolve(host, port: key.origin.port) { [self] in found($0) })
    }

    private func found(_ result: Result<[SocketAddress], ResolverFailure>) {
        if !key.origin.isIPLiteral {
            setup.lookup.finish(core.reactor.nanoseconds)
            core.trace?.hooks.lookupFinished?(key.origin.host, try? result.get())
        }
        switch result {
        case .success(let addresses): connect(to: addresses)
        case .failure(let failure): finish(.failure(.nameLookup(failure)))
        }
    }

    private func connect(to addresses: [SocketAddress]) {
        phase = .connecting
        setup.connect.begin(core.reactor.nanoseconds)
        let dialer = AddressDialer(
            connection: id, host: key.origin.host, addresses: addresses, core: core
        ) { [self] result in
            switch result {
            case .success(let stream):
                connected(stream)
            case .failure(let error):
                // The host may have moved: the next attempt asks for its addresses anew.
                if !key.origin.isIPLiteral { core.resolver.forget(key.origin.host) }
                finish(.failure(error))
            }
        }
        step = .dialling(dialer)
        dialer.start()
    }

    private func connected(_ stream: any ByteStream) {
        switch key.origin.scheme {
        case .http: established(stream, tls: nil, held: [])
        case .https: shakeHands(stream)
        }
    }

    private func shakeHands(_ stream: any ByteStream) {
        phase = .shakingHands
        setup.secure.begin(core.reactor.nanoseconds)
        let handshake = TLSHandshake(
            origin: key.origin, ticketKey: ticketKey, stream: stream, core: core, ask: { [unowned self] in ask($0) }
        ) { [self] result in
            setup.secure.finish(core.reactor.nanoseconds)
            switch result {
            case .success(let ready):
                setup.negotiated = ready.tls.negotiated
                core.trace?.hooks.handshakeFinished?(id, ready.tls.negotiated, nil)
                established(stream, tls: ready.tls, held: ready.held)
            case .failure(let error):
                core.trace?.hooks.handshakeFinished?(id, nil, error)
                finish(.failure(.tls(error, host: key.origin.host)))
            }
        }
        step = .shakingHands(handshake)
        handshake.start()
    }

    private func established(_ stream: any ByteStream, tls: TLSSession?, held: [UInt8]) {
        setup.connect.finish(core.reactor.nanoseconds)
        finish(
            .success(
                HTTP1Connection(
                    id: id, key: key, setup: setup, stream: stream, tls: tls, heldCiphertext: held, core: core)))
    }

    private func finish(_ result: Result<HTTP1Connection, EngineError>) {
        guard case .done = step else {
            step = .done
            completion(result)
            return
        }
    }

    /// Tickets are only offered to the very origin that gave them.
    private var ticketKey: String { "\(key.origin.host):\(key.origin.port)" }
}
