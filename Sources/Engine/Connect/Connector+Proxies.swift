// The way through a proxy: its name and address, TLS with it, a tunnel if the origin needs one; and once more from the
// connecting on where the proxy wants to be told something on a new connection. Everything behind the tunnel is as on
// the direct way. Behaviour 13.1, 13.2, B2.100.
//
// Must not know: which proxy is used when, where credentials come from, how failures are told to users.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// What a connector knows on its way through a proxy.
final class ProxyPassage {
    let proxy: ProxyServer
    /// Where the proxy is.
    var addresses: [SocketAddress] = []
    /// Where a SOCKS tunnel may go: the present target first, then others for the same host.
    var targets: [(target: SOCKSExchange.Target, port: Int)] = []
    /// The user name and password for a SOCKS proxy.
    var credentials: ProxyCredentials?
    /// What a SOCKS proxy has said to these credentials.
    var refusal = SOCKSFailure.noAcceptableMethod
    /// The next CONNECT's Proxy-Authorization, where a receiver has given a password.
    var authorization: String?
    /// With what the last CONNECT went out unasked.
    var ahead: Authorization?
    /// What takes the place of `authorization` on another connection than the one that was challenged.
    var beginning: String?
    /// Whether it has done so, and the receiver does not know yet.
    var beganAnew = false
    /// Whether a receiver has answered a question of the proxy.
    var isAnswered = false
    /// Who is told that the proxy has taken the last answer.
    var accepted: ProxyQuestion.Acceptance?

    init(_ proxy: ProxyServer) {
        self.proxy = proxy
        credentials = proxy.credentials
    }

    /// The connection has gone on which a proxy was to be told something: on another one some answers begin anew.
    func lostConnection() {
        guard let beginning else { return }
        authorization = beginning
        self.beginning = nil
        beganAnew = true
        accepted = nil
    }
}

extension Connector {
    /// Begins on the way through a proxy.
    func startThroughProxy() {
        guard let passage else { return }
        let kind = passage.proxy.kind
        if certainTarget == nil, !kind.isHTTP, key.origin.isIPLiteral || kind.resolvesHere {
            lookUp(key.origin, for: .telling)
        } else {
            passage.targets = [(certainTarget ?? .name(key.origin.host), key.origin.port)]
            findProxy(passage.proxy)
        }
    }

    /// Here is where a SOCKS tunnel may go.
    func foundTargets(_ addresses: [SocketAddress]) {
        guard let passage else { return }
        // B13.22: SOCKS4 can express nothing but IPv4.
        let usable = passage.proxy.kind.isVersion5 ? addresses : addresses.filter { $0.family == .ipv4 }
        guard !usable.isEmpty else { return proxyFailedLater(.socks(.unsendableTarget)) }
        // B16.82: what is set for the host may have a port of its own.
        passage.targets = usable.map { (.address($0.bytes), $0.port ?? key.origin.port) }
        findProxy(passage.proxy)
    }

    private func findProxy(_ proxy: ProxyServer) {
        guard let path = proxy.path else {
            phase = .lookingUpProxy
            return lookUp(proxy.endpoint, for: .connectingToProxy)
        }
        guard let address = SocketAddress.unix(path) else {
            return proxyFailedLater(.unreachable([EngineError.ConnectFailure(unusablePath: path)]))
        }
        connect(to: [address], of: proxy.endpoint)
    }

    /// Once more: the proxy is to be told something that needs a connection of its own.
    private func connectAgain(_ passage: ProxyPassage) {
        connect(to: passage.addresses, of: passage.proxy.endpoint)
    }

    /// Here is a stream to the proxy.
    func reachedProxy(_ stream: any ByteStream) {
        self.stream = stream
        guard let proxy = passage?.proxy, proxy.kind == .https else {
            return speakToProxy(on: SecureChannel(stream, buffers: core.buffers))
        }
        let tickets = core.ticketStore.list(of: .proxy(proxy, key.judge))
        shakeHands(stream, with: proxy.endpoint.secured, tickets: tickets, isProxy: true)
    }

    /// Asks the proxy for a tunnel, unless it forwards: then everything stands.
    func speakToProxy(on channel: SecureChannel) {
        // B13.13: the proxy is as good as the origin.
        if key.isForwarding { return established(channel) }
        guard let passage else { return }
        phase = .tunnelling
        let carrier: any ByteStream = channel.tls == nil ? channel.stream : TLSStream(channel, isOfProxy: true)
        if passage.proxy.kind.isHTTP {
            askHTTP(passage, on: carrier)
        } else {
            askSOCKS(passage, on: carrier)
        }
    }

