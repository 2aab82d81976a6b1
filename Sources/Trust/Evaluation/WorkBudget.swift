// How much work one verdict may take, whatever the peer has sent: every verdict must come within a fraction of a
// second. Counts, and does not look at clocks, so that one chain always gets the same verdict.

/// The work that is left.
struct WorkBudget {
    private var signatures: Int
    private var steps: Int
    private var comparisons: Int
    /// Whether something was refused for lack of it.
    private(set) var isExhausted = false

    init(signatures: Int = 96, steps: Int = 2_000, comparisons: Int = 300_000) {
        self.signatures = signatures
        self.steps = steps
        self.comparisons = comparisons
    }

    /// Whether a signature of this weight may be checked.
    mutating func takeSignature(weight: Int) -> Bool {
        take(weight, from: \.signatures)
    }

    /// Whether another certificate may be looked at as an issuer.
    mutating func takeStep() -> Bool {
        take(1, from: \.steps)
    }

    /// Whether so many names may be compared.
    mutating func takeComparisons(_ count: Int) -> Bool {
        take(count, from: \.comparisons)
    }

    /// Whether so many bytes may be decoded into names, which costs more than comparing them.
    mutating func takeNames(bytes: Int) -> Bool {
        takeComparisons(1 + bytes / 2)
    }

    /// How many bytes of a name cost as much as one comparison.
    static let bytesAtATime = 32

    private mutating func take(_ amount: Int, from part: WritableKeyPath<WorkBudget, Int>) -> Bool {
        guard self[keyPath: part] >= amount else {
            isExhausted = true
            return false
        }
        self[keyPath: part] -= amount
        return true
    }
}
