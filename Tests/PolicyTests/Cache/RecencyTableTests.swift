// The table behind the stores of limited size: order of use, costs, and a random walk beside a
// list that is kept by hand.

import Testing
import URLLoadingPolicy

@Suite struct RecencyTableTests {
    @Test("B7.7: the entry that was not used for the longest time is the first to go")
    func order() {
        var table = RecencyTable<String, Int>()
        for (value, key) in ["a", "b", "c"].enumerated() { table.insert(value, for: key, cost: 10) }
        #expect(table.use("a") == 0)
        #expect(table.peek("b") == 1)
        #expect(table.removeOldest()?.key == "b")
        #expect(table.removeOldest()?.key == "c")
        #expect(table.removeOldest()?.key == "a")
        #expect(table.removeOldest() == nil)
        #expect(table.totalCost == 0 && table.count == 0)
    }

    @Test("B7.13: an entry with a known key takes the other's place and its cost")
    func replacing() {
        var table = RecencyTable<String, Int>()
        table.insert(1, for: "a", cost: 10)
        table.insert(2, for: "a", cost: 3)
        #expect(table.count == 1 && table.totalCost == 3 && table.peek("a") == 2)
        #expect(table.remove("a")?.cost == 3)
        #expect(table.remove("a") == nil)
    }

    @Test("B7.5, B7.7: a random walk keeps order and sum as a plain list does", arguments: 1...10)
    func walk(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var table = RecencyTable<Int, Int>()
        var list: [(key: Int, value: Int, cost: Int)] = []
        for step in 0..<2000 {
            let key = Int.random(in: 0..<40, using: &random)
            let place = list.firstIndex { $0.key == key }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                if let place { list.remove(at: place) }
                list.append((key, step, key + 1))
                table.insert(step, for: key, cost: key + 1)
            case 4..<7:
                #expect(table.use(key) == place.map { list[$0].value })
                if let place { list.append(list.remove(at: place)) }
            case 7:
                #expect(table.remove(key)?.value == place.map { list.remove(at: $0).value })
            case 8:
                #expect(table.removeOldest()?.key == (list.isEmpty ? nil : list.removeFirst().key))
            default:
                #expect(table.contains(key) == (place != nil))
                #expect(table.peek(key) == place.map { list[$0].value })
            }
            #expect(table.count == list.count && table.totalCost == list.reduce(0) { $0 + $1.cost })
        }
        var keys: [Int] = []
        table.forEach { key, _, _ in keys.append(key) }
        #expect(keys == list.map(\.key))
        table.removeAll()
        #expect(table.count == 0 && table.removeOldest() == nil)
    }

    @Test("B7.6: the entries that have to go are found without looking at those that stay, however many there are")
    func excess() {
        var table = RecencyTable<Int, Int>()
        for key in 0..<10_000 { table.insert(key, for: key, cost: 10) }
        _ = table.use(0)
        for (room, gone) in [(100_000, []), (99_999, [1]), (99_975, [1, 2, 3]), (.max, [])] as [(Int, [Int])] {
            var looks = 0
            #expect(table.excess(over: room, looksAt: { looks += 1 }) == gone)
            #expect(looks == gone.count)
        }
        #expect(table.excess(over: 0).count == 10_000)
        #expect(RecencyTable<Int, Int>().excess(over: 0).isEmpty)
    }
}
