// Runs `AddressRace` (RFC 8305): dials addresses, staggered, until one answers; keeps every reason.

import LoadingPolicy
import Sockets

/// Connects to the first address that answers.
final class AddressDialer {
    private let connection: ConnectionID
    private let host: String
    private let addresses: [SocketAddress]
    private unowned let core: LoopCore
    private let completion: (Result<any ByteStream, EngineError>) -> Void
    private var race: AddressRace
    /// Those under way, with their addresses' numbers.
    private var attempts: [(number: Int, attempt: any DialAttempt)] = []
    private var failures: [EngineError.ConnectFailure] = []
    private var timer: LoopTimer?
    private var isDone = false

    init(
        connection: ConnectionID, host: String, addresses: [SocketAddress], core: LoopCore,
        completion: @escaping (Result<any ByteStream, EngineError>) -> Void
    ) {
        self.connection = connection
        self.host = host
        self.addresses = addresses
        self.core = core
        self.completion = completion
        self.race = AddressRace(families: addresses.map { $0.family == .ipv6 ? .ipv6 : .ipv4 })
    }

    /// Begins with the first address.
    func start() {
        perform(race.start(now: core.reactor.elapsed))
    }

    /// Closes every attempt; the completion is not called any more.
    func cancel() {
        isDone = true
        timer?.clear()
        for (_, attempt) in attempts { attempt.cancel() }
        attempts = []
    }

    private func perform(_ action: RaceAction) {
        guard !isDone else { return }
        switch action.timer {
        case .none: break
        case .clear: timer?.clear()
        case .set(let deadline): armTimer(deadline)
        }
        switch action.outcome {
        case .none, .won: break
        case .lostAll: return lost()
        }
        if let index = action.dial { dial(index) }
    }

    private func dial(_ index: Int) {
        let address = addresses[index]
        core.trace?.hooks.connectStarted?(connection, address)
        let attempt = core.dialer.dial(address, options: DialOptions()) { [self] result in
            attempts.removeAll { $0.number == index }
            switch result {
            case .success(let stream):
                core.trace?.hooks.connectFinished?(connection, address, nil)
                _ = race.attemptSucceeded(index)
                cancel()
                completion(.success(stream))
            case .failure(let error):
                core.trace?.hooks.connectFinished?(connection, address, error)
                failures.append(EngineError.ConnectFailure(address: address, error: error))
                perform(race.attemptFailed(index, now: core.reactor.elapsed))
            }
        }
        attempts.append((index, attempt))
    }

    private func lost() {
        cancel()
        // A machine that has run out of descriptors would fail at every address: that is the reason to tell.
        if let first = failures.first(where: { $0.error.isShortage }) {
            completion(.failure(.localResource(first.error)))
        } else {
            completion(.failure(.connect(host: host, failures)))
        }
    }

    private func armTimer(_ deadline: Duration) {
        let timer =
            self.timer
            ?? core.reactor.makeTimer { [unowned self] in
                perform(race.timerFired(now: core.reactor.elapsed))
            }
        self.timer = timer
        timer.set(elapsed: deadline)
    }
}
