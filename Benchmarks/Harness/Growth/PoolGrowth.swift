// The pool's machine with many connections. Nothing is dialled: what it asks for is said to have happened.

import URLLoadingPolicy

/// Pools of one size.
struct PoolGrowth {
    let size: Int
    /// Whether connections are ready in another order than they were asked for.
    let isShuffled: Bool
    private static let now = Duration.seconds(1)

    /// So many connections to one host, as many at once as the size says.
    func open(_ times: Int) throws {
        guard let origin = Origin(scheme: .http, host: "example.org") else { return }
        let key = PoolKey(origin: origin)
        var served = 0
        for _ in 0..<(times / size) {
            var pool = PoolMachine(limits: PoolLimits(perHost: size))
            var dials: [ConnectionID] = []
            for request in 0..<size {
                pool.requested(request, key: key, now: Self.now)
                while let action = pool.nextAction() { if case .dial(let dial) = action { dials.append(dial) } }
            }
            if isShuffled { Self.shuffle(&dials) }
            for dial in dials {
                pool.established(dial, now: Self.now)
                while let action = pool.nextAction() { if case .use = action { served += 1 } }
            }
        }
        if served != times / size * size { throw HarnessError("the pool has served \(served) requests") }
    }

    /// So many requests, each to another origin; as many connections are kept as the size says.
    func visitOrigins(_ times: Int) throws {
        var pool = PoolMachine(limits: PoolLimits(idle: size))
        var closed = 0
        for number in 0..<(size + times) {
            guard let origin = Origin(scheme: .http, host: "h\(number).example.org") else { return }
            pool.requested(number, key: PoolKey(origin: origin), now: Self.now)
            while let action = pool.nextAction() {
                switch action {
                case .dial(let dial): pool.established(dial, now: Self.now)
                case .use(_, let connection): pool.released(connection, now: Self.now)
                case .close: closed += 1
                case .cancelDial, .joined, .stranded, .ask, .fail, .refuse, .setTimer, .clearTimer: break
                }
            }
        }
        if closed != times { throw HarnessError("the pool has closed \(closed) connections") }
    }

    /// Another order, and in every run the same one.
    private static func shuffle(_ dials: inout [ConnectionID]) {
        var state: UInt64 = 88_172_645_463_325_252
        for index in dials.indices.dropFirst() {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            dials.swapAt(index, Int(state % UInt64(index + 1)))
        }
    }
}
