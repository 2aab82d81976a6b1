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
}
