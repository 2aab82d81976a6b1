// Tables of the pool's events and actions: one rule a test, the whole list of actions compared.

import Testing
import URLLoadingPolicy

@Suite struct PoolMachineTests {
    // MARK: The limit

    @Test("B16.1: at most six connections per host, the seventh request waits")
    func limitPerHost() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        for request in 0..<6 {
            let actions = pool.request(request, key)
            #expect(actions == [.dial(pool.dialled, key)])
        }
        #expect(pool.request(6, key) == [])
        #expect(pool.counts == PoolCounts(dialling: 6, waiting: 7))
    }

    @Test("B16.1: a limit below one counts as one", arguments: [0, -1, Int.min])
    func limitBelowOne(limit: Int) throws {
        let (pool, key) = (VirtualPool(perHost: limit), try poolKey())
        #expect(pool.request(1, key) == [.dial(pool.dialled, key)])
        #expect(pool.request(2, key) == [])
    }

    @Test("B16.1: the limit holds over schemes and ports of one host name, in any case and with a trailing dot")
    func limitIsPerHostName() throws {
        let pool = VirtualPool(perHost: 2)
        let keys = [try poolKey(), try poolKey("EXAMPLE.com", 8080), try poolKey("example.com.", scheme: .https)]
        _ = pool.lease(0, keys[0])
        _ = pool.lease(1, keys[1])
        #expect(pool.request(2, keys[2]) == [])
    }

    @Test("B16.1: other hosts have a limit of their own")
    func limitIsNotGlobal() throws {
        let pool = VirtualPool(perHost: 1)
        _ = pool.lease(0, try poolKey("a.example"))
        let other = try poolKey("b.example")
        #expect(pool.request(1, other) == [.dial(pool.dialled, other)])
    }

    @Test("B16.1: requests wait in the order of asking")
    func waitingOrder() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        let connection = pool.lease(0, key)
        for request in 1...3 { #expect(pool.request(request, key) == []) }
        for request in 1...3 { #expect(pool.release(connection) == [.use(request, connection)]) }
        #expect(pool.release(connection) == [.timer(.seconds(60))])
    }

    @Test("B16.1: higher priority is served first, order of asking within a priority")
    func priorityOrder() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        let connection = pool.lease(0, key)
        for (request, priority) in [(1, 0.25), (2, 0.5), (3, 1), (4, 0.5), (5, 1), (6, 0), (7, .nan)] as [(Int, Float)]
        {
            _ = pool.request(request, key, priority: priority)
        }
        for request in [3, 5, 2, 4, 7, 1, 6] { #expect(pool.release(connection) == [.use(request, connection)]) }
    }

    @Test("B16.1: a changed priority takes its place among its new equals by order of asking")
    func priorityChange() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        let connection = pool.lease(0, key)
        for request in 1...5 { _ = pool.request(request, key, priority: request == 4 ? 0.9 : 0.5) }
        pool.setPriority(3, 0.9)
        pool.setPriority(5, 0.9)
        pool.setPriority(4, 0.5)
        pool.setPriority(99, 1)
        for request in [3, 5, 1, 2, 4] { #expect(pool.release(connection) == [.use(request, connection)]) }
    }

    @Test("B16.1: a request put at the front goes before its equals, not before higher priorities")
    func front() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        _ = pool.request(2, key, priority: 1)
        _ = pool.request(3, key, atFront: true)
        _ = pool.request(4, key, atFront: true)
        for request in [2, 4, 3, 1] { #expect(pool.release(connection) == [.use(request, connection)]) }
    }

    @Test("B16.3: a connection handed to a stream or web socket task no longer counts")
    func detached() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        let actions = pool.detach(connection)
        #expect(actions == [.dial(pool.dialled, key)])
        #expect(pool.counts == PoolCounts(dialling: 1, waiting: 1))
        #expect(pool.close(connection) == [])
    }

    // MARK: Reuse

    @Test("B16.2: an idle connection serves the next request of its key at once")
    func reuse() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        #expect(pool.release(connection) == [.timer(.seconds(60))])
        #expect(pool.request(1, key) == [.use(1, connection)])
    }

    @Test("B16.2, B2.8: a connection is reused only for its own scheme, host, port, route and judge")
    func reuseNeedsSameKey() throws {
        let pool = VirtualPool()
        let origin = try #require(Origin(scheme: .https, host: "example.com"))
        let used = PoolKey(origin: origin)
        _ = pool.idle(1, used)
        let others = [
            try poolKey("example.com", scheme: .http), try poolKey("example.org", scheme: .https),
            try poolKey("example.com", 444, scheme: .https),
            try poolKey("example.com", scheme: .https, judge: .delegate(1)),
            try poolKey("example.com", scheme: .https, judge: .delegate(2)),
            PoolKey(origin: origin, route: .direct(overridePath: "/run/socket")),
        ]
        for (request, key) in others.enumerated() {
            let actions = pool.request(request, key)
            #expect(actions == [.dial(pool.dialled, key)])
        }
    }

    @Test("B2.8: a connection that one judge accepts, idle or being dialled, serves no request of another judge")
    func judges() throws {
        let pool = VirtualPool(perHost: 2)
        let (own, sessions) = (
            try poolKey(scheme: .https, judge: .delegate(1)), try poolKey(scheme: .https, judge: .session)
        )
        let first = pool.lease(1, own)
        _ = pool.release(first)
        #expect(pool.request(2, sessions) == [.dial(pool.dialled, sessions)])
        let second = pool.dialled
        // The other judge's dial is no help, and the idle connection makes room.
        #expect(pool.request(3, own) == [.use(3, first)])
        _ = pool.request(4, own)
        #expect(pool.establish(second) == [.use(2, second)])
        #expect(pool.release(second) == [.close([second]), .dial(pool.dialled, own)])
        #expect(pool.establish(pool.dialled) == [.use(4, pool.dialled)])
    }

    @Test(
        "B2.8: where no certificate is shown there is nothing to judge, and all judges share connections",
        arguments: [0, 1])
    func nothingToJudge(number: Int) throws {
        let judge = ConnectionJudge.delegate(number + 1)
        let plain = try #require(Origin(scheme: .http, host: "example.com"))
        let secure = try #require(Origin(scheme: .https, host: "example.com"))
        let kinds = ProxyServer.Kind.allCases
        let proxies = try kinds.map { try #require(ProxyServer(kind: $0, host: "proxy.test")) }
        #expect(PoolKey(toReach: plain, by: .direct(), judge: judge) == PoolKey(toReach: plain, by: .direct()))
        #expect(PoolKey(toReach: secure, by: .direct(), judge: judge) != PoolKey(toReach: secure, by: .direct()))
        for proxy in proxies {
            let route = Route.proxied(proxy)
            let isShared = PoolKey(toReach: plain, by: route, judge: judge) == PoolKey(toReach: plain, by: route)
            #expect(isShared == (proxy.kind != .https), "\(proxy)")
            #expect(PoolKey(toReach: secure, by: route, judge: judge) != PoolKey(toReach: secure, by: route))
        }
    }

    @Test("B16.2: the connection used last is used first")
    func lastUsedFirst() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connections = pool.idle(3, key)
        for (request, connection) in connections.reversed().enumerated() {
            #expect(pool.request(request, key) == [.use(request, connection)])
        }
    }

    @Test("B16.5: a connection that may not be reused is closed, and the next request dials")
    func closedConnectionIsReplaced() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        let actions = pool.close(connection)
        #expect(actions == [.dial(pool.dialled, key)])
        #expect(pool.dialled != connection)
    }

    @Test("B6.26: a request that needs a new connection gets neither an idle nor a released one")
    func newConnectionOnly() throws {
        let (pool, key) = (VirtualPool(perHost: 2), try poolKey())
        let used = pool.lease(0, key)
        let idle = pool.lease(1, key)
        _ = pool.release(idle)
        // At the limit the idle connection makes room.
        let actions = pool.request(2, key, atFront: true, new: true)
        let fresh = pool.dialled
        #expect(actions == [.close([idle]), .dial(fresh, key)])
        // A released one goes to the request behind it.
        _ = pool.request(3, key)
        #expect(pool.release(used) == [.use(3, used)])
        #expect(pool.establish(fresh) == [.use(2, fresh)])
    }

    @Test("B6.26: with the host full, a released connection is closed for a request that needs a new one")
    func releasedConnectionMakesRoom() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        let used = pool.lease(0, key)
        #expect(pool.request(1, key, new: true) == [])
        let actions = pool.release(used)
        #expect(actions == [.close([used]), .dial(pool.dialled, key)])
    }

    // MARK: Late binding

    @Test("B16.1: the first connection that becomes ready serves the first request, whichever it was dialled for")
    func lateBinding() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        _ = pool.request(1, key)
        let first = pool.dialled
        _ = pool.request(2, key)
        let second = pool.dialled
        #expect(pool.establish(second) == [.use(1, second)])
        #expect(pool.establish(first) == [.use(2, first)])
    }

    @Test("B16.1: a dial that turns out surplus becomes an idle connection")
    func surplusDialGoesIdle() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        let surplus = pool.dialled
        #expect(pool.release(connection) == [.use(1, connection), .timer(.seconds(60))])
        #expect(pool.establish(surplus) == [])
        #expect(pool.request(2, key) == [.use(2, surplus)])
    }

    @Test("B16.1: a request takes over a dial that no other request needs, and starts none")
    func noDialBeyondNeed() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        let surplus = pool.dialled
        _ = pool.release(connection)
        #expect(pool.request(2, key) == [])
        #expect(pool.establish(surplus) == [.use(2, surplus)])
    }

    // MARK: Failing and cancelling

    @Test("B16.11: a failed dial fails the request it was begun for")
    func dialFailureFailsItsRequest() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        _ = pool.request(1, key, priority: 0.1)
        let first = pool.dialled
        _ = pool.request(2, key, priority: 0.9)
        let second = pool.dialled
        #expect(pool.failDial(second) == [.fail(2)])
        #expect(pool.failDial(first) == [.fail(1)])
        #expect(pool.counts == PoolCounts())
    }

    @Test(
        "B16.11: a dial whose request is served elsewhere goes on for a waiting request, and its failure fails that one"
    )
    func dialFailureFailsItsNewRequest() throws {
        let (pool, key) = (VirtualPool(perHost: 2), try poolKey())
        _ = pool.lease(0, key)
        for request in 1...4 { _ = pool.request(request, key) }
        let first = pool.dialled
        #expect(pool.establish(first) == [.use(1, first)])
        _ = pool.close(first)
        let second = pool.dialled
        #expect(pool.release(0) == [.use(2, 0)])
        let actions = pool.failDial(second)
        #expect(actions == [.fail(3), .dial(pool.dialled, key)])
    }

    @Test("B16.11: each request beyond the limit has an attempt of its own")
    func everyRequestIsTried() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        for request in 1...3 { _ = pool.request(request, key) }
        for request in 1...2 {
            let failed = pool.dialled
            #expect(pool.failDial(failed) == [.fail(request), .dial(pool.dialled, key)])
        }
        #expect(pool.failDial(pool.dialled) == [.fail(3)])
    }

    @Test("B16.11: the failure of a dial that no request waits for fails no request")
    func surplusDialFailure() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        let surplus = pool.dialled
        _ = pool.release(connection)
        #expect(pool.failDial(surplus) == [])
        #expect(pool.counts == PoolCounts(inUse: 1))
    }

    @Test("B16.11: the failure of a dial that is older than a request does not fail it: a new dial is made")
    func olderDialFailureIsNotMine() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        let older = pool.dialled
        _ = pool.release(connection)
        _ = pool.request(2, key)
        let actions = pool.failDial(older)
        #expect(actions == [.dial(pool.dialled, key)])
        #expect(pool.failDial(pool.dialled) == [.fail(2)])
    }

    @Test("B16.11: a failed dial fails no request while there are other dials enough for all that wait")
    func otherDialsSuffice() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        let first = pool.dialled
        _ = pool.request(2, key)
        let second = pool.dialled
        _ = pool.release(connection)
        #expect(pool.failDial(second) == [])
        #expect(pool.establish(first) == [.use(2, first)])
    }

    @Test("B16.14: cancelling the only request waiting for a dial cancels the dial")
    func cancelCancelsDial() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        _ = pool.request(1, key)
        #expect(pool.cancel(1) == [.cancelDial(pool.dialled)])
        #expect(pool.establish(pool.dialled) == [])
        #expect(pool.failDial(pool.dialled) == [])
        #expect(pool.counts == PoolCounts())
    }

    @Test("B16.14: a dial goes on for the next request when the one that caused it is cancelled")
    func dialGoesOnForTheNext() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        _ = pool.request(1, key)
        _ = pool.request(2, key)
        #expect(pool.cancel(1) == [])
        #expect(pool.establish(pool.dialled) == [.use(2, pool.dialled)])
    }

    @Test("B16.14: cancelling a request that has its connection, or is unknown, does nothing")
    func cancelOfUnknown() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        _ = pool.lease(1, key)
        #expect(pool.cancel(1) == [])
        #expect(pool.cancel(2) == [])
    }

    @Test("B16.1: cancelling a request frees its dial's place for another port of the host")
    func cancelFreesPlace() throws {
        let pool = VirtualPool(perHost: 1)
        let (key, other) = (try poolKey(), try poolKey("example.com", 81))
        _ = pool.request(1, key)
        let first = pool.dialled
        #expect(pool.request(2, other) == [])
        #expect(pool.cancel(1) == [.cancelDial(first), .dial(pool.dialled, other)])
    }

    // MARK: Several keys of one host

    @Test("B16.1: a connection that closes makes room for the first request in line of any key of the host")
    func closeServesAnyKey() throws {
        let pool = VirtualPool(perHost: 1)
        let (key, other) = (try poolKey(), try poolKey("example.com", scheme: .https))
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        _ = pool.request(2, other, priority: 0.9)
        let actions = pool.close(connection)
        #expect(actions == [.dial(pool.dialled, other)])
    }

    @Test("B16.1: an idle connection of another key is closed when it blocks a request")
    func idleMakesRoom() throws {
        let pool = VirtualPool(perHost: 2)
        let (key, other) = (try poolKey(), try poolKey("example.com", 81))
        let idle = pool.idle(2, key)
        let actions = pool.request(0, other)
        #expect(actions == [.close([idle[0]]), .dial(pool.dialled, other)])
    }

    @Test("B16.1: of several idle connections the one that would expire first makes room")
    func oldestIdleMakesRoom() throws {
        let pool = VirtualPool(perHost: 2)
        let keys = [try poolKey(), try poolKey("example.com", 81), try poolKey("example.com", 82)]
        let first = pool.lease(0, keys[0])
        let second = pool.lease(1, keys[1])
        _ = pool.release(second)
        pool.advance(.seconds(1))
        _ = pool.release(first)
        let actions = pool.request(2, keys[2])
        #expect(actions == [.close([second]), .dial(pool.dialled, keys[2])])
    }

    @Test("B16.1: a surplus dial of another key is cancelled when it blocks a request")
    func surplusDialMakesRoom() throws {
        let pool = VirtualPool(perHost: 2)
        let (key, other) = (try poolKey(), try poolKey("example.com", 81))
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        let surplus = pool.dialled
        _ = pool.release(connection)
        let actions = pool.request(2, other)
        #expect(actions == [.cancelDial(surplus), .dial(pool.dialled, other)])
    }

    @Test("B16.1: a dial that becomes surplus while another key is blocked is cancelled at once")
    func newlySurplusDialMakesRoom() throws {
        let pool = VirtualPool(perHost: 2)
        let (key, other) = (try poolKey(), try poolKey("example.com", 81))
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        let surplus = pool.dialled
        #expect(pool.request(2, other) == [])
        let actions = pool.release(connection)
        #expect(actions == [.cancelDial(surplus), .use(1, connection), .dial(pool.dialled, other)])
    }

    @Test("B16.1: a released connection without work makes room for a request of another key")
    func releasedMakesRoom() throws {
        let pool = VirtualPool(perHost: 1)
        let (key, other) = (try poolKey(), try poolKey("example.com", 81))
        let connection = pool.lease(0, key)
        _ = pool.request(1, other)
        let actions = pool.release(connection)
        #expect(actions == [.close([connection]), .dial(pool.dialled, other)])
    }

    @Test("B16.1: requests of two ports at a limit of one are served in the order of asking")
    func strictOrderForKeysWithoutConnection() throws {
        let pool = VirtualPool(perHost: 1)
        let (key, other) = (try poolKey(), try poolKey("example.com", 81))
        let connection = pool.lease(0, key)
        _ = pool.request(1, other)
        _ = pool.request(2, key)
        let actions = pool.release(connection)
        #expect(actions == [.close([connection]), .dial(pool.dialled, other)])
    }

    @Test("B16.1: a busy key overtakes another eight times, then gives way")
    func noStarvation() throws {
        let pool = VirtualPool(perHost: 2)
        let (key, other) = (try poolKey(), try poolKey("example.com", 81))
        let connection = pool.lease(0, key)
        _ = pool.lease(1, other)
        _ = pool.request(2, other)
        for request in 3...12 { _ = pool.request(request, key) }
        for request in 3...10 { #expect(pool.release(connection) == [.use(request, connection)]) }
        let actions = pool.release(connection)
        #expect(actions == [.close([connection]), .dial(pool.dialled, other)])
    }

    @Test("B16.1: overtakings count in a row only")
    func overtakingsAreForgotten() throws {
        let pool = VirtualPool(perHost: 2)
        let (key, other) = (try poolKey(), try poolKey("example.com", 81))
        let connection = pool.lease(0, key)
        let otherConnection = pool.lease(1, other)
        _ = pool.request(2, other)
        for request in 3...20 { _ = pool.request(request, key) }
        for request in 3...9 { #expect(pool.release(connection) == [.use(request, connection)]) }
        #expect(pool.release(otherConnection) == [.use(2, otherConnection)])
        #expect(pool.release(connection) == [.use(10, connection)])
        _ = pool.request(21, other, priority: 0.9)
        for request in 11...18 { #expect(pool.release(connection) == [.use(request, connection)]) }
        let actions = pool.release(connection)
        #expect(actions == [.close([connection]), .dial(pool.dialled, other)])
    }

    // MARK: Age

    @Test("B16.6: an idle connection is closed after the idle timeout")
    func idleExpiry() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        #expect(pool.release(connection) == [.timer(.seconds(60))])
        pool.advance(.seconds(60))
        #expect(pool.fireTimer() == [.close([connection])])
        #expect(pool.counts == PoolCounts())
    }

    @Test("B16.6: Keep-Alive shortens the idle time and never lengthens it")
    func keepAlive() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let (first, second) = (pool.lease(0, key), pool.lease(1, key))
        #expect(pool.release(first, idleLimit: .seconds(600)) == [.timer(.seconds(60))])
        #expect(pool.release(second, idleLimit: .seconds(5)) == [.timer(.seconds(5))])
        pool.advance(.seconds(5))
        #expect(pool.fireTimer() == [.close([second]), .timer(.seconds(55))])
        pool.advance(.seconds(55))
        #expect(pool.fireTimer() == [.close([first])])
    }

    @Test(
        "B16.6: a peer that allows no idle time gets its connection closed", arguments: [Duration.zero, .seconds(-1)])
    func keepAliveOfZero(limit: Duration) throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        let actions = pool.release(connection, idleLimit: limit)
        #expect(actions == [.close([connection]), .dial(pool.dialled, key)])
    }

    @Test("B16.6: using a connection again and again costs no timer action, and the timer follows when it fires")
    func timerIsLazy() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        #expect(pool.release(connection) == [.timer(.seconds(60))])
        for request in 1...20 {
            pool.advance(.seconds(2))
            #expect(pool.request(request, key) == [.use(request, connection)])
            #expect(pool.release(connection) == [])
        }
        pool.advance(.seconds(20))
        #expect(pool.fireTimer() == [.timer(.seconds(40))])
        pool.advance(.seconds(40))
        #expect(pool.fireTimer() == [.close([connection])])
    }

    @Test("B16.6: a timer that fires while the connection is in use closes nothing")
    func timerDuringUse() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.release(connection)
        _ = pool.request(1, key)
        pool.advance(.seconds(60))
        #expect(pool.fireTimer() == [])
        #expect(pool.release(connection) == [.timer(.seconds(60))])
    }

    @Test("B16.6: a timer that fires too early is set again")
    func earlyTimer() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.release(connection)
        pool.advance(.seconds(59))
        #expect(pool.fireTimer() == [.timer(.seconds(1))])
    }

    @Test("B16.6: a shorter Keep-Alive on a later release brings the timer forward")
    func shorterLater() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.release(connection)
        _ = pool.request(1, key)
        #expect(pool.release(connection, idleLimit: .seconds(3)) == [.timer(.seconds(3))])
        pool.advance(.seconds(3))
        #expect(pool.fireTimer() == [.close([connection])])
    }

    @Test("B16.6: a connection past its time is not handed out even if the timer is late")
    func expiredIsNotUsed() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let idle = pool.idle(2, key)
        pool.advance(.seconds(60))
        let actions = pool.request(1, key)
        #expect(actions == [.close([idle[1], idle[0]]), .dial(pool.dialled, key)])
    }

    @Test("B16.6: the timer is cleared with the last connection")
    func timerIsCleared() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let idle = pool.idle(2, key)
        #expect(pool.close(idle[0]) == [])
        #expect(pool.close(idle[1]) == [.clearTimer])
        #expect(pool.fireTimer() == [])
    }

    @Test("B16.6: an absurd idle timeout is bounded, a negative one keeps nothing")
    func absurdIdleTimeouts() throws {
        let key = try poolKey()
        let long = VirtualPool(idleTimeout: .seconds(Int64.max))
        #expect(long.release(long.lease(0, key), idleLimit: .seconds(Int64.max)) == [.timer(.seconds(366 * 86_400))])
        let none = VirtualPool(idleTimeout: .seconds(-5))
        let connection = none.lease(0, key)
        #expect(none.release(connection) == [.timer(.zero)])
        #expect(none.fireTimer() == [.close([connection])])
    }

    @Test("B16.6: short-lived idle connections do not pile up in the timer's list")
    func deadlinesAreForgotten() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let kept = pool.lease(0, key)
        _ = pool.release(kept)
        for request in 1...300 {
            _ = pool.request(-request, key)
            let other = pool.lease(request, key)
            _ = pool.release(other)
            _ = pool.close(other)
            _ = pool.release(kept)
        }
        pool.advance(.seconds(60))
        #expect(pool.fireTimer() == [.close([kept])])
    }

    // MARK: Ending

    @Test("B16.6: a surplus dial is given up when an idle connection would be, counted from when it became one")
    func surplusDialExpires() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        let surplus = pool.dialled
        pool.advance(.seconds(100))
        #expect(pool.release(connection) == [.use(1, connection), .timer(.seconds(60))])
        pool.advance(.seconds(60))
        #expect(pool.fireTimer() == [.close([surplus])])
        #expect(pool.establish(surplus) == [])
        #expect(pool.counts == PoolCounts(inUse: 1))
        let actions = pool.request(2, key)
        #expect(actions == [.dial(pool.dialled, key)])
    }

    @Test(
        "B16.6: a surplus dial that a request waits for again does not expire; its time begins anew when it is surplus")
    func surplusDialTakenUp() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        let dial = pool.dialled
        _ = pool.release(connection)
        pool.advance(.seconds(30))
        #expect(pool.request(2, key) == [])
        pool.advance(.seconds(30))
        #expect(pool.fireTimer() == [])
        pool.advance(.seconds(30))
        #expect(pool.release(connection) == [.use(2, connection), .timer(.seconds(60))])
        pool.advance(.seconds(60))
        #expect(pool.fireTimer() == [.close([dial])])
    }

    @Test("B1.26: where later requests are to have new connections, the dials that no request waits for are given up")
    func closingSurplusDial() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let used = pool.lease(0, key)
        _ = pool.request(1, key)
        let surplus = pool.dialled
        _ = pool.release(used)
        _ = pool.request(2, try poolKey("other.example"))
        #expect(pool.renew() == [.close([surplus])])
        #expect(pool.counts == PoolCounts(inUse: 1, dialling: 1, waiting: 1))
    }

    @Test(
        "B1.26: where later requests are to have new connections, idle ones are closed, and those in use after their last request"
    )
    func renewing() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let used = pool.lease(0, key)
        let idle = pool.idle(2, key)
        #expect(pool.renew() == [.close(idle)])
        #expect(pool.counts == PoolCounts(inUse: 1))
        let actions = pool.request(1, key)
        #expect(actions == [.dial(pool.dialled, key)])
        #expect(pool.release(used) == [.close([used])])
        // What was opened afterwards is kept.
        let opened = pool.dialled
        #expect(pool.establish(opened) == [.use(1, opened)])
        pool.advance(.seconds(1))
        _ = pool.release(opened)
        #expect(pool.request(2, key) == [.use(2, opened)])
    }

    @Test(
        "B1.26: what is dialled when later requests are to have new connections serves who waited, and is closed then",
        arguments: [false, true])
    func renewingDial(isAsked: Bool) throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        _ = pool.request(1, key)
        let dial = pool.dialled
        if isAsked { pool.ask(dial) }
        #expect(pool.renew() == [])
        let later = pool.request(2, key, priority: 1)
        let own = pool.dialled
        #expect(later == [.dial(own, key)])
        #expect(pool.establish(dial) == [.use(1, dial)])
        let latest = pool.request(3, key)
        #expect(latest == [.dial(pool.dialled, key)])
        #expect(pool.release(dial) == [.close([dial])])
        #expect(pool.establish(own) == [.use(2, own)])
        #expect(pool.release(own) == [.use(3, own), .timer(.seconds(60))], "what was dialled afterwards is kept")
    }

    @Test("B1.26: at the limit a later request waits for the end of what was dialled before, which does not serve it")
    func renewingDialAtLimit() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        _ = pool.request(1, key)
        let dial = pool.dialled
        _ = pool.renew()
        #expect(pool.request(2, key) == [])
        #expect(pool.lacksDial(2))
        #expect(pool.establish(dial) == [.use(1, dial)])
        let actions = pool.release(dial)
        #expect(actions == [.close([dial]), .dial(pool.dialled, key)])
    }

    @Test("B1.26: what was dialled before is given up when none waits for it that had asked before")
    func renewingDialGivenUp() throws {
        let (pool, key) = (VirtualPool(perHost: 2), try poolKey())
        _ = pool.request(1, key)
        let first = pool.dialled
        _ = pool.request(2, key)
        let second = pool.dialled
        _ = pool.renew()
        #expect(pool.request(3, key) == [])
        let actions = pool.cancel(1)
        let third = pool.dialled
        #expect(actions == [.cancelDial(first), .dial(third, key)])
        // The first in line gets it; the later one may not have the dial of the first.
        let others = pool.establish(third)
        #expect(others == [.cancelDial(second), .use(2, third), .dial(pool.dialled, key)])
        #expect(pool.requestBehind(pool.dialled) == 3)
    }

    @Test("B1.26: a connection that was dialled before and that its request could not use yet is closed")
    func renewingHandedBack() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        _ = pool.request(1, key)
        let dial = pool.dialled
        _ = pool.renew()
        _ = pool.establish(dial)
        #expect(pool.handBack(dial) == [.close([dial])])
    }

    @Test("B16.7: shut down gently, what waits and what is still to come is served, then each connection is closed")
    func gentleShutDown() throws {
        let (pool, key) = (VirtualPool(perHost: 2), try poolKey())
        let used = pool.lease(0, key)
        let idle = pool.idle(1, key)
        #expect(pool.shutDown(immediately: false) == [.close(idle)])
        #expect(!pool.isDrained)
        _ = pool.request(1, key)
        let second = pool.dialled
        _ = pool.request(2, key)
        #expect(pool.establish(second) == [.use(1, second)])
        #expect(pool.release(used) == [.use(2, used)])
        #expect(pool.release(second) == [.close([second])])
        #expect(pool.release(used) == [.close([used]), .clearTimer])
        #expect(pool.isDrained)
    }

    @Test("B16.7: a surplus dial is given up by a gentle shut-down: its peer may never answer")
    func gentleShutDownAndSurplusDial() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let used = pool.lease(0, key)
        _ = pool.request(1, key)
        let surplus = pool.dialled
        _ = pool.release(used)
        #expect(pool.shutDown(immediately: false) == [.close([surplus])])
        #expect(pool.establish(surplus) == [])
        #expect(pool.release(used) == [.close([used]), .clearTimer])
        #expect(pool.isDrained)
    }

    @Test("B16.7: after a gentle shut-down a dial is given up at once when it becomes surplus")
    func gentleShutDownThenSurplusDial() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let used = pool.lease(0, key)
        _ = pool.request(1, key)
        let dial = pool.dialled
        #expect(pool.shutDown(immediately: false) == [])
        #expect(pool.release(used) == [.cancelDial(dial), .use(1, used)])
        #expect(pool.release(used) == [.close([used])])
        #expect(pool.isDrained)
    }

    @Test("B1.17: shut down immediately, every connection is closed and every waiting request turned away in order")
    func immediateShutDown() throws {
        let (pool, key) = (VirtualPool(perHost: 3), try poolKey())
        let used = pool.lease(0, key)
        let idle = pool.idle(1, key)
        let other = try poolKey("other.example")
        _ = pool.request(1, other)
        let dialling = pool.dialled
        _ = pool.request(2, other, priority: 0.9)
        let second = pool.dialled
        #expect(
            pool.shutDown(immediately: true)
                == [.close([used] + idle + [dialling, second]), .refuse([2, 1]), .clearTimer])
        #expect(pool.isDrained)
        #expect(pool.close(used) == [])
        #expect(pool.establish(dialling) == [])
        #expect(pool.request(3, key) == [.refuse([3])])
        #expect(pool.shutDown(immediately: false) == [])
        #expect(pool.request(4, key) == [.refuse([4])])
    }

    @Test("B1.17: a gentle shut-down can become an immediate one")
    func gentleThenImmediate() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let used = pool.lease(0, key)
        #expect(pool.shutDown(immediately: false) == [])
        #expect(pool.shutDown(immediately: true) == [.close([used])])
        #expect(pool.isDrained)
    }

    @Test("B1.17: a pool that was not shut down is not drained")
    func freshPoolIsNotDrained() {
        #expect(!VirtualPool().isDrained)
    }

    // MARK: Events that make no sense

    @Test("B17.53: events about unknown, closed or wrongly placed connections change nothing")
    func senselessEvents() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let used = pool.lease(0, key)
        for connection in [-1, 1, 99, Int.max, Int.min] {
            #expect(pool.establish(connection) == [])
            #expect(pool.failDial(connection) == [])
            #expect(pool.release(connection) == [])
            #expect(pool.close(connection) == [])
            #expect(pool.detach(connection) == [])
        }
        #expect(pool.establish(used) == [])
        #expect(pool.failDial(used) == [])
        _ = pool.release(used)
        #expect(pool.release(used) == [])
        _ = pool.close(used)
        #expect(pool.close(used) == [])
        // The connection that takes over its row is another one.
        let successor = pool.lease(1, key)
        #expect(successor != used)
        #expect(pool.close(used) == [])
        #expect(pool.counts == PoolCounts(inUse: 1))
    }

    @Test("B17.53: a request that waits already does not wait twice")
    func askingTwice() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        let connection = pool.lease(0, key)
        _ = pool.request(1, key)
        #expect(pool.request(1, key) == [])
        #expect(pool.request(1, try poolKey("other.example")) == [])
        #expect(pool.release(connection) == [.use(1, connection)])
        #expect(pool.counts.waiting == 0)
    }

    @Test("B17.53: a dial that is reported as closed is made again for the request that waits")
    func dialReportedClosed() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        _ = pool.request(1, key)
        let first = pool.dialled
        let actions = pool.close(first)
        #expect(actions == [.dial(pool.dialled, key)])
        #expect(pool.dialled != first)
    }
}
