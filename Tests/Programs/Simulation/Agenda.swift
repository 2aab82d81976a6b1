// What is to be done in a simulated world, by its moment. Of what is due at the same moment chance says what is first.

/// Things to do, the next one first.
struct Agenda {
    private struct Entry {
        let moment: Duration
        let tie: UInt64
        let number: Int
        let work: () -> Void
    }

    /// The next one last.
    private var entries: [Entry] = []
    private var lastNumber = 0

    /// When the next thing is due; nil where there is nothing to do.
    var nextMoment: Duration? { entries.last?.moment }

    /// Adds something; the number calls it off.
    mutating func add(at moment: Duration, tie: UInt64, _ work: @escaping () -> Void) -> Int {
        lastNumber += 1
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            let other = entries[middle]
            if (other.moment, other.tie) > (moment, tie) { low = middle + 1 } else { high = middle }
        }
        entries.insert(Entry(moment: moment, tie: tie, number: lastNumber, work: work), at: low)
        return lastNumber
    }

    /// Calls something off, unless it has been done.
    mutating func callOff(_ number: Int) { entries.removeAll { $0.number == number } }

    /// Takes the next thing out.
    mutating func takeNext() -> (() -> Void)? { entries.popLast()?.work }
}
