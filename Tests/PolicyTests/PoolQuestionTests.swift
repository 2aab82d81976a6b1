// Which request is asked about the peer of a dial, and what that means for this request and for the others.

import Testing
import URLLoadingPolicy

@Suite struct PoolQuestionTests {
    @Test("A dial's question goes to the request the dial is for; from then on no other connection serves that request")
    func bound() throws {
        let (pool, key) = (VirtualPool(), try poolKey())
        let used = pool.lease(0, key)
        _ = pool.request(1, key)
        let dial = pool.dialled
        #expect(pool.requestBehind(dial) == 1)
        pool.ask(dial)
        #expect(pool.release(used) == [.timer(.seconds(60))], "it becomes idle beside the request that is asked")
        #expect(pool.request(2, key) == [.use(2, used)])
        #expect(pool.establish(dial) == [.use(1, dial)])
    }

    @Test("A connection serves the request that was asked about it, and none that is before it in line")
    func boundBothWays() throws {
        let (pool, key) = (VirtualPool(perHost: 2), try poolKey())
        _ = pool.request(1, key)
        let first = pool.dialled
        _ = pool.request(2, key)
        let second = pool.dialled
        pool.ask(second)
        _ = pool.request(3, key, priority: 1)
        #expect(pool.establish(second) == [.use(2, second)])
        #expect(pool.establish(first) == [.use(3, first)])
    }

    @Test("When the request goes away, the next in line without a dial is asked; where there is none the dial ends")
    func passedOn() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        _ = pool.request(1, key)
        let dial = pool.dialled
        pool.ask(dial)
        for request in 2...3 { #expect(pool.request(request, key) == []) }
        #expect(pool.cancel(1) == [.ask(dial)])
        #expect(pool.requestBehind(dial) == 2)
        pool.ask(dial)
        #expect(pool.cancel(3) == [])
        #expect(pool.cancel(2) == [.cancelDial(dial)])
        #expect(pool.requestBehind(dial) == nil)
        #expect(pool.counts == PoolCounts())
    }

    @Test(
        "A dial that fails fails the request that was asked, whatever else is under way; others get dials of their own")
    func failure() throws {
        let (pool, key) = (VirtualPool(perHost: 2), try poolKey())
        let leased = pool.lease(0, key)
        _ = pool.request(1, key)
        let dial = pool.dialled
        pool.ask(dial)
        _ = pool.request(2, key)
        let actions = pool.failDial(dial)
        #expect(actions == [.fail(1), .dial(pool.dialled, key)])
        #expect(pool.requestBehind(pool.dialled) == 2)
        #expect(pool.release(leased) == [.use(2, leased), .timer(.seconds(60))])
        #expect(pool.requestBehind(pool.dialled) == nil, "its request has another connection")
    }

    @Test("A changed priority does not put a request that is asked back in line")
    func priority() throws {
        let (pool, key) = (VirtualPool(perHost: 2), try poolKey())
        let leased = pool.lease(0, key)
        _ = pool.request(1, key)
        pool.ask(pool.dialled)
        pool.setPriority(1, 1)
        #expect(pool.release(leased) == [.timer(.seconds(60))])
    }

    @Test("A request whose dial ends while it is asked takes the connection that has become idle meanwhile")
    func idleMeanwhile() throws {
        let (pool, key) = (VirtualPool(perHost: 2), try poolKey())
        let leased = pool.lease(0, key)
        _ = pool.request(1, key)
        let dial = pool.dialled
        pool.ask(dial)
        #expect(pool.release(leased) == [.timer(.seconds(60))])
        #expect(pool.close(dial) == [.use(1, leased)])
    }

