// The words of `soak mixed`.

/// What the mixed load is asked to do.
struct SoakOptions: Codable, Sendable {
    var seconds = 1800
    var seed: UInt64 = 1
    var workers = 24
    /// What the network is, where the load is run in one of its own.
    var network: String?
    /// Where the JSON goes.
    var json: String?
    /// The folder for `soak.md` and `soak.svg`.
    var folder: String?

    static let help = """
        usage: soak mixed [--seconds N] [--seed N] [--workers N] [--network TEXT] [--json FILE] [--report FOLDER]
               soak stream [bytes] | upload [bytes] | cancel [requests]
        """

    /// Reads the words; nil where one is not understood.
    init?(_ words: some Sequence<String>) {
        var words = Array(words)[...]
        while let word = words.popFirst() {
            guard let value = words.popFirst() else { return nil }
            switch word {
            case "--seconds":
                guard let number = Int(value), number > 0 else { return nil }
                seconds = number
            case "--seed":
                guard let number = UInt64(value) else { return nil }
                seed = number
            case "--workers":
                guard let number = Int(value), (1...500).contains(number) else { return nil }
                workers = number
            case "--network": network = value
            case "--json": json = value
            case "--report": folder = value
            default: return nil
            }
        }
    }
}
