// Opens one connection: name, addresses, TLS; reports the connection or the reason why there is none.
//
// The steps are objects of their own (`AddressDialer`, `TLSHandshake`, `ProxyDialogue`), each of which can be
// cancelled; this file only strings them together and notes when each happened. What comes between an address and the
// origin where a proxy stands between them is in `Connector+Proxies`; the stored properties are its too.
//
// Must not know: which request the connection is for (the pool binds late), which receiver answers what the steps ask,
// nor what is spoken on the connection.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// One attempt to open a connection for a pool key.
final class Connector {
    // `@exclusivity(unchecked)`: as in `Transaction`.
    let name: ConnectionName
    /// What it is opened for: another's once the judge has left it to the session.
    @exclusivity(unchecked) private(set) var key: PoolKey
    /// Whether it was begun for a request of the pool's whose receiver answers questions.
    let isForAsking: Bool
    @exclusivity(unchecked) var phase = EngineError.Phase.lookingUpName
    unowned let core: LoopCore
    /// How it differs from the pool's; nil where it is one of those.
    private let aside: Aside?
    private let completion: (Result<OpenedConnection, EngineError>) -> Void
    @exclusivity(unchecked) private(set) var setup = ConnectionSetup()
    /// The stream on which something is agreed on before the connection stands; it knows its
    /// addresses when it is closed, too.
    @exclusivity(unchecked) var stream: (any ByteStream)?
    @exclusivity(unchecked) var step = Step.none
    @exclusivity(unchecked) var question: Question?
    /// How many questions were asked; tells late answers from the one that is awaited.
    @exclusivity(unchecked) private var timesAsked = 0
    /// Whether its judge has decided something about it.
    @exclusivity(unchecked) private var isJudged = false
    /// For how long it may be on its way; nil without limit.
    @exclusivity(unchecked) private var limit: ConnectionLimit?
    /// What is known on the way through a proxy; nil where there is none.
    let passage: ProxyPassage?

    /// What is peculiar to a connection outside the pool.
    struct Aside {
        /// Whether the origin is reached without TLS, whatever its scheme says: TLS may be set up later.
        var isBare = true
        /// Where the origin is, if that is certain: then nothing else is connected to on the direct way.
        var address: SocketAddress?
        /// What a SOCKS proxy is told of where the origin is, if that is certain: then no name is looked up, and the
        /// port is the origin's own, whatever is set for its host.
        var target: SOCKSExchange.Target?
        /// Where its tickets are kept; nil for the store of the loop.
        var tickets: TLSTickets?
        /// Puts the question to the load's receiver; false where it has none that answers.
        let asker: (Connector) -> Bool
    }

    /// What a name is looked up for.
    enum Purpose {
        /// To connect to the origin.
        case connecting
        /// To connect to the proxy.
        case connectingToProxy
        /// To tell the proxy where the origin is.
        case telling
    }

    enum Step {
        case none
        case resolving(any Resolution)
        case dialling(AddressDialer)
        case shakingHands(TLSHandshake)
        case talking(ProxyDialogue)
        /// Nothing is open: what was asked is answered first.
        case waiting
        case done
    }

    /// What the load's receiver is asked.
    enum Question {
        /// By a handshake with the origin, or with the proxy.
        case handshake(TLSHandshake.Question, ofProxy: Bool)
        /// By the proxy.
        case proxy(ProxyQuestion.Demand)
    }

    init(
        name: ConnectionName, key: PoolKey, isForAsking: Bool = false, core: LoopCore, aside: Aside? = nil,
        completion: @escaping (Result<OpenedConnection, EngineError>) -> Void
    ) {
        self.name = name
        self.key = key
        self.isForAsking = isForAsking
        self.core = core
        self.aside = aside
        self.completion = completion
        passage = key.route.proxy.map { ProxyPassage($0) }
    }

    /// Begins; the completion is called once, later, unless the connector is cancelled.
    func start() {
        // Measured: `core.configuration` by way of the unowned property copies the whole configuration; by way of a
        // local it does not, and counts the core once.
        let core = core
        if let timeout = core.configuration.connectionTimeout {
            limit = ConnectionLimit(timeout, reactor: core.reactor) { [unowned self] in passedLimit(timeout) }
        }
        switch key.route {
        case .direct(let path?): connect(to: path)
        case .direct(nil):
            guard let address = aside?.address else { return lookUp(key.origin, for: .connecting) }
            connect(to: [address], of: key.origin)
        case .proxied: startThroughProxy()
        }
    }

    /// Gives up; the completion is not called any more.
    func cancel() {
        switch step {
        case .none, .waiting, .done: break
        case .resolving(let resolution): resolution.cancel()
        case .dialling(let dialer): dialer.cancel()
        case .shakingHands(let handshake): handshake.cancel()
        case .talking(let dialogue): dialogue.cancel()
        }
        step = .done
        limit = nil
    }

