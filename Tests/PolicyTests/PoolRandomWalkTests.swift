// A hundred thousand events in random order, each answered by the pool and judged by `MockPoolDriver`.

import Testing
import URLLoadingPolicy
import URLLoadingTestSupport

@Suite struct PoolRandomWalkTests {
    struct Walk: CustomTestStringConvertible {
        let seed: UInt64
        let perHost: Int
        let hosts: Int
        let keysPerHost: Int
        /// Of a hundred connections so many are shared.
        var shared = 0
        /// How old a connection may be.
        var lifetime: Duration?
        var testDescription: String {
            "seed \(seed), \(perHost) per host, \(hosts) hosts of \(keysPerHost) keys, \(shared) % shared, "
                + (lifetime.map { "none older than \($0)" } ?? "however old")
        }
    }

    static let walks = [
        Walk(seed: 1, perHost: 6, hosts: 1, keysPerHost: 1),
        Walk(seed: 2, perHost: 1, hosts: 1, keysPerHost: 3),
        Walk(seed: 3, perHost: 2, hosts: 2, keysPerHost: 2),
        Walk(seed: 4, perHost: 3, hosts: 1, keysPerHost: 5),
        Walk(seed: 5, perHost: 6, hosts: 4, keysPerHost: 3),
        Walk(seed: 114, perHost: 5, hosts: 1, keysPerHost: 3),
        Walk(seed: 116, perHost: 2, hosts: 3, keysPerHost: 1),
        Walk(seed: 242, perHost: 3, hosts: 3, keysPerHost: 3),
        Walk(seed: 301, perHost: 6, hosts: 1, keysPerHost: 1, shared: 100),
        Walk(seed: 302, perHost: 1, hosts: 1, keysPerHost: 3, shared: 100),
        Walk(seed: 303, perHost: 2, hosts: 2, keysPerHost: 4, shared: 100),
        Walk(seed: 304, perHost: 6, hosts: 2, keysPerHost: 3, shared: 50),
        Walk(seed: 305, perHost: 3, hosts: 1, keysPerHost: 5, shared: 80),
        Walk(seed: 401, perHost: 6, hosts: 1, keysPerHost: 1, lifetime: .seconds(30)),
        Walk(seed: 402, perHost: 2, hosts: 2, keysPerHost: 3, shared: 50, lifetime: .seconds(90)),
        Walk(seed: 403, perHost: 6, hosts: 1, keysPerHost: 2, shared: 100, lifetime: .seconds(20)),
        Walk(seed: 404, perHost: 1, hosts: 1, keysPerHost: 3, shared: 100, lifetime: .milliseconds(1)),
    ]

    @Test("B16.1: in any order of events the limit holds and no request is lost", arguments: walks)
    func walk(_ walk: Walk) throws {
        let driver = try Self.taken(walk)
        #expect(driver.complaints == [])
        #expect(driver.isDrained)
        #expect(driver.used > Sanitizer.share(of: 400))
    }

    /// The pool behind a walk that has come to its end.
    static func taken(_ walk: Walk) throws -> MockPoolDriver {
        var random = SeededRandom(seed: walk.seed)
        var keys: [PoolKey] = []
        for host in 0..<walk.hosts {
            for number in 0..<walk.keysPerHost {
                // Keys that differ in the port, and keys that differ in the judge only.
                let judge: ConnectionJudge = number % 3 == 0 ? .session : .delegate(number % 3)
                keys.append(
                    try poolKey(
                        "host\(host).example", 443 + number / 3, scheme: .https, judge: judge, protocols: .http2OrHTTP1)
                )
            }
        }
        let driver = MockPoolDriver(keys: keys, perHost: walk.perHost, lifetime: walk.lifetime)
        for _ in 0..<Sanitizer.share(of: 8_000) where driver.complaints.isEmpty {
            step(driver, keys, walk.shared, &random)
        }
        finish(driver, &random)
        return driver
    }

    @Test("B1.17: shut down immediately at a random moment, nothing is left")
    func immediateShutDown() throws {
        let keys = try (0..<3).map { try poolKey("host.example", 80 + $0, scheme: .https, protocols: .http2OrHTTP1) }
        for seed in 1...Sanitizer.share(of: 500) {
            var random = SeededRandom(seed: UInt64(seed))
            let driver = MockPoolDriver(keys: keys, perHost: 4)
            for _ in 0..<Int.random(in: 0..<300, using: &random) { Self.step(driver, keys, 30, &random) }
            driver.shutDown(immediately: true)
            #expect(driver.complaints == [], "seed \(seed)")
            #expect(driver.isDrained, "seed \(seed)")
        }
    }

