import Testing
import URLLoadingTestSupport

@testable import URLLoadingEngine

/// The table of loads, beside a dictionary that gets every change too.
@Suite("A table of values whose numbers are given one after the other")
struct NumberedTableTests {
    @Test(
        "The table holds what a dictionary holds, in whatever order values are put in and taken out",
        arguments: 0..<UInt64(Sanitizer.share(of: 20)))
    func walk(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var table = NumberedTable<Int>()
        var books: [Int: Int] = [:]
        var next = 1
        // From few values at a time to many: the table grows and is emptied.
        for step in 0..<4_000 {
            let most = [1, 3, 40, 700][step / 1_000]
            if books.count < most, random.next() % 3 > 0 {
                table[next] = step
                books[next] = step
                next += 1
            } else if let number = books.keys.sorted().randomElement(using: &random) {
                // The oldest are left alone more often than not, as loads that last are.
                let chosen = random.next() % 4 == 0 ? books.keys.min()! : number
                table[chosen] = nil
                books[chosen] = nil
            }
            if random.next() % 16 == 0 { table[next + 5] = nil }
            #expect(table.count == books.count && table.isEmpty == books.isEmpty)
            if step % 50 == 0 {
                #expect(table.numbers == books.keys.sorted())
                #expect(books.allSatisfy { table[$0.key] == $0.value })
                #expect(table[next] == nil && table[0] == nil && table[-1] == nil)
            }
        }
        for number in books.keys { table[number] = nil }
        #expect(table.isEmpty && table.numbers.isEmpty)
    }

    @Test("Numbers with equal last bits do not hide each other")
    func sameBits() {
        var table = NumberedTable<String>()
        for number in [1, 17, 33, 2, 18] { table[number] = "\(number)" }
        table[1] = nil
        table[2] = nil
        #expect(table.numbers == [17, 18, 33])
        #expect(table[17] == "17" && table[33] == "33" && table[18] == "18" && table[1] == nil)
        table[17] = "again"
        #expect(table[17] == "again" && table.count == 3)
    }

    @Test("After a burst of values the table is small again, so that a later search does not walk through empty room")
    func burst() {
        var table = NumberedTable<Int>()
        for number in 0..<20_000 { table[number] = number }
        for number in (0..<20_000).reversed() { table[number] = nil }
        table[5] = 5
        #expect(table.numbers == [5])
    }
}