    // MARK: CONNECT

    private func askHTTP(_ passage: ProxyPassage, on stream: any ByteStream) {
        let target = key.origin.authority
        let dialogue = ConnectDialogue(target: target, stream: stream, core: core) { [self] outcome in
            switch outcome {
            case .open(let stream, let head): opened(stream, head)
            case .challenged(let head):
                if !ask(.proxy(.http(head, target: target))) { proxyFailed(.authentication(head)) }
            case .connectionGone:
                passage.lostConnection()
                connectAgain(passage)
            case .failed(let reason): proxyFailed(reason)
            }
        }
        step = .talking(dialogue)
        if let answer = passage.authorization { return dialogue.ask(authorization: answer) }
        let proof = core.configuration.tunnelProof?(passage.proxy, target)
        passage.ahead = proof?.authorization
        passage.accepted = proof?.accepted
        dialogue.ask(authorization: proof?.value)
    }

    // MARK: SOCKS

    private func askSOCKS(_ passage: ProxyPassage, on stream: any ByteStream) {
        guard let (target, port) = passage.targets.first else {
            stream.close()
            return proxyFailed(.socks(.unsendableTarget))
        }
        let exchange = SOCKSExchange(
            isVersion5: passage.proxy.kind.isVersion5, target: target, port: port,
            credentials: passage.credentials)
        let dialogue = SOCKSDialogue(exchange, stream: stream, core: core) { [self] result in
            switch result {
            case .success(let stream):
                // One that has not looked at the password has not said that it is right.
                if case .talking(let dialogue as SOCKSDialogue) = step, !dialogue.hasCheckedPassword {
                    passage.accepted = nil
                }
                opened(stream, nil)
            case .failure(.socks(let failure)): refused(failure, passage)
            case .failure(let reason): proxyFailed(reason)
            }
        }
        step = .talking(dialogue)
        dialogue.start()
    }

    private func refused(_ failure: SOCKSFailure, _ passage: ProxyPassage) {
        if failure.isAboutAddress, passage.targets.count > 1 {
            passage.targets.removeFirst()
            return connectAgain(passage)
        }
        if failure.isAboutCredentials {
            // The connection has gone with the refusal; the answer gets another.
            step = .waiting
            passage.refusal = failure
            if ask(.proxy(.socksPassword)) { return }
        }
        proxyFailed(.socks(failure))
    }

    // MARK: Answers and ends

    /// Goes on with what was said to the proxy's question; nil where there is no receiver that answers.
    ///
    /// An answer to another kind of question counts as none.
    func goOn(with answer: QuestionAnswer?, to demand: ProxyQuestion.Demand) {
        guard let passage else { return }
        switch (demand, answer) {
        case (.http, .proxy(.authorize(let value, let beginning, let accepted))):
            passage.authorization = value
            passage.ahead = nil
            (passage.beginning, passage.beganAnew) = (beginning, false)
            passage.accepted = accepted
            passage.isAnswered = true
            if case .talking(let dialogue as ConnectDialogue) = step { dialogue.ask(authorization: value) }
        case (.socksPassword, .proxy(.password(let user, let password, let accepted))):
            passage.credentials = ProxyCredentials(user: user, password: password)
            passage.accepted = accepted
            passage.isAnswered = true
            connectAgain(passage)
        case (.http(let head, _), _):
            proxyFailed(.authentication(head))
        case (.socksPassword, _):
            proxyFailed(.socks(passage.refusal))
        }
    }

    /// Nil is the head of a proxy that does not speak HTTP.
    private func opened(_ stream: any ByteStream, _ head: ResponseHead?) {
        if let passage {
            core.trace?.tell(.tunnelFinished(name, passage.proxy, nil))
            passage.accepted.take()?(head, core.reactor)
        }
        reached(stream)
    }

    /// The proxy is of no use.
    func proxyFailed(_ reason: ProxyFailure.Reason) {
        guard let passage else { return }
        switch step {
        case .done: return
        case .talking(let dialogue): dialogue.cancel()
        case .none, .resolving, .dialling, .shakingHands, .waiting: break
        }
        let failure = ProxyFailure(passage.proxy, reason)
        core.trace?.tell(.tunnelFinished(name, passage.proxy, failure))
        finish(.failure(.proxy(failure)))
    }

    /// Fails by the proxy in a later turn of the loop: for reasons that are known before anything was waited for.
    private func proxyFailedLater(_ reason: ProxyFailure.Reason) {
        core.reactor.later { [self] in proxyFailed(reason) }
    }
}
