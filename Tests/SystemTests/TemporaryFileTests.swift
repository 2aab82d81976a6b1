// The names of files for what is still arriving.

import Testing
import URLLoadingSystem

@Suite("Temporary files")
struct TemporaryFileTests {
    /// Numbers that are known, and how many of them were taken.
    private struct Numbers: RandomNumberGenerator {
        let list: [UInt64]
        var taken = 0

        mutating func next() -> UInt64 {
            defer { taken += 1 }
            return list[taken % list.count]
        }
    }

    @Test(
        "A name is twelve letters and digits of two random numbers, each of which makes half of it",
        arguments: [
            ([0, 0], "AAAAAAAAAAAA"), ([1, 61], "BAAAAA9AAAAA"), ([0, 62 * 62], "AAAAAAAABAAA"),
            ([56_800_235_583, 56_800_235_584], "999999AAAAAA"), ([.max, .max], "PiRKGBPiRKGB"),
        ] as [([UInt64], String)])
    func names(list: [UInt64], name: String) {
        var numbers = Numbers(list: list)
        #expect(TemporaryFile.name(by: &numbers) == name)
        // Each is a call of the system.
        #expect(numbers.taken == 2)
        #expect(TemporaryFile.isName("a-" + name + ".b", prefix: "a-", suffix: ".b"))
    }
}
