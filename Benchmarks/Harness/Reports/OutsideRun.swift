// A client that cannot be built where no package can be fetched. It was measured elsewhere, beside this library's
// client and the floor, by work of the same kind. What can be compared across two runs is how many times the floor
// of its run each one takes.

/// What one scenario took in that run: processor time in the scenario's unit.
struct OutsideRun: Sendable {
    /// The client that only that run has.
    static let client = "AsyncHTTPClient"

    let scenario: String
    let floor: Double
    let ours: Double
    let theirs: ClosedRange<Double>

    /// How many times the floor of its run the client takes.
    var ratios: ClosedRange<Double> { theirs.lowerBound / floor...theirs.upperBound / floor }

    /// AsyncHTTPClient 1.33.1 with its default event loops. Two cores, one for the client and one
    /// for the server; medians.
    static let all = [
        OutsideRun(scenario: "get-64", floor: 5.3, ours: 9.9, theirs: 37...77),
        OutsideRun(scenario: "get-64-fields", floor: 5.8, ours: 10.1, theirs: 42...42),
        OutsideRun(scenario: "get-64-tls", floor: 7.5, ours: 11.7, theirs: 42...42),
        OutsideRun(scenario: "one-by-one", floor: 23.6, ours: 36.8, theirs: 83...83),
        OutsideRun(scenario: "download", floor: 0.106, ours: 0.13, theirs: 0.32...0.32),
        OutsideRun(scenario: "download-tls", floor: 0.43, ours: 0.79, theirs: 0.66...0.66),
    ]
}
