// A table of what has numbers that are given in a row, such as the loads of an engine.
//
// Measured: the last bits of such a number are nearly always a place of its own, so that nothing has to be hashed; with
// a dictionary, to put a load in, to find it and to take it out cost a small request five hundred instructions. Where a
// value stays for long, later ones with the same bits take the next free place.
//
// Must not know: what the values are.

/// Values by their numbers.
struct NumberedTable<Value> {
    private struct Entry {
        let number: Int
        let value: Value
    }

    /// A power of two of them, of which at least a half is free.
    private var places: [Entry?] = Self.leastPlaces
    private(set) var count = 0
    /// How many values are not at the place that the last bits of their number name.
    private var displaced = 0

    var isEmpty: Bool { count == 0 }

    /// The numbers of all values, the lowest first.
    var numbers: [Int] { places.compactMap { $0?.number }.sorted() }

    /// The value of a number; nil takes it out.
    subscript(number: Int) -> Value? {
        get { place(of: number).flatMap { places[$0]?.value } }
        set {
            if let newValue { put(newValue, number) } else { remove(number) }
        }
    }

    private var mask: Int { places.count &- 1 }

    private func place(of number: Int) -> Int? {
        var place = number & mask
        while let entry = places[place] {
            if entry.number == number { return place }
            place = (place &+ 1) & mask
        }
        return nil
    }

    private mutating func put(_ value: Value, _ number: Int) {
        if let known = place(of: number) {
            places[known] = Entry(number: number, value: value)
            return
        }
        if count &* 2 >= places.count { grow() }
        settle(Entry(number: number, value: value))
        count += 1
    }

    /// Puts an entry into the first free place from its own on.
    private mutating func settle(_ entry: Entry) {
        let own = entry.number & mask
        var place = own
        while places[place] != nil { place = (place &+ 1) & mask }
        places[place] = entry
        if place != own { displaced &+= 1 }
    }

    private mutating func grow() {
        let entries = places
        places = Array(repeating: nil, count: entries.count * 2)
        displaced = 0
        for case .some(let entry) in entries { settle(entry) }
    }

    private mutating func remove(_ number: Int) {
        guard var free = place(of: number) else { return }
        places[free] = nil
        count -= 1
        if free != number & mask { displaced &-= 1 }
        // An unusual burst must not be remembered for ever.
        if count == 0, places.count > Self.mostKept {
            places = Self.leastPlaces
            return
        }
        // Measured: numbers in a row stand in a row, and without this each removal of a burst
        // looked at all of the others.
        if displaced == 0 { return }
        // An entry that stands behind only because this place was taken moves up, or it would not be found any more.
        var place = (free &+ 1) & mask
        while let entry = places[place] {
            let own = entry.number & mask
            if (place &- own) & mask >= (place &- free) & mask {
                places[free] = entry
                places[place] = nil
                if free == own { displaced &-= 1 }
                free = place
            }
            place = (place &+ 1) & mask
        }
    }

    private static var leastPlaces: [Entry?] { Array(repeating: nil, count: 16) }
    /// Picked by feel: some hundred kilobytes.
    private static var mostKept: Int { 8_192 }
}
