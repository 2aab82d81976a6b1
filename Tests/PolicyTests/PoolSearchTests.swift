// What the pool looks at to find what it needs, where there is very much of everything.

import Testing
import URLLoadingPolicy

@Suite struct PoolSearchTests {
    private let now = Duration.seconds(1)

    @Test("Of idle connections to many origins the one that has been idle for the longest time makes room")
    func longestIdle() throws {
        var pool = PoolMachine(limits: PoolLimits(idle: 100))
        var open: [ConnectionID] = []
        for number in 0..<300 {
            // Every third is used once more before it is as old as the others.
            let host = number % 3 == 2 ? "h\(number - 1).test" : "h\(number).test"
            pool.requested(number, key: try poolKey(host), now: now)
            while let action = pool.nextAction() {
                switch action {
                case .dial(let dial): pool.established(dial, now: now)
                case .use(_, let connection):
                    open.removeAll { $0 == connection }
                    open.append(connection)
                    pool.released(connection, now: now)
                case .close(let connection): #expect(open.removeFirst() == connection)
                case .cancelDial, .joined, .stranded, .ask, .fail, .refuse, .setTimer, .clearTimer: break
                }
            }
            #expect(pool.counts.idle == open.count && open.count <= 100)
        }
    }

    @Test("B16.6: a silent connection's key loses what was idle before it, others keep theirs")
    func silence() throws {
        var pool = PoolMachine(limits: PoolLimits())
        let (key, other) = (try poolKey("a.test"), try poolKey("b.test"))
        for number in 0..<5 { pool.requested(number, key: number == 1 ? other : key, now: now) }
        var dials: [ConnectionID] = []
        while let action = pool.nextAction() {
            if case .dial(let dial) = action { dials.append(dial) }
        }
        #expect(dials.count == 5 && pool.firstDial(of: key) == dials[0] && pool.firstDial(of: other) == dials[1])
        for dial in dials { pool.established(dial, now: now) }
        #expect(pool.firstDial(of: key) == nil)
        // Idle in another order than that of their places; the last is used again, and then a new one comes.
        for place in [4, 1, 2, 0] { pool.released(dials[place], now: now) }
        while pool.nextAction() != nil {}
        pool.requested(5, key: key, now: now)
        var closed: [ConnectionID] = []
        pool.fellSilent(dials[0])
        while let action = pool.nextAction() {
            if case .close(let connection) = action { closed.append(connection) }
        }
        #expect(closed == [dials[2], dials[4]])
        #expect(pool.counts.idle == 1)
    }
}
