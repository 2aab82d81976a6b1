// What happens in a simulated world, line by line, and a number that tells two stories apart.

/// One run, as it can be read.
struct Story {
    /// The lines, where they are kept.
    private(set) var lines: [String] = []
    /// Equal for equal stories.
    private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    private let isKept: Bool

    /// An empty story; `isKept` says whether its lines are wanted, or only the digest.
    init(isKept: Bool) { self.isKept = isKept }

    /// Adds a line.
    mutating func add(_ moment: Duration, _ line: String) {
        let microseconds = moment / .microseconds(1)
        var text = line
        text.withUTF8 { bytes in
            for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        digest = (digest ^ UInt64(microseconds)) &* 0x100_0000_01B3
        if isKept { lines.append("\(Self.columns(microseconds))  \(line)") }
    }

    /// Seconds with six digits, in a column.
    private static func columns(_ microseconds: Double) -> String {
        let whole = Int(microseconds)
        let fraction = String(whole % 1_000_000)
        let seconds = String(whole / 1_000_000)
        return String(repeating: " ", count: max(0, 5 - seconds.count)) + seconds + "."
            + String(repeating: "0", count: 6 - fraction.count) + fraction
    }
}
