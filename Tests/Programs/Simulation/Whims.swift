// How a simulated program answers when it is asked: at once, later, twice, or not at all.

import URLLoadingTestSupport

/// The moods of a delegate or a store that is asked.
//
// `@unchecked Sendable`: one thread plays, and there is no other in the process.
final class Whims: @unchecked Sendable {
    /// How many questions wait for their answer, those included that never get one.
    private(set) var unanswered = 0
    private unowned let world: World
    private var chance: SeededRandom

    init(_ world: World, _ chance: inout SeededRandom) {
        self.world = world
        self.chance = SeededRandom(seed: chance.next())
    }

    /// True in so many of a hundred cases.
    func happens(_ percent: Int) -> Bool { chance.chance(percent) }

    /// Some number below 100.
    func draw() -> Int { Int.random(in: 0..<100, using: &chance) }

    /// Gives an answer, and perhaps another one afterwards, which must not count.
    func reply(_ answer: @escaping () -> Void, again: @escaping () -> Void) {
        unanswered += 1
        let first = { [self] in
            unanswered -= 1
            answer()
        }
        switch draw() {
        case ..<50: first()
        case ..<75: later(first)
        case ..<85:
            first()
            again()
        case ..<96:
            later { [self] in
                first()
                later(again)
            }
        default: break
        }
    }

    private func later(_ work: @escaping () -> Void) {
        let longest = Int64([1_000, 1_000_000, 20_000_000].randomElement(using: &chance) ?? 1)
        world.add(after: .microseconds(Int64.random(in: 0...longest, using: &chance)), work)
    }
}
