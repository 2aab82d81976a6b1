// Connections that have reached their greatest age: they get no new request, and lose none that they serve.

import Testing
import URLLoadingPolicy

@Suite struct PoolLifetimeTests {
    private func sharedKey() throws -> PoolKey { try poolKey(scheme: .https, protocols: .http2OrHTTP1) }

    @Test("B16.77: a connection that is idle is closed when it is too old, however lately it was used")
    func idle() throws {
        let (pool, key) = (VirtualPool(lifetime: .seconds(100)), try poolKey())
        let connection = pool.lease(1, key)
        #expect(pool.release(connection) == [.timer(.seconds(60))])
        pool.advance(.seconds(50))
        #expect(pool.request(2, key) == [.use(2, connection)])
        pool.advance(.seconds(40))
        // 90 seconds old: 10 are left, though the idle time is 60.
        #expect(pool.release(connection) == [])
        #expect(pool.fireTimer() == [.timer(.seconds(10))])
        pool.advance(.seconds(10))
        #expect(pool.fireTimer() == [.close([connection])])
    }

    @Test("B16.77: a used connection that becomes too old is closed after its exchange, and a waiting request dials")
    func inUse() throws {
        let (pool, key) = (VirtualPool(perHost: 1, lifetime: .seconds(100)), try poolKey())
        let connection = pool.lease(1, key)
        #expect(pool.request(2, key) == [])
        pool.advance(.seconds(100))
        #expect(pool.counts == PoolCounts(inUse: 1, waiting: 1))
        #expect(pool.release(connection) == [.close([connection]), .dial(pool.dialled, key)])
        #expect(pool.establish(pool.dialled) == [.use(2, pool.dialled)])
    }

    @Test("B16.77: a moment before its greatest age a connection serves, and a moment after it does not")
    func border() throws {
        for (age, isUsed) in [(Duration.milliseconds(9_999), true), (.seconds(10), false)] {
            let (pool, key) = (VirtualPool(lifetime: .seconds(10)), try poolKey())
            let connection = pool.idle(1, key)[0]
            pool.advance(age)
            let actions = pool.request(1, key)
            #expect(
                actions == (isUsed ? [.use(1, connection)] : [.close([connection]), .dial(pool.dialled, key)]), "\(age)"
            )
        }
    }

    @Test("B16.77: a shared connection that is too old serves its requests to their end, and new ones get another")
    func shared() throws {
        let (pool, key) = (VirtualPool(perHost: 1, lifetime: .seconds(100)), try sharedKey())
        _ = pool.request(1, key)
        let old = pool.dialled
        #expect(pool.establish(old, capacity: 10) == [.use(1, old)])
        #expect(pool.request(2, key) == [.use(2, old)])
        pool.advance(.seconds(100))
        // It does not count at its host any more.
        #expect(pool.request(3, key) == [.dial(pool.dialled, key)])
        let new = pool.dialled
        #expect(pool.establish(new, capacity: 10) == [.use(3, new)])
        #expect(pool.counts == PoolCounts(inUse: 1, draining: 1))
        #expect(pool.release(old) == [])
        #expect(pool.request(4, key) == [.use(4, new)])
        #expect(pool.release(old) == [.close([old])])
    }

    @Test("B16.77: a shared connection that is too old takes no new request, also when it gets room")
    func sharedRoom() throws {
        let (pool, key) = (VirtualPool(perHost: 1, lifetime: .seconds(100)), try sharedKey())
        _ = pool.request(0, key)
        let old = pool.dialled
        _ = pool.establish(old, capacity: 2)
        _ = pool.request(1, key)
        #expect(pool.request(2, key) == [])
        pool.advance(.seconds(100))
        #expect(pool.release(old) == [.dial(pool.dialled, key)])
        #expect(pool.counts == PoolCounts(draining: 1, dialling: 1, waiting: 1))

        let other = VirtualPool(perHost: 1, lifetime: .seconds(100))
        _ = other.request(0, key)
        let full = other.dialled
        _ = other.establish(full, capacity: 2)
        _ = other.request(1, key)
        #expect(other.request(2, key) == [])
        other.advance(.seconds(100))
        #expect(other.setCapacity(full, 3) == [.dial(other.dialled, key)])
    }

    @Test("B16.77: with a lifetime of zero or less a connection serves the requests it was opened for, and no others")
    func none() throws {
        let (pool, key) = (VirtualPool(perHost: 1, lifetime: .seconds(-1)), try poolKey())
        for request in 1...3 {
            let connection = pool.lease(request, key)
            #expect(pool.release(connection) == [.close([connection])])
        }
        let (shared, sharedKey) = (VirtualPool(lifetime: .zero), try sharedKey())
        for request in 1...3 { _ = shared.request(request, sharedKey) }
        let connection = shared.dialled
        let served = shared.establish(connection, capacity: 100).filter { if case .use = $0 { true } else { false } }
        #expect(served == (1...3).map { .use($0, connection) })
        #expect(shared.request(4, sharedKey) == [.dial(shared.dialled, sharedKey)])
    }

    @Test(
        "B16.77: with a lifetime of zero a connection that its request could not use yet waits for the next, and is closed then"
    )
    func handedBack() throws {
        for (key, capacity) in [(try poolKey(), 1), (try sharedKey(), 100)] {
            let pool = VirtualPool(lifetime: .zero)
            _ = pool.request(1, key)
            let connection = pool.dialled
            #expect(pool.establish(connection, capacity: capacity).contains(.use(1, connection)))
            #expect(pool.handBack(connection) == [.timer(.seconds(60))])
            pool.advance(.seconds(30))
            #expect(pool.request(1, key) == [.use(1, connection)])
            #expect(pool.release(connection) == [.close([connection]), .clearTimer])
            _ = pool.request(2, key)
            let other = pool.dialled
            _ = pool.establish(other, capacity: capacity)
            _ = pool.handBack(other)
            pool.advance(.seconds(60))
            #expect(pool.fireTimer() == [.close([other])], "it waits no longer than others")
            #expect(pool.counts == PoolCounts())
        }
    }

    @Test("B16.77: a connection kept for the next round of authentication serves it though too old, and is closed then")
    func kept() throws {
        let (pool, key) = (VirtualPool(lifetime: .seconds(100)), try poolKey())
        let connection = pool.lease(1, key)
        pool.keep(connection, after: 1)
        pool.advance(.seconds(100))
        #expect(pool.request(2, key, continuing: 1) == [.use(2, connection)])
        #expect(pool.release(connection) == [.close([connection])])
    }
}
