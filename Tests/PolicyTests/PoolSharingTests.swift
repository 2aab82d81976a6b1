// Connections that several requests share, as over HTTP/2: how many are opened, which request uses which, and what
// becomes of those that their peers want to be rid of.

import Testing
import URLLoadingPolicy

@Suite struct PoolSharingTests {
    /// The key of a server that may choose a protocol whose connections are shared.
    private func sharedKey(_ port: Int? = nil, judge: ConnectionJudge = .session) throws -> PoolKey {
        try poolKey("example.com", port, scheme: .https, judge: judge, protocols: .http2OrHTTP1)
    }

    // MARK: One connection for all

    @Test("H2.1: a connection with room serves the next request while it serves others")
    func sharing() throws {
        let (pool, key) = (VirtualPool(), try sharedKey())
        _ = pool.request(1, key)
        let connection = pool.dialled
        #expect(pool.establish(connection, capacity: 3) == [.use(1, connection)])
        #expect(pool.request(2, key) == [.use(2, connection)])
        #expect(pool.request(3, key) == [.use(3, connection)])
        #expect(pool.counts == PoolCounts(inUse: 1))
        for _ in 1...2 { #expect(pool.release(connection) == []) }
        #expect(pool.release(connection) == [.timer(.seconds(60))])
        #expect(pool.counts == PoolCounts(idle: 1))
    }

    @Test(
        "B1.26, H2.2: one dial is for all that asked before later requests were to have new connections, another for those"
    )
    func renewing() throws {
        let (pool, key) = (VirtualPool(), try poolKey(protocols: .http2))
        for request in 1...2 { _ = pool.request(request, key) }
        let before = pool.dialled
        #expect(pool.renew() == [])
        let actions = pool.request(3, key, priority: 1)
        let after = pool.dialled
        #expect(actions == [.dial(after, key)])
        #expect(pool.request(4, key) == [])
        #expect(pool.requestBehind(after) == 3)
        #expect(pool.establish(before, capacity: 100) == [.use(1, before), .use(2, before)])
        #expect(pool.counts == PoolCounts(draining: 1, dialling: 1, waiting: 2))
        #expect(pool.request(5, key) == [])
        #expect(pool.establish(after, capacity: 100) == [3, 4, 5].map { .use($0, after) })
        #expect(pool.release(before) == [])
        #expect(pool.release(before) == [.close([before])])
        #expect(pool.request(6, key) == [.use(6, after)])
    }

    @Test("B1.26, H2.2: those for whom a connection of before has no room get the dial of the later ones")
    func renewingWithoutRoom() throws {
        let (pool, key) = (VirtualPool(), try poolKey(protocols: .http2))
        for request in 1...2 { _ = pool.request(request, key) }
        let before = pool.dialled
        _ = pool.renew()
        _ = pool.request(3, key)
        let after = pool.dialled
        #expect(pool.establish(before, isShared: true) == [.use(1, before)])
        #expect(!pool.lacksDial(2))
        #expect(pool.establish(after, capacity: 100) == [.use(2, after), .use(3, after)])
    }

    @Test("B1.26, H2.2: a connection of before that takes no request is closed, and a new one is dialled")
    func renewingBarred() throws {
        let (pool, key) = (VirtualPool(), try poolKey(protocols: .http2))
        _ = pool.request(1, key)
        let before = pool.dialled
        _ = pool.renew()
        let actions = pool.establish(before, capacity: 0, isShared: true)
        #expect(actions == [.close([before]), .dial(pool.dialled, key)])
    }

    @Test("B1.26, H2.2: where a connection of before turns out shared, the later requests keep one dial of their own")
    func renewingUnknown() throws {
        let (pool, key) = (VirtualPool(), try sharedKey())
        var dials: [ConnectionID] = []
        for request in 1...4 {
            if request == 3 { _ = pool.renew() }
            _ = pool.request(request, key)
            dials.append(pool.dialled)
        }
        let uses: [Action] = [.use(1, dials[0]), .use(2, dials[0])]
        #expect(pool.establish(dials[0], capacity: 100) == [.cancelDial(dials[3]), .cancelDial(dials[1])] + uses)
        #expect(pool.establish(dials[2], capacity: 100) == [.use(3, dials[2]), .use(4, dials[2])])
    }

    @Test("B1.26: what is to be ready for later requests is no connection that was dialled before")
    func renewingWarmUp() throws {
        let (pool, key) = (VirtualPool(), try poolKey(protocols: .http2))
        _ = pool.request(1, key)
        _ = pool.renew()
        let (warmth, actions) = pool.warmUp(2, key, 1)
        #expect(warmth == .opening)
        #expect(actions == [.dial(pool.dialled, key)])
    }

    @Test("H2.3: the limit per host counts connections, not what they serve")
    func limit() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try sharedKey())
        for request in 1...50 { _ = pool.request(request, key) }
        let connection = pool.dialled
        #expect(pool.establish(connection, capacity: 100) == (1...50).map { .use($0, connection) })
        for request in 51...100 { #expect(pool.request(request, key) == [.use(request, connection)]) }
        #expect(pool.request(101, key) == [])
        #expect(pool.release(connection) == [.use(101, connection)])
    }

