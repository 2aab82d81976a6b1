// Opens a connection outside the pool (B16.3): by the first of its ways that leads anywhere, and with patience where it
// is the network that is missing (B6.15). While a question about it is open no idle time runs (B6.9). TLS comes when it
// is asked for, then or on any other stream that leads to the same place.
//
// Must not know: what is spoken on the connection, time, the pool.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS

/// The load that a connection outside the pool is opened for.
protocol OpeningOwner: AnyObject {
    /// Whether `asked` gets an answer about certificates.
    var answersQuestions: Bool { get }
    /// Whether it gets a name and a password for proxies.
    var answersProxies: Bool { get }
    /// The connection cannot be opened, or get TLS, without an answer.
    func asked(_ question: ConnectionQuestion)
    /// The idle time stands still; nests.
    func hold()
    /// Undoes one `hold()`.
    func unhold()
    /// No way leads to the host now.
    func networkIsMissing()
    /// The ways are tried again: one of them may lead there now.
    func networkMayBeBack()
}

/// One connection outside the pool, on its way.
final class Opening: ConnectivityWaiter {
    /// The load that it is for.
    let id: LoadID
    let core: LoopCore
    private let origin: Origin
    private let routes: [Route]
    private let judge: ConnectionJudge
    private let tickets: TLSTickets?
    private unowned let owner: any OpeningOwner

    private var connector: Connector?
    private var completion: ((Result<any ByteStream, EngineError>) -> Void)?
    /// The way by which the connection was, or is being, opened, and those that are left.
    private(set) var route: Route
    private var otherRoutes: ArraySlice<Route> = []
    /// What a SOCKS proxy was told of where the origin is; nil on other ways.
    private(set) var target: SOCKSExchange.Target?
    /// The name and password with which that proxy has opened the way.
    private(set) var credentials: ProxyCredentials?
    var patience: ConnectivityPatience
    private(set) var isOffline = false
    private var isAsked = false

    /// Tickets are kept in `tickets`, or in the store of the loop. Where no way is named it goes straight.
    init(
        id: LoadID, to origin: Origin, by routes: [Route], judge: ConnectionJudge = .session,
        tickets: TLSTickets? = nil, waitsForConnectivity: Bool, owner: any OpeningOwner, core: LoopCore
    ) {
        self.id = id
        self.origin = origin
        self.routes = routes.isEmpty ? [.direct()] : routes
        self.judge = judge
        self.tickets = tickets
        self.owner = owner
        self.core = core
        route = routes.first ?? .direct()
        patience = ConnectivityPatience(isWanted: waitsForConnectivity)
    }

    /// How far it has come; nil while nothing is being opened.
    var phase: EngineError.Phase? {
        if isOffline { return .waitingForConnectivity }
        return isAsked ? .waitingForProgram : connector?.phase
    }

    // MARK: Steered by its owner

    /// Connects; the completion is called once, later, unless it is cancelled.
    func begin(_ completion: @escaping (Result<any ByteStream, EngineError>) -> Void) {
        self.completion = completion
        connectByFirstWay()
    }

    /// Sets TLS up on a stream that leads to the origin, and which it closes where that fails; the completion is called
    /// once, unless it is cancelled.
    func secure(_ stream: any ByteStream, _ completion: @escaping (Result<SecureChannel, EngineError>) -> Void) {
        let connector = makeConnector(isBare: false, completion)
        self.connector = connector
        connector.reached(stream)
    }

    /// Whether this failure of the way, which its owner has found out, leaves another one; that is tried now.
    func goesRound(after failure: EngineError) -> Bool {
        guard let connector, completion != nil, failure.isOfTheWay, !otherRoutes.isEmpty else { return false }
        connector.cancel()
        connectByNextWay()
        return true
    }

    /// Its owner's time is over; what follows is the owner's affair.
    func timeIsOver() { connector?.timeIsOver() }

    /// Gives up; no completion is called any more.
    func cancel() {
        stopWaitingForNetwork()
        isOffline = false
        connector?.cancel()
        connector = nil
        completion = nil
    }

    /// An answer has come, perhaps too late.
    func answered(_ number: Int, _ answer: QuestionAnswer) {
        guard let connector, connector.awaits(number) else { return }
        if isAsked {
            isAsked = false
            owner.unhold()
        }
        // What stood still may have ended it.
        if self.connector === connector { connector.answer(answer) }
    }

    /// The delegate that was asked has no method for the question, and the session decides.
    func leftToSession(_ number: Int) {
        if let connector, connector.awaits(number), connector.mayBeLeft { connector.leaveToSession() }
    }

    // MARK: The ways

    private func connectByFirstWay() {
        noteAttempt()
        otherRoutes = routes[...]
        connectByNextWay()
    }

    private func connectByNextWay() {
        guard let next = otherRoutes.popFirst() else { return }
        route = next
        (target, credentials) = (nil, nil)
        let connector = makeConnector(isBare: true) { [unowned self] result in
            switch result {
            case .success(let channel):
                core.reached(origin, by: routes[0])
                end(.success(channel.stream))
            case .failure(let error) where error.isOfTheWay && !otherRoutes.isEmpty: connectByNextWay()
            case .failure(let error): foundNoWay(error)
            }
        }
        self.connector = connector
        connector.start()
    }

    /// No way leads to the server; it waits for one, if it is the network that is missing (B6.15, B6.20).
    private func foundNoWay(_ error: EngineError) {
        switch verdict(onFailedAttempt: error) {
        case .fail: end(.failure(error))
        case .tryAgain: connectByFirstWay()
        case .wait:
            isOffline = true
            owner.networkIsMissing()
        }
    }

    var destination: Destination { Destination(origin: origin, route: routes[0]) }

    /// There may be a way now.
    func networkChanged() {
        guard isOffline else { return }
        isOffline = false
        owner.networkMayBeBack()
        connectByFirstWay()
    }

    private func end(_ result: Result<any ByteStream, EngineError>) {
        let completion = completion.take()
        completion?(result)
    }

    // MARK: Steps

    private func makeConnector(
        isBare: Bool, _ completion: @escaping (Result<SecureChannel, EngineError>) -> Void
    ) -> Connector {
        // Never a key of forwarding: the way through a proxy is a tunnel, whatever is spoken in it. TLS is wanted
        // whatever was spoken before: a stream that has left HTTP has an origin of `http` (B1.70).
        let key = PoolKey(
            origin: isBare ? origin : origin.secured, route: route, judge: judge, protocols: .nothing)
        return Connector(
            name: .load(id), key: key, core: core,
            aside: Connector.Aside(isBare: isBare, tickets: tickets, asker: { [unowned self] in asks(about: $0) })
        ) { [unowned self] result in
            // Nothing is told where TLS is set up on what stands.
            if let passage = connector?.passage, let told = passage.targets.first {
                (target, credentials) = (told.target, passage.credentials)
            }
            connector = nil
            completion(result.map(\.channel))
        }
    }

    /// Asks what the connector wants to know; whether there is a receiver that answers.
    private func asks(about connector: Connector) -> Bool {
        guard connector.isAskedByProxy ? owner.answersProxies : owner.answersQuestions,
            let question = connector.nextQuestion()
        else { return false }
        if !isAsked {
            isAsked = true
            owner.hold()
        }
        owner.asked(question)
        return true
    }
}
