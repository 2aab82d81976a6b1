// Runs `AddressRace` (RFC 8305): dials addresses, staggered, until one answers; keeps every reason. A single address
// has no rival, and is dialled without a race.

import URLLoadingPolicy
import URLLoadingSystem

/// Connects to the first address that answers.
final class AddressDialer {
    // `@exclusivity(unchecked)`: as in `Transaction`.
    private let connection: ConnectionName
    private let host: String
    private let addresses: [SocketAddress]
    private unowned let core: LoopCore
    private let completion: (Result<any ByteStream, EngineError>) -> Void
    @exclusivity(unchecked) private var race: AddressRace?
    /// The attempt that is under way where there is no race.
    @exclusivity(unchecked) private var single: (any DialAttempt)?
    /// The attempts of a race that are under way, with their addresses' numbers.
    @exclusivity(unchecked) private var attempts: [(number: Int, attempt: any DialAttempt)] = []
    @exclusivity(unchecked) private var failures: [EngineError.ConnectFailure] = []
    @exclusivity(unchecked) private var timer: LoopTimer?
    @exclusivity(unchecked) private var isDone = false

    init(
        connection: ConnectionName, host: String, addresses: [SocketAddress], core: LoopCore,
        completion: @escaping (Result<any ByteStream, EngineError>) -> Void
    ) {
        self.connection = connection
        self.host = host
        self.addresses = addresses
        self.core = core
        self.completion = completion
        if addresses.count != 1 {
            race = AddressRace(families: addresses.map { $0.family == .ipv6 ? .ipv6 : .ipv4 })
        }
    }

    /// Begins with the first address.
    func start() {
        guard let action = race?.start(now: core.reactor.elapsed) else { return dial(0) }
        perform(action)
    }

    /// Closes every attempt; the completion is not called any more.
    func cancel() {
        isDone = true
        timer?.clear()
        single?.cancel()
        single = nil
        for (_, attempt) in attempts { attempt.cancel() }
        attempts = []
    }

    private func perform(_ action: RaceAction?) {
        guard let action, !isDone else { return }
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

    /// Tries an address; `number` is its place among the addresses.
    private func dial(_ number: Int) {
        let address = addresses[number]
        core.trace?.tell(.connectStarted(connection, address))
        let attempt = core.dialer.dial(address, options: core.dialOptions) { [self] result in
            forgetAttempt(number)
            switch result {
            case .success(let stream):
                core.trace?.tell(.connectFinished(connection, address, nil))
                _ = race?.attemptSucceeded(number)
                cancel()
                completion(.success(stream))
            case .failure(let error):
                core.trace?.tell(.connectFinished(connection, address, error))
                if core.pool.makeRoom(after: error) {
                    // What was closed may have given this dial up.
                    if !isDone { dial(number) }
                    return
                }
                failures.append(EngineError.ConnectFailure(address: address, error: error))
                attemptFailed(number)
            }
        }
        if race == nil { single = attempt } else { attempts.append((number, attempt)) }
    }

    private func forgetAttempt(_ number: Int) {
        single = nil
        attempts.removeAll { $0.number == number }
    }

    private func attemptFailed(_ number: Int) {
        guard race != nil else { return lost() }
        perform(race?.attemptFailed(number, now: core.reactor.elapsed))
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
                perform(race?.timerFired(now: core.reactor.elapsed))
            }
        self.timer = timer
        timer.set(elapsed: deadline)
    }
}
