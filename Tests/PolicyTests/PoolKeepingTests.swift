// A connection that stays with the load that used it until the load's next request (B2.93).

import Testing
import URLLoadingPolicy

@Suite struct PoolKeepingTests {
    @Test("B2.93: a kept connection serves the request that continues the last one, and no other request meanwhile")
    func continues() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        let connection = pool.lease(1, key)
        #expect(pool.request(2, key, priority: 1) == [])
        pool.keep(connection, after: 1)
        #expect(pool.counts == PoolCounts(inUse: 1, waiting: 1))
        #expect(pool.fireTimer() == [])
        #expect(pool.request(3, key, continuing: 1) == [.use(3, connection)])
        #expect(pool.release(connection) == [.use(2, connection)])
    }

    @Test(
        "B1.26, B2.93: a kept connection that later requests are not to have serves the one it was kept for, and is closed"
    )
    func renewed() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        let connection = pool.lease(1, key)
        #expect(pool.request(2, key, priority: 1) == [])
        pool.keep(connection, after: 1)
        #expect(pool.renew() == [])
        #expect(pool.request(3, key, continuing: 1) == [.use(3, connection)])
        let actions = pool.release(connection)
        #expect(actions == [.close([connection]), .dial(pool.dialled, key)])
    }

    @Test("A connection is kept for one request: a second one that continues the first dials")
    func once() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(1, key)
        pool.keep(connection, after: 1)
        #expect(pool.request(2, key, continuing: 1) == [.use(2, connection)])
        #expect(pool.request(3, key, continuing: 1) == [.dial(pool.dialled, key)])
        #expect(pool.abandonKept(after: 1) == [])
    }

    @Test("A kept connection that no request continues is closed, and a waiting request gets a new one")
    func abandoned() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        let connection = pool.lease(1, key)
        _ = pool.request(2, key)
        pool.keep(connection, after: 1)
        #expect(pool.abandonKept(after: 7) == [])
        #expect(pool.abandonKept(after: 1) == [.close([connection]), .dial(pool.dialled, key)])
        #expect(pool.abandonKept(after: 1) == [])
        #expect(pool.counts == PoolCounts(dialling: 1, waiting: 1))
    }

    @Test("When a kept connection closes, the request that would continue on it dials a new one")
    func gone() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(1, key)
        pool.keep(connection, after: 1)
        #expect(pool.close(connection) == [])
        #expect(pool.request(2, key, continuing: 1) == [.dial(pool.dialled, key)])
        #expect(pool.dialled != connection)
    }

    @Test("When the next request goes to another host, the kept connection is closed")
    func otherKey() throws {
        let (pool, key, other) = (VirtualPool(), try poolKey(), try poolKey("other.test"))
        let connection = pool.lease(1, key)
        pool.keep(connection, after: 1)
        #expect(pool.request(2, other, continuing: 1) == [.close([connection]), .dial(pool.dialled, other)])
        #expect(pool.counts == PoolCounts(dialling: 1, waiting: 1))
    }

    @Test(
        "B2.93: a kept connection to a server without HTTP/2 serves the request that must have HTTP/1.1, then those of its key"
    )
    func withoutHTTP2() throws {
        let (pool, key) = (VirtualPool(), try poolKey(scheme: .https, protocols: .http2OrHTTP1))
        let connection = pool.lease(1, key)
        pool.keep(connection, after: 1)
        #expect(pool.request(2, key.speakingHTTP1, continuing: 1) == [.use(2, connection)])
        _ = pool.release(connection)
        #expect(pool.request(3, key) == [.use(3, connection)])
        #expect(pool.counts == PoolCounts(inUse: 1))
    }

    @Test("A connection that is shared is not kept: the request that must have HTTP/1.1 dials")
    func shared() throws {
        let (pool, key) = (VirtualPool(), try poolKey(scheme: .https, protocols: .http2OrHTTP1))
        _ = pool.request(1, key)
        let connection = pool.dialled
        #expect(pool.establish(connection, capacity: 100) == [.use(1, connection)])
        pool.keep(connection, after: 1)
        #expect(
            pool.request(2, key.speakingHTTP1, continuing: 1) == [.dial(pool.dialled, key.speakingHTTP1)])
    }

    @Test("Only a connection in use can be kept, and an immediate shut-down closes it")
    func limits() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let idle = pool.idle(1, key)[0]
        pool.keep(idle, after: 1)
        pool.keep(99, after: 1)
        #expect(pool.abandonKept(after: 1) == [])
        #expect(pool.request(2, key) == [.use(2, idle)])
        pool.keep(idle, after: 2)
        #expect(pool.shutDown(immediately: false) == [])
        #expect(!pool.isDrained)
        #expect(pool.request(3, key, continuing: 2) == [.use(3, idle)])
        pool.keep(idle, after: 3)
        #expect(pool.shutDown(immediately: true).contains(.close([idle])))
        #expect(pool.isDrained && pool.abandonKept(after: 3) == [])
    }
}
