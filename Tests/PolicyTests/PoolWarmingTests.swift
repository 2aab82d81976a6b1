// Connections that are opened before there are requests for them.

import Testing
import URLLoadingPolicy

@Suite struct PoolWarmingTests {
    private func sharedKey() throws -> PoolKey { try poolKey(scheme: .https, protocols: .http2OrHTTP1) }

    /// Opens a connection for a warm-up, which gives it back.
    private func open(_ pool: VirtualPool, _ request: RequestID, _ key: PoolKey, wanted: Int) -> ConnectionID {
        let step = pool.warmUp(request, key, wanted)
        #expect(step.warmth == .opening && step.actions == [.dial(pool.dialled, key)])
        let connection = pool.dialled
        #expect(pool.establish(connection) == [.use(request, connection)])
        _ = pool.release(connection)
        return connection
    }

    @Test("B16.81: a warm-up opens as many connections as are missing beside those that are idle already")
    func missing() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let first = open(pool, 1, key, wanted: 1)
        #expect(pool.warmUp(2, key, 1).warmth == .ready(isShared: false))
        let second = open(pool, 3, key, wanted: 2)
        #expect(pool.counts == PoolCounts(idle: 2))
        #expect(pool.request(4, key) == [.use(4, second)])
        #expect(pool.request(5, key) == [.use(5, first)])
        // Those in use are not ready.
        _ = open(pool, 6, key, wanted: 1)
        #expect(pool.counts == PoolCounts(idle: 1, inUse: 2))
    }

    @Test("B16.81: each of several warm-ups at once has its own dial, which no request takes before it is given back")
    func atOnce() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        var dials: [ConnectionID] = []
        for request in 1...3 {
            #expect(pool.warmUp(request, key, request).warmth == .opening)
            dials.append(pool.dialled)
        }
        #expect(pool.request(4, key) == [.dial(pool.dialled, key)])
        let own = pool.dialled
        for (request, dial) in zip([3, 1, 2], [dials[2], dials[0], dials[1]]) {
            #expect(pool.establish(dial) == [.use(request, dial)])
            // The waiting request gets the first connection that is free.
            let actions = pool.release(dial)
            if request == 3 { #expect(actions.contains(.use(4, dial))) }
        }
        #expect(pool.counts == PoolCounts(idle: 2, inUse: 1, dialling: 1))
        #expect(pool.establish(own) == [])
        #expect(pool.counts == PoolCounts(idle: 3, inUse: 1))
    }

    @Test("B16.81: a warm-up keeps to the host's limit, takes no connection's place and waits for none")
    func full() throws {
        let (pool, key, other) = (VirtualPool(perHost: 2), try poolKey(), try poolKey("example.com", 81))
        _ = pool.idle(1, other)
        _ = open(pool, 1, key, wanted: 1)
        #expect(pool.warmUp(2, key, 2) == (.full, []))
        #expect(pool.counts == PoolCounts(idle: 2))
        let busy = VirtualPool(perHost: 1)
        let connection = busy.lease(1, key)
        #expect(busy.warmUp(2, key, 1) == (.full, []))
        #expect(busy.request(3, key) == [])
        _ = busy.close(connection)
        // The dial is for the request that waits.
        #expect(busy.counts == PoolCounts(dialling: 1, waiting: 1))
        #expect(busy.warmUp(4, key, 1) == (.full, []))
    }

    @Test("B16.81: one shared connection is enough, however many are wanted, and a dial that is for all is awaited")
    func shared() throws {
        let (pool, key) = (VirtualPool(), try sharedKey())
        _ = pool.request(1, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 10)
        #expect(pool.warmUp(2, key, 5) == (.ready(isShared: true), []))
        _ = pool.release(connection)
        #expect(pool.warmUp(3, key, 5) == (.ready(isShared: true), []))
        _ = pool.close(connection)
        #expect(pool.request(4, key) == [.dial(pool.dialled, key)])
        #expect(pool.warmUp(5, key, 5) == (.opening, []))
        #expect(pool.establish(pool.dialled, capacity: 10) == [.use(4, pool.dialled), .use(5, pool.dialled)])
    }

    @Test("B16.81: a failed dial fails its warm-up alone, and a cancelled warm-up cancels its dial")
    func ends() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        _ = pool.warmUp(1, key, 1)
        let first = pool.dialled
        _ = pool.warmUp(2, key, 2)
        let second = pool.dialled
        #expect(pool.failDial(first) == [.fail(1)])
        #expect(pool.cancel(2) == [.cancelDial(second)])
        #expect(pool.counts == PoolCounts())
        _ = pool.warmUp(3, key, 1)
        pool.ask(pool.dialled)
        #expect(pool.requestBehind(pool.dialled) == 3)
        #expect(pool.cancel(3) == [.cancelDial(pool.dialled)])
    }

    @Test("B16.81: connections that are too old do not count, and an ended pool opens none")
    func old() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let old = open(pool, 1, key, wanted: 1)
        pool.advance(.seconds(60))
        let step = pool.warmUp(2, key, 1)
        #expect(step.warmth == .opening && step.actions == [.close([old]), .dial(pool.dialled, key)])
        _ = pool.shutDown(immediately: true)
        #expect(pool.warmUp(3, key, 1).warmth == .full)
        #expect(pool.isDrained)
    }
}