    /// The time of the load that wants the connection is over. Addresses that are silent are no better than those that
    /// refuse: a host that has moved away does not answer any more.
    ///
    /// Where most of the time went by with the look-up, the silence was too short to say anything.
    func timeIsOver() {
        guard case .dialling = step,
            core.reactor.nanoseconds - setup.connect.start >= setup.lookup.end - setup.lookup.start
        else { return }
        forgetAddresses(of: passage?.proxy.endpoint ?? key.origin)
    }

    /// The host may have moved: the next attempt asks for its addresses anew.
    private func forgetAddresses(of place: Origin) {
        if aside?.address == nil, !place.isIPLiteral { core.resolver.forget(place.host, port: place.port) }
    }

    private func passedLimit(_ timeout: Duration) {
        timeIsOver()
        cancel()
        step = .none
        finish(.failure(.connectionTimeout(host: key.timedOut, phase: phase, after: timeout)))
    }

    /// What a SOCKS proxy is told in any case.
    var certainTarget: SOCKSExchange.Target? { aside?.target }

    // MARK: Questions

    /// Whether a step waits for an answer.
    var isAsking: Bool { question != nil }

    /// Whether the open question is a proxy's, which wants a name and a password.
    var isAskedByProxy: Bool { if case .proxy = question { true } else { false } }

    /// The open question, to be put to a receiver. An answer to the one before does not count any more.
    func nextQuestion() -> ConnectionQuestion? {
        timesAsked += 1
        let reply = QuestionReply(port: core.port, connection: name, number: timesAsked)
        switch question {
        case .handshake(.peer(let chain, let policy), let isOfProxy):
            let proxy = isOfProxy ? passage?.proxy : nil
            return .peer(
                PeerQuestion(
                    origin: proxy?.endpoint ?? key.origin, proxy: proxy, chain: chain, policy: policy,
                    evaluator: core.configuration.trust, reply: reply))
        case .handshake(.identity(let issuers, let usual), let isOfProxy):
            let proxy = isOfProxy ? passage?.proxy : nil
            let origin = proxy?.endpoint ?? key.origin
            return .identity(
                IdentityQuestion(
                    origin: origin, proxy: proxy, acceptableIssuers: issuers, usual: usual, reply: reply))
        case .proxy(let demand):
            return passage.map {
                .proxy(
                    ProxyQuestion(
                        proxy: $0.proxy, origin: key.origin, demand: demand, isFirst: !$0.isAnswered, ahead: $0.ahead,
                        beganAnew: $0.beganAnew, reply: reply))
            }
        case nil:
            return nil
        }
    }

    /// Whether this is the question that is open.
    func awaits(_ number: Int) -> Bool { question != nil && number == timesAsked }

    /// Whether the judge may leave it to the session by not answering this question. It must not have answered another,
    /// nor when the TLS session began that is resumed.
    var mayBeLeft: Bool {
        guard key.judge != .session, !isJudged, case .handshake = question, case .shakingHands(let handshake) = step
        else { return false }
        return !handshake.isResumed
    }

    /// The judge has no say: the connection is the session's, and so are the tickets that it brings.
    func leaveToSession() {
        key = key.judgedBySession
        guard case .shakingHands(let handshake) = step, case .handshake(_, let isOfProxy) = question else { return }
        if !isOfProxy { handshake.tickets = core.ticketStore.list(of: .origin(key)) }
        if isOfProxy, let passage { handshake.tickets = core.ticketStore.list(of: .proxy(passage.proxy, .session)) }
    }

    /// Goes on with the answer to the open question, or with what is done without an answer.
    func answer(_ answer: QuestionAnswer?) {
        guard let asked = question else { return }
        question = nil
        limit?.goOn()
        if answer != nil, case .handshake = asked { isJudged = true }
        if answer?.isCancellation == true {
            cancel()
            step = .none
            return finish(.failure(.cancelled))
        }
        switch (asked, step) {
        case (.handshake, .shakingHands(let handshake)): handshake.answer(answer)
        case (.proxy(let demand), _): goOn(with: answer, to: demand)
        case (.handshake, _): break
        }
    }

    /// Asks; whether there is a receiver that answers.
    func ask(_ asked: Question) -> Bool {
        // As in `start`: else all of the configuration is copied.
        let core = core
        if case .handshake(.peer, _) = asked, !core.configuration.asksAboutServers { return false }
        question = asked
        // Order: the answer may come before this returns.
        limit?.standStill()
        if aside?.asker(self) ?? core.pool.asked(self) { return true }
        limit?.goOn()
        question = nil
        return false
    }

    // MARK: Steps

    /// Looks a name up; literals and what is known already are answered at once.
    func lookUp(_ place: Origin, for purpose: Purpose) {
        let core = core
        if !place.isIPLiteral {
            if setup.lookup.start < 0 { setup.lookup.begin(core.reactor.nanoseconds) } else { setup.lookup.goOn() }
            core.trace?.tell(.lookupStarted(host: place.host))
        }
        if let addresses = core.resolver.addressesAtHand(place.host, port: place.port) {
            return lookedUp(place, for: purpose, .success(addresses))
        }
        step = .resolving(
            core.resolver.resolve(place.host, port: place.port) { [self] in lookedUp(place, for: purpose, $0) })
    }