    @Test("A request whose dial ends while it is asked is back in line, by the priority it was given meanwhile")
    func backInLine() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        _ = pool.request(1, key)
        let dial = pool.dialled
        pool.ask(dial)
        _ = pool.request(2, key)
        pool.setPriority(1, 0.25)
        let actions = pool.close(dial)
        #expect(actions == [.dial(pool.dialled, key)])
        #expect(pool.requestBehind(pool.dialled) == 2)
    }

    @Test("B1.32: the requests of a key stand still while everything under way for them waits for an answer")
    func standstill() throws {
        let (pool, key) = (VirtualPool(perHost: 2), try poolKey())
        _ = pool.request(1, key)
        let first = pool.dialled
        _ = pool.request(2, key)
        let second = pool.dialled
        _ = pool.request(3, key)
        #expect(pool.sinceStandstill(of: key) == nil)
        pool.ask(first)
        #expect(pool.sinceStandstill(of: key) == nil, "the second dial goes on")
        pool.ask(second)
        pool.advance(.seconds(100))
        #expect(pool.sinceStandstill(of: key) == .zero)
        pool.answer(first)
        pool.advance(.seconds(7))
        #expect(pool.sinceStandstill(of: key) == .seconds(7))
        pool.answer(second)
        #expect(pool.sinceStandstill(of: key) == .seconds(7), "the first dial had gone on")
    }

    @Test("B16.2: a dial left to the session takes along the request that is asked and those without a dial")
    func leftToSession() throws {
        let pool = VirtualPool(perHost: 2)
        let (own, all) = (try poolKey(scheme: .https, judge: .delegate(1)), try poolKey(scheme: .https))
        _ = pool.request(1, own)
        let first = pool.dialled
        _ = pool.request(2, own)
        let second = pool.dialled
        for request in 3...4 { #expect(pool.request(request, own) == []) }
        pool.ask(first)
        #expect(pool.leaveToSession(first) == [1, 3, 4])
        #expect(pool.key(of: first) == all)
        #expect(pool.key(of: second) == own)
        pool.answer(first)
        #expect(pool.establish(first) == [.use(1, first)])
        #expect(pool.release(first) == [.use(3, first)], "there is no dial for it")
        pool.ask(second)
        #expect(pool.leaveToSession(second) == [2])
        pool.answer(second)
        #expect(pool.establish(second) == [.use(2, second)])
        #expect(pool.release(first) == [.use(4, first)])
        #expect(pool.release(second) == [.timer(.seconds(60))])
        #expect(pool.request(5, all) == [.use(5, second)])
    }

    @Test("B16.2: a request whose dial was left to the session stays bound to it, though another connection is idle")
    func leftBesideIdle() throws {
        let pool = VirtualPool()
        let (own, all) = (try poolKey(scheme: .https, judge: .delegate(1)), try poolKey(scheme: .https))
        let idle = pool.idle(1, all)[0]
        _ = pool.request(1, own)
        let dial = pool.dialled
        pool.ask(dial)
        #expect(pool.leaveToSession(dial) == [1])
        #expect(pool.request(2, all) == [.use(2, idle)])
        #expect(pool.establish(dial) == [.use(1, dial)])
        #expect(pool.leaveToSession(dial) == [], "it is the session's, and no dial any more")
        #expect(pool.leaveToSession(99) == [])
    }

    @Test("B16.2: a dial left to the session that loses its request serves another of the session, or is given up")
    func leftByItsRequest() throws {
        let pool = VirtualPool(perHost: 1)
        let (own, all) = (try poolKey(scheme: .https, judge: .delegate(1)), try poolKey(scheme: .https))
        _ = pool.request(1, own)
        let dial = pool.dialled
        #expect(pool.request(2, all) == [])
        pool.ask(dial)
        #expect(pool.leaveToSession(dial) == [1])
        #expect(pool.cancel(1) == [.ask(dial)])
        #expect(pool.requestBehind(dial) == 2)
        #expect(pool.cancel(2) == [.cancelDial(dial)])
        #expect(pool.counts == PoolCounts())
    }

    @Test("A shut-down while a request is asked leaves nothing behind")
    func shutDown() throws {
        let (pool, key) = (VirtualPool(perHost: 1), try poolKey())
        _ = pool.request(1, key)
        let dial = pool.dialled
        pool.ask(dial)
        _ = pool.request(2, key)
        #expect(pool.shutDown(immediately: true) == [.close([dial]), .refuse([1, 2])])
        #expect(pool.isDrained)
    }
}
