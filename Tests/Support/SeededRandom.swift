// Random numbers that follow from a seed, so that what failed once can be done again.

/// A generator (splitmix64) whose numbers follow from its seed.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Starts with a seed.
    package init(seed: UInt64) { state = seed }

    /// The generator of one of many that have a seed in common, unlike those of its neighbours.
    package init(seed: UInt64, of number: Int) {
        var first = SeededRandom(seed: seed)
        var second = SeededRandom(seed: first.next() ^ UInt64(truncatingIfNeeded: number))
        state = second.next()
    }

    /// The next number.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// True in so many of a hundred cases.
    package mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}