    private func lookedUp(
        _ place: Origin, for purpose: Purpose, _ result: Result<[SocketAddress], ResolverFailure>
    ) {
        let core = core
        if !place.isIPLiteral {
            // B12.7: what has failed did not finish.
            if case .success = result { setup.lookup.finish(core.reactor.nanoseconds) }
            core.trace?.tell(.lookupFinished(host: place.host, addresses: try? result.get()))
        }
        switch (result, purpose) {
        case (.success(let addresses), .connecting), (.success(let addresses), .connectingToProxy):
            connect(to: addresses, of: place)
        case (.success(let addresses), .telling): foundTargets(addresses)
        case (.failure(let failure), _) where failure.shortage.map(core.pool.makeRoom) == true:
            // What was closed may have given this dial up.
            if case .done = step { return }
            lookUp(place, for: purpose)
        // What this machine is short of is not the proxy's failure: no other way is tried for it.
        case (.failure(let failure), .connectingToProxy) where failure.shortage == nil: proxyFailed(.lookup(failure))
        case (.failure(let failure), _):
            finish(.failure(failure.shortage.map { .localResource($0) } ?? .nameLookup(failure)))
        }
    }

    private func connect(to path: String) {
        guard let address = SocketAddress.unix(path) else {
            return core.reactor.later { [self] in
                finish(.failure(.connect(host: key.origin.host, [.init(unusablePath: path)])))
            }
        }
        connect(to: [address], of: key.origin)
    }

    /// Connects to the first of the addresses that answers: the origin's, or the proxy's.
    func connect(to addresses: [SocketAddress], of place: Origin) {
        let core = core
        passage?.addresses = addresses
        phase = .connecting
        if setup.connect.start < 0 { setup.connect.begin(core.reactor.nanoseconds) }
        let dialer = AddressDialer(
            connection: name, host: place.host, addresses: addresses, core: core
        ) { [self] result in
            switch result {
            case .success(let stream):
                if passage == nil { reached(stream) } else { reachedProxy(stream) }
            case .failure(let error):
                // Owner: the core is not held by what it holds, so this is not the local.
                forgetAddresses(of: place)
                if passage != nil, case .connect(_, let failures) = error {
                    proxyFailed(.unreachable(failures))
                } else {
                    finish(.failure(error))
                }
            }
        }
        step = .dialling(dialer)
        dialer.start()
    }

    /// Here is a stream that leads to the origin.
    func reached(_ stream: any ByteStream) {
        if aside?.isBare == true { return established(SecureChannel(stream, buffers: core.buffers)) }
        switch key.origin.scheme {
        case .http: established(SecureChannel(stream, buffers: core.buffers))
        case .https: shakeHands(stream)
        }
    }

    private func shakeHands(_ stream: any ByteStream) {
        setup.secure.begin(core.reactor.nanoseconds)
        let tickets = aside?.tickets ?? core.ticketStore.list(of: .origin(key))
        shakeHands(stream, with: key.origin, tickets: tickets, isProxy: false)
    }

    /// Sets TLS up with a place: the origin, or the proxy.
    func shakeHands(_ stream: any ByteStream, with place: Origin, tickets: TLSTickets, isProxy: Bool) {
        phase = isProxy ? .shakingHandsWithProxy : .shakingHands
        self.stream = stream
        let handshake = TLSHandshake(
            origin: place, of: key.route.certificateSeeker(isProxy: isProxy),
            offering: isProxy ? .http1 : key.protocols, tickets: tickets, stream: stream, core: core,
            ask: { [unowned self] in ask(.handshake($0, ofProxy: isProxy)) }
        ) { [self] result in
            switch result {
            case .success(let channel):
                if !isProxy { setup.secure.finish(core.reactor.nanoseconds) }
                core.trace?.tell(.handshakeFinished(name, .success(channel.tls?.negotiated)))
                if isProxy { return speakToProxy(on: channel) }
                setup.negotiated = channel.tls?.negotiated
                established(channel)
            case .failure(let error):
                core.trace?.tell(.handshakeFinished(name, .failure(error)))
                if isProxy { return proxyFailed(.tls(error)) }
                // Not by the server: what the handshake went through has ended.
                if let proxy = key.route.proxy, let error = stream.brokenTLSOfProxy {
                    return finish(.failure(.proxy(ProxyFailure(proxy, .tls(error)))))
                }
                finish(.failure(.tls(error, host: key.origin.host)))
            }
        }
        step = .shakingHands(handshake)
        handshake.start()
    }

    /// Everything stands.
    func established(_ channel: SecureChannel) {
        setup.connect.finish(core.reactor.nanoseconds)
        finish(.success(OpenedConnection(channel: channel, setup: setup)))
    }

    /// Ends, unless it has ended.
    func finish(_ result: Result<OpenedConnection, EngineError>) {
        guard case .done = step else {
            step = .done
            limit = nil
            completion(result)
            return
        }
    }
}

/// What a connector has opened.
struct OpenedConnection {
    /// Verified, where it has TLS.
    let channel: SecureChannel
    let setup: ConnectionSetup
}