    private static func step(_ driver: MockPoolDriver, _ keys: [PoolKey], _ shared: Int, _ random: inout SeededRandom) {
        // Sorted, so that the walk depends on the seed only.
        let connections = driver.connections.sorted { $0.key < $1.key }
        let dialling = connections.filter { $0.value.state == .dialling }.map(\.key)
        let used = connections.filter { $0.value.used > 0 }.map(\.key)
        let idle = connections.filter { $0.value.isIdle }.map(\.key)
        let sharing = connections.filter { $0.value.isShared }.map(\.key)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<3:
            guard let key = keys.indices.randomElement(using: &random) else { return }
            driver.warmUp(key, wanted: Int.random(in: -1...4, using: &random))
        case 3..<32:
            guard driver.waiting.count < 40, let key = keys.indices.randomElement(using: &random) else { return }
            let priority: Float = random.chance(60) ? 0.5 : Float(Int.random(in: 0...4, using: &random)) / 4
            driver.ask(key, priority: priority, atFront: random.chance(10), needsNew: random.chance(10))
        case 32..<44:
            guard let connection = dialling.randomElement(using: &random) else { return }
            driver.establish(
                connection, capacity: random.chance(shared) ? Int.random(in: 2...12, using: &random) : 1)
        case 44..<46:
            guard let connection = dialling.randomElement(using: &random) else { return }
            driver.question(connection)
            if random.chance(50) { driver.leaveToSession(connection) }
        case 46:
            if let connection = dialling.randomElement(using: &random) { driver.answer(connection) }
        case 47..<50:
            if let connection = dialling.randomElement(using: &random) { driver.failDial(connection) }
        case 50..<75:
            let limits: [Duration?] = [nil, nil, nil, .seconds(5), .seconds(90), .zero, .seconds(-1)]
            guard let connection = used.randomElement(using: &random) else { return }
            driver.release(connection, idleLimit: limits.randomElement(using: &random) ?? nil)
        case 75..<79:
            if let connection = used.randomElement(using: &random) { driver.close(connection) }
        case 79..<81:
            if let connection = idle.randomElement(using: &random) { driver.close(connection) }
        case 81:
            if let connection = used.randomElement(using: &random) { driver.detach(connection) }
        case 82:
            if let connection = dialling.randomElement(using: &random) { driver.close(connection) }
        case 83..<90:
            if let waiter = driver.waiting.randomElement(using: &random) { driver.cancel(waiter.request) }
        case 90..<93:
            guard let waiter = driver.waiting.randomElement(using: &random) else { return }
            driver.setPriority(waiter.request, Float(Int.random(in: 0...4, using: &random)) / 4)
        case 93..<98:
            driver.advance(.milliseconds(Int.random(in: 0...20_000, using: &random)))
        case 98:
            if random.chance(10) { driver.renew() }
            guard let connection = sharing.randomElement(using: &random) else { return }
            if random.chance(30) {
                driver.drain(connection)
            } else {
                driver.setCapacity(connection, Int.random(in: 0...12, using: &random))
            }
        default:
            senseless(driver, connections.map(\.key), &random)
        }
    }

    /// Events that come too late or from nowhere; the books of the driver do not change.
    private static func senseless(_ driver: MockPoolDriver, _ known: [ConnectionID], _ random: inout SeededRandom) {
        let unknown = Int.random(in: -5...1 << 40, using: &random)
        guard !known.contains(unknown) else { return }
        driver.establish(unknown)
        driver.release(unknown, idleLimit: nil)
        driver.failDial(unknown)
        driver.close(unknown)
        driver.detach(unknown)
        driver.drain(unknown)
        driver.setCapacity(unknown, 7)
        driver.question(unknown)
        driver.answer(unknown)
        driver.leaveToSession(unknown)
        driver.cancel(-1)
        driver.setPriority(-1, 1)
    }

    /// Lets everything that is under way come to its end.
    private static func finish(_ driver: MockPoolDriver, _ random: inout SeededRandom) {
        driver.shutDown(immediately: false)
        while driver.complaints.isEmpty, !driver.connections.isEmpty {
            for (id, connection) in driver.connections.sorted(by: { $0.key < $1.key }) {
                switch connection.state {
                case .dialling: random.chance(80) ? driver.establish(id) : driver.failDial(id)
                case .open where connection.used == 0: driver.close(id)
                case .open, .draining: random.chance(80) ? driver.release(id, idleLimit: nil) : driver.close(id)
                }
            }
        }
    }
}