    @Test("H2.2: to an unknown server several dials are made; when the first turns out shared the others are given up")
    func unknown() throws {
        let (pool, key) = (VirtualPool(perHost: 3), try sharedKey())
        var dials: [ConnectionID] = []
        for request in 1...5 {
            if pool.request(request, key).count > 0 { dials.append(pool.dialled) }
        }
        #expect(dials.count == 3)
        let shared = dials[1]
        #expect(
            pool.establish(shared, capacity: 100)
                == [.cancelDial(dials[2]), .cancelDial(dials[0])] + (1...5).map { .use($0, shared) })
        #expect(pool.counts == PoolCounts(inUse: 1))
    }

    @Test("H2.2: a host whose connections were shared is dialled once for all that wait")
    func known() throws {
        let (pool, key) = (VirtualPool(), try sharedKey())
        _ = pool.request(0, key)
        _ = pool.establish(pool.dialled, capacity: 100)
        _ = pool.close(pool.dialled)
        #expect(pool.request(1, key) == [.dial(pool.dialled, key)])
        let dial = pool.dialled
        for request in 2...10 {
            #expect(pool.request(request, key) == [])
            #expect(!pool.lacksDial(request))
        }
        #expect(pool.establish(dial, capacity: 100) == (1...10).map { .use($0, dial) })
    }

    @Test("H2.2: that a server shares connections is known for every judge, until the server chooses otherwise")
    func learning() throws {
        let pool = VirtualPool(perHost: 4)
        let (own, all) = (try sharedKey(judge: .delegate(1)), try sharedKey())
        _ = pool.request(0, own)
        let shared = pool.dialled
        _ = pool.establish(shared, capacity: 2)
        _ = pool.request(1, all)
        let dial = pool.dialled
        #expect(pool.request(2, all) == [], "one dial is for both")
        // The server has gone back to one request a connection: the second is dialled for after all.
        #expect(pool.establish(dial) == [.use(1, dial), .dial(pool.dialled, all)])
        #expect(pool.requestBehind(pool.dialled) == 2)
        #expect(pool.request(3, all) == [.dial(pool.dialled, all)])
    }

    @Test(
        "H1.4: where the protocol is agreed on beforehand one dial is for all from the start, and nothing is unlearnt")
    func priorKnowledge() throws {
        let (pool, key) = (VirtualPool(), try poolKey(protocols: .http2))
        #expect(pool.request(1, key) == [.dial(pool.dialled, key)])
        for request in 2...5 { #expect(pool.request(request, key) == []) }
        #expect(pool.establish(pool.dialled, capacity: 100) == (1...5).map { .use($0, pool.dialled) })
    }

    @Test("H2.2: a connection that can only be HTTP/1.1 says nothing about sharing, and is dialled for each request")
    func http1Alone() throws {
        let pool = VirtualPool()
        let (alone, key) = (try poolKey(scheme: .https), try sharedKey())
        _ = pool.request(1, key)
        _ = pool.establish(pool.dialled, capacity: 2)
        for request in 2...3 { #expect(pool.request(request, alone) == [.dial(pool.dialled, alone)]) }
        _ = pool.establish(pool.dialled)
        _ = pool.request(4, key)
        #expect(pool.request(5, key) == [.dial(pool.dialled, key)])
        #expect(pool.request(6, key) == [], "one dial is for all, as before")
    }

    @Test("H1.3, H1.4, H1.8: which protocols are possible, by scheme and way")
    func possible() throws {
        let plain = try #require(Origin(scheme: .http, host: "example.com"))
        let secure = try #require(Origin(scheme: .https, host: "example.com"))
        let proxy = try #require(ProxyServer(kind: .http, host: "proxy.test"))
        func protocols(_ origin: Origin, _ route: Route, _ wanted: ProtocolOffer) -> ProtocolOffer {
            PoolKey(toReach: origin, by: route, protocols: wanted).protocols
        }
        for route in [Route.direct(), .proxied(proxy)] {
            #expect(protocols(secure, route, .http2OrHTTP1) == .http2OrHTTP1)
            #expect(protocols(secure, route, .http2) == .http2OrHTTP1, "an https URL asks")
            #expect(protocols(secure, route, .http1) == .http1)
            #expect(protocols(plain, route, .http2OrHTTP1) == .http1)
        }
        #expect(protocols(plain, .direct(), .http2) == .http2)
        #expect(protocols(plain, .proxied(proxy), .http2) == .http1)
        #expect(
            PoolKey(toReach: secure, by: .direct(), protocols: .http1)
                != PoolKey(toReach: secure, by: .direct(), protocols: .http2OrHTTP1))
    }

    @Test("H2.2: a failed dial that was for all fails those that asked before it was begun, and no others")
    func failure() throws {
        let (pool, key) = (VirtualPool(), try sharedKey())
        _ = pool.request(0, key)
        _ = pool.establish(pool.dialled, capacity: 100)
        _ = pool.close(pool.dialled)
        for request in 1...2 { _ = pool.request(request, key) }
        let first = pool.dialled
        // Begun for the first alone: the second asked later.
        #expect(pool.failDial(first) == [.fail(1), .dial(pool.dialled, key)])
        #expect(pool.requestBehind(pool.dialled) == 2)
        #expect(pool.failDial(pool.dialled) == [.fail(2)])
    }

    @Test("H2.2: when a connection closes, one dial is made for all that waited, and its failure fails all of them")
    func failureOfAll() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try sharedKey())
        _ = pool.request(0, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 2)
        for request in 1...4 { _ = pool.request(request, key) }
        #expect(pool.counts == PoolCounts(inUse: 1, waiting: 3))
        #expect(pool.close(connection) == [.dial(pool.dialled, key)])
        #expect(pool.failDial(pool.dialled) == [.fail(2), .fail(3), .fail(4)])
    }

    @Test("A request that is asked about the peer of a dial for all fails alone, and the next is asked about another")
    func askedAlone() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try sharedKey())
        _ = pool.request(0, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 2)
        for request in 1...4 { _ = pool.request(request, key) }
        _ = pool.close(connection)
        pool.ask(pool.dialled)
        #expect(pool.requestBehind(pool.dialled) == 2)
        #expect(pool.failDial(pool.dialled) == [.fail(2), .dial(pool.dialled, key)])
        pool.ask(pool.dialled)
        #expect(pool.requestBehind(pool.dialled) == 3)
        #expect(pool.establish(pool.dialled, capacity: 2) == [.use(3, pool.dialled), .use(4, pool.dialled)])
    }

    @Test("When the request that is asked goes away, the next that the dial is for is asked")
    func passedOn() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try sharedKey())
        _ = pool.request(0, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 2)
        for request in 1...3 { _ = pool.request(request, key) }
        _ = pool.close(connection)
        let dial = pool.dialled
        pool.ask(dial)
        #expect(pool.cancel(2) == [.ask(dial)])
        #expect(pool.requestBehind(dial) == 3)
        #expect(pool.cancel(3) == [.cancelDial(dial)])
    }

    @Test("A dial with an open question goes on when another dial turns out to be shared")
    func askedMeanwhile() throws {
        let (pool, key) = (VirtualPool(), try sharedKey())
        _ = pool.request(1, key)
        let first = pool.dialled
        _ = pool.request(2, key)
        let second = pool.dialled
        pool.ask(first)
        #expect(pool.establish(second, capacity: 100) == [.use(2, second)])
        #expect(pool.requestBehind(first) == 1)
        #expect(pool.establish(first, capacity: 100) == [.use(1, first)])
        // The surplus connection is closed when it serves no request.
        #expect(pool.release(second) == [.close([second])])
    }

    // MARK: Capacity

    @Test("H2.4: more room serves those that wait, first in line first")
    func moreRoom() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try sharedKey())
        _ = pool.request(1, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 2)
        for (request, priority) in [(2, 0.5), (3, 0.5), (4, 1), (5, 0.5)] as [(Int, Float)] {
            _ = pool.request(request, key, priority: priority)
        }
        #expect(pool.setCapacity(connection, 4) == [.use(4, connection), .use(3, connection)])
        #expect(pool.setCapacity(connection, 100) == [.use(5, connection)])
    }

    @Test("H2.4: less room ends no request, and no new one is served before there is room again")
    func lessRoom() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try sharedKey())
        for request in 1...3 { _ = pool.request(request, key) }
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 10)
        #expect(pool.setCapacity(connection, 1) == [])
        #expect(pool.request(4, key) == [])
        for _ in 1...2 { #expect(pool.release(connection) == []) }
        #expect(pool.release(connection) == [.use(4, connection)])
    }

    @Test("H2.4: no room at all means to wait: the connection stays, and is not replaced at the limit")
    func noRoom() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try sharedKey())
        _ = pool.request(1, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 100)
        #expect(pool.setCapacity(connection, 0) == [])
        #expect(pool.request(2, key) == [])
        #expect(pool.release(connection) == [.timer(.seconds(5))])
        #expect(pool.request(3, key) == [])
        #expect(pool.setCapacity(connection, 1) == [.use(2, connection)])
        #expect(pool.release(connection) == [.use(3, connection)])
        // A negative number is no room.
        #expect(pool.setCapacity(connection, -1) == [])
        #expect(pool.release(connection) == [])
    }

    @Test("H2.4: a connection without any room gives way to a request of another key, and expires")
    func noRoomAndOthers() throws {
        let pool = VirtualPool(perHost: 1)
        let (key, other) = (try sharedKey(), try sharedKey(81))
        _ = pool.request(1, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 100)
        _ = pool.setCapacity(connection, 0)
        _ = pool.request(2, key)
        _ = pool.release(connection)
        #expect(pool.request(3, other) == [.close([connection]), .dial(pool.dialled, other)])
        let second = pool.dialled
        _ = pool.establish(second)
        #expect(pool.release(second) == [.close([second]), .dial(pool.dialled, key)])
        _ = pool.establish(pool.dialled, capacity: 100)
        _ = pool.setCapacity(pool.dialled, 0)
        _ = pool.request(4, key)
        _ = pool.release(pool.dialled)
        let closed = pool.dialled
        pool.advance(.seconds(5))
        #expect(pool.fireTimer() == [.close([closed]), .dial(pool.dialled, key)])
    }

    @Test(
        "H2.4: an idle connection without any room holds up requests that come later for five seconds, and not for sixty"
    )
    func noRoomForLater() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try sharedKey())
        _ = pool.request(1, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 100)
        _ = pool.setCapacity(connection, 0)
        // No request waits.
        #expect(pool.release(connection) == [.timer(.seconds(60))])
        pool.advance(.seconds(10))
        #expect(pool.request(2, key) == [.timer(.seconds(5))])
        pool.advance(.seconds(4))
        #expect(pool.request(3, key) == [])
        pool.advance(.seconds(1))
        #expect(pool.fireTimer() == [.close([connection]), .dial(pool.dialled, key)])
        #expect(pool.establish(pool.dialled, capacity: 100) == [.use(2, pool.dialled), .use(3, pool.dialled)])
    }

    @Test(
        "H2.4: a new connection begins with the room that the server's last one had; that it has room for one is sharing, too"
    )
    func roomRemembered() throws {
        let (pool, key) = (VirtualPool(perHost: 3), try sharedKey())
        #expect(pool.lastCapacity(of: key) == nil)
        _ = pool.request(1, key)
        let first = pool.dialled
        _ = pool.establish(first, capacity: 100)
        _ = pool.setCapacity(first, 1)
        #expect(pool.lastCapacity(of: key) == 1)
        #expect(pool.request(2, key) == [.dial(pool.dialled, key)])
        let second = pool.dialled
        #expect(pool.request(3, key) == [])
        #expect(pool.establish(second, capacity: 1, isShared: true) == [.use(2, second), .dial(pool.dialled, key)])
        #expect(pool.request(4, key) == [], "one dial is for all, as before")
        let third = pool.dialled
        #expect(pool.establish(third, capacity: 1, isShared: true) == [.use(3, third)])
        #expect(pool.setCapacity(second, 2) == [.use(4, second)])
        #expect(pool.lastCapacity(of: key) == 2)
    }

    @Test(
        "H2.4: what is remembered of a server is its last word, and not that a connection takes nothing for the moment")
    func roomForgotten() throws {
        let (pool, key) = (VirtualPool(perHost: 3), try sharedKey())
        _ = pool.request(1, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 100)
        _ = pool.setCapacity(connection, 1_000)
        #expect(pool.lastCapacity(of: key) == nil, "more than was thought need not be known")
        _ = pool.setCapacity(connection, 0)
        #expect(pool.lastCapacity(of: key) == nil)
        _ = pool.setCapacity(connection, 3)
        #expect(pool.lastCapacity(of: key) == 3)
        _ = pool.setCapacity(connection, 0)
        #expect(pool.lastCapacity(of: key) == 3)
        _ = pool.close(connection)
        let (other, own, elsewhere) = (
            try poolKey("other.test"), try sharedKey(judge: .delegate(1)), try sharedKey(81)
        )
        _ = pool.request(2, other)
        #expect(pool.lastCapacity(of: key) == 3, "the key's row has gone")
        #expect(pool.lastCapacity(of: own) == 3, "it is the server's")
        #expect(pool.lastCapacity(of: elsewhere) == nil)
        _ = pool.request(3, key)
        _ = pool.establish(pool.dialled, capacity: 3)
        _ = pool.setCapacity(pool.dialled, 500)
        #expect(pool.lastCapacity(of: key) == 500)
    }

    @Test("H2.5: with all streams taken another connection is opened within the limit, one at a time")
    func another() throws {
        let (pool, key) = (VirtualPool(perHost: 2), try sharedKey())
        _ = pool.request(1, key)
        let first = pool.dialled
        _ = pool.establish(first, capacity: 2)
        _ = pool.request(2, key)
        #expect(pool.request(3, key) == [.dial(pool.dialled, key)])
        let second = pool.dialled
        for request in 4...6 { #expect(pool.request(request, key) == []) }
        #expect(pool.establish(second, capacity: 2) == [.use(3, second), .use(4, second)])
        #expect(pool.release(first) == [.use(5, first)])
        #expect(pool.release(second) == [.use(6, second)])
        // What is left needs one of them only.
        #expect(pool.release(second) == [])
        #expect(pool.release(first) == [])
        #expect(pool.release(second) == [.close([second])])
        #expect(pool.release(first) == [.timer(.seconds(60))])
    }

    @Test("H2.5: room that appears makes a dial needless")
    func roomInsteadOfDial() throws {
        let (pool, key) = (VirtualPool(), try sharedKey())
        _ = pool.request(1, key)
        let first = pool.dialled
        _ = pool.establish(first, capacity: 2)
        for request in 2...3 { _ = pool.request(request, key) }
        let dial = pool.dialled
        #expect(dial != first)
        #expect(pool.setCapacity(first, 3) == [.cancelDial(dial), .use(3, first)])
    }

    @Test(
        "B16.1: a shared connection that is never idle leaves its place to a request of another key after eight others")
    func noStarvation() throws {
        let pool = VirtualPool(perHost: 2)
        let (key, other) = (try sharedKey(), try sharedKey(81))
        _ = pool.request(0, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 100)
        _ = pool.lease(1, other)
        #expect(pool.request(2, other) == [])
        for request in 3...10 { #expect(pool.request(request, key) == [.use(request, connection)]) }
        #expect(pool.request(11, key) == [.dial(pool.dialled, other)])
        #expect(pool.counts == PoolCounts(inUse: 1, draining: 1, dialling: 1, waiting: 2))
    }

    // MARK: Draining

    @Test("H7.10: a draining connection takes no new request; new requests dial at once, though the host is full")
    func draining() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try sharedKey())
        for request in 1...3 { _ = pool.request(request, key) }
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 3)
        _ = pool.request(4, key)
        #expect(pool.drain(connection) == [.dial(pool.dialled, key)])
        let next = pool.dialled
        #expect(pool.counts == PoolCounts(inUse: 0, draining: 1, dialling: 1, waiting: 1))
        #expect(pool.establish(next, capacity: 100) == [.use(4, next)])
        #expect(pool.setCapacity(connection, 100) == [])
        #expect(pool.drain(connection) == [])
        #expect(pool.request(5, key) == [.use(5, next)])
        for _ in 1...2 { #expect(pool.release(connection) == []) }
        #expect(pool.release(connection) == [.close([connection])])
        #expect(pool.counts == PoolCounts(inUse: 1))
    }

    @Test("H2.8: an idle connection that drains is closed at once")
    func drainingIdle() throws {
        let (pool, key) = (VirtualPool(), try sharedKey())
        let idle = pool.idle(1, key)[0]
        #expect(pool.drain(idle) == [.close([idle]), .clearTimer])
        #expect(pool.drain(idle) == [])
    }

    @Test("H7.1: a request that was not processed asks again, before its equals")
    func unprocessed() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try sharedKey())
        for request in 1...2 { _ = pool.request(request, key) }
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 2)
        _ = pool.request(3, key)
        _ = pool.drain(connection)
        #expect(pool.release(connection) == [])
        #expect(pool.request(2, key, atFront: true) == [])
        #expect(pool.establish(pool.dialled, capacity: 2) == [.use(2, pool.dialled), .use(3, pool.dialled)])
    }

    @Test("B16.7: shut down gently, a shared connection serves to the end what is to come")
    func gentleShutDown() throws {
        let (pool, key) = (VirtualPool(), try sharedKey())
        _ = pool.request(1, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 2)
        #expect(pool.shutDown(immediately: false) == [])
        #expect(pool.request(2, key) == [.use(2, connection)])
        #expect(pool.release(connection) == [])
        #expect(pool.release(connection) == [.close([connection])])
        #expect(pool.isDrained)
    }

    @Test("B1.17: shut down immediately, what drains is closed, too")
    func immediateShutDown() throws {
        let (pool, key) = (VirtualPool(), try sharedKey())
        _ = pool.request(1, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 2)
        _ = pool.drain(connection)
        #expect(!pool.isDrained)
        #expect(pool.shutDown(immediately: true) == [.close([connection])])
        #expect(pool.isDrained)
    }

    @Test("B17.53: events of sharing about a connection that is not shared or not known change nothing")
    func senseless() throws {
        let (pool, key) = (VirtualPool(), try sharedKey())
        let plain = pool.lease(1, key)
        #expect(pool.setCapacity(plain, 10) == [])
        #expect(pool.request(2, key) == [.dial(pool.dialled, key)])
        #expect(pool.setCapacity(pool.dialled, 10) == [])
        #expect(pool.drain(pool.dialled) == [])
        for unknown in [-1, 99, Int.max, Int.min] {
            #expect(pool.setCapacity(unknown, 10) == [])
            #expect(pool.drain(unknown) == [])
        }
        #expect(pool.counts == PoolCounts(inUse: 1, dialling: 1, waiting: 1))
    }

    @Test("H1.7, B2.93: a shared connection belongs to no single request: it is neither kept nor handed away")
    func notForOne() throws {
        let (pool, key) = (VirtualPool(), try sharedKey())
        _ = pool.request(1, key)
        let connection = pool.dialled
        _ = pool.establish(connection, capacity: 2)
        pool.keep(connection, after: 1)
        #expect(pool.abandonKept(after: 1) == [])
        #expect(pool.detach(connection) == [])
        #expect(pool.request(2, key) == [.use(2, connection)])
    }
}
